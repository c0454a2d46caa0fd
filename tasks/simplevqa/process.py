"""SimpleVQA: short questions about facts that a picture asks for, Chinese and English."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_table, short_answer_row


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=adapt)


def adapt(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose id is called ``index``, as in the table."""
    return {**row, "index": row.get("index", row.get("data_id"))}


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; what tells the picture (``image_description``, ``atomic_*``) is left out."""
    return short_answer_row(
        row,
        [row["answer"]],
        sub_task=row.get("language"),
        category=row.get("original_category"),
        source=row.get("source"),
    )
