"""FSC-147: the table with its questions, or the authors' own files, for which the question is made here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from flagharness.data import MediaStore, process_table, split_folder, write_annotations
from flagharness.errors import DataError, listing

QUESTION = "How many {noun} are there in the image? Your final answer should be a single integer."
POINTS, SPLITS, CLASSES = (
    "annotation_FSC147_384.json",
    "Train_Test_Val_FSC_147.json",
    "ImageClasses_FSC147.txt",
)
PICTURES = "images_384_VarV2"


def process(cfg: Any) -> None:
    """Write one row per picture, from a table or from a folder with the authors' files.

    Raises:
        DataError: Naming what of the source is missing or not as expected.
    """
    folder = Path(cfg.dataset_path).expanduser()
    if (folder / SPLITS).is_file():
        process_original(cfg, folder)
    else:
        process_table(cfg, table_row, required=["question", "answer"])


def table_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of one row of the table."""
    return {
        "question": row["question"],
        "question_type": "count",
        "answer": count_of(row["answer"]),
        "sub_task": range_of(count_of(row["answer"])),
    }


def process_original(cfg: Any, folder: Path) -> None:
    """Write the rows of a split from points, classes and pictures; the truth is the number of points."""
    missing = [name for name in (POINTS, CLASSES, PICTURES) if not (folder / name).exists()]
    if missing:
        raise DataError(f"{folder}: {SPLITS} is there, but not {', '.join(missing)}.")
    points = json.loads((folder / POINTS).read_text(encoding="utf-8"))
    names = json.loads((folder / SPLITS).read_text(encoding="utf-8")).get(cfg.split)
    if not names:
        raise DataError(f"{folder / SPLITS}: there is no split '{cfg.split}'.")
    lines = (folder / CLASSES).read_text(encoding="utf-8").splitlines()
    classes = dict(line.rstrip().split("\t", 1) for line in lines if "\t" in line)
    problems = [f"{name}: {why}" for name in names if (why := problem_of(name, points, classes, folder))]
    if problems:
        raise DataError(f"{folder}: {len(problems)} pictures cannot be used:\n{listing(problems)}")
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    write_annotations(
        out_dir,
        (
            {
                "question_id": Path(name).stem,
                "question": QUESTION.format(noun=singular(classes[name])),
                "question_type": "count",
                "answer": len(points[name]["points"]),
                "img_path": store.add((folder / PICTURES / name).read_bytes(), name),
                "sub_task": range_of(len(points[name]["points"])),
                "class": classes[name],
            }
            for name in names
        ),
    )


def problem_of(name: str, points: dict[str, Any], classes: dict[str, str], folder: Path) -> str | None:
    """Return why a picture of the split cannot become a row."""
    if not isinstance((points.get(name) or {}).get("points"), list):
        return f"no points in {POINTS}"
    if name not in classes:
        return f"no class in {CLASSES}"
    return None if (folder / PICTURES / name).is_file() else f"no such file in {PICTURES}"


def singular(name: str) -> str:
    """Return the last word of a class name in the singular, as the table's questions have it.

    Example:
        >>> [singular(name) for name in ("pills", "peaches", "birds", "flower pots", "books", "grapes", "fresh cut")]
        ['pill', 'peach', 'bird', 'flower pot', 'book', 'grape', 'fresh cut']
    """
    if re.search(r"(?:ch|sh|ss|x)es$", name):
        return name[:-2]
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def count_of(answer: Any) -> int:
    """Read a count that the table writes as text.

    Raises:
        ValueError: If it is none.

    Example:
        >>> count_of("12"), count_of("12.0")
        (12, 12)
    """
    text = str(answer).strip()
    if not re.fullmatch(r"[0-9]{1,18}(?:\.0+)?", text):
        raise ValueError(f"answer {answer!r} is no whole number")
    return int(text.partition(".")[0])


def range_of(count: int) -> str:
    """Name the range of true counts that a picture belongs to.

    Example:
        >>> [range_of(count) for count in (8, 20, 21, 50, 51, 100, 101)]
        ['8-20', '8-20', '21-50', '21-50', '51-100', '51-100', '101 and more']
    """
    for low, high in ((8, 20), (21, 50), (51, 100)):
        if count <= high:
            return f"{low}-{high}"
    return "101 and more"
