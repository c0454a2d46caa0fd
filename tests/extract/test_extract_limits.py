"""No text makes an extractor slow, and the room stands alone."""

from __future__ import annotations

import ast
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import flagharness.extract
from flagharness.extract import (
    Extraction,
    extract_choice,
    extract_choices,
    extract_count,
    extract_number,
    extract_short_answer,
    extract_yes_no,
)

_OPTIONS = ["leather", "cotton silk", "silk", "wool"]
_EXTRACTORS: list[Callable[[str], object]] = [
    lambda text: extract_choice(text, "ABCD", _OPTIONS),
    lambda text: extract_choice(text, "ABCD", "ABCD"),
    lambda text: extract_choices(text, "ABCD", _OPTIONS),
    extract_count,
    extract_number,
    extract_short_answer,
    extract_yes_no,
]
_REPEATED = [
    " ", "\n", "a", "A, ", "A or ", "answer to ", "The answer is A? ", "best a ", "is A. ", "(",
    "[A] ", "{", "\\boxed{",
    "<answer>", "<think></think>", '{"answer": "', "{'answer':\"", "\\", "1,", "1.", "-", "_",
    "a__", "选项是", "wait, so A is ",
    "A. x\n", "\nuser", "= ", "cotton ",
]  # fmt: skip
_PHRASES = [
    "A", "(A) ", "a b ", "1 ", "1/", "1 = ", "1*", "1(", "answer ", "<think>", "yes or ", "no ", "not ", "is ", "**",
    "option A or ", "Answer: A\n", '"answer": ', "答案", "是", "one hundred ", "minus ", "图中", "A is correct. ",
    "A+", "that's wrong. ", "but ",
]  # fmt: skip
_REPLIES = [
    "B", "(C)", "The answer is B.", "B. leather", "<answer>B</answer>", "\\boxed{A}", "silk",
    "故选B。", "I cannot tell.",
    "Based on the image, the fabric on the chair appears to be made of silk, so the answer is C.",
]  # fmt: skip


def _cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


@pytest.mark.parametrize("piece", _REPEATED, ids=ascii)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    text = "A" + piece * (200_000 // len(piece)) + " x"

    for extract in _EXTRACTORS:
        start = time.process_time()
        extract(text)
        assert time.process_time() - start < 2.0


@pytest.mark.parametrize("piece", _PHRASES, ids=ascii)
def test_no_reply_makes_a_reader_slow(piece: str) -> None:
    text = piece * (200_000 // len(piece))

    for extract in _EXTRACTORS:
        assert _cpu_seconds(partial(extract, text)) < 2.0


@given(st.text(max_size=80))
def test_a_span_lies_inside_the_reply(text: str) -> None:
    readers: list[Callable[[str], Extraction[Any]]] = [extract_yes_no, extract_number, extract_short_answer]
    for extract in readers:
        found = extract(text)
        if found.span is not None:
            assert 0 <= found.span[0] <= found.span[1] <= len(text)


def test_ten_thousand_usual_choices_take_less_than_a_second_or_so() -> None:
    def work() -> None:
        for i in range(10_000):
            extract_choice(_REPLIES[i % len(_REPLIES)], "ABCD", _OPTIONS)

    assert _cpu_seconds(work) < 2.0


def test_fifty_thousand_counts_take_less_than_a_second_or_so() -> None:
    def work() -> None:
        for i in range(50_000):
            extract_count(f"There are {i:,} dots.")

    assert _cpu_seconds(work) < 2.0


def test_the_room_imports_nothing_but_itself_and_the_standard_library() -> None:
    folder = Path(flagharness.extract.__file__).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert (
                    name.startswith("flagharness.extract.") or name.split(".")[0] in sys.stdlib_module_names
                )


def test_the_public_names_are_listed_in_order() -> None:
    assert flagharness.extract.__all__ == sorted(flagharness.extract.__all__)
