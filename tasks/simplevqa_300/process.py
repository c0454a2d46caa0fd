"""SimpleVQA, the 300 English questions that WebWatcher takes: their own table, or picked from all."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_table, short_answer_row
from flagharness.errors import DataError

IDS = range(1012, 1312)
"""The ``data_id`` of the 300 among the 2,025: the first English ones."""


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=adapt)


def adapt(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a row whose id is called ``index``; None for one of the full set that is not among the 300.

    Raises:
        DataError: One of the 300 is not English: the ids are not those of the published set.
    """
    own = row.get("data_id")
    if own is None or str(own) == "":
        return row
    if int(float(own)) not in IDS:
        return None
    language = str(row.get("language") or "EN")
    if not language.casefold().startswith("en"):
        raise DataError(
            f"data_id {own} is in language {language!r}; the 300 rows {IDS[0]} to {IDS[-1]} are English."
        )
    return {**row, "index": row.get("index", own)}


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; what tells the picture (``image_description``, ``atomic_*``) is left out."""
    return short_answer_row(
        row,
        [row["answer"]],
        sub_task=row.get("language"),
        category=row.get("original_category"),
        source=row.get("source"),
    )
