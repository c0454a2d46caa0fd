"""SPAR-Bench: a score for each row by the kind of its task, means of tasks, and the mean of those."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from flagharness.evaluator import BaseEvaluator, Verdict, headline_block
from flagharness.extract import extract_number
from flagharness.judge import JudgeQuestion, Ruling
from flagharness.metric import mean_relative_accuracy
from flagharness.run import Prediction

LEVELS = {
    "low": (
        "depth_prediction_oc",
        "depth_prediction_oc_mv",
        "depth_prediction_oo",
        "depth_prediction_oo_mv",
        "distance_prediction_oc",
        "distance_prediction_oc_mv",
        "distance_prediction_oo",
        "distance_prediction_oo_mv",
    ),
    "middle": ("position_matching", "camera_motion_infer", "view_change_infer"),
    "high": (
        "distance_infer_center_oo",
        "distance_infer_center_oo_mv",
        "obj_spatial_relation_oc_mv",
        "obj_spatial_relation_oo",
        "obj_spatial_relation_oo_mv",
        "spatial_imagination_oc",
        "spatial_imagination_oc_mv",
        "spatial_imagination_oo",
        "spatial_imagination_oo_mv",
    ),
}
TASKS = [task for tasks in LEVELS.values() for task in tasks]
METRICS = {"multiple-choice": "accuracy", "number": "MRA", "view-change": "view change"}
"""What the rows of each question type are scored by."""
AXES = (
    ("move_right", "move_left"),
    ("move_up", "move_down"),
    ("move_forward", "move_backward"),
    ("rotate_right", "rotate_left"),
    ("rotate_up", "rotate_down"),
)

_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_PAIR = re.compile(
    rf"(?<![a-z_])({'|'.join(name for axis in AXES for name in axis)})[\"'`*]*\s*:\s*[\"'`*]*"
    r"([-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[-+]?[0-9]+)?)",
    re.IGNORECASE,
)


def movements(text: str) -> dict[str, float]:
    """Return the ``key:value`` pairs of a movement, those in the last answer tag if it has any; the last of a key
    counts.

    Example:
        >>> movements("move_right:0.4, rotate_left: 30")
        {'move_right': 0.4, 'rotate_left': 30.0}
        >>> movements("I move right by 0.4")
        {}
    """
    plain = text.replace("\u2212", "-")
    tagged = _TAGGED.findall(plain)
    pairs = (_PAIR.findall(tagged[-1]) if tagged else []) or _PAIR.findall(plain)
    return {name.lower(): float(value) for name, value in pairs if math.isfinite(float(value))}


def view_change_score(predicted: Mapping[str, float], truth: Mapping[str, float]) -> float:
    """Return the mean over the five axes of the MRA of the net movement; what is not named is 0.

    A reply that names nothing at all has no answer: 0, though its axes of rest would be right.

    Example:
        >>> truth = movements("move_right:0.4,move_up:0.1,move_forward:0.0,rotate_left:30,rotate_down:0")
        >>> round(view_change_score(movements("move_right:0.4"), truth), 4), view_change_score({}, truth)
        (0.6, 0.0)
    """
    if not predicted:
        return 0.0
    return fmean(mean_relative_accuracy(_net(predicted, axis), _net(truth, axis)) for axis in AXES)


def _net(moved: Mapping[str, float], axis: tuple[str, str]) -> float:
    return round(moved.get(axis[0], 0.0) - moved.get(axis[1], 0.0), 9)  # as in decimal: 0.3 - 0.1 is 0.2


class SparEvaluator(BaseEvaluator):
    """The mean of 20 task scores (LogosRoboticsGroup/SPAR; VLMEvalKit's ``sparbench.py``).

    A row's score is 0 or 1 for a choice, else what :func:`mean_relative_accuracy` or :func:`view_change_score` says.
    """

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        """Name the rows of no known task, and those whose truth cannot be compared with."""
        hidden = all(row.get("answer") is None for row in annotations)
        return [
            f"row {number} (question_id {row.get('question_id')!r}): {problem}"
            for number, row in enumerate(annotations, start=1)
            if (problem := _problem_of(row, hidden))
        ]

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        kind = annotation["question_type"]
        if kind == "multiple-choice":
            return super().score(annotation, prediction)
        answer: Any
        if kind == "number":
            found = extract_number(prediction.answer, answer_tag=self.answer_tag)
            answer, rule, span = found.value, found.rule, found.span
            score = mean_relative_accuracy(answer, float(annotation["answer"]))
        else:
            pairs = movements(prediction.answer)
            answer, span = pairs or None, None
            rule = "key_value" if pairs else "unparsed" if prediction.answer.strip() else "no_response"
            score = view_change_score(pairs, movements(annotation["answer"]))
        return Verdict(
            question_id=prediction.question_id,
            outcome=rule if answer is None else "graded",
            correct=score,
            answer=answer,
            raw_answer=prediction.answer,
            label=annotation["answer"],
            question_type=kind,
            extraction={"rule": rule, "span": list(span) if span else None},
            truncated=prediction.truncated,
            refused=prediction.refused,
        )

    def judge_question(self, annotation: Mapping[str, Any], answer: str) -> JudgeQuestion | None:
        """Return what a judge is asked; a change of view is read by rule."""
        is_view = annotation["question_type"] == "view-change"
        return None if is_view else super().judge_question(annotation, answer)

    def judged(self, annotation: Mapping[str, Any], prediction: Prediction, ruling: Ruling) -> Verdict:
        """Return the verdict of a judge: its grade of a choice; of a number the MRA of what it extracted."""
        verdict = super().judged(annotation, prediction, ruling)
        if annotation["question_type"] == "number" and ruling.fields and not ruling.open:
            extracted = ruling.fields.get("extracted_answer")
            number = extract_number(str(extracted or "")).value
            verdict.answer = number
            verdict.outcome = "unparsed" if number is None else "graded"
            verdict.correct = mean_relative_accuracy(number, float(annotation["answer"]))
        return verdict

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return ``overall`` (the unweighted mean of the tasks there are), levels, tasks, and the mean of rows."""
        groups: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            groups.setdefault(annotations[verdict.question_id]["task"], []).append(verdict)
        scores = {task: fmean(float(verdict.correct) for verdict in group) for task, group in groups.items()}
        absent = [task for task in TASKS if task not in groups]
        return {
            "headline": "overall",
            "overall": _percent(list(scores.values())),
            "levels": {
                level: _percent([scores[task] for task in tasks if task in scores])
                for level, tasks in LEVELS.items()
            },
            "tasks": {
                task: {
                    "score": _percent([scores[task]]),
                    "n": len(groups[task]),
                    "metric": METRICS[groups[task][0].question_type],
                }
                for task in TASKS
                if task in groups
            },
            **({"partial": True, "absent_tasks": absent} if absent else {}),
            **headline_block(verdicts),
        }


def _problem_of(row: Mapping[str, Any], hidden: bool) -> str | None:
    kind, answer = row.get("question_type"), row.get("answer")
    if row.get("task") not in TASKS:
        return f"task {row.get('task')!r} is none of the 20"
    if kind not in METRICS:
        return f"question_type {kind!r} is none of {', '.join(METRICS)}"
    if hidden:
        return None
    if kind == "multiple-choice":
        right = isinstance(answer, str) and re.fullmatch("[A-Z]", answer) is not None
    elif kind == "number":
        right = isinstance(answer, (int, float)) and not isinstance(answer, bool)
    else:
        right = isinstance(answer, str) and bool(movements(answer))
    return None if right else f"answer {answer!r} cannot be the truth of a {kind} question"


def _percent(shares: Sequence[float]) -> float | None:
    return round(100 * fmean(shares), 2) if shares else None
