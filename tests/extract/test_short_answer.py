"""Short free-text answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.extract import extract_short_answer

_TABLE = [
    ("Paris", "Paris"), ("**Paris**.", "Paris"), ('"Oak Street."', "Oak Street"),
    ("`code_name`", "code_name"), ("“红色”", "红色"),
    ("The answer is **stop sign**.", "stop sign"),
    ("Answer: Paris. It is the capital.", "Paris"), ("红色。", "红色"),
    ("Answer: St. Louis", "St. Louis"), ("Answer: U.S. Army. It says so.", "U.S. Army"),
    ("Answer: No. 5", "No. 5"),
    ("The answer is 3.5 m.", "3.5 m"), ("答案是：红色。因为它很红。", "红色"), ("答案：红色", "红色"),
    ("<answer>Paris</answer>", "Paris"),
    ("The answer is Rome. <answer>Paris</answer>", "Paris"),
    ("\\boxed{\\text{Paris}}", "Paris"), ("\\boxed{x^{2}}", "x^{2}"),
    ('{"answer": "Paris", "sure": true}', "Paris"),
    ("Question: which?\nAnswer: a dog\n", "a dog"), ("(a dog)", "a dog"),
    ("f(x)", "f(x)"), ("(a) or (b)", "(a) or (b)"),
    ("Answer: Rome\nWait.\nAnswer: Paris", "Paris"), ("", None), ("**", None),
    ("<think>red</think> blue", "blue"), ("<think>red", None),
    ("The correct answer is: $5.", "$5"), ("$12.50", "$12.50"),
    ("$x^2$", "x^2"), ("It is blue.", "It is blue"),
    ("The answer to the question is blue!", "blue"), ("U.S.", "U.S."),
    ("snake_case", "snake_case"), ("**Answer: Moby Dick**", "Moby Dick"), ("-5", "-5"),
    ("#hashtag", "#hashtag"), ("C#", "C#"),
    ("3:15", "3:15"), ("12 * 3", "12 * 3"), ("5%", "5%"), ("Answer:\n\nblue", "blue"),
    ("**Paris** is big", "**Paris** is big"),
    ("YES", "YES"), ("blue<|im_end|>", "blue"),
    ("To answer: look there", "To answer: look there"), ("<answer></answer>", None), ("\\boxed{}", None),
    ("Long story.\nAnswer: Paris", "Paris"), ("答案是巴黎", "巴黎"), ("3.5", "3.5"), ("  ", None),
    ("【答案】北京", "北京"), ("【答案】：北京。", "北京"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "value"), _TABLE)
def test_the_answer_is_read_without_the_marks_around_it(reply: str, value: str | None) -> None:
    assert extract_short_answer(reply).value == value


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "no_response"),
        ("<think>blue", "unfinished_reasoning"),
        ("**", "unparsed"),
        ("blue", "whole_reply"),
        ("Answer: blue", "cue"),
        ("<answer>blue</answer>", "answer_tag"),
        ("\\boxed{blue}", "boxed"),
        ('{"answer": "blue"}', "json"),
    ],
)
def test_the_rule_or_the_reason_is_told(reply: str, rule: str) -> None:
    assert extract_short_answer(reply).rule == rule


def test_the_name_of_the_answer_tag_is_a_parameter() -> None:
    reply = "<SUMMARY>A?</SUMMARY><CONCLUSION>red</CONCLUSION>"

    assert extract_short_answer(reply, answer_tag="CONCLUSION").value == "red"


@given(st.text())
def test_the_answer_is_what_its_span_points_at(text: str) -> None:
    found = extract_short_answer(text)

    assert (found.value is None) == (found.span is None)
    if found.span is not None:
        assert found.value == text[slice(*found.span)]
        assert found.value.strip() == found.value != ""
    padded = extract_short_answer(f"\n{text} ")
    assert (padded.value, padded.rule) == (found.value, found.rule)


@given(
    st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,3}", fullmatch=True).filter(
        lambda word: "answer" not in word and "conclusion" not in word
    )
)
@pytest.mark.parametrize(
    "form", ["{}", "Answer: {}.", "<answer> {} </answer>", "\\boxed{{{}}}", "**{}**", '"{}"', "答案是{}。"]
)
def test_an_answer_in_any_known_form_is_read(form: str, answer: str) -> None:
    assert extract_short_answer(form.format(answer)).value == answer
