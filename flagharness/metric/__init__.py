"""Metric arithmetic: pure functions from values to numbers."""

from flagharness.metric._counting import mean_absolute_error, root_mean_squared_error
from flagharness.metric._interval import Interval, wilson_interval
from flagharness.metric._matching import answers_match, normalize_answer
from flagharness.metric._repeats import pass_at_k

__all__ = [
    "Interval",
    "answers_match",
    "mean_absolute_error",
    "normalize_answer",
    "pass_at_k",
    "root_mean_squared_error",
    "wilson_interval",
]
