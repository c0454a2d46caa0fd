"""Golden cases: hand-made replies in a task folder with the verdict that the benchmark's protocol demands.

``golden.jsonl`` holds one case a line, in one of two forms::

    {"case": "what it shows", "annotation": {...}, "reply": "...", "verdict": {"outcome": "correct", "answer": 7}}
    {"case": "...", "samples": [{"annotation": {...}, "reply": "..."}, ...], "metrics": {"accuracy": 50.0}}

``reply`` is what the model said, reasoning included; null is a request that failed. ``"truncated": true`` beside it
says that the reply was cut off by the token limit. Only the fields that ``verdict`` or ``metrics`` names are
compared, floating point numbers to 1e-4 (``metrics`` may name nested values as ``"a.b"``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagharness.data import read_json_rows
from flagharness.errors import FOREIGN_FAILURES, DataError, did_you_mean
from flagharness.evaluator import BaseEvaluator, Verdict
from flagharness.model import split_reasoning
from flagharness.run import Prediction

FILE_NAME = "golden.jsonl"
TOLERANCE = 1e-4
_ABSENT = object()


@dataclass(frozen=True)
class GoldenCase:
    """One case: samples, and what must come out."""

    case: str
    samples: list[tuple[dict[str, Any], Prediction]]
    verdict: dict[str, Any] | None
    metrics: dict[str, Any] | None


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
    return GoldenCase(
        case=str(record["case"]),
        samples=[_sample(sample, i) for i, sample in enumerate(samples)],
        verdict=None if several else demanded,
        metrics=demanded if several else None,
    )


def check_golden(evaluator: BaseEvaluator, case: GoldenCase) -> list[str]:
    """Score a case and return what differs from what it demands."""
    try:
        problems = (
            [] if evaluator.scores_all_at_once else evaluator.problems([row for row, _ in case.samples])
        )
        if problems:
            return problems
        if case.verdict is not None:
            (row, prediction), wanted = case.samples[0], case.verdict
            found = _shown(evaluator.verdict_on(row, [prediction]))
        else:
            wanted, found = case.metrics or {}, _metrics(evaluator, case)
    except FOREIGN_FAILURES as error:
        return [f"{type(evaluator).__name__} failed: {type(error).__name__}: {error}"]
    return [problem for key, value in wanted.items() if (problem := _difference(found, key, value))]


def _difference(found: Mapping[str, Any], key: str, wanted: Any) -> str | None:
    value = _at(found, key)
    if value is _ABSENT:
        near = did_you_mean(key, found)
        return None if wanted is None and not near else f"{key}: there is no such field.{near}"
    return None if _same(value, wanted) else f"{key}: expected {wanted!r}, got {value!r}"


def _sample(record: Mapping[str, Any], number: int) -> tuple[dict[str, Any], Prediction]:
    annotation, reply = record["annotation"], record["reply"]
    if not isinstance(annotation, dict) or not isinstance(reply, (str, type(None))):
        raise ValueError("`annotation` must be an object, `reply` a text or null")
    row = {"question_id": str(number), **annotation}
    return row, prediction_of(row["question_id"], reply, bool(record.get("truncated")))


def prediction_of(question_id: Any, reply: str | None, truncated: bool = False) -> Prediction:
    """Return what the engine would keep of a reply: its reasoning taken out; None for a failed request."""
    if reply is None:
        error = {"type": "http_error", "message": "failed", "http_status": 500, "attempts": 1}
        return Prediction(str(question_id), status="error", error=error)
    reason, answer = split_reasoning(reply, ("<think>", "</think>"))
    finish_reason = "length" if truncated else "stop"
    return Prediction(str(question_id), answer=answer, reason=reason, finish_reason=finish_reason)


def _metrics(evaluator: BaseEvaluator, case: GoldenCase) -> dict[str, Any]:
    rows = {str(row["question_id"]): row for row, _ in case.samples}
    predictions = {prediction.question_id: prediction for _, prediction in case.samples}
    if evaluator.scores_all_at_once:
        records = [prediction.to_json() for prediction in predictions.values()]
        return dict((evaluator.eval_func or evaluator.cal_accuracy)(rows, records))
    verdicts = [evaluator.verdict_on(row, [predictions[question_id]]) for question_id, row in rows.items()]
    return evaluator.aggregate(verdicts, rows)


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
