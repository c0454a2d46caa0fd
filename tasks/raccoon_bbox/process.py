"""Raccoons: one row per shipped photograph, with the boxes of its labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flagharness.data import MediaStore, image_size, read_tsv, split_folder, write_annotations
from flagharness.errors import DataError, listing
from flagharness.prompt import locate_category

CATEGORY = "raccoon"
LABEL_COLUMNS = ["filename", "width", "height", "class", "xmin", "ymin", "xmax", "ymax"]


def process(cfg: Any) -> None:
    """Write one row per photograph; photographs and labels lie beside this file.

    Raises:
        DataError: If a photograph and a label do not belong together: one is missing, or the labels were drawn on
            a picture of another size.
    """
    photos = Path(__file__).parent / cfg.dataset_path
    labels = read_tsv(photos.parent / "labels.csv", LABEL_COLUMNS, delimiter=",")
    boxes: dict[str, list[dict[str, Any]]] = {}
    sizes: dict[str, tuple[int, int]] = {}
    for label in labels:
        boxes.setdefault(label["filename"], []).append({"bbox": corners_to_xywh(label)})
        sizes[label["filename"]] = (int(label["width"]), int(label["height"]))
    pictures = {path.name: path for path in sorted(photos.glob("*.jpg"))}
    unmatched = sorted(set(boxes) ^ set(pictures))
    if unmatched:
        raise DataError(f"{photos}: these are no pairs of a photograph and its labels:\n{listing(unmatched)}")
    true_sizes = {name: image_size(path) for name, path in pictures.items()}
    resized = [
        f"{name}: {true_sizes[name]}, labels {sizes[name]}"
        for name in pictures
        if true_sizes[name] != sizes[name]
    ]
    if resized:
        raise DataError(f"{photos}: photographs of another size than their labels:\n{listing(resized)}")
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    write_annotations(
        out_dir,
        (
            {
                "question_id": path.stem,
                "question": locate_category(CATEGORY),
                "question_type": "bbox",
                "answer": boxes[name],
                "img_path": store.add(path.read_bytes(), path.stem),
                "width": true_sizes[name][0],
                "height": true_sizes[name][1],
                "category": CATEGORY,
            }
            for name, path in pictures.items()
        ),
    )


def corners_to_xywh(label: dict[str, str]) -> list[int]:
    """Return [x, y, width, height] of the corners of a label, with width = xmax - xmin.

    Example:
        >>> corners_to_xywh({"xmin": "4", "ymin": "5", "xmax": "14", "ymax": "25"})
        [4, 5, 10, 20]
    """
    x1, y1, x2, y2 = (int(label[corner]) for corner in ("xmin", "ymin", "xmax", "ymax"))
    return [x1, y1, x2 - x1, y2 - y1]
