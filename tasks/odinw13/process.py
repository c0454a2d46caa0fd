"""ODinW-13: the table with GLIP's annotation files, the original folders, or the rows of kcz358/ODinW-13."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from flagharness.data import (
    CocoFile,
    MediaStore,
    image_size,
    load_annotations,
    process_table,
    read_coco,
    split_folder,
    write_annotations,
)
from flagharness.errors import DataError, did_you_mean, listing
from flagharness.prompt import locate_categories

ANNOTATIONS = "annotations_without_background.json"
DOMAINS: dict[str, tuple[str, list[str]]] = {
    "AerialMaritimeDrone": ("AerialMaritimeDrone/large/valid", ["boat", "car", "dock", "jetski", "lift"]),
    "Aquarium": (
        "Aquarium/Aquarium Combined.v2-raw-1024.coco/valid",
        ["fish", "jellyfish", "penguin", "puffin", "shark", "starfish", "stingray"],
    ),
    "CottontailRabbits": ("CottontailRabbits/valid", ["Cottontail-Rabbit"]),
    "EgoHands": ("EgoHands/generic/valid", ["hand"]),
    "NorthAmericaMushrooms": (
        "NorthAmericaMushrooms/North American Mushrooms.v1-416x416.coco/valid",
        ["CoW", "chanterelle"],
    ),
    "Packages": ("Packages/Raw/valid", ["package"]),
    "PascalVOC": (
        "PascalVOC/valid",
        [
            "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow", "diningtable",
            "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
        ],
    ),
    "pistols": ("pistols/export", ["pistol"]),
    "pothole": ("pothole/valid", ["pothole"]),
    "Raccoon": ("Raccoon/Raccoon.v2-raw.coco/valid", ["raccoon"]),
    "ShellfishOpenImages": ("ShellfishOpenImages/raw/valid", ["Crab", "Lobster", "Shrimp"]),
    "thermalDogsAndPeople": ("thermalDogsAndPeople/valid", ["dog", "person"]),
    "VehiclesOpenImages": (
        "VehiclesOpenImages/416x416/valid",
        ["Ambulance", "Bus", "Car", "Motorcycle", "Truck"],
    ),
}  # fmt: skip
"""Folder below the root, and the categories in the order in which the prompt names them (open-mmlab/mmdetection,
configs/glip/odinw/glip_atss_swin-t_a_fpn_dyhead_pretrain_odinw13.py)."""
DOMAIN_COLUMNS = ("domain", "dataset_name", "dataset", "subset")
IMAGE_ID_COLUMNS = ("image_id", "img_id", "coco_image_id", "coco_id")


def process(cfg: Any) -> None:
    """Write one row per picture, asked for all categories of its domain.

    Raises:
        DataError: Naming what of the source is missing or not as expected.
    """
    folder = Path(cfg.dataset_path).expanduser()
    if any((folder / place).is_dir() for place, _ in DOMAINS.values()):
        process_folders(cfg, folder)
    else:
        roots = annotation_roots(cfg)
        out_dir = split_folder(cfg)
        process_table(cfg, lambda row: table_row(row, out_dir, roots))
        write_annotations(out_dir, in_turn(load_annotations([out_dir / "data.json"])))


def in_turn(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows so that the domains take turns, and the rows of a domain keep their order.

    AP is computed domain by domain, so the score is the same; a run of the first 32 rows sees every domain.

    Example:
        >>> [row["n"] for row in in_turn([{"domain": d, "n": d + str(i)} for d in "ab" for i in range(2)])]
        ['a0', 'b0', 'a1', 'b1']
    """
    by_domain: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_domain.setdefault(row["domain"], []).append(row)
    return [row for row in chain.from_iterable(zip_longest(*by_domain.values())) if row is not None]


