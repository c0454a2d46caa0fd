"""RealX-Bench: questions about real pictures that take looking, searching and reasoning."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_table, short_answer_row, texts_of


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"])


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; of several answers each alone is right."""
    return short_answer_row(row, texts_of(row["answer"]), sub_task=row.get("category"))
