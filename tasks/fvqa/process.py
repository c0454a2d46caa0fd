"""FVQA, the test part: from the table or from the authors' parquet file."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_table, short_answer_row, texts_of, verl_row


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=verl_row)


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row: the usual answer first, and each of its equivalents alone is right."""
    answers = [*texts_of(row["answer"]), *texts_of(row.get("candidate_answers"))]
    return short_answer_row(row, list(dict.fromkeys(answers)), sub_task=row.get("category"))
