"""Yes or no, numbers, short answers; and no reply makes any reader slow."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.extract import (
    extract_choice,
    extract_choices,
    extract_count,
    extract_number,
    extract_short_answer,
    extract_yes_no,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Yes", "yes"),
        ("no.", "no"),
        ("**Yes**", "yes"),
        ("Yes, the stone carries a death notice.", "yes"),
        ("No, there is not.", "no"),
        ("Answer: no", "no"),
        ("The answer is yes.", "yes"),
        ("<answer>No</answer>", "no"),
        ("\\boxed{Yes}", "yes"),
        ("是", "yes"),
        ("否", "no"),
        ("不是", "no"),
        ("maybe", None),
        ("not sure", None),
        ("I do not know", None),
        ("", None),
        ("yes or no?", None),
        ("notice", None),
        ("eyes", None),
        ("<think>yes</think>No", "no"),
        ("<think>yes", None),
        ("Answer: yes\nNo wait.\nAnswer: no", "no"),
    ],
)
def test_yes_or_no(text: str, value: str | None) -> None:
    assert extract_yes_no(text).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("3.14", 3.14),
        ("-2", -2),
        ("1,200", 1200),
        ("20 m2", 20),
        ("$130,000", 130000),
        ("50%", 50),
        ("$80,000 + $50,000 = $130,000 in total.", 130000),
        ("The answer is 7.", 7),
        ("\\boxed{12} of 13", 12),
        ("<answer>5</answer> 6", 5),
        ("Answer: 3\nThat took 10 minutes.", 3),
        ("none", None),
        ("", None),
        ("<think>1</think> 2", 2),
    ],
)
def test_numbers(text: str, value: float | None) -> None:
    assert extract_number(text).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Paris", "Paris"),
        ("Paris.", "Paris"),
        ('"Paris"', "Paris"),
        ("**Paris**", "Paris"),
        ("<answer>Paris</answer>", "Paris"),
        ("\\boxed{Paris}", "Paris"),
        ("Long story.\nAnswer: Paris", "Paris"),
        ("答案是巴黎", "巴黎"),
        ("<think>Rome?</think>Paris", "Paris"),
        ("", None),
        ("  ", None),
        ("3.5", "3.5"),
    ],
)
def test_short_answers(text: str, value: str | None) -> None:
    assert extract_short_answer(text).value == value


def test_the_tag_of_the_answer_can_be_named() -> None:
    reply = "<SUMMARY>A?</SUMMARY><CONCLUSION>B</CONCLUSION>"
    found = extract_choice(reply, list("ABCD"), answer_tag="CONCLUSION")
    assert (found.value, found.rule) == ("B", "answer_tag")
    assert extract_short_answer(reply, answer_tag="CONCLUSION").value == "B"


@given(st.text(max_size=80))
def test_a_span_lies_inside_the_reply(text: str) -> None:
    for extract in (extract_yes_no, extract_number, extract_short_answer, extract_count):
        found = extract(text)
        if found.span is not None:
            assert 0 <= found.span[0] <= found.span[1] <= len(text)


@pytest.mark.parametrize(
    "piece",
    [
        "A",
        "(A) ",
        "a b ",
        "\\boxed{",
        "{",
        "answer ",
        "<answer>",
        "<think>",
        "1,",
        "1 ",
        "yes or ",
        "is ",
        "**",
        "\n",
        "option A or ",
        "Answer: A\n",
        '"answer": ',
        "not ",
        "答案",
        " ",
    ],
)
def test_no_reply_makes_a_reader_slow(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    labels, options = list("ABCD"), ["red", "green", "blue", "a b"]
    started = time.process_time()
    extract_choice(text, labels, options)
    extract_choices(text, labels, options)
    for extract in (extract_yes_no, extract_number, extract_short_answer, extract_count):
        extract(text)
    assert time.process_time() - started < 10  # quadratic readers take minutes
