"""MMSearch, end to end: the questions that have a picture, from the table or from the authors' data set."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_table, short_answer_row, texts_of


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=adapt)


def adapt(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return a row of the authors' data set under the table's names; None for a question without a picture.

    ``image_search_result`` is what a search found: input of their pipeline, and not shown to the model.
    """
    if "query_image" not in row:
        return row
    if row["query_image"] is None:
        return None
    return {
        "index": row["sample_id"],
        "image": row["query_image"],
        "question": row["query"],
        "answer": row["gt_answer"],
        **{key: row.get(key) for key in ("alternative_gt_answers", "area", "subfield", "timestamp")},
    }


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row: its answer and the alternatives, each of which alone is right."""
    answers = [*texts_of(row["answer"]), *texts_of(row.get("alternative_gt_answers"))]
    return short_answer_row(
        row,
        list(dict.fromkeys(answers)),
        sub_task=row.get("area"),
        subfield=row.get("subfield"),
        timestamp=row.get("timestamp"),
    )
