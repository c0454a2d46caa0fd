"""Replies that other readers got wrong, read by the extractors alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flagharness.extract import (
    Extraction,
    extract_choice,
    extract_choices,
    extract_count,
    extract_number,
    extract_short_answer,
    extract_yes_no,
)

_FOLDER = Path(__file__).parents[1] / "data" / "hard_cases"
_CASES = [
    case
    for area in ("parse-mcq", "parse-yesno", "parse-count")
    for case in json.loads((_FOLDER / f"{area}.json").read_text(encoding="utf-8"))
]


def _read(row: dict[str, Any]) -> Extraction[Any]:
    reply, options = row["reply"], row.get("options", [])
    labels = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(options)]
    match row["question_type"]:
        case "multiple-choice":
            return extract_choice(reply, labels, options)
        case "multiple-response":
            return extract_choices(reply, labels, options)
        case "yes-no":
            return extract_yes_no(reply)
        case "count":
            return extract_count(reply)
        case "number":
            return extract_number(reply)
        case _:
            return extract_short_answer(reply)


@pytest.mark.parametrize("case", _CASES, ids=[f"{case['id']}-{n}" for n, case in enumerate(_CASES)])
def test_a_reply_is_read_as_its_writer_meant_it(case: dict[str, Any]) -> None:
    expected = case["expected"]

    found = _read(case["input"])

    assert found.value == expected["answer"]
    if found.value is None:
        assert found.rule == expected["outcome"]
    elif "rule" in expected:
        assert found.rule == expected["rule"]


def test_an_unread_reply_is_never_filled_with_a_guess() -> None:
    replies = [extract_choice("Sorry, I cannot see the image.", "ABCD") for _ in range(20)]

    assert replies == [Extraction(None, "unparsed")] * 20
