"""MMSI-Bench: the table with an option a column, or the hub's rows with the options at the end of the question."""

from __future__ import annotations

import re
from typing import Any

from flagharness.data import letter_of, options_of, process_table

_LISTED = re.compile(r"\bOptions:\s*(?=A:)")
_LABEL = re.compile(r"(?:^|,\s*)([A-D]):\s*")
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))


def process(cfg: Any) -> None:
    """Write data.json and the pictures, in an order drawn once and for all: the source is sorted by category.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    process_table(cfg, row_of, required=["question", "answer"], shuffle=True)


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; with option columns it is one of the table, without one of the hub's."""
    if not str(row["question"]).strip():
        raise ValueError("the question is empty")
    of_table = "A" in row
    options = options_of(row) if of_table else listed_options(row["question"])
    return {
        "question_id": str(row["index"] if of_table or row.get("id") is None else row["id"]),
        "question": row["question"],
        "question_type": "multiple-choice",
        "options": options,
        "answer": letter_of(row["answer"], len(options)),
        "category": plain_dashes(str(row.get("category") or row.get("question_type") or "")),
        **({"hint": row["hint"]} if row.get("hint") else {}),
    }


def listed_options(question: str) -> list[str]:
    """Return the options of the line that a question ends in.

    Raises:
        ValueError: There is no such line, or its letters are not A, B, ... in order.

    Example:
        >>> listed_options("Which way?\\nOptions: A: left, then right, B: back, C: up, D: down")
        ['left, then right', 'back', 'up', 'down']
    """
    _, *listed = _LISTED.split(question)
    _, *parts = _LABEL.split(listed[-1] if listed else "")
    letters, texts = parts[::2], parts[1::2]
    if len(letters) < 2 or letters != list("ABCD"[: len(letters)]):
        raise ValueError(
            f"the question lists the options {letters}, expected `Options: A: ..., B: ...` at its end"
        )
    return [text.strip().removesuffix(",") for text in texts]


def plain_dashes(name: str) -> str:
    """Return a category name with hyphens for all dashes: the hub writes some names in two ways.

    Example:
        >>> plain_dashes("Positional Relationship (Cam.\\u2013Obj.)")
        'Positional Relationship (Cam.-Obj.)'
    """
    return name.strip().translate(_DASHES)
