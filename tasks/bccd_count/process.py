"""BCCD: the red blood cells of each shipped photograph, counted by their boxes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from flagharness.data import MediaStore, read_tsv, split_folder, write_annotations
from flagharness.errors import DataError, listing

QUESTION = (
    "How many red blood cells (RBC) are there in this microscope picture of a blood smear? "
    "White blood cells and platelets do not count."
)
COUNTED = "RBC"
LABEL_COLUMNS = ["photo", "label", "xmin", "ymin", "xmax", "ymax"]


def process(cfg: Any) -> None:
    """Write one row per photograph; photographs and labels lie beside this file.

    Raises:
        DataError: If a photograph that has labels is missing.
    """
    photos = Path(__file__).parent / cfg.dataset_path
    counts = count_boxes(photos.parent / "labels.csv")
    pictures = {path.stem: path for path in sorted(photos.glob("*.jpg"))}
    missing = sorted(set(counts) - set(pictures))
    if missing:
        raise DataError(f"{photos}: these photographs have labels but are not there:\n{listing(missing)}")
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    write_annotations(
        out_dir,
        (
            {
                "question_id": name,
                "question": QUESTION,
                "question_type": "count",
                "answer": counts[name],
                "img_path": store.add(path.read_bytes(), name),
                "sub_task": bucket(counts[name]),
            }
            for name, path in pictures.items()
        ),
    )


def count_boxes(labels: Path) -> Counter[str]:
    """Return the number of red blood cells per photograph, 0 for one that shows only other cells.

    A box without area marks nothing and is passed over.
    """
    counts: Counter[str] = Counter()
    for row in read_tsv(labels, LABEL_COLUMNS, delimiter=","):
        has_area = int(row["xmin"]) < int(row["xmax"]) and int(row["ymin"]) < int(row["ymax"])
        counts[row["photo"]] += row["label"] == COUNTED and has_area
    return counts


def bucket(count: int) -> str:
    """Name the range of true counts that a photograph belongs to.

    Example:
        >>> [bucket(count) for count in (0, 5, 6, 10, 11, 15, 16, 21)]
        ['0-5', '0-5', '6-10', '6-10', '11-15', '11-15', '16 and more', '16 and more']
    """
    for low, high in ((0, 5), (6, 10), (11, 15)):
        if count <= high:
            return f"{low}-{high}"
    return "16 and more"
