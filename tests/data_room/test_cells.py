"""Cells of published tables: encrypted texts, lists of answers, rows of free questions, fixed subsets."""

from __future__ import annotations

import base64
import hashlib
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.data import decrypt, sample_positions, short_answer_row, text_of, texts_of, verl_row
from flagharness.errors import ConfigError


def encrypted(text: str, passphrase: str) -> str:
    key = hashlib.sha256(passphrase.encode()).digest()
    data = bytes(byte ^ pad for byte, pad in zip(text.encode(), cycle(key), strict=False))
    return base64.b64encode(data).decode()


@given(st.text(max_size=200), st.text(max_size=20))
def test_what_was_encrypted_comes_back(text: str, passphrase: str) -> None:
    assert decrypt(encrypted(text, passphrase), passphrase) == text


@pytest.mark.parametrize("cell", ["no base64!", "Zm9v", encrypted("Which city is this?", "another key")])
def test_a_wrong_pass_phrase_fails_and_never_gives_the_text_as_it_was(cell: str) -> None:
    with pytest.raises(ValueError, match="is the pass phrase right"):
        decrypt(cell, "key 7")


# Where pandas' sample(n=300, random_state=42) draws: first ten, last three, sum, digests of the comma-joined
# positions in drawn and in sorted order; measured with pandas 1.5.3 and 3.1.1.
DRAWN: list[tuple[int, list[int], list[int], int, str, str]] = [
    (
        1800,
        [1591, 943, 869, 162, 1271, 70, 247, 322, 1659, 1004],
        [339, 532, 1221],
        267_243,
        "512858f4ae055bd2",
        "6f0888b488ab9875",
    ),
    (
        2000,
        [1860, 353, 1333, 905, 1289, 1273, 938, 1731, 65, 1323],
        [1719, 1831, 427],
        301_566,
        "621b52a378c71ddd",
        "d2b3788c5b87ddbc",
    ),
    (
        1960,
        [1096, 572, 450, 383, 1489, 1402, 128, 1475, 824, 239],
        [298, 942, 1884],
        298_949,
        "a5bb9cfa3b70dabe",
        "7031f6f268235b5d",
    ),
]


@pytest.mark.parametrize(("n", "first", "last", "total", "drawn", "in_order"), DRAWN)
def test_the_subset_is_the_one_that_pandas_draws(
    n: int, first: list[int], last: list[int], total: int, drawn: str, in_order: str
) -> None:
    positions = sample_positions(n, 300, 42)
    assert (positions[:10], positions[-3:], sum(positions)) == (first, last, total)
    assert len(set(positions)) == 300
    assert digest(positions) == drawn
    assert digest(sorted(positions)) == in_order


def digest(positions: list[int]) -> str:
    return hashlib.sha256(",".join(map(str, positions)).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("rows", "size"), [(10, 11), (10, 0), (0, 1)])
def test_no_more_can_be_drawn_than_there_is(rows: int, size: int) -> None:
    with pytest.raises(ConfigError, match=f"cannot draw {size} of {rows} rows"):
        sample_positions(rows, size, 42)


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        (None, []),
        ("", []),
        (" ", []),
        ("Rome", ["Rome"]),
        (1889, ["1889"]),
        (["a", " ", "b"], ["a", "b"]),
        (["a", None, float("nan"), 0], ["a", "0"]),
        (float("nan"), []),
        ([["a"]], ["a"]),
        ('["a", "b"]', ["a", "b"]),
        ("['it''s', 1]", ["its", "1"]),
        ("[not a list", ["[not a list"]),
        ("[]", []),
    ],
)
def test_the_texts_of_a_cell(cell: Any, texts: list[str]) -> None:
    assert texts_of(cell) == texts


@pytest.mark.parametrize("cell", [{"a": 1}, [{"a": 1}], ["a", b"x"]])
def test_a_record_is_no_text(cell: Any) -> None:
    with pytest.raises(ValueError, match="a value is no text but"):
        texts_of(cell)


@pytest.mark.parametrize(("cell", "text"), [(None, ""), (0, "0"), (2.5, "2.5"), (" a ", " a ")])
def test_the_text_of_a_cell(cell: Any, text: str) -> None:
    assert text_of(cell, "the answer") == text


def test_a_list_is_no_single_text() -> None:
    with pytest.raises(ValueError, match=r"the answer is no text but \['a'\]"):
        text_of(["a"], "the answer")


def row(**cells: Any) -> dict[str, Any]:
    return {"question": "Which city?", "source_row": 3, **cells}


def test_a_row_of_a_free_question() -> None:
    assert short_answer_row(row(), ["a", ["b", "c"]], area="x", level=None, tags=[]) == {
        "question": "Which city?",
        "question_type": "short-answer",
        "answer": "a",
        "answers": ["a", ["b", "c"]],
        "answer_mode": "any",
        "source_row": 3,
        "area": "x",
    }
    assert short_answer_row(row(), ["a", "b"], mode="all")["answer"] == "a; b"
    assert short_answer_row(row(), [["b", "c"]])["answer"] == "b; c"
    assert short_answer_row(row(), [0])["answers"] == ["0"]


@pytest.mark.parametrize(
    ("cells", "answers", "said"),
    [
        ({"question": None}, ["a"], "the question is empty"),
        ({"question": " \n"}, ["a"], "the question is empty"),
        ({}, [], "no true answer"),
        ({}, [None, " "], "no true answer"),
        ({"question": encrypted("Which city is in this picture?", "x")}, ["a"], "the question is encrypted"),
    ],
)
def test_rows_that_cannot_be_asked_are_refused(cells: dict[str, Any], answers: list[Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        short_answer_row(row(**cells), answers)


@pytest.mark.parametrize(
    "question", ["Supercalifragilisticexpialidocious?", "图中的建筑建于哪一年？", "1+1=?"]
)
def test_a_question_in_one_word_is_no_encrypted_one(question: str) -> None:
    assert short_answer_row(row(question=question), ["a"])["question"] == question


def test_other_rows_than_those_for_training_stay_as_they_are() -> None:
    assert verl_row({"question": "?", "image": "x"}) == {"question": "?", "image": "x"}
