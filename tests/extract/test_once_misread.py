"""Replies that were once read wrongly, of every kind of answer."""

from __future__ import annotations

import pytest

from flagharness.extract import (
    extract_choice,
    extract_choices,
    extract_number,
    extract_short_answer,
    extract_yes_no,
)
from flagharness.metric import answers_match


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("【答案】B", "B"),
        ("Looks like B", "B"),
        ("This corresponds to B.", "B"),
        ("That makes B the correct answer.", "B"),
        ("3cm", "A"),
        ("1,000", "B"),
        ("All but A", None),
        ("Unless the answer is A", None),
        ("The answer is A. No wait, that's wrong.", None),
        ("The answer is A. No wait, that's wrong. It is B.", "B"),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nB", "B"),
        ("A) 3 cm\nB) 1000\nC) a cat\nD) a dog\n\n**C**", "C"),
        ("(A) 3 cm\n(B) 1000\n(C) a cat\n(D) a dog\n``D``", "D"),
        ("A: 3 cm, B: 1000, C: a cat, D: a dog\nA", "A"),
        ("A. 3 cm\nB. 1000\nC. a cat\nD. a dog", None),
        ("C. a cat\nD. a dog\nB", None),
        ("B\nC", None),
        ("A: 3 cm; B: 1000; C: a cat; D: a dog\n`D`", "D"),
        ("Options:\n- A: 3 cm\n- B: 1000\n- C: a cat\n- D: a dog\n\nb", "B"),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nB: 1000", "B"),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nThe answer is B", "B"),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nA is wrong, B is better", None),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nB is wrong", None),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nNot B", None),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nA or B", None),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nB\nC", None),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nI cannot tell.", None),
        ("A: 3 cm\nB: 1000\nC: a cat\nD: a dog\nE", None),
        ("A: 3 cm, B: 1000, C: a cat, D: a dog", None),
        ("Answer with ``C``.", "C"),
        ("The answer: ``C`` because it purrs", "C"),
        ("Answer with\n```\nC\n```\nas asked", "C"),
        ("A is wrong, so ``B`` fits", "B"),
        ("Take `x` and answer with `D`!", "D"),
        ("It fits ``A``, not ``B``", "A"),
        ("We see ``A``. Later ``B``", None),
        ("Not ``B``.", None),
        ("It can't be ``B``.", None),
        ("``B`` is wrong", None),
        ("Is it ``B``?", None),
        ("`x` A `y`", None),
        ("Let ``a`` be the length", None),
        ("It fits ``A`` and not ``B``", None),
        ("The key is `E`", None),
        ("Options:\nA: 3 cm\nB: 1000\nC: a cat\nD: a dog\nI cannot tell.", None),
        ("Options: A. 3 cm B. 1000 C. a cat D. a dog\nIt is B.", "B"),
        ("The choices: (A) 3 cm, (B) 1000, (C) a cat, (D) a dog. The answer is (C).", "C"),
        ("Choices: B", "B"),
        ("Of the options: B. It is the longest.", "B"),
    ],
)
def test_one_choice(text: str, value: str | None) -> None:
    assert extract_choice(text, "ABCD", ["3 cm", "1000", "a cat", "a dog"]).value == value


def test_a_listing_of_fewer_options_than_labels_is_one_too() -> None:
    reply = "A: left\nB: right\nC: up\nB"

    assert extract_choice(reply, "ABCDEFGH", ["left", "right", "up"]).value == "B"


@pytest.mark.parametrize(
    "text",
    [
        "A、C正确",
        "A选项正确，C选项正确，B、D错误",
        "A is correct. C is correct.",
        "(A)(C)",
        "A C",
        "A+C",
        "AC正确",
        "【答案】AC",
    ],
)
def test_several_choices(text: str) -> None:
    assert extract_choices(text, "ABCD").value == "AC"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("True", "yes"),
        ("False.", "no"),
        ("Yeah", "yes"),
        ("Nope", "no"),
        ('{"answer": true}', "yes"),
        ("答案是肯定的", "yes"),
        ("The answer is not yes", None),
        ("I can't say yes", None),
        ("No idea", None),
        ("I cannot see the image, no image was provided.", None),
        ("A false ceiling hangs there", None),
    ],
)
def test_yes_or_no(text: str, value: str | None) -> None:
    assert extract_yes_no(text).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\\frac{1}{2}", 0.5),
        ("\\boxed{\\frac{1}{2}}", 0.5),
        ("minus 5", -5),
        ("–5", -5),
        ("3–5", 5),
        ("one hundred", 100),
        ("2 million", 2e6),
        ("1万", 1e4),
        ("2 1/2", 2.5),
        ("3 × 10⁸", 3e8),
        ("12 apples (6 red and 6 green)", 12),
        ("answer is 12 = 3*4", 12),
        ("The answer is 3 * 4 = 12", 12),
        ("The answer is not 4", None),
        ("<answer>two</answer> or 3", 2),
        ("\\boxed{twenty-one} of 30", 21),
        ("<answer></answer> 5", 5),
        ("<answer>1,200</answer>", 1200),
        ("<answer>-3.5 m</answer>", -3.5),
        ("<answer>minus two</answer> of 3", -2),
        ("<answer>about two metres</answer> or 3", 2),
        ("<think>5</think><answer>Two.</answer> 3", 2),
        ("<answer>one of the 3</answer>", 3),
        ("<answer>unclear</answer> or 3", 3),
        ("two or 3", 3),
    ],
)
def test_numbers(text: str, value: float | None) -> None:
    assert extract_number(text).value == value


@pytest.mark.parametrize(
    ("text", "truth", "same"),
    [
        ("C#", "C#", True),
        ("(1, 2)", "(1,2)", True),
        ("是红色", "红色", True),
        ("不是红色", "红色", False),
        ("Yes, it is.", "yes", True),
        ("No, it is not.", "yes", False),
        ("5 million", "5", False),
        ("5万", "5", False),
        ("5 m", "5", True),
    ],
)
def test_short_answers(text: str, truth: str, same: bool) -> None:
    found = extract_short_answer(text).value
    assert found is not None
    assert answers_match(found, truth) is same
