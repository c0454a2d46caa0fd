"""What a result says of its judges: verdicts by status, accuracy over what was judged, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from flagharness.evaluator._verdict import NO_ANSWER, UNDECIDED, Verdict
from flagharness.judge import STATUSES, Opinion
from flagharness.metric import agreement, attempt_shares, calibration_error, cohen_kappa

NAMED = 50
"""So many ids are named in a result; the evaluated file has all."""


def judge_block(verdicts: Sequence[Verdict], max_failure_rate: float) -> dict[str, Any]:
    """Return what stands beside the accuracy of judged answers.

    ``accuracy_judged`` is over the samples with a verdict; a decision without a call counts as one. ``complete`` is
    false where more than ``max_failure_rate`` of all samples wait for a verdict.
    """
    waiting = [verdict.question_id for verdict in verdicts if _outcomes(verdict) & UNDECIDED]
    judged = [v for v in verdicts if not _outcomes(v) & (UNDECIDED | NO_ANSWER)]
    right = sum(float(verdict.correct) for verdict in judged)
    statuses = Counter(_status(each) for verdict in verdicts for each in _each(verdict))
    return {
        "accuracy_judged": round(100 * right / len(judged), 2) if judged else None,
        "judged": len(judged),
        "complete": len(waiting) <= max_failure_rate * len(verdicts),
        "judge_statuses": {status: statuses[status] for status in STATUSES},
        **({"waiting_for_a_verdict": waiting[:NAMED]} if waiting else {}),
        **_between_judges(verdicts),
    }


def attempts_block(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return :func:`attempt_shares` in percent, over all samples; of several inferences the first counts."""
    grades = Counter(each.ruling.grade for v in verdicts if (each := _each(v)[0]).ruling is not None)
    shares = attempt_shares(grades["correct"], grades["incorrect"], grades["not_attempted"], len(verdicts))
    return {name: None if share is None else round(100 * share, 2) for name, share in shares.items()}


def calibration_block(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the calibration error in percent over the answers for which a judge read a confidence."""
    stated = [
        (float(each.ruling.fields["confidence"]), bool(each.correct))
        for verdict in verdicts
        for each in _each(verdict)
        if each.ruling is not None and "confidence" in each.ruling.fields
    ]
    error = calibration_error([value for value, _ in stated], [hit for _, hit in stated])
    if error is None:
        note = "not meaningful: every answer states the same confidence"
        return {"calibration_error": None, "calibration_note": note}
    return {"calibration_error": round(100 * error, 2), "calibration_n": len(stated)}


def checklist_block(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the strict accuracy (right, and every item of the checklist met) and the mean share of items met.

    Both in percent over all samples; a checklist that could not be read is met by none.
    """
    first = [_each(verdict)[0] for verdict in verdicts]
    lists = [
        (v, v.ruling.fields) for v in first if v.ruling is not None and "checklist_items" in v.ruling.fields
    ]
    met = [(v, f["checklist_met"], f["checklist_items"]) for v, f in lists if f["checklist_met"] is not None]
    n = len(verdicts)
    strict = sum(v.correct and count == items for v, count, items in met)
    shares = sum(count / items if items else 1.0 for _, count, items in met)
    return {
        "strict_accuracy": round(100 * strict / n, 2) if n else None,
        "checklist_score": round(100 * shares / n, 2) if n else None,
        "checklists_unread": len(lists) - len(met),
    }


def _between_judges(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    said: dict[tuple[str, int], Mapping[str, str]] = {}
    for verdict in verdicts:
        for inference, each in enumerate(_each(verdict)):
            opinions: Sequence[Opinion] = each.ruling.opinions if each.ruling else ()
            if len(opinions) > 1:
                said[verdict.question_id, inference] = {o.judge: o.grade for o in opinions if o.grade}
    judges = list(dict.fromkeys(judge for grades in said.values() for judge in grades))
    if len(judges) < 2:
        return {}
    pairs = []
    for one, two in combinations(judges, 2):
        both = [(grades[one], grades[two]) for grades in said.values() if one in grades and two in grades]
        first, second = [a for a, _ in both], [b for _, b in both]
        share, kappa = agreement(first, second), cohen_kappa(first, second)
        pairs.append(
            {
                "judges": [one, two],
                "n": len(both),
                "agreement": None if share is None else round(100 * share, 2),
                "cohen_kappa": None if kappa is None else round(kappa, 4),
            }
        )
    split = [question_id for (question_id, _), grades in said.items() if len(set(grades.values())) > 1]
    return {"judge_agreement": {"pairs": pairs, "disagreements": len(split), "disagree_on": split[:NAMED]}}


def _each(verdict: Verdict) -> Sequence[Verdict]:
    return verdict.inferences or [verdict]


def _status(verdict: Verdict) -> str:
    if verdict.ruling is not None:
        return verdict.ruling.status
    return "model_failed" if verdict.outcome in NO_ANSWER else "skipped_rule"


def _outcomes(verdict: Verdict) -> set[str]:
    return {each.outcome for each in _each(verdict)}
