"""The strict count parse."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.extract import extract_count

_TABLE = [
    ("1,234", 1234), ("1,234,567", 1234567), ("12.", 12), ("-4", None), ("(-5)", None),
    ("3-5", 5), ("x-5", 5),
    ("\\boxed{12} 13", 12), ("\\boxed{5} then \\boxed{6}", 6), ("There are 12 cats and 3 dogs.", 3),
    ("7 apples (see row 2)", 2), ("1,2", 2), ("10%", 10), ("1 234", 234), ("007", 7),
    ("−4", None), ("four", None),
    ("4 (four)", 4), ("3.5", None), ("The answer is 7.5", None), ("3.0", None), ("", None),
    ("\\boxed{}", None),
    ("\\boxed{\\text{7}}", 7), ("\\boxed{1,024}", 1024), ("\\boxed{12", 12),
    ("Total: 3 + 4 = 7", 7), ("12,34", 34),
    ("1/2", 2), ("1e3", 3), ("0", 0), ("Answer: **8**", 8), ("1", 1),
    ("12 then -3", None), ("12, then 2.5", None), ("1,234.5", None), ("1234,567", 1234567),
    ("1,234,5678", 5678),
    ("1.5,123", None), ("5-3-2", 2), ("a-1,000", 1000), ("- 5", 5), ("３", None), ("5,", 5),
    ("\\boxed{5} and \\boxed{6", 6),
    ("\\boxed{a{1}b{2}}", 2), ("\\boxed {9}", 9), ("<think>3 or 4</think>5", 5),
    ("<think>3", None), ("7</think>", None),
    ("$80,000 + $50,000 = $130,000 in total.", 130000), ("9" * 19, None),
    ("9" * 18, 10**18 - 1), ("0" * 30 + "7", 7),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "count"), _TABLE)
def test_the_last_number_of_the_reply_decides(reply: str, count: int | None) -> None:
    assert extract_count(reply).value == count


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "no_response"),
        (" \n", "no_response"),
        ("<think>7</think>", "no_response"),
        ("<think>7", "unfinished_reasoning"),
        ("seven", "unparsed"),
        ("-7", "unparsed"),
        ("7", "last_number"),
        ("\\boxed{7}", "boxed"),
    ],
)
def test_the_rule_or_the_reason_is_told(reply: str, rule: str) -> None:
    assert extract_count(reply).rule == rule


@given(
    st.integers(0, 10**15),
    st.sampled_from(["{}", "{:,}", "\\boxed{{{:,}}} 3 4", "I count {:,}.", "<think>1</think>{}"]),
)
def test_a_written_count_is_read_back_with_its_position(count: int, form: str) -> None:
    text = form.format(count)

    found = extract_count(text)

    assert found.value == count
    assert found.span is not None
    assert text[slice(*found.span)].replace(",", "") == str(count)


@given(st.text(alphabet="0123456789,.-−x \\boxed{}<think>/"))
def test_a_count_is_never_negative_and_stands_in_the_text(text: str) -> None:
    found = extract_count(text)

    assert (found.value is None) == (found.span is None)
    if found.value is not None and found.span is not None:
        assert 0 <= found.value < 10**18
        assert text[slice(*found.span)][-1].isdigit()


@given(st.text(), st.integers(0, 9999))
def test_whitespace_around_a_reply_changes_nothing(text: str, count: int) -> None:
    assert extract_count(f" \n{text} {count}\n ").value == extract_count(f"{text} {count}").value
