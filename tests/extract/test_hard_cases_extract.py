"""Faults of answer parsing that people met, as rows of data files."""

from __future__ import annotations

import json
from collections.abc import Callable
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
_READERS: dict[str, Callable[..., Extraction[Any]]] = {
    "choice": extract_choice,
    "choices": extract_choices,
    "count": extract_count,
    "number": extract_number,
    "short_answer": extract_short_answer,
    "yes_no": extract_yes_no,
}
_CASES = [
    case
    for area in ("parse-mcq", "parse-yesno", "parse-count")
    for case in json.loads((_FOLDER / f"{area}.json").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", _CASES, ids=[case["id"] for case in _CASES])
def test_a_fault_met_elsewhere_does_not_happen_here(case: dict[str, Any]) -> None:
    arguments = dict(case["input"])
    read = _READERS[arguments.pop("reader")]

    found = [read(**arguments) for _ in range(20)]  # a guess would differ between tries

    assert found.count(found[0]) == 20
    assert {key: getattr(found[0], key) for key in case["expected"]} == case["expected"]
