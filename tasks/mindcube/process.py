"""MindCube: the table with finished prompts, or the authors' questions, which get the instruction here."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

from flagharness.data import (
    MediaStore,
    iter_hf_rows,
    letter_of,
    process_table,
    split_folder,
    store_images,
    write_annotations,
)
from flagharness.errors import DataError, listing

LETTERS = "ABCDE"
CATEGORIES = ("around", "rotation", "translation", "among")
"""In the order in which an id is looked through for them."""
INSTRUCTION = (
    "[Task]\n"
    "Your task is to analyze the spatial arrangement of objects in the scene by examining the provided images, "
    "which show the scene from different viewpoints.\n"
    "[Answer Instruction]\n"
    "You only need to provide *ONE* correct answer selecting from the options listed below. For example, if you "
    "think the correct answer is 'A. Above' from 'A. Above B. Under C. Front D. Behind', your response should "
    "**only** be '<answer>A. Above</answer>'.\n"
)
HEADING = "[Question]\n"
_ORIGINAL = Path("raw") / "MindCube_tinybench.jsonl"
_MARK = re.compile(r"<image\s*[0-9]*>")


def process(cfg: Any) -> None:
    """Write data.json and the pictures, in an order drawn once and for all: the source is sorted by category.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    file = original_file(Path(cfg.dataset_path).expanduser())
    if file is None:
        process_table(cfg, row_of, shuffle=True)
    else:
        _process_original(cfg, file)


def original_file(path: Path) -> Path | None:
    """Return the file of questions in the authors' unpacked archive; None if the path leads to anything else.

    Its pictures are named from the folder above it, not from its own.
    """
    if path.is_file():
        return path if path.parent.name == _ORIGINAL.parent.name and path.suffix == ".jsonl" else None
    return next((file for file in (path / _ORIGINAL, path / "data" / _ORIGINAL) if file.is_file()), None)


def _process_original(cfg: Any, file: Path) -> None:
    out_dir = split_folder(cfg)
    records = ({**record, "index": str(record.get("id"))} for record in iter_hf_rows(file, cfg.split))
    table = store_images(records, MediaStore(out_dir), str(file), file.parents[1])
    rows: list[dict[str, Any]] = []
    problems = [f"id {row['index']!r}: {row['reason']}" for row in table.skipped]
    for row in table.rows:
        kept: dict[str, Any] = {key: row[key] for key in ("img_path", "data_error") if key in row}
        try:
            rows.append({**kept, **row_of(row)})
        except ValueError as error:
            problems.append(f"id {row['index']!r}: {error}")
    if problems:
        raise DataError(f"{file}: {len(problems)} rows are not as expected:\n{listing(problems)}")
    random.Random(0).shuffle(rows)
    write_annotations(out_dir, rows)


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; with a column ``input_prompt`` it is one of the table."""
    asked = row.get("input_prompt") or row.get("question")
    if not asked or not str(asked).strip():
        raise ValueError("neither input_prompt nor question holds a text")
    pictures = 1 if isinstance(row["img_path"], str) else len(row["img_path"])
    question_id = str(row.get("id") or row["index"])
    answer = letter_of(row["gt_answer"] if row.get("answer") in (None, "") else row["answer"], len(LETTERS))
    options = listed_options(asked)
    return {
        "question_id": question_id,
        "question": with_marks(
            asked if row.get("input_prompt") else INSTRUCTION + "\n" + HEADING + asked, pictures
        ),
        "question_type": "multiple-choice",
        **({"options": options} if answer in LETTERS[: len(options)] else {}),
        "answer": answer,
        "category": category_of(row.get("category"), question_id),
    }


def with_marks(text: str, pictures: int) -> str:
    """Return a prompt with as many picture marks as there are pictures, or with none: all pictures then come first.

    Example:
        >>> with_marks("<image>left <image>right", 2), with_marks("<image>left <image>right", 3)
        ('<image>left <image>right', 'left right')
    """
    marks = _MARK.findall(text)
    return text if marks == ["<image>"] * pictures else _MARK.sub("", text)


def category_of(cell: Any, question_id: str) -> str:
    """Return the category that a cell names, else the first that the id holds, else "other".

    Example:
        >>> category_of("among", "7"), category_of(None, "rotation_3"), category_of(["perspective"], "around_among_1")
        ('among', 'rotation', 'around')
    """
    named = cell.strip().lower() if isinstance(cell, str) else ""
    if named in CATEGORIES:
        return named
    return next((category for category in CATEGORIES if category in question_id.lower()), "other")


def listed_options(text: str) -> list[str]:
    """Return the options in a question's text, those of the instruction before it aside; none if it lists none.

    Example:
        >>> listed_options(INSTRUCTION + HEADING + "What is left of me? A. Sofa B. Wall lamp C. Door")
        ['Sofa', 'Wall lamp', 'Door']
        >>> listed_options("What is left of me?")
        []
    """
    question = text.rpartition(HEADING)[2]
    labels, end = [], 0
    for letter in LETTERS:
        label = re.compile(rf"(?<!\S){letter}[.):]\s+").search(question, end)
        if label is None:
            break
        labels.append(label)
        end = label.end()
    ends = [*(label.start() for label in labels[1:]), len(question)]
    options = [question[label.end() : stop].strip() for label, stop in zip(labels, ends, strict=False)]
    return options if len(options) >= 2 and all(options) else []
