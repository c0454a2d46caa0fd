"""Per question type: what a truth may look like, and which labels count."""

from __future__ import annotations

from typing import Any

import pytest

from flagharness.evaluator._rules import ALPHABET, RULES, labels_of, question_type_of

_ABCD = ["cat", "dog", "hen", "cow"]


@pytest.mark.parametrize(
    ("kind", "row", "label"),
    [
        # one of the labels, in whatever clothes
        ("multiple-choice", {"answer": "B", "options": _ABCD}, "B"),
        ("multiple-choice", {"answer": "b", "options": _ABCD}, "B"),
        ("multiple-choice", {"answer": " (B) ", "options": _ABCD}, "B"),
        ("multiple-choice", {"answer": "B.", "options": _ABCD}, "B"),
        ("multiple-choice", {"answer": ["B"], "options": _ABCD}, "B"),
        ("multiple-choice", {"answer": "dog", "options": _ABCD}, "B"),
        ("multiple-choice", {"answer": " dog ", "options": _ABCD}, "B"),
        ("multiple-choice", {"answer": 2, "options": ["1", "2", "3"]}, "B"),
        ("multiple-choice", {"answer": "A", "options": ["B", "A"]}, "A"),
        ("multiple-choice", {"answer": "J"}, "J"),
        ("multiple-choice", {"answer": "AB", "options": [str(n) for n in range(30)]}, "AB"),
        # sets of labels
        ("multiple-response", {"answer": "ABC", "options": _ABCD}, "ABC"),
        ("multiple-response", {"answer": "C, A", "options": _ABCD}, "AC"),
        ("multiple-response", {"answer": "A and C", "options": _ABCD}, "AC"),
        ("multiple-response", {"answer": ["c", "a", "a"], "options": _ABCD}, "AC"),
        ("multiple-response", {"answer": {"D", "A"}, "options": _ABCD}, "AD"),
        ("multiple-response", {"answer": "B", "options": _ABCD}, "B"),
        ("multiple-response", {"answer": "(A), (C)", "options": _ABCD}, "AC"),
        ("multiple-response", {"answer": "A、C", "options": _ABCD}, "AC"),
        ("multiple-response", {"answer": "A C.", "options": _ABCD}, "AC"),
        ("multiple-response", {"answer": "a, b, and d", "options": _ABCD}, "ABD"),
        ("multiple-response", {"answer": "ca", "options": _ABCD}, "AC"),
        ("multiple-response", {"answer": "[A, C]"}, "AC"),
        ("multiple-response", {"answer": "['A', 'C']"}, "AC"),
        ("multiple-response", {"answer": "AC"}, "AC"),
        ("multiple-response", {"answer": "C, A"}, "AC"),
        ("multiple-response", {"answer": ["C", "A"]}, "AC"),
        # yes and no
        ("yes-no", {"answer": "Yes"}, "yes"),
        ("yes-no", {"answer": "no."}, "no"),
        ("yes-no", {"answer": True}, "yes"),
        ("yes-no", {"answer": False}, "no"),
        ("yes-no", {"answer": 1}, "yes"),
        ("yes-no", {"answer": "0"}, "no"),
        ("yes-no", {"answer": "对"}, "yes"),
        ("yes-no", {"answer": "错。"}, "no"),
        # counts
        ("count", {"answer": 0}, 0),
        ("count", {"answer": "12"}, 12),
        ("count", {"answer": 12.0}, 12),
        ("count", {"answer": " 7 "}, 7),
        ("count", {"answer": "3."}, 3),
        # numbers
        ("number", {"answer": "1,000.5"}, 1000.5),
        ("number", {"answer": -3}, -3),
        ("number", {"answer": "3.0"}, 3),
        ("number", {"answer": "1e3"}, 1000),
        ("number", {"answer": 0}, 0),
        # text: kept as it is
        ("fill-in-the-blank", {"answer": "cat"}, "cat"),
        ("fill-blank", {"answer": 5}, 5),
        ("cloze", {"answer": ["cat", "kitten"]}, ["cat", "kitten"]),
        ("short-answer", {"answer": [1, "one"]}, [1, "one"]),
    ],
)
def test_a_truth_is_brought_into_the_form_that_is_compared(
    kind: str, row: dict[str, Any], label: Any
) -> None:
    found = RULES[kind].truth(row)
    assert found == label
    assert type(found) is type(label)


