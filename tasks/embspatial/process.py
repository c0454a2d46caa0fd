"""EmbSpatial-Bench: the table with letters as truths, or the authors' records with numbers."""

from __future__ import annotations

import re
from string import ascii_uppercase
from typing import Any

from flagharness.data import letter_of, options_of, parse_list, process_table


def process(cfg: Any) -> None:
    """Write data.json and the pictures, in an order drawn once and for all: the source is sorted.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    process_table(cfg, row_of, required=["question", "answer"], shuffle=True)


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row of any form; they differ in the names of columns and in the kind of truth."""
    if not str(row["question"]).strip():
        raise ValueError("the question is empty")
    options = options_in(row)
    return {
        "question_id": str(row["index"] if row.get("question_id") in (None, "") else row["question_id"]),
        "question": row["question"],
        "question_type": "multiple-choice",
        "options": options,
        "answer": truth_of(row["answer"], len(options)),
        **{key: row[key] for key in ("data_source", "relation", "scene_id", "objects") if row.get(key)},
    }


def options_in(row: dict[str, Any]) -> list[str]:
    """Return the options of a row: a list, one written as text, or columns.

    Raises:
        ValueError: There are fewer than two.

    Example:
        >>> options_in({"options": "['the chair', \\"the cook's hat\\"]"}), options_in({"answer_options": ["a", "b"]})
        (['the chair', "the cook's hat"], ['a', 'b'])
    """
    cell = row.get("options") or row.get("answer_options")
    if not cell:
        return options_of(row)
    listed = parse_list(cell) if isinstance(cell, str) else list(cell)
    if listed is None or len(listed) < 2:
        raise ValueError(f"options {cell!r} are no list of at least two")
    return [str(option) for option in listed]


def truth_of(answer: Any, options: int) -> str:
    """Return the truth as a letter; a number counts the options from 0.

    Raises:
        ValueError: The row has no such option.

    Example:
        >>> truth_of(2, 4), truth_of("0", 4), truth_of("d", 4)
        ('C', 'A', 'D')
    """
    text = str(answer).strip()
    if not isinstance(answer, bool) and re.fullmatch(r"[0-9]{1,2}", text):
        if int(text) >= options:
            raise ValueError(f"answer {answer!r} is none of the numbers 0 to {options - 1}")
        return ascii_uppercase[int(text)]
    return letter_of(answer, options)
