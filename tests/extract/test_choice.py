"""Which option a reply chooses."""

from __future__ import annotations

import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.extract import Extraction, extract_choice, extract_choices

_FILE = Path(__file__).parents[1] / "data" / "choices.json"
_CASES = json.loads(_FILE.read_text(encoding="utf-8"))
_OPTIONS = ["leather", "cotton", "silk", "wool"]
_FORMS = [
    "{}", "{}.", "({})", "[{}]", "**{}**", "`{}`", '"{}"', "\\boxed{{{}}}",
    "\\boxed{{\\text{{{}}}}}", "$\\boxed{{{}}}$",
    "<answer>{}</answer>", '{{"answer": "{}"}}', "Answer: {}", "**Answer:** {}",
    "Final Answer: {}", "The answer is {}.",
    "The answer is ({}).", "The correct answer is **{}**.", "Option {}", "({}) is correct.",
    "I think {}", "Yes, {}",
    "I would pick {}", "答案是{}", "故选{}。", "正确答案：{}", "（{}）", "【{}】", "{}<|im_end|>",
    "<think>A or B?</think>{}", "I looked at every part.\n{}", "{}\nExplanation: the rest does not fit.",
]  # fmt: skip
_WORDS = st.sampled_from(
    [*"ABCDEIabcdi", "The", "answer", "is", "not", "a", "option", "or", "and", ",", ".", ":", "(", ")", "\n", "A.",
     "B)", "\\boxed{", "}", "<answer>", "</answer>", "cotton", "silk", "Wait,", "so", "答案", "选", "是",
     "不", "正确", "I", "**", '{"answer":', '"B"', "correct", "think", "</think>", "?", "İ"]
)  # fmt: skip
_PROSE = st.one_of(
    st.lists(_WORDS, max_size=25).map(" ".join), st.lists(_WORDS, max_size=12).map("".join), st.text()
)


def _name(case: dict[str, Any]) -> str:
    return ascii(case["text"][:40])


def _choose(case: dict[str, Any]) -> Extraction[str]:
    choose = extract_choices if case.get("many") else extract_choice
    return choose(case["text"], case["labels"], case.get("options"))


@pytest.mark.parametrize("case", _CASES, ids=map(_name, _CASES))
def test_the_table_of_replies_is_read_as_a_person_reads_it(case: dict[str, Any]) -> None:
    found = _choose(case)

    assert found.value == case["expected"]
    if "rule" in case:
        assert found.rule == case["rule"]


@pytest.mark.parametrize("case", _CASES, ids=map(_name, _CASES))
def test_whitespace_around_a_reply_changes_nothing_but_the_position(case: dict[str, Any]) -> None:
    found, padded = _choose(case), _choose({**case, "text": f" \n{case['text']} \n\n"})

    assert (padded.value, padded.rule) == (found.value, found.rule)
    assert padded.span == (found.span and (found.span[0] + 2, found.span[1] + 2))


@pytest.mark.parametrize("case", _CASES, ids=map(_name, _CASES))
def test_a_reply_after_reasoning_is_read_as_without_it(case: dict[str, Any]) -> None:
    if "think" in case["text"]:
        return
    found, behind = (
        _choose(case),
        _choose({**case, "text": "<think>Answer: A? B? (C)\nD</think>" + case["text"]}),
    )

    assert (behind.value, behind.rule) == (found.value, found.rule)


@pytest.mark.parametrize("form", _FORMS)
@pytest.mark.parametrize("label", ["A", "B", "I", "J", "T"])
@pytest.mark.parametrize("choose", [extract_choice, extract_choices])
def test_a_label_in_any_known_form_is_read(choose: Any, label: str, form: str) -> None:
    text = form.format(label)

    found = choose(text, string.ascii_uppercase[:20])

    assert found.value == label
    assert text[slice(*found.span)] == label


@pytest.mark.parametrize("form", [form for form in _FORMS if form not in {"I think {}", "Yes, {}"}])
@pytest.mark.parametrize("label", ["b", "d"])
def test_a_lower_case_label_is_read_where_only_a_label_can_stand(label: str, form: str) -> None:
    if form == "({}) is correct.":
        return
    assert extract_choice(form.format(label), "ABCD").value == label.upper()


def test_the_span_points_at_the_label_in_the_text_as_given() -> None:
    text = "<think>A?</think>\n**最终答案**：（Ｂ）"

    found = extract_choice(text, "ABCD")

    assert found.span is not None
    assert text[slice(*found.span)] == "Ｂ"


def test_the_span_points_at_the_option_text_that_was_read() -> None:
    text = "It is made of  Cotton ."

    assert extract_choice(text, "ABCD", _OPTIONS) == Extraction("B", "option_text", (15, 21))


def test_the_name_of_the_answer_tag_is_a_parameter() -> None:
    text = "<answer>A</answer> <choice>B</choice>"

    assert extract_choice(text, "ABCD").value == "A"
    assert extract_choice(text, "ABCD", answer_tag="choice").value == "B"


def test_a_very_long_reply_is_read_at_its_start_and_its_end() -> None:
    prose = "The cloth lies on a chair next to the window. " * 5_000

    assert extract_choice(f"{prose}\nThe answer is B.", "ABCD") == Extraction(
        "B", "cue", (len(prose) + 15, len(prose) + 16)
    )
    assert extract_choice(f"B\n{prose}", "ABCD").value == "B"
    assert extract_choice(f"<answer>B</answer>{prose}", "ABCD").value == "B"
    assert extract_choice(prose, "ABCD").value is None


def test_options_may_be_fewer_than_labels() -> None:
    assert extract_choice("cotton", "ABCDEFGH", _OPTIONS).value == "B"


@given(_PROSE)
def test_one_choice_is_a_label_of_the_row_and_stands_in_the_text(text: str) -> None:
    found = extract_choice(text, "ABCD", _OPTIONS)

    assert found.value in {None, "A", "B", "C", "D"}
    assert (found.span is None) == (found.value is None)
    if found.span is not None:
        start, end = found.span
        assert 0 <= start < end <= len(text)


@given(_PROSE)
def test_several_choices_are_sorted_labels_of_the_row(text: str) -> None:
    found = extract_choices(text, "ABCD", _OPTIONS)

    assert found.value is None or (
        found.value and list(found.value) == sorted(set(found.value) & set("ABCD"))
    )
    if found.span is not None:
        assert 0 <= found.span[0] < found.span[1] <= len(text)


@given(_PROSE)
def test_reading_twice_gives_the_same(text: str) -> None:
    assert extract_choice(text, "ABCD", _OPTIONS) == extract_choice(text, "ABCD", _OPTIONS)


@given(
    st.sets(st.sampled_from("ABCDEFG"), min_size=1),
    st.sampled_from([", ", ",", " and ", "、", "; ", "", " & "]),
)
def test_a_list_of_labels_is_read_however_it_is_joined(labels: set[str], separator: str) -> None:
    text = f"Answer: {separator.join(sorted(labels, reverse=True))}"

    assert extract_choices(text, "ABCDEFG").value == "".join(sorted(labels))
