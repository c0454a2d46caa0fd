"""Encyclopedic-VQA, 1,960 test questions: alternatives and parts in one cell."""

from __future__ import annotations

from typing import Any

from flagharness.data import process_table, short_answer_row, text_of


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question", "answer"])


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; ``question_original``, which names what is to be recognised, is left out."""
    return short_answer_row(
        row,
        answers_of(text_of(row["answer"], "the answer")),
        sub_task=row.get("question_type"),
        dataset_name=row.get("dataset_name"),
    )


def answers_of(cell: str) -> list[str | list[str]]:
    """Return the alternatives of a cell (between ``|``); one that lists several things (``&&``) is a list of parts.

    Example:
        >>> answers_of("1889|in 1889"), answers_of("red&&blue"), answers_of("oak && ash|two trees")
        (['1889', 'in 1889'], [['red', 'blue']], [['oak', 'ash'], 'two trees'])
    """
    answers: list[str | list[str]] = []
    for alternative in cell.split("|"):
        parts = [part.strip() for part in alternative.split("&&") if part.strip()]
        answer: str | list[str] = parts[0] if len(parts) == 1 else parts
        if parts and answer not in answers:
            answers.append(answer)
    return answers
