"""A judge for choices that no rule can read: it says which option a reply chooses, and knows no truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flagharness.evaluator._rules import RULES, labels_of, question_type_of
from flagharness.evaluator._verdict import Verdict
from flagharness.judge import JudgeQuestion, Ruling
from flagharness.prompt import option_labels
from flagharness.run import Prediction

_YES_NO = {"A": "yes", "B": "no"}


def unread_question(annotation: Mapping[str, Any], answer: str, answer_tag: str) -> JudgeQuestion | None:
    """Return what a judge is asked about a reply in which the row's rule finds no choice, None where it finds one.

    ``reference`` is the label of the truth, for the reader alone: the prompt does not show it.
    """
    choices = _choices(annotation)
    if choices is None or not answer.strip():
        return None
    rule = RULES[question_type_of(annotation)]
    found = rule.read(answer, annotation, answer_tag)
    if found.value is not None or found.rule in ("no_response", "unfinished_reasoning"):
        return None
    truth = rule.truth(annotation)
    label = truth if truth in choices else next(key for key, word in choices.items() if word == truth)
    listed = "\n".join(f"{key}. {text}" if text else key for key, text in choices.items())
    return JudgeQuestion(
        question=str(annotation.get("question") or ""),
        reference=label,
        answer=answer,
        fields={"options": listed, "choices": choices},
    )


def read_by_judge(
    annotation: Mapping[str, Any], prediction: Prediction, ruling: Ruling, answer_tag: str
) -> Verdict:
    """Return the verdict on a reply for which a judge said what it chooses; where it says "nothing", it is unread."""
    kind = question_type_of(annotation)
    rule = RULES[kind]
    label = ruling.fields.get("extracted_answer")
    value = _YES_NO.get(str(label)) if kind == "yes-no" else label
    right = value is not None and value == rule.truth(annotation)
    outcome = ruling.status
    if not ruling.open:
        unread = rule.read(prediction.answer, annotation, answer_tag).rule
        outcome = unread if value is None else "correct" if right else "wrong"
    return Verdict(
        question_id=prediction.question_id,
        outcome=outcome,
        correct=right,
        answer=value,
        raw_answer=prediction.answer,
        label=rule.truth(annotation),
        question_type=kind,
        extraction={"rule": "judge", "span": None} if value is not None else None,
        truncated=prediction.truncated,
        refused=prediction.refused,
        ruling=ruling,
    )


def _choices(annotation: Mapping[str, Any]) -> dict[str, str] | None:
    """Return label and text of what can be chosen; None if the row is no choice of one."""
    kind = question_type_of(annotation)
    if kind == "yes-no":
        return dict(_YES_NO)
    if kind != "multiple-choice":
        return None
    options = annotation.get("options")
    if options:
        return dict(zip(option_labels(len(options)), map(str, options), strict=True))
    return dict.fromkeys(labels_of(annotation), "")
