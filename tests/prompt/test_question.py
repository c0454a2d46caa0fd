from __future__ import annotations

from typing import Any

import pytest

from flagharness.prompt import build_question, option_labels


def test_labels_go_on_after_z_as_spreadsheet_columns_do() -> None:
    labels = option_labels(703)
    assert labels[:3] == ["A", "B", "C"]
    assert labels[25:29] == ["Z", "AA", "AB", "AC"]
    assert labels[51:53] == ["AZ", "BA"]
    assert labels[701:] == ["ZZ", "AAA"]
    assert len(set(labels)) == 703
    assert option_labels(0) == []


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ({"question": "Which?", "options": ["cat", "dog"]}, "Which?\nA. cat\nB. dog"),
        ({"question": "Which?", "options": [0, 1.5]}, "Which?\nA. 0\nB. 1.5"),
        ({"question": "Which?", "options": []}, "Which?"),
        ({"question": "Which?", "options": None}, "Which?"),
        ({"question": "Which?"}, "Which?"),
        ({"question": "", "options": ["cat"]}, "A. cat"),
        ({"question": None}, ""),
        ({}, ""),
        ({"question": "Which?", "img_path": ["a.png", "b.png"]}, "Which?"),
    ],
)
def test_options_follow_the_question_one_a_line(annotation: dict[str, Any], expected: str) -> None:
    assert build_question(annotation) == expected


def test_hundred_options_all_have_letters() -> None:
    lines = build_question({"question": "Which?", "options": ["x"] * 100}).splitlines()
    assert lines[27:29] == ["AA. x", "AB. x"]
    assert lines[-1] == "CV. x"
