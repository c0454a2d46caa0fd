"""RealWorldQA: the table with an option a column, or the hub's rows with the options inside the question."""

from __future__ import annotations

import re
from typing import Any

from flagharness.data import letter_of, options_of, process_table

_LISTED = re.compile(r"^\s*\(?([A-Z])[.):]\s", re.MULTILINE)


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    process_table(cfg, row_of, required=["question", "answer"])


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; with option columns it is one of the table, without one of the hub's."""
    if not str(row["question"]).strip():
        raise ValueError("the question is empty")
    return _with_options(row) if "A" in row else _as_asked(row)


def _with_options(row: dict[str, Any]) -> dict[str, Any]:
    options = options_of(row)
    return {
        "question": row["question"],
        "question_type": "multiple-choice",
        "options": options,
        "answer": letter_of(row["answer"], len(options)),
        **({"hint": row["hint"]} if row.get("hint") else {}),
    }


def _as_asked(row: dict[str, Any]) -> dict[str, Any]:
    """Keep the question with its options and its closing instruction as it is."""
    answer = str(row["answer"]).strip()
    if not answer:
        raise ValueError("the answer is empty")
    is_choice = answer in listed_letters(row["question"])
    return {
        "question": row["question"],
        "question_type": "multiple-choice" if is_choice else "short-answer",
        "answer": answer,
    }


def listed_letters(question: str) -> list[str]:
    """Return the letters of the options that a question lists, one a line.

    Example:
        >>> listed_letters("Where is it?\\n\\nA. Left\\nB. Right\\nPlease answer with the letter.")
        ['A', 'B']
        >>> listed_letters("What letter is on the sign?")
        []
    """
    return _LISTED.findall(question)
