"""Counts: exact match, and how far off the others are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.evaluator._base import BaseEvaluator
from flagharness.evaluator._verdict import Verdict, by_inference
from flagharness.metric import mean_absolute_error, root_mean_squared_error
from flagharness.registry import EVALUATORS


@EVALUATORS.register_module()
class CountEvaluator(BaseEvaluator):
    """Adds to the exact-match accuracy the errors of the counts, for rows of question type ``count``.

    ``mae`` and ``rmse`` are in things counted. A count that could not be read, or was never given, enters as 0, so
    that its error is the whole truth. ``within_5_percent`` is the percentage of samples that are off by at most
    5 percent of the truth (the relaxed accuracy of CountQA, arXiv 2508.06585); it is an accuracy, so a count that is
    not there is wrong in it, also where the truth is 0. With several inferences each value is the mean over them.
    """

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        result = super().aggregate(verdicts, annotations)
        if not verdicts:
            return result
        tables = [_errors(each) for each in by_inference(verdicts)]
        means = {key: sum(table[key] for table in tables) / len(tables) for key in tables[0]}
        return {**result, **{key: round(value, 4) for key, value in means.items()}}


def _errors(verdicts: Sequence[Verdict]) -> dict[str, float]:
    predicted = [verdict.answer for verdict in verdicts]
    # A verdict on a row without an answer holds the truth as the data has it: 12, "12" or "12.0".
    truth = [int(float(str(verdict.label))) for verdict in verdicts]
    # In whole numbers, so that rounding decides nothing.
    near = [p is not None and 100 * abs(p - g) <= 5 * g for p, g in zip(predicted, truth, strict=True)]
    return {
        "mae": mean_absolute_error(predicted, truth),
        "rmse": root_mean_squared_error(predicted, truth),
        "within_5_percent": 100 * sum(near) / len(near),
    }
