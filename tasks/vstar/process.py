"""V* Bench: the table with an option a column, the hub's rows with the options in the text, the original folders."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from flagharness.data import (
    MediaStore,
    letter_of,
    options_of,
    process_table,
    split_folder,
    write_annotations,
)
from flagharness.errors import DataError, listing

CATEGORIES = ("direct_attributes", "relative_position")
_LISTED = re.compile(r"^\s*\(([A-Z])\)\s", re.MULTILINE)


def process(cfg: Any) -> None:
    """Write data.json and the pictures, at their full size.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    files = original_files(Path(cfg.dataset_path).expanduser())
    if files:
        _process_original(cfg, files)
    else:
        process_table(cfg, row_of, required=["category"])


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; with a column ``text`` it is one of the hub's, without one of the table."""
    return _as_asked(row) if "text" in row else _with_options(row)


def _with_options(row: dict[str, Any]) -> dict[str, Any]:
    options = options_of(row)
    return {
        "question": row["question"],
        "question_type": "multiple-choice",
        "options": options,
        "answer": letter_of(row["answer"], len(options)),
        "category": row["category"],
        **({"hint": row["hint"]} if row.get("hint") else {}),
    }


def _as_asked(row: dict[str, Any]) -> dict[str, Any]:
    """Keep the text with its options and its closing instruction as it is."""
    letters = listed_letters(row["text"])
    if letters != list(ascii_uppercase[: len(letters)]) or len(letters) < 2:
        raise ValueError(
            f"the text lists the options {letters}, expected (A), (B), ... on lines of their own"
        )
    return {
        # The ids count within a category in some copies, over all rows in others.
        "question_id": f"{row['category']}_{row.get('question_id', row['index'])}",
        "question": row["text"],
        "question_type": "multiple-choice",
        "answer": letter_of(row["label"], len(letters)),
        "category": row["category"],
    }


def listed_letters(text: str) -> list[str]:
    """Return the letters of the options that a text lists, one a line.

    Example:
        >>> listed_letters("What is it made of?\\n(A) rubber\\n(B) cotton\\nAnswer with the letter.")
        ['A', 'B']
    """
    return _LISTED.findall(text)


def original_files(folder: Path) -> list[Path]:
    """Return the files of the original layout, one a picture; none where a folder is laid out otherwise."""
    return [file for category in CATEGORIES for file in sorted((folder / category).glob("*.json"))]


def _process_original(cfg: Any, files: Sequence[Path]) -> None:
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    pictures = {
        path.with_suffix(""): path
        for folder in {file.parent for file in files}
        for path in folder.iterdir()
        if path.suffix != ".json"
    }
    rows, problems = [], []
    for file in files:
        try:
            row = original_row(
                f"{file.parent.name}/{file.stem}", json.loads(file.read_text(encoding="utf-8"))
            )
            picture = pictures.get(file.with_suffix(""))
            if picture is None:
                raise ValueError("no picture of this name lies beside it")
            rows.append({**row, "img_path": store.add(picture.read_bytes(), row["question_id"])})
        except (OSError, ValueError, DataError) as error:
            problems.append(f"{file}: {error}")
    if problems:
        raise DataError(f"{cfg.dataset_path}: files that are not as expected:\n{listing(problems)}")
    write_annotations(out_dir, rows)


def original_row(question_id: str, record: Any) -> dict[str, Any]:
    """Return the annotation of an original record; its first option, the true one, goes to a place drawn by the id.

    Raises:
        ValueError: It is no question with at least two different options.

    Example:
        >>> record = {"question": "Which?", "options": ["red", "blue"], "target_object": ["cup"], "bbox": []}
        >>> row = original_row("direct_attributes/1", record)
        >>> row["options"][ord(row["answer"]) - ord("A")]
        'red'
    """
    if not isinstance(record, dict) or not {"question", "options"} <= record.keys():
        raise ValueError("expected an object with a question and its options")
    options = [str(option) for option in record["options"]]
    if len(options) < 2 or len(set(options)) < len(options):
        raise ValueError(f"{options!r} are no options of a choice")
    shuffled = random.Random(question_id).sample(options, len(options))
    return {
        "question_id": question_id,
        "question": record["question"],
        "question_type": "multiple-choice",
        "options": shuffled,
        "answer": ascii_uppercase[shuffled.index(options[0])],
        "category": question_id.partition("/")[0],
        "target_object": record.get("target_object"),
        "bbox": record.get("bbox"),
    }