@pytest.mark.parametrize(
    ("kind", "row", "reason"),
    [
        (
            "multiple-choice",
            {"answer": "E", "options": _ABCD},
            "neither one of the labels A-D nor one option's text",
        ),
        ("multiple-choice", {"answer": "bird", "options": _ABCD}, "answer 'bird' is neither"),
        ("multiple-choice", {"answer": "", "options": _ABCD}, "answer '' is neither"),
        ("multiple-choice", {"answer": ["A", "B"], "options": _ABCD}, "is neither"),
        ("multiple-choice", {"answer": "dog", "options": ["dog", "dog"]}, "is neither one of the labels A-B"),
        ("multiple-choice", {"answer": 3, "options": ["1", "2"]}, "answer 3 is neither"),
        ("multiple-choice", {"answer": "E", "question": "Which?\nA. x\nB. y\nC. z"}, "one of the labels A-C"),
        ("multiple-response", {"answer": "AE", "options": _ABCD}, "is not a set of the labels A-D"),
        ("multiple-response", {"answer": "", "options": _ABCD}, "is not a set of the labels"),
        ("multiple-response", {"answer": [], "options": _ABCD}, "is not a set of the labels"),
        ("multiple-response", {"answer": ["dog"], "options": _ABCD}, "is not a set of the labels"),
        ("multiple-response", {"answer": "A or C", "options": _ABCD}, "is not a set of the labels A-D"),
        ("multiple-response", {"answer": "A cat", "options": _ABCD}, "is not a set of the labels A-D"),
        ("multiple-response", {"answer": "cat"}, "answer 'cat' is not a set of the labels A-Z"),
        ("multiple-response", {"answer": "CAT"}, "is not a set of the labels A-Z"),
        ("multiple-response", {"answer": "act"}, "is not a set of the labels A-Z"),
        ("multiple-response", {"answer": "hand"}, "is not a set of the labels A-Z"),
        ("multiple-response", {"answer": "A, C, cat"}, "is not a set of the labels A-Z"),
        ("yes-no", {"answer": "maybe"}, "answer 'maybe' is neither yes nor no"),
        ("yes-no", {"answer": 2}, "answer 2 is neither yes nor no"),
        ("yes-no", {"answer": ["yes"]}, "is neither yes nor no"),
        ("count", {"answer": "many"}, "answer 'many' is not a whole number of at least 0"),
        ("count", {"answer": 2.5}, "is not a whole number"),
        ("count", {"answer": -1}, "is not a whole number"),
        ("count", {"answer": True}, "answer True is not a whole number"),
        ("count", {"answer": ["3"]}, "is not a whole number"),
        ("count", {"answer": ""}, "is not a whole number"),
        ("number", {"answer": "about 3"}, "answer 'about 3' is not a number"),
        ("number", {"answer": False}, "answer False is not a number"),
        ("number", {"answer": "nan"}, "answer 'nan' is not a number"),
        ("number", {"answer": float("inf")}, "answer inf is not a number"),
        ("number", {"answer": [3]}, "is not a number"),
        ("short-answer", {"answer": ""}, "answer '' is no text, number or list of them"),
        ("short-answer", {"answer": " "}, "is no text"),
        ("short-answer", {"answer": []}, "is no text"),
        ("short-answer", {"answer": ["a", ""]}, "is no text"),
        ("short-answer", {"answer": {"a": 1}}, "is no text"),
        ("cloze", {"answer": [["a"]]}, "is no text"),
    ],
)
def test_what_cannot_be_a_truth_is_refused_with_the_reason(
    kind: str, row: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the text is compared below
        RULES[kind].truth(row)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("row", "labels"),
    [
        ({"options": ["a"]}, "A"),
        ({"options": [str(n) for n in range(7)]}, "ABCDEFG"),
        ({"options": ["a", "b"], "question": "A. x\nB. y\nC. z"}, "AB"),
        ({"question": "Which?\nA. x\nB. y\nC. z"}, "ABC"),
        ({"question": "Which?\n(A) x\n(B) y"}, "AB"),
        ({"question": "Which?\n[A] x\n[B] y"}, "AB"),
        ({"question": "Which?\n  A) x\n  B: y"}, "AB"),
        ({"question": "A. Smith wrote it. Who?"}, ALPHABET),
        ({"question": "B. x\nC. y"}, ALPHABET),
        ({"question": "Which?\nA. x\nC. y"}, ALPHABET),
        ({"question": "Which? A. x B. y"}, ALPHABET),
        ({"question": ""}, ALPHABET),
        ({}, ALPHABET),
        ({"options": None, "question": None}, ALPHABET),
        ({"options": []}, ALPHABET),
    ],
)
def test_the_labels_of_a_row_come_from_its_options_then_its_question(
    row: dict[str, Any], labels: str
) -> None:
    assert list(labels_of(row)) == list(labels)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({"question_type": "count"}, "count"),
        ({"question_type": "count", "options": ["a"]}, "count"),
        ({"options": ["a"]}, "multiple-choice"),
        ({"question_type": "", "options": ["a"]}, "multiple-choice"),
        ({"question_type": None}, "short-answer"),
        ({}, "short-answer"),
        ({"options": []}, "short-answer"),
    ],
)
def test_a_row_without_a_type_is_a_choice_if_it_has_options(row: dict[str, Any], kind: str) -> None:
    assert question_type_of(row) == kind
