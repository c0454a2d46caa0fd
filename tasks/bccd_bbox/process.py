"""BCCD: one row per photograph, with the labelled boxes of all three kinds of cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flagharness.data import MediaStore, image_size, read_tsv, split_folder, write_annotations
from flagharness.errors import DataError, listing
from flagharness.prompt import locate_categories

CATEGORIES = ["RBC", "WBC", "Platelets"]
LABEL_COLUMNS = ["photo", "label", "xmin", "ymin", "xmax", "ymax"]


def process(cfg: Any) -> None:
    """Write one row per photograph; the photographs and their labels are those of the counting task.

    Raises:
        DataError: If a photograph and a label do not belong together.
    """
    source = (Path(__file__).parent / cfg.dataset_path).resolve()
    boxes = labelled_boxes(source / "labels.csv")
    pictures = {path.stem: path for path in sorted((source / "photos").glob("*.jpg"))}
    unmatched = sorted(set(boxes) ^ set(pictures))
    if unmatched:
        raise DataError(f"{source}: these are no pairs of a photograph and its labels:\n{listing(unmatched)}")
    sizes = {name: image_size(path) for name, path in pictures.items()}
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    write_annotations(
        out_dir,
        (
            {
                "question_id": name,
                "question": locate_categories(CATEGORIES),
                "question_type": "bbox",
                "answer": boxes[name],
                "img_path": store.add(path.read_bytes(), name),
                "width": sizes[name][0],
                "height": sizes[name][1],
                "categories": CATEGORIES,
            }
            for name, path in pictures.items()
        ),
    )


def labelled_boxes(labels: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the boxes of each photograph as [x, y, width, height], with width = xmax - xmin.

    A box without area marks nothing and is passed over.
    """
    boxes: dict[str, list[dict[str, Any]]] = {}
    for row in read_tsv(labels, LABEL_COLUMNS, delimiter=","):
        x1, y1, x2, y2 = (int(row[corner]) for corner in ("xmin", "ymin", "xmax", "ymax"))
        found = boxes.setdefault(row["photo"], [])
        if x1 < x2 and y1 < y2:
            found.append({"bbox": [x1, y1, x2 - x1, y2 - y1], "label": row["label"]})
    return boxes
