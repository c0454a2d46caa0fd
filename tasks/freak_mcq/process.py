"""FREAK, choices: the table with an option a column, or the hub's rows with the true option first."""

from __future__ import annotations

import random
from string import ascii_uppercase
from typing import Any

from flagharness.data import letter_of, options_of, parse_list, process_table


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    process_table(cfg, row_of, required=["question"])


def row_of(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the annotation of a row; with a column ``type`` it is one of the hub's, without one of the table.

    None for the questions of the hub that have no options.
    """
    if row.get("type") is None:
        return _of_table(row)
    return _of_hub(row) if row["type"] == "mcq" else None


def _of_table(row: dict[str, Any]) -> dict[str, Any]:
    """Keep the order of the options: the published numbers were made with it."""
    options = options_of(row)
    typical = row.get("hallu_answer")
    return {
        "question": row["question"],
        "question_type": "multiple-choice",
        "options": options,
        "answer": letter_of(row["answer"], len(options)),
        "hallucinated": ascii_uppercase[options.index(typical)] if typical in options else None,
        "category": categories_of(row.get("category")),
        **({"hint": row["hint"]} if row.get("hint") else {}),
    }


def _of_hub(row: dict[str, Any]) -> dict[str, Any]:
    """Put the options, the first of them true and the second the typical error, into an order of the row's own."""
    question_id = str(row["id"])
    cell = row["options"]
    given = [str(option) for option in (parse_list(cell) if isinstance(cell, str) else cell) or []]
    if len(given) < 3:
        raise ValueError(f"{len(given)} options; expected the truth, the typical error, ..., none of these")
    truth = row.get("ground_truth")
    if truth is not None and str(truth) in given[1:] and str(truth) != given[0]:
        raise ValueError(f"ground_truth {truth!r} is not the first of the options {given}, but another")
    order = drawn_order(len(given), question_id)
    return {
        "question_id": question_id,
        "question": row["question"],
        "question_type": "multiple-choice",
        "options": [given[place] for place in order],
        "answer": ascii_uppercase[order.index(0)],
        "hallucinated": ascii_uppercase[order.index(1)],
        "category": categories_of(row.get("category")),
        "item": row.get("item"),
    }


def drawn_order(options: int, question_id: str) -> list[int]:
    """Return an order of options drawn by the row's id, the same on every machine; the last one stays last.

    Example:
        >>> sorted(drawn_order(4, "5")[:3]), drawn_order(4, "5")[3], drawn_order(4, "5") == drawn_order(4, "5")
        ([0, 1, 2], 3, True)
    """
    moving = range(options - 1)
    return [*random.Random(question_id).sample(moving, len(moving)), options - 1]


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
