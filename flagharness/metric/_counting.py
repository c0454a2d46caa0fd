"""Errors of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


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


class RelativeError(NamedTuple):
    """A mean relative error, and how many samples it leaves out."""

    value: float | None
    left_out: int
    """Samples whose truth is 0; with nothing else the value is None."""


def normalized_absolute_error(predicted: Sequence[float | None], truth: Sequence[float]) -> RelativeError:
    """Mean of \\|p - g\\| / g over the samples with a truth above 0 (NAE, as Counting-DETR reports it).

    Raises:
        ValueError: If the lengths differ or there is no sample.

    Example:
        >>> normalized_absolute_error([9, None, 1], [10, 5, 0])
        RelativeError(value=0.55, left_out=1)
    """
    relative = [abs(error) / g for error, g in zip(_errors(predicted, truth), truth, strict=True) if g]
    value = math.fsum(relative) / len(relative) if relative else None
    return RelativeError(value, len(truth) - len(relative))


def share_within(predicted: Sequence[float | None], truth: Sequence[float], percent: int) -> float:
    """Share of samples with \\|p - g\\| of at most so many percent of g; 0 percent asks for the exact count.

    Whole numbers are compared as such, so that rounding decides nothing.

    Raises:
        ValueError: If the lengths differ or there is no sample.

    Example:
        >>> share_within([9, 19, None], [10, 20, 0], 5)
        0.6666666666666666
    """
    errors = _errors(predicted, truth)
    return sum(100 * abs(error) <= percent * g for error, g in zip(errors, truth, strict=True)) / len(errors)


def _errors(predicted: Sequence[float | None], truth: Sequence[float]) -> list[float]:
    if len(predicted) != len(truth) or not truth:
        raise ValueError(f"need as many predictions as truths, and some: {len(predicted)} and {len(truth)}")
    return [(0 if p is None else p) - g for p, g in zip(predicted, truth, strict=True)]