def annotation_roots(cfg: Any) -> list[Path]:
    """Return where the annotation files may lie: the config's own place, ``$LMUData/GLIP``."""
    lmu = os.environ.get("LMUData")  # noqa: SIM112
    given = [cfg.get("annotations_root"), Path(lmu, "GLIP") if lmu else None]
    return [Path(str(root)).expanduser() for root in given if root]


def annotation_file(domain: str) -> str:
    """Return a domain's annotation file below the root."""
    name = "val_annotations_without_background.json" if domain == "pistols" else ANNOTATIONS
    return f"{DOMAINS[domain][0]}/{name}"


@lru_cache(maxsize=len(DOMAINS))
def read_domain(file: Path, domain: str) -> CocoFile:
    """Read a domain's annotations and see that its categories are those that are asked for.

    Raises:
        DataError: A category of the domain is missing, or boxes have one that is not asked for.
    """
    content = read_coco(file)
    known = {str(category["name"]) for category in content.categories.values()}
    asked = set(DOMAINS[domain][1])
    used = {box["label"] for boxes in content.boxes.values() for box in boxes}
    wrong = sorted((asked - known) | (used - asked))
    if wrong:
        raise DataError(
            f"{file}: categories that are not those of {domain} ({', '.join(sorted(asked))}): {', '.join(wrong)}."
        )
    return content


def process_folders(cfg: Any, root: Path) -> None:
    """Write the rows of the original layout, domain by domain in the order of DOMAINS."""
    missing = [name for name in DOMAINS if not (root / annotation_file(name)).is_file()]
    if len(missing) == len(DOMAINS):
        raise DataError(
            f"{root}: none of the 13 annotation files is there, such as {annotation_file('Aquarium')}."
        )
    if missing and not cfg.get("some_domains"):
        raise DataError(
            f"{root}: no annotation file of {', '.join(missing)}. To go on without these domains, set "
            f"config.some_domains=true; the result is then partial."
        )
    out_dir = split_folder(cfg)
    domains = [name for name in DOMAINS if name not in missing]
    write_annotations(out_dir, in_turn(folder_rows(root, domains, out_dir)))


