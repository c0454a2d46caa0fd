"""BrowseComp-VL: from the table or from WebWatcher's two files."""

from __future__ import annotations

import re
from typing import Any

from flagharness.data import process_table, short_answer_row, texts_of


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=adapt)


def adapt(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of WebWatcher's files under the table's names; its level stands in the picture's path.

    That path starts above the folder of the files; pictures are taken from ``images/`` beside them.
    """
    if "answers" not in row or "answer" in row:
        return row
    return {
        "question": row["question"],
        "answer": next(iter(texts_of(row["answers"])), None),
        "image_path": f"images/{row['image_path'].partition('images/')[2]}",
        "domain": row.get("domain"),
        "level": level_of(row["image_path"]),
    }


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row."""
    return short_answer_row(row, [row["answer"]], sub_task=row.get("level"), domain=row.get("domain"))


def level_of(path: str) -> str | None:
    """Return the level that a picture's path names, None if it names none.

    Example:
        >>> level_of("images/level2/level2_17.jpg"), level_of("images/17.jpg")
        ('level2', None)
    """
    found = re.search(r"level[_-]?([12])", path)
    return f"level{found[1]}" if found else None
