"""OCRBench by its manifest; rows of the authors' own JSON file are first given the columns of the hub's."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_manifest


def process(cfg: Any) -> None:
    """Write data.json and the pictures, in an order drawn once and for all: the source is sorted by category."""
    process_manifest(cfg, adapt=with_hub_columns, shuffle=True)


def with_hub_columns(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row under the column names of the hub's data set, its answers as a list.

    The ``id`` of the authors' file is left out: it is unique within one of the 25 sources only.

    Example:
        >>> with_hub_columns({"question": "?", "answer": "a"})
        {'question': '?', 'answer': ['a']}
        >>> row = {"dataset_name": "svt", "id": 7, "image_path": "a.jpg", "answers": "a", "type": "T"}
        >>> with_hub_columns(row)["answer"], with_hub_columns(row)["image"], "id" in with_hub_columns(row)
        (['a'], {'path': 'a.jpg'}, False)
    """
    if "dataset_name" in row:
        row = {
            "dataset": row["dataset_name"],
            "question": row.get("question"),
            "question_type": row.get("type"),
            "answer": row.get("answers"),
            "image": {"path": row.get("image_path")},
        }
    answer = row.get("answer")
    return {**row, "answer": [answer] if isinstance(answer, str) else answer}
