"""Metric arithmetic: pure functions from values to numbers."""

from flagharness.metric._counting import (
    RelativeError,
    mean_absolute_error,
    normalized_absolute_error,
    root_mean_squared_error,
    share_within,
)
from flagharness.metric._interval import Interval, wilson_interval
from flagharness.metric._matching import answers_match, normalize_answer
from flagharness.metric._relative_accuracy import mean_relative_accuracy
from flagharness.metric._repeats import pass_at_k

__all__ = [
    "Interval",
    "RelativeError",
    "answers_match",
    "mean_absolute_error",
    "mean_relative_accuracy",
    "normalize_answer",
    "normalized_absolute_error",
    "pass_at_k",
    "root_mean_squared_error",
    "share_within",
    "wilson_interval",
]
