"""FREAK, free answers: the table, or the hub's rows of type ``fib``."""

from __future__ import annotations

from typing import Any

from flagharness.data import parse_list, process_table, text_of


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer.
    """
    process_table(cfg, row_of, required=["question"])


def row_of(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the annotation of a row; with a column ``type`` it is one of the hub's, without one of the table.

    None for the questions of the hub that have options. What a judge may be told, ``ground_truth`` and
    ``hallu_answer`` (the typical error, None where the row does not name it), stays in the row.
    """
    is_of_hub = row.get("type") is not None
    if is_of_hub and row["type"] != "fib":
        return None
    truth = "" if is_of_hub else text_of(row.get("answer"), "the answer")
    truth = truth or text_of(row.get("ground_truth"), "the answer")
    question = text_of(row["question"], "the question")
    if not truth.strip():
        raise ValueError("no true answer")
    if not question.strip():
        raise ValueError("the question is empty")
    return {
        **({"question_id": str(row["id"])} if is_of_hub else {}),
        "question": question,
        "question_type": "open",
        "answer": truth,
        "ground_truth": truth,
        "hallu_answer": row.get("hallu_answer") or None,
        "category": categories_of(row.get("category")),
    }


def categories_of(cell: Any) -> list[str]:
    """Return the categories of a row, which are a text, a list, or a list written as text.

    Example:
        >>> categories_of("counting"), categories_of("['shape', 'color']"), categories_of(["ocr"]), categories_of("")
        (['counting'], ['shape', 'color'], ['ocr'], [])
    """
    listed = parse_list(cell) if isinstance(cell, str) else cell
    if listed is None:
        return [cell] if cell else []
    return [str(category) for category in listed]