def folder_rows(root: Path, domains: Sequence[str], out_dir: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of domains, storing their pictures.

    Raises:
        DataError: Naming every picture of a domain that is not there or not the one that was annotated.
    """
    store = MediaStore(out_dir)
    for domain in domains:
        file = root / annotation_file(domain)
        content = read_domain(file, domain)
        paths = {number: file.parent / str(image["file_name"]) for number, image in content.images.items()}
        gone = [str(path) for path in paths.values() if not path.is_file()]
        if gone:
            raise DataError(f"{file}: {len(gone)} pictures are not there:\n{listing(gone)}")
        sizes = {number: image_size(path) for number, path in paths.items()}
        wrong = [
            f"{paths[number]} {problem}"
            for number, image in content.images.items()
            if (problem := size_problem(sizes[number], image))
        ]
        if wrong:
            raise DataError(f"{file}: {len(wrong)} pictures are not those of the boxes:\n{listing(wrong)}")
        for number, path in paths.items():
            stored = store.add(path.read_bytes(), f"{domain}_{number}")
            yield {"question_id": f"{domain}_{number}", "img_path": stored} | box_row(
                domain, number, content.boxes[number], sizes[number]
            )


def size_problem(size: tuple[int, int], image: Mapping[str, Any]) -> str | None:
    """Say that a picture is not of the size on which its boxes were drawn.

    Example:
        >>> size_problem((20, 10), {"width": 200, "height": 100})
        'is 20 x 10, its boxes were drawn on 200 x 100'
    """
    drawn_on = image.get("width", size[0]), image.get("height", size[1])
    if size == drawn_on:
        return None
    return f"is {size[0]} x {size[1]}, its boxes were drawn on {drawn_on[0]} x {drawn_on[1]}"


def box_row(
    domain: str, number: Any, boxes: Sequence[Mapping[str, Any]], size: tuple[int, int]
) -> dict[str, Any]:
    """Return what a row says whatever its source: the question, the truth and the size of the picture."""
    names = DOMAINS[domain][1]
    return {
        "question": locate_categories(names),
        "question_type": "bbox",
        "answer": [dict(box) for box in boxes],
        "width": size[0],
        "height": size[1],
        "categories": names,
        "domain": domain,
        "image_id": f"{domain}:{number}",
    }


def table_row(row: dict[str, Any], out_dir: Path, roots: Sequence[Path]) -> dict[str, Any]:
    """Return the annotation of one row of the table, or of the hub's rows, which hold their boxes themselves.

    Raises:
        ValueError: The domain, the image's id or its annotations cannot be found.
    """
    if row.get("data_error"):
        raise ValueError(f"its boxes cannot be placed without its picture: {row['data_error']}")
    domain = domain_of(row)
    size = image_size(out_dir / row["img_path"])
    if "bboxes" in row:
        return box_row(domain, row["index"], hub_boxes(row, domain), size)
    number = first_of(row, IMAGE_ID_COLUMNS)
    if number is None:
        raise ValueError(f"no image id: none of {', '.join(IMAGE_ID_COLUMNS)}. Columns: {', '.join(row)}")
    file = next(
        (root / annotation_file(domain) for root in roots if (root / annotation_file(domain)).is_file()), None
    )
    if file is None:
        places = ", ".join(map(str, roots)) or "no place is set"
        raise ValueError(
            f"no annotations of {domain}: {annotation_file(domain)} is not below {places}. Set GLIP_ROOT, or "
            f"config.annotations_root."
        )
    content = read_domain(file, domain)
    known = {str(key): key for key in content.images}
    if str(number) not in known:
        raise ValueError(f"{file} has no image {number!r}")
    if problem := size_problem(size, content.images[known[str(number)]]):
        raise ValueError(f"its picture {problem}")
    made = box_row(domain, number, content.boxes[known[str(number)]], size)
    return {**made, "question": row.get("question") or made["question"]}


def domain_of(row: Mapping[str, Any]) -> str:
    """Return the domain of a row, under the name that DOMAINS has for it.

    Raises:
        ValueError: No column says it, or says one that is none of the 13.

    Example:
        >>> domain_of({"dataset_name": "thermaldogsandpeople"})
        'thermalDogsAndPeople'
    """
    given = first_of(row, DOMAIN_COLUMNS)
    if given is None:
        raise ValueError(f"no domain: none of {', '.join(DOMAIN_COLUMNS)}. Columns: {', '.join(row)}")
    folded = {name.casefold(): name for name in DOMAINS}
    name = folded.get(str(given).strip().casefold())
    if name is None:
        raise ValueError(f"domain {given!r} is none of the 13.{did_you_mean(str(given), DOMAINS)}")
    return name


def first_of(row: Mapping[str, Any], columns: Sequence[str]) -> Any:
    """Return the first of these cells that is there and not empty."""
    return next((row[column] for column in columns if row.get(column) not in (None, "")), None)


def hub_boxes(row: Mapping[str, Any], domain: str) -> list[dict[str, Any]]:
    """Return the boxes of a hub row: corners in pixels, and labels by name.

    Raises:
        ValueError: Boxes and labels differ in number, or a label is none of the domain's names.
    """
    boxes, labels = row["bboxes"] or [], row.get("labels") or []
    if len(boxes) != len(labels):
        raise ValueError(f"{len(boxes)} boxes but {len(labels)} labels")
    wrong = [label for label in labels if label not in DOMAINS[domain][1]]
    if wrong:
        raise ValueError(f"label {wrong[0]!r} is none of the names of {domain}")
    return [
        {"bbox": [x1, y1, x2 - x1, y2 - y1], "label": label}
        for (x1, y1, x2, y2), label in zip(boxes, labels, strict=True)
    ]
