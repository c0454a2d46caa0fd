from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from flagharness.errors import ConfigError, DataError
from flagharness.prompt import PromptTemplate, build_question, default_instruction
from flagharness.registry import PROMPTS

SHORT_EN = "Answer the question using a single word or phrase."
SHORT_ZH = "请用一个词或短语回答问题。"
LETTER_EN = "Answer with the option's letter from the given choices directly."


def _annotation(**fields: Any) -> dict[str, Any]:
    annotation = {"question_id": 7, "question": "What is this?", "question_type": "short-answer", **fields}
    return {**annotation, "question": build_question(annotation)}


def _prompt(annotation: dict[str, Any] | None = None, **parts: Any) -> str:
    return PromptTemplate(**parts).build_prompt(annotation or _annotation())


# --- Assembly ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, f"What is this?\n{SHORT_EN}"),
        ({"post_prompt": None}, f"What is this?\n{SHORT_EN}"),
        ({"post_prompt": ""}, "What is this?"),
        ({"post_prompt": "Be brief."}, "What is this?\nBe brief."),
        ({"pre_prompt": "Look. ", "post_prompt": ""}, "Look. What is this?"),
        ({"pre_prompt": "Look.", "examples": "Q: x A: y\n"}, f"Q: x A: y\nLook.What is this?\n{SHORT_EN}"),
        ({"pre_prompt": "\n\n", "post_prompt": " \n"}, "What is this?"),
        ({"prompt_func": lambda annotation: " all mine ", "post_prompt": "unused"}, " all mine "),
        (
            {"post_prompt": lambda annotation, **kwargs: annotation["question_type"]},
            "What is this?\nshort-answer",
        ),
        (
            {"pre_prompt": lambda annotation: f"#{annotation['question_id']} ", "post_prompt": ""},
            "#7 What is this?",
        ),
        ({"examples": lambda annotation: "Q/A ", "post_prompt": ""}, "Q/A What is this?"),
    ],
)
def test_parts_stand_where_they_belong(parts: dict[str, Any], expected: str) -> None:
    assert _prompt(**parts) == expected


def test_question_of_multiple_choice_holds_its_options() -> None:
    annotation = _annotation(question_type="multiple-choice", options=["cat", "dog"])
    assert _prompt(annotation) == f"What is this?\nA. cat\nB. dog\n{LETTER_EN}"


def test_question_that_lies_in_the_picture_has_only_an_instruction() -> None:
    assert _prompt(_annotation(question="", question_type="vision")) == SHORT_EN


def test_image_marks_stay() -> None:
    assert _prompt(_annotation(question="<image 1> What?"), post_prompt="") == "<image 1> What?"


def test_building_a_prompt_does_not_change_the_annotation() -> None:
    def spoil(annotation: dict[str, Any]) -> str:
        annotation["question"] = "spoilt"
        return ""

    annotation = _annotation()
    _prompt(annotation, post_prompt=spoil)
    assert annotation == _annotation()


def test_template_is_registered() -> None:
    assert PROMPTS.get("PromptTemplate") is PromptTemplate


# --- Default instructions ----------------------------------------------------------------------------------

_TYPES = (
    *("multiple-choice", "multiple-response", "yes-no", "fill-in-the-blank", "fill-blank", "cloze"),
    *("short-answer", "open", "count", "number", "bbox"),
)


@pytest.mark.parametrize("question_type", _TYPES)
def test_every_type_has_an_instruction_in_both_languages(question_type: str) -> None:
    english = default_instruction(question_type, "What is ___?", "en")
    chinese = default_instruction(question_type, "___是什么?", "zh")
    assert english.isascii()
    assert english.endswith(".")
    assert chinese.endswith("。")
    assert len(english) <= 100


def test_fixed_instructions_are_to_the_letter() -> None:
    assert default_instruction("multiple-choice", "", "en") == LETTER_EN
    for question_type in ("short-answer", "open", "fill-in-the-blank", "fill-blank", "anything", "", None):
        assert default_instruction(question_type, "A dog has ___ legs.", "en") == SHORT_EN
    assert default_instruction("count", "", "en") == "Your final answer should be a single integer."


@pytest.mark.parametrize("question_type", ["fill-in-the-blank", "fill-blank", "cloze"])
@pytest.mark.parametrize(
    "question",
    [
        "___ and __.",
        r"\_\_\_ and \_\_",
        "（ ）和（ ）",
        "( ) and (  )",
        r"$\underline{\quad}$ 和 $\underline{ }$",
    ],
)
def test_several_blanks_ask_for_several_answers(question_type: str, question: str) -> None:
    one, several = (default_instruction(question_type, text, "en") for text in ("a ___ b", question))
    assert "separated by commas" in several
    assert several != one


