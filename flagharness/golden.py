"""Golden cases: hand-made replies in a task folder with the verdict that the benchmark's protocol demands.

``golden.jsonl`` holds one case a line, in one of two forms::

    {"case": "what it shows", "annotation": {...}, "reply": "...", "verdict": {"outcome": "correct", "answer": 7}}
    {"case": "...", "samples": [{"annotation": {...}, "reply": "..."}, ...], "metrics": {"accuracy": 50.0}}

``reply`` is what the model said, reasoning included; null is a request that failed. ``"truncated": true`` beside it
says that the reply was cut off by the token limit. ``judge_reply`` is what a judge said of it, null a judge that did
not answer; a case that holds none has no judge, unless ``"judge": "hle"`` names the family (the benchmark's own is
taken otherwise). Only the fields that ``verdict`` or ``metrics`` name are compared, floating point numbers to 1e-4
(``metrics`` may name nested values as ``"a.b"``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagharness.data import read_json_rows
from flagharness.errors import FOREIGN_FAILURES, DataError, did_you_mean
from flagharness.evaluator import BaseEvaluator, Verdict, judge_block
from flagharness.judge import (
    FAMILIES,
    JudgeFamily,
    JudgeQuestion,
    Opinion,
    decided_by_rule,
    opinion_of,
    ruling_of,
)
from flagharness.model import split_reasoning
from flagharness.run import Prediction

FILE_NAME = "golden.jsonl"
TOLERANCE = 1e-4
_ABSENT = object()


@dataclass(frozen=True)
class GoldenSample:
    """One row, what a model said to it, and what a judge said of that."""

    row: dict[str, Any]
    prediction: Prediction
    judge_reply: str | object | None = _ABSENT


@dataclass(frozen=True)
class GoldenCase:
    """One case: samples, and what must come out.

    ``judge`` is a judge family, "" the benchmark's own, None no judge.
    """

    case: str
    samples: list[GoldenSample]
    verdict: dict[str, Any] | None
    metrics: dict[str, Any] | None
    judge: str | None = None


def load_golden(path: Path) -> list[GoldenCase]:
    """Read the golden cases of a task folder.

    Raises:
        DataError: The file cannot be read, or a line is no case; names the line.
    """
    if not path.is_file():
        raise DataError(f"{path}: no such file.")
    cases = []
    for number, record in enumerate(read_json_rows(path), start=1):
        try:
            cases.append(_case(record))
        except (KeyError, TypeError, ValueError) as error:
            why = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(f"{path}: case {number} is none: {why}.") from error
    return cases


def _case(record: Mapping[str, Any]) -> GoldenCase:
    several = "samples" in record
    samples = record["samples"] if several else [record]
    demanded = record["metrics" if several else "verdict"]
    if (
        not isinstance(samples, list)
        or not samples
        or not all(isinstance(sample, dict) for sample in samples)
    ):
        raise ValueError("`samples` must be a list of objects")
    if not isinstance(demanded, dict) or not demanded:
        raise ValueError(f"`{'metrics' if several else 'verdict'}` must name what is to come out")
    judged = any("judge_reply" in sample for sample in samples)
    return GoldenCase(
        case=str(record["case"]),
        samples=[_sample(sample, i) for i, sample in enumerate(samples)],
        judge=record.get("judge") or ("" if judged else None),
        verdict=None if several else demanded,
        metrics=demanded if several else None,
    )


def check_golden(evaluator: BaseEvaluator, case: GoldenCase) -> list[str]:
    """Score a case and return what differs from what it demands."""
    try:
        rows = [sample.row for sample in case.samples]
        problems = [] if evaluator.scores_all_at_once else evaluator.problems(rows)
        if problems:
            return problems
        family = _family(evaluator, case)
        if case.verdict is not None:
            sample, wanted = case.samples[0], case.verdict
            found = _shown(_verdict(evaluator, family, sample))
        else:
            wanted, found = case.metrics or {}, _metrics(evaluator, family, case)
    except FOREIGN_FAILURES as error:
        return [f"{type(evaluator).__name__} failed: {type(error).__name__}: {error}"]
    return [problem for key, value in wanted.items() if (problem := _difference(found, key, value))]


def _difference(found: Mapping[str, Any], key: str, wanted: Any) -> str | None:
    value = _at(found, key)
    if value is _ABSENT:
        near = did_you_mean(key, found)
        return None if wanted is None and not near else f"{key}: there is no such field.{near}"
    return None if _same(value, wanted) else f"{key}: expected {wanted!r}, got {value!r}"


def _sample(record: Mapping[str, Any], number: int) -> GoldenSample:
    annotation, reply, judge_reply = record["annotation"], record["reply"], record.get("judge_reply", _ABSENT)
    if not isinstance(annotation, dict) or not isinstance(reply, (str, type(None))):
        raise ValueError("`annotation` must be an object, `reply` a text or null")
    if judge_reply is not _ABSENT and not isinstance(judge_reply, (str, type(None))):
        raise ValueError("`judge_reply` must be a text or null")
    row = {"question_id": str(number), **annotation}
    prediction = prediction_of(row["question_id"], reply, bool(record.get("truncated")))
    return GoldenSample(row, prediction, judge_reply)


def _family(evaluator: BaseEvaluator, case: GoldenCase) -> JudgeFamily | None:
    if case.judge is None:
        return None
    allowed = evaluator.judge_families
    if not allowed:
        raise ValueError("this evaluator asks no judge")
    name = case.judge or allowed[0]
    if name not in allowed:
        raise ValueError(f"judge {name!r} is none of {', '.join(allowed)}")
    return FAMILIES[name]


def _verdict(evaluator: BaseEvaluator, family: JudgeFamily | None, sample: GoldenSample) -> Verdict:
    if family is None or not sample.prediction.ok:
        return evaluator.verdict_on(sample.row, [sample.prediction])
    question = evaluator.judge_question(sample.row, family.seen(sample.prediction.answer))
    if question is None:
        return evaluator.verdict_on(sample.row, [sample.prediction])
    ruling = decided_by_rule(family, question)
    if ruling is None:
        if sample.judge_reply is _ABSENT:
            raise ValueError("a judge is asked here, and there is no `judge_reply`")
        ruling = ruling_of([_opinion(family, question, sample.judge_reply)], 1, cut=question.cut)
    elif sample.judge_reply is not _ABSENT:
        raise ValueError("no judge is asked here, so `judge_reply` says nothing")
    return evaluator.verdict_on(sample.row, [sample.prediction], [ruling])


def _opinion(family: JudgeFamily, question: JudgeQuestion, reply: Any) -> Opinion:
    if reply is None:
        return Opinion("judge", "judge_failed", why="failed")
    record = Prediction("judge", answer=reply, finish_reason="stop")
    return opinion_of(family, "judge", record, question)


def prediction_of(question_id: Any, reply: str | None, truncated: bool = False) -> Prediction:
    """Return what the engine would keep of a reply: its reasoning taken out; None for a failed request."""
    if reply is None:
        error = {"type": "http_error", "message": "failed", "http_status": 500, "attempts": 1}
        return Prediction(str(question_id), status="error", error=error)
    reason, answer = split_reasoning(reply, ("<think>", "</think>"))
    finish_reason = "length" if truncated else "stop"
    return Prediction(str(question_id), answer=answer, reason=reason, finish_reason=finish_reason)


def _metrics(evaluator: BaseEvaluator, family: JudgeFamily | None, case: GoldenCase) -> dict[str, Any]:
    rows = {str(sample.row["question_id"]): sample.row for sample in case.samples}
    samples = {sample.prediction.question_id: sample for sample in case.samples}
    if evaluator.scores_all_at_once:
        records = [sample.prediction.to_json() for sample in samples.values()]
        return dict((evaluator.eval_func or evaluator.cal_accuracy)(rows, records))
    verdicts = [_verdict(evaluator, family, samples[question_id]) for question_id in rows]
    if family is None:
        return evaluator.aggregate(verdicts, rows)
    evaluator.use_family(family.name)
    try:
        return {**evaluator.aggregate(verdicts, rows), **judge_block(verdicts, 0.0)}
    finally:
        evaluator.use_family(evaluator.judge_families[0])


def _shown(verdict: Verdict) -> dict[str, Any]:
    return {**verdict.to_json(), "correct": float(verdict.correct)}


def _at(found: Mapping[str, Any], key: str) -> Any:
    """Return a value by its key, or by the path of keys that lead to it."""
    if key in found:
        return found[key]
    here: Any = found
    for part in key.split("."):
        if not isinstance(here, Mapping) or part not in here:
            return _ABSENT
        here = here[part]
    return here


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) or isinstance(found, float):
        is_number = isinstance(found, (int, float)) and isinstance(wanted, (int, float))
        return is_number and math.isclose(found, wanted, rel_tol=0, abs_tol=TOLERANCE)
    if isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)):
        return len(found) == len(wanted) and all(map(_same, found, wanted))
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return all(key in found and _same(found[key], value) for key, value in wanted.items())
    return bool(found == wanted)
