"""Humanity's Last Exam, the 330 questions with a picture that WebWatcher takes."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_table, short_answer_row, texts_of

PICTURES = "hle_imgs"
"""Where pictures lie that a file names by a path on another machine: beside that file."""


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=adapt)


def adapt(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of WebWatcher's file under the table's names.

    The rationale, which gives the answer away, is left out. An answer is a list in a list there.
    """
    if "prompt" not in row:
        return row
    place = row["file_path"]
    name = place.rpartition("/")[2]
    return {
        "question": row["prompt"],
        "answer": next(iter(texts_of(row["answers"])), None),
        "image_path": place if "://" in place else f"{PICTURES}/{name}",
        "category": row["task"].partition("/")[2],
        "source_id": row.get("question_id"),
    }


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row. The answer stays as it is: "[1, 2]" is one answer, and no list of two."""
    return short_answer_row(
        row,
        [row["answer"]],
        sub_task=row.get("category"),
        source_id=row.get("source_id"),
    )