def test_instruction_follows_the_language_of_the_question() -> None:
    assert _prompt(_annotation(question="这是什么？")) == f"这是什么？\n{SHORT_ZH}"
    assert _prompt(_annotation(question="これは何ですか？")).endswith(SHORT_EN)


def test_chinese_options_do_not_make_a_question_chinese() -> None:
    options = ["今天天气很好我们去公园散步", "明天下雨所以留在家里看书", "昨天下雪"]
    annotation = _annotation(
        question="Which sentence is shown?", options=options, question_type="multiple-choice"
    )
    assert _prompt(annotation).endswith(LETTER_EN)
    annotation["question"] = build_question({"question": "", "options": options})
    assert _prompt(annotation).endswith("请直接回答所选选项的字母。")


def test_language_can_be_forced() -> None:
    assert _prompt(language="zh").endswith(SHORT_ZH)
    assert _prompt(_annotation(question="这是什么？"), language="en").endswith(SHORT_EN)


# --- Callables ---------------------------------------------------------------------------------------------


def _old(question: str, question_type: str, evaluator: Any, evaluator_kwargs: Any, subject: Any) -> str:
    return f"{question}|{question_type}|{evaluator}|{evaluator_kwargs}|{subject}"


class _ByMethod:
    def build(self, annotation: dict[str, Any]) -> str:
        return f"{annotation['question_id']}"

    def __call__(self, question_type: str, *, subject: str = "none") -> str:
        return f"{question_type}/{subject}"


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_old, "What is this?|short-answer|None|None|art"),
        (functools.partial(_old, subject="fixed"), "What is this?|short-answer|None|None|fixed"),
        (lambda question_type, **kwargs: f"{question_type} {kwargs['subject']}", "short-answer art"),
        (
            lambda **kwargs: ",".join(sorted(kwargs)),
            "annotation,evaluator,evaluator_kwargs,question,question_type,subject",
        ),
        (lambda annotation, question: f"{annotation['question'] == question}", "True"),
        (lambda question_id, unknown=5: f"{question_id} {unknown}", "7 5"),
        (lambda question_id=1, evaluator="unset": f"{question_id} {evaluator}", "1 unset"),
        (_ByMethod().build, "7"),
        (_ByMethod(), "short-answer/art"),
        (lambda: "constant", "constant"),
        (lambda annotation: 5, "5"),
        (lambda annotation: None, ""),
    ],
)
def test_function_gets_what_its_signature_accepts(function: Callable[..., Any], expected: str) -> None:
    assert _prompt(_annotation(subject="art"), prompt_func=function) == expected


def test_none_from_a_function_is_no_text() -> None:
    def nothing(annotation: dict[str, Any]) -> None:
        return None

    assert _prompt(pre_prompt=nothing, post_prompt=nothing, examples=nothing) == "What is this?"


def test_signature_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    template = PromptTemplate(post_prompt=lambda annotation: "x")
    monkeypatch.delattr("inspect.signature")
    assert template.build_prompt(_annotation()) == "What is this?\nx"


def test_function_that_raises_is_named_with_its_row() -> None:
    def choose_unit(annotation: dict[str, Any]) -> str:
        return str(annotation["unit"])

    with pytest.raises(
        DataError, match=r"post_prompt '.*choose_unit', question_id 7: KeyError: 'unit'"
    ) as caught:
        _prompt(post_prompt=choose_unit)
    assert isinstance(caught.value.__cause__, KeyError)


def test_parameter_that_nothing_fills_is_named() -> None:
    with pytest.raises(
        DataError, match=r"pre_prompt '.*', question_id 7: the parameter 'row' is neither 'annotation'"
    ):
        _prompt(pre_prompt=lambda row: "x")


# --- Settings ----------------------------------------------------------------------------------------------


def test_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no setting 'post_promt'\. Did you mean 'post_prompt'"):
        PromptTemplate(post_promt="x")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"pre_prompt": 5}, "prompt_template.pre_prompt must be a text or a function, got int"),
        ({"examples": ["a"]}, "prompt_template.examples must be a text or a function, got list"),
        ({"prompt_func": "text"}, "prompt_template.prompt_func must be a function"),
        ({"language": "fr"}, "prompt_template.language must be 'en', 'zh' or None, got 'fr'"),
    ],
)
def test_setting_of_the_wrong_kind_is_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PromptTemplate(**parts)
