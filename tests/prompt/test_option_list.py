from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.engine._requests import build_messages
from flagharness.prompt import PromptTemplate, build_question, option_list_prompt
from flagharness.task import Sample

TAIL = "Please select the correct answer from the options above. \n"


@pytest.mark.parametrize(
    ("annotation", "prompt"),
    [
        (
            {"question": "Which is red?", "options": ["cup", "plate", "fork", "knife"]},
            "Question: Which is red?\nOptions:\nA. cup\nB. plate\nC. fork\nD. knife\n" + TAIL,
        ),
        (
            {"question": "Is it red?", "options": ["Yes", "No"]},
            "Question: Is it red?\nOptions:\nA. Yes\nB. No\n" + TAIL,
        ),
        (
            {"question": "Q", "options": ["x", "y"], "hint": "Look left."},
            "Hint: Look left.\nQuestion: Q\nOptions:\nA. x\nB. y\n" + TAIL,
        ),
        (
            {"question": "Q", "options": ["x", "y"], "hint": ""},
            "Question: Q\nOptions:\nA. x\nB. y\n" + TAIL,
        ),
        (
            {"question": "Q", "options": ["x", "y"], "hint": None},
            "Question: Q\nOptions:\nA. x\nB. y\n" + TAIL,
        ),
        ({"question": "", "options": ["x", "y"]}, "Question: \nOptions:\nA. x\nB. y\n" + TAIL),
        ({"question": " Q?\n", "options": [" x", "y "]}, "Question:  Q?\n\nOptions:\nA.  x\nB. y \n" + TAIL),
        # the source's own question ends in its options: both stay
        (
            {"question": "Q\nA. x\nB. y", "options": ["x", "y"]},
            "Question: Q\nA. x\nB. y\nOptions:\nA. x\nB. y\n" + TAIL,
        ),
    ],
)
def test_hint_question_options_and_request_stand_as_published(
    annotation: dict[str, Any], prompt: str
) -> None:
    shown = {**annotation, "question": build_question(annotation)}
    assert PromptTemplate(prompt_func=option_list_prompt).build_prompt(shown) == prompt


@pytest.mark.parametrize(
    "question", ["Is it red?", "Which? (A) x (B) y\nAnswer with the letter.", " Q \n", ""]
)
@pytest.mark.parametrize("options", [{}, {"options": []}, {"options": None}])
def test_a_row_without_options_is_asked_as_it_is(question: str, options: dict[str, Any]) -> None:
    annotation = {"question": question, "hint": "not shown", **options}
    assert option_list_prompt(annotation) == question


def test_a_question_that_was_not_joined_with_its_options_gives_the_same() -> None:
    annotation = {"question": "Which?", "options": ["x", "y"]}
    joined = {**annotation, "question": build_question(annotation)}
    assert option_list_prompt(annotation) == option_list_prompt(joined)


@given(question=st.text(max_size=12), options=st.lists(st.text(max_size=6), min_size=1, max_size=5))
def test_the_question_is_found_again_whatever_it_holds(question: str, options: list[str]) -> None:
    annotation = {"question": question, "options": options}
    prompt = option_list_prompt({**annotation, "question": build_question(annotation)})
    assert prompt.startswith(f"Question: {question}\nOptions:\nA. {options[0]}\n")


@pytest.mark.parametrize("verbatim", [True, False])
def test_nothing_on_the_way_trims_the_end(verbatim: bool) -> None:
    prompt = option_list_prompt({"question": "Q", "options": ["x", "y"]})
    sample = Sample("1", prompt, (Path("a.png"),))
    [message] = build_messages(sample, None, verbatim=verbatim)
    assert message.parts[-1] == prompt
    assert prompt.endswith("above. \n")


def test_a_mark_in_an_option_is_text_where_the_prompt_is_sent_verbatim() -> None:
    prompt = option_list_prompt({"question": "Which tag?", "options": ["<image>", "<video>"]})
    [message] = build_messages(Sample("1", prompt, (Path("a.png"),)), None, verbatim=True)
    assert message.parts[1] == prompt
