"""VDR-Bench, testmini: questions about pictures whose answers lie deep in the web."""

from __future__ import annotations

import re
from typing import Any

from flagharness.data import process_table, short_answer_row, text_of, texts_of

_FOR_TOOLS = re.compile(r"\A\s*image_id:\s*\S+\s+(?:Question:\s*)?", re.IGNORECASE)


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=adapt)


def adapt(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose id is called ``index``, whatever the source calls it."""
    own = row.get("index", row.get("id", row.get("idx")))
    return {**row, "index": own}


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; of several answers each alone is right."""
    question = plain_question(text_of(row["question"], "the question"))
    return short_answer_row(
        {**row, "question": question}, texts_of(row["answer"]), sub_task=row.get("category")
    )


def plain_question(text: str) -> str:
    """Return a question without the picture's number, which is for an agent's tools.

    Example:
        >>> plain_question("image_id:1 Question: Who built it?"), plain_question("Who built it?")
        ('Who built it?', 'Who built it?')
    """
    return _FOR_TOOLS.sub("", text)
