"""Numbers in figures and words."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.extract import extract_number, extract_numbers

_TABLE = [
    ("3 - 5", 5), ("-5", -5), ("It is -5 degrees", -5), ("−4", -4), ("-$1,200.50", -1200.5),
    ("about 45%", 45), ("20 m2", 20),
    ("20 m^2", 20), ("20 m²", 20), ("1,200", 1200), ("The answer is 2.0 m (about 6.5 feet)", 2),
    ("twenty one", 21),
    ("Nine", 9), ("zero", 0), ("ninety-nine bottles", 99), ("four (4)", 4), ("1.5e3", 1500),
    ("1.2\\times 10^{5}", 120000),
    ("1.2 × 10^5 N", 120000), ("1/2", 0.5), ("\\frac{3}{4}", 0.75), ("1/0", None),
    ("<answer>3/4</answer>", 0.75),
    ("12/05/2020", 2020), ("60 km/h", 60), ("\\boxed{42} and 7", 42), ("\\boxed{1{,}200}", 1200),
    ("<answer>20 cm</answer>", 20), ("答案是 30 米。", 30), ("３０", 30), ("Answer: 12 out of 15", 12),
    ("$80,000 + $50,000 = $130,000 in total.", 130000),
    ("The total is $80,000 + $50,000 = $130,000 in total.", 130000),
    ("The answer is x = 5 cm", 5), ("H2O", None), ("no idea", None), ("", None),
    ("Answer:\n\n42", 42), (".5", 0.5), ("5.", 5),
    ("1e999", None), ("9" * 400, None), ('{"answer": 7.5}', 7.5),
    ("There are 3 dogs and 2 cats, so 5 animals.", 5),
    ("2-3 m", 3), ("The answer is 12. I counted 3 rows of 4.", 12), ("The answer is five.", 5),
    ("The answer is 10, not 12", 10), ("<think>7</think>8", 8), ("<think>7", None),
    ("<answer>unclear</answer> 8", 8), ("42", 42), ("3.14", 3.14), ("50%", 50), ("\\boxed{12} of 13", 12),
    ("Answer: 3\nThat took 10 minutes.", 3), ("12 or 13? It is 13.", 13),
    # signs and fractions
    ("–5", -5), ("3–5", 5), ("minus 5", -5), ("The answer is minus 5.", -5), ("It is negative five.", -5),
    ("10 minus 5", 5), ("\\boxed{\\frac{1}{2}}", 0.5), ("$\\frac{1}{2}$", 0.5), ("-\\frac{1}{2}", -0.5),
    ("2 1/2", 2.5), ("minus 2 1/2", -2.5), ("2\\frac{1}{2}", 2.5), ("2 5/2", 2.5),
    # scales and powers
    ("2 million", 2e6), ("12 million", 12e6), ("$2.5 million", 2.5e6), ("12k", 12000), ("300 K", 300),
    ("3 dozen eggs", 36), ("1万", 10000), ("1.5 亿人", 1.5e8), ("5千", 5000), ("5千克", 5), ("5 km", 5),
    ("3 × 10⁸", 3e8), ("3 * 10^8", 3e8), ("3\\times10^{-2}", 0.03), ("2×10⁻²", 0.02), ("20 m²", 20),
    # words
    ("one hundred", 100), ("a hundred", 100), ("one hundred and twenty-three", 123), ("two and three", 3),
    ("two million five hundred thousand and one", 2500001), ("half a million", None), ("sixteen", 16),
    # what leads and is explained in brackets; what a calculation explains
    ("12 apples (6 red and 6 green)", 12), ("There are 12 apples (6 red, 6 green).", 12), ("7 (seven)", 7),
    ("I see 3 rows of 4 (12)", 12), ("3 rows (12 in total)", 12), ("See row 3 (5 trees)", 5), ("seven (7)", 7),
    ("answer is 12 = 3*4", 12), ("answer is 12 = 3 * 4.", 12), ("7 = 3 + 4", 7), ("x = 3 + 4 = 7", 7),
    ("3 + 4 = 7", 7), ("7 = 3 + 4. So 9 in all", 9), ("12 = 3/4", 0.75),
    # denied
    ("The answer is not 4", None), ("not 4", None), ("It isn't 4.", None), ("It is not 4 but 5", 5),
    ("There are 5, not 4", 5), ("不是 4", None), ("I am not sure, 4", 4),
    ("【答案】5【解析】3+2", 5),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "value"), _TABLE)
def test_the_number_a_reply_states_is_read(reply: str, value: float | None) -> None:
    assert extract_number(reply).value == value


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "no_response"),
        ("<think>7", "unfinished_reasoning"),
        ("none", "unparsed"),
        ("7", "last_number"),
        ("seven", "number_word"),
        ("Answer: 7", "cue"),
        ("<answer>7</answer>", "answer_tag"),
        ("\\boxed{7}", "boxed"),
        ('{"answer": 7}', "json"),
    ],
)
def test_the_rule_or_the_reason_is_told(reply: str, rule: str) -> None:
    assert extract_number(reply).rule == rule


@given(
    st.integers(-(10**12), 10**12),
    st.sampled_from(
        [
            "{:,}",
            "<answer>{}</answer>",
            "The answer is {:,} m.",
            "\\boxed{{{}}}",
            "about {} m2",
            "It costs {:,}$.",
        ]
    ),
)
def test_a_written_number_is_read_back(number: int, form: str) -> None:
    assert extract_number(form.format(number)).value == number


@given(st.floats(-1e6, 1e6))
def test_a_decimal_number_is_read_back(number: float) -> None:
    assert extract_number(f"The answer is {number!r} cm.").value == number


@given(st.text(alphabet="0123456789,.-+−eE/×^= \n$%answer:{}\\boxed"))
def test_a_number_is_finite_and_stands_in_the_text(text: str) -> None:
    found = extract_number(text)

    assert (found.value is None) == (found.span is None)
    if found.value is not None and found.span is not None:
        assert math.isfinite(found.value)
        assert 0 <= found.span[0] < found.span[1] <= len(text)
    assert extract_number(f" {text}\n").value == found.value


@pytest.mark.parametrize(
    ("reply", "numbers", "rule"),
    [
        ("3, 4 and 5", (3.0, 4.0, 5.0), "whole_reply"),
        ("In 2 steps.\nAnswer: (3, -4.5)", (3.0, -4.5), "cue"),
        (r"Of 9: \boxed{1, 2}", (1.0, 2.0), "boxed"),
        ("<answer>1,200 and 7</answer> of 10", (1200.0, 7.0), "answer_tag"),
        ("3 m2 and 4 m2", (3.0, 4.0), "whole_reply"),
        ("not 4 but 5", (5.0,), "whole_reply"),
        ("no idea", None, "unparsed"),
        ("", None, "no_response"),
        ("<think>3, 4", None, "unfinished_reasoning"),
    ],
)
def test_all_numbers_of_an_answer(reply: str, numbers: tuple[float, ...] | None, rule: str) -> None:
    found = extract_numbers(reply)
    assert (found.value, found.rule) == (numbers, rule)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6))
def test_a_list_of_numbers_is_read_as_it_is(numbers: list[int]) -> None:
    assert extract_numbers(f"Answer: {'; '.join(map(str, numbers))}").value == tuple(map(float, numbers))
