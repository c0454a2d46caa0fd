"""LVIS, federated: one row for every category that an image is known to show or not to show."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flagharness.data import CocoFile, image_size, read_coco, split_folder, write_annotations
from flagharness.errors import DataError, listing


def process(cfg: Any) -> None:
    """Write the rows; pictures stay where they are, and rows name them by their full path.

    Raises:
        DataError: The annotations are not there or not those of LVIS, or naming the pictures that are missing
            or of another size than the annotations say.
    """
    file = annotation_file(cfg)
    root = Path(cfg.images_root).expanduser().absolute()
    content = read_coco(file)
    paths = {number: image_path(image, root) for number, image in content.images.items()}
    gone = [str(path) for path in paths.values() if not path.is_file()]
    if gone:
        raise DataError(
            f"{file}: {len(gone)} of {len(paths)} pictures are not below {root}; set COCO_IMAGES or "
            f"config.images_root:\n{listing(gone)}"
        )
    wrong = [
        f"{paths[number]} is {size[0]} x {size[1]}, annotated {image['width']} x {image['height']}"
        for number, image in content.images.items()
        if (size := image_size(paths[number])) != (image["width"], image["height"])
    ]
    if wrong:
        raise DataError(f"{file}: {len(wrong)} of {len(paths)} pictures are other ones:\n{listing(wrong)}")
    write_annotations(split_folder(cfg), rows_of(content, paths, file))


def annotation_file(cfg: Any) -> Path:
    """Return the annotation file: the config's own, or one of the places where other tools keep it.

    Raises:
        DataError: There is none.
    """
    name = f"lvis_v1_{cfg.split}.json"
    places = [Path(cfg.dataset_path).expanduser()]
    for variable, below in (("LVIS_DATA_ROOT", name), ("LMUData", f"lvis-api/data/{name}")):
        if os.environ.get(variable):
            places.append(Path(os.environ[variable]).expanduser() / below)
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise DataError(
            f"no LVIS annotations: {', '.join(map(str, places))}. Get {name} from lvisdataset.org and name it: "
            f"LVIS_GT_PATH=/path/{name}, or --cfg-options config.dataset_path=/path/{name}."
        )
    return found


def image_path(image: dict[str, Any], root: Path) -> Path:
    """Return where a picture lies: below the root in the folder and under the name of its address at COCO.

    Example:
        >>> image_path({"coco_url": "http://images.cocodataset.org/train2017/09.jpg"}, Path("/c")).as_posix()
        '/c/train2017/09.jpg'
    """
    return root.joinpath(*urlsplit(str(image.get("coco_url") or "")).path.split("/")[-2:])


def rows_of(content: CocoFile, paths: dict[Any, Path], file: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows, image by image in the order of the file, each image's categories by their id.

    Raises:
        DataError: The file lacks what federated evaluation needs.
    """
    ids = {category["name"]: number for number, category in content.categories.items()}
    if any("frequency" not in category for category in content.categories.values()):
        raise DataError(f"{file}: categories without `frequency`; this is no LVIS file.")
    for number, image in content.images.items():
        if "neg_category_ids" not in image or "not_exhaustive_category_ids" not in image:
            raise DataError(f"{file}: image {number} lacks neg_category_ids or not_exhaustive_category_ids.")
        boxes: dict[Any, list[dict[str, Any]]] = {category: [] for category in image["neg_category_ids"]}
        for box in content.boxes[number]:
            kept = {key: value for key, value in box.items() if key != "label"}
            boxes.setdefault(ids[box["label"]], []).append(kept)
        for category in sorted(boxes):
            yield {
                "question_id": f"{number}_{category}",
                "question_type": "bbox",
                "answer": boxes[category],
                "img_path": str(paths[number]),
                "width": image["width"],
                "height": image["height"],
                "image_id": number,
                "category": content.categories[category]["name"],
                "frequency": content.categories[category]["frequency"],
                "not_exhaustive": category in image["not_exhaustive_category_ids"],
            }
