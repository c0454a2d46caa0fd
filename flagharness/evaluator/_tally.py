"""From verdicts to numbers: the full denominator, counts of every failure, intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flagharness.evaluator._verdict import NO_ANSWER, PARSE_FAILURES, UNDECIDED, Verdict
from flagharness.metric import wilson_interval

CI_METHOD = "Wilson score interval, 95 %"


def accuracy_block(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return accuracy in percent over all samples with its interval and denominator.

    Samples without an answer are in the denominator as wrong. ``range`` is what the accuracy could be if they
    were all wrong or all right. No samples at all give None, not zero.
    """
    n = len(verdicts)
    if n == 0:
        return {"accuracy": None, "n": 0, "ci95": None}
    right = sum(float(verdict.correct) for verdict in verdicts)
    interval = wilson_interval(right, n)
    return {
        "accuracy": _percent(right / n),
        "n": n,
        "ci95": [_percent(interval.low), _percent(interval.high)],
    }


def headline_block(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return :func:`accuracy_block` with ``accuracy_answered`` and ``range`` beside it."""
    n = len(verdicts)
    answered = [verdict for verdict in verdicts if verdict.outcome not in NO_ANSWER]
    right = sum(float(verdict.correct) for verdict in verdicts)
    finished = [verdict for verdict in answered if not verdict.truncated]
    open_score = sum(map(_open_score, verdicts))
    return {
        **accuracy_block(verdicts),
        "ci95_method": CI_METHOD,
        "accuracy_answered": _mean_percent(answered),
        "accuracy_finished": _mean_percent(finished),
        "range": [_percent(right / n), _percent((right + open_score) / n)] if n else None,
    }


def count_outcomes(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count what happened to the samples. With several inferences a sample counts once for each kind of trouble."""
    counts = dict.fromkeys(
        (
            "total",
            "answered",
            "request_errors",
            "missing",
            "data_errors",
            "parse_failures",
            "truncated",
            "refused",
            "judge_failures",
        ),
        0,
    )
    for verdict in verdicts:
        outcomes = {v.outcome for v in verdict.inferences} | {verdict.outcome}
        counts["total"] += 1
        counts["answered"] += not outcomes & NO_ANSWER
        counts["request_errors"] += "request_error" in outcomes
        counts["missing"] += "missing" in outcomes
        counts["data_errors"] += "data_error" in outcomes
        counts["parse_failures"] += bool(outcomes & PARSE_FAILURES)
        counts["truncated"] += verdict.truncated
        counts["refused"] += verdict.refused
        counts["judge_failures"] += bool(outcomes & UNDECIDED)
    return counts


def breakdown(
    verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]], keys: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Accuracy per value of each annotation key: ``{key: {value: block}}``.

    The keys stay apart, so a category that is called like a metric or like a value of another key harms nobody.
    A list value counts its sample under each of its elements.
    """
    table: dict[str, dict[str, Any]] = {}
    for key in keys:
        groups: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            value = annotations[verdict.question_id].get(key)
            for name in value if isinstance(value, (list, tuple)) else [value]:
                groups.setdefault("(none)" if name is None else str(name), []).append(verdict)
        table[key] = {name: accuracy_block(members) for name, members in sorted(groups.items())}
    return table


def _open_score(verdict: Verdict) -> float:
    """What a sample could gain if its inferences without an answer or a judgement had been right."""
    inferences = verdict.inferences or [verdict]
    undecided = [v for v in inferences if v.outcome in NO_ANSWER | UNDECIDED]
    return sum(1 - float(v.correct) for v in undecided) / len(inferences)


def _mean_percent(verdicts: Sequence[Verdict]) -> float | None:
    return _percent(sum(float(v.correct) for v in verdicts) / len(verdicts)) if verdicts else None


def _percent(share: float) -> float:
    return round(100 * share, 2)
