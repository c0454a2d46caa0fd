"""Yes or no."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.extract import extract_yes_no

_TABLE = [
    ("Yes", "yes"), ("No.", "no"), ("no, it is not", "no"), ("There is no cat", "no"),
    ("**Yes**", "yes"), ("**No**", "no"),
    ("Yes: the line is longer", "yes"), ("\\boxed{Yes}", "yes"), ("<answer>No</answer>", "no"),
    ("YES!!!", "yes"),
    ("Yes, no other object is there", None), ("Not really", None),
    ("It does not", None), ("", None),
    ("maybe", None), ("not sure", None), ("Y", None), ("I know it.", None), ("noyes", None),
    ("yes or no", None),
    ("Yes, the stone carries a death notice.", "yes"), ("Yes, there is a cat on the sofa.", "yes"),
    ("The answer is yes. There is no doubt.", "yes"), ("Is it yes or no? The answer is no.", "no"),
    ("The answer is yes or no", None), ("<think>yes</think>No", "no"), ("<think>yes", None),
    ('{"answer": "yes"}', "yes"),
    ("<answer></answer>No", "no"),
    ("First: <answer>yes</answer>. No: <answer>no</answer>", "no"), ("No<|im_end|>", "no"),
    ("是", "yes"), ("是的，图中有一只猫。", "yes"), ("不是。", "no"), ("否", "no"), ("没有", "no"),
    ("答案是：否", "no"),
    ("答案是不是", "no"), ("答案：是的", "yes"), ("是否", None), ("不对，图中没有猫。", "no"), ("图中有猫", None),
    ("正确", "yes"),
    ("错误", "no"), ("可以。", "yes"), ("是的，没有。", None),
    ("No, there is not.", "no"), ("I do not know", None), ("yes or no?", None), ("notice", None), ("eyes", None),
    ("Answer: yes\nNo wait.\nAnswer: no", "no"), ("【答案】是", "yes"),
    # words that answer where they lead
    ("True", "yes"), ("false.", "no"), ("Yeah", "yes"), ("Nope, there is none", "no"), ("Correct.", "yes"),
    ("True, because the line is longer", "yes"), ('{"answer": true}', "yes"), ('{"answer": false}', "no"),
    ("The answer is true.", "yes"), ("The statement is false.", "no"), ("<answer>False</answer>", "no"),
    ("True or false?", None), ("true/false", None), ("True love is shown", None), ("The true size is 5", None),
    ("The statement is true if it is red", None), ("True. There is no error", None), ("Correct: no", None),
    # denied, or no answer at all
    ("The answer is not yes", None), ("Not yes", None), ("I can't say yes", None), ("I cannot say no.", None),
    ("The answer is not no, it is yes", "yes"), ("No, the answer is not yes.", "no"), ("It is not, no.", "no"),
    ("No idea", None), ("No idea. Yes?", "yes"), ("There is no way to tell.", None), ("No way!", "no"),
    ("I have no information about the image", None), ("There is no information on the sign", "no"),
    ("I cannot see the image, no image was provided.", None), ("There is no image of a cat", "no"),
    ("Yes, there is no doubt about it.", "yes"), ("No doubt: yes", "yes"),
    # Chinese
    ("答案是肯定的", "yes"), ("答案是否定的。", "no"), ("确实有", "yes"), ("并没有", "no"), ("图中没有猫。", "no"),
    ("这张图片中不存在猫", "no"), ("图中没有足够的信息", None), ("没有图片", None), ("图中没有猫，有狗", None),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "value"), _TABLE)
def test_only_whole_words_of_one_kind_are_read(reply: str, value: str | None) -> None:
    assert extract_yes_no(reply).value == value


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "no_response"),
        ("<think>yes", "unfinished_reasoning"),
        ("maybe", "unparsed"),
        ("yes and no", "ambiguous"),
        ("yes", "words"),
        ("Answer: yes", "cue"),
        ("<answer>yes</answer>", "answer_tag"),
        ("\\boxed{yes}", "boxed"),
        ('{"answer": "yes"}', "json"),
    ],
)
def test_the_rule_or_the_reason_is_told(reply: str, rule: str) -> None:
    assert extract_yes_no(reply).rule == rule


def test_the_span_points_at_the_word() -> None:
    text = "<think>no</think> Well, **Yes**."

    found = extract_yes_no(text)

    assert found.span is not None
    assert text[slice(*found.span)] == "Yes"


@given(
    st.lists(
        st.sampled_from(["yes", "no", "Yes.", "<answer>", "</answer>", "答案是", "是", "不", ",", "know"])
    ).map(" ".join)
)
def test_a_value_stands_in_the_text_and_whitespace_changes_nothing(text: str) -> None:
    found = extract_yes_no(text)

    assert found.value in {None, "yes", "no"}
    assert (found.value is None) == (found.span is None)
    assert found.span is None or 0 <= found.span[0] < found.span[1] <= len(text)
    padded = extract_yes_no(f"\n {text} \n")
    assert (padded.value, padded.rule) == (found.value, found.rule)
