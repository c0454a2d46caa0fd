"""Errors of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence


def mean_absolute_error(predicted: Sequence[float | None], truth: Sequence[float]) -> float:
    """Mean of \\|p - g\\|; a count that could not be read is 0, so its error is the whole truth.

    Raises:
        ValueError: If the lengths differ or there is no sample.

    Example:
        >>> mean_absolute_error([3, None], [5, 4])
        3.0
    """
    return math.fsum(abs(error) for error in _errors(predicted, truth)) / len(truth)


def root_mean_squared_error(predicted: Sequence[float | None], truth: Sequence[float]) -> float:
    """Square root of the mean of (p - g)^2; a count that could not be read is 0.

    Raises:
        ValueError: If the lengths differ or there is no sample.

    Example:
        >>> root_mean_squared_error([3, None], [5, 4])
        3.1622776601683795
    """
    return math.sqrt(math.fsum(error * error for error in _errors(predicted, truth)) / len(truth))


def _errors(predicted: Sequence[float | None], truth: Sequence[float]) -> list[float]:
    if len(predicted) != len(truth) or not truth:
        raise ValueError(f"need as many predictions as truths, and some: {len(predicted)} and {len(truth)}")
    return [(0 if p is None else p) - g for p, g in zip(predicted, truth, strict=True)]
