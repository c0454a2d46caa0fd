"""Accuracy of estimated quantities."""

from __future__ import annotations

from fractions import Fraction

THRESHOLDS = tuple(Fraction(hundredths, 100) for hundredths in range(50, 100, 5))
"""0.50, 0.55, ... 0.95."""


def mean_relative_accuracy(predicted: float | None, truth: float) -> float:
    """Share of the ten thresholds t that \\|p - g\\| / \\|g\\| <= 1 - t holds for; of a truth of 0, \\|p\\| <= 1 - t.

    Definition: VSI-Bench (arXiv 2412.14171), and SPAR-Bench with <= where that has <
    (EvolvingLMMs-Lab/lmms-eval, lmms_eval/tasks/sparbench). Numbers are compared as they are written in decimal: 1.1
    against 1 is off by exactly 0.1, which binary arithmetic would miss.

    Args:
        predicted: None for a number that could not be read; it scores 0.
        truth: A finite number.

    Example:
        >>> mean_relative_accuracy(1.2, 1), mean_relative_accuracy(1.1, 1), mean_relative_accuracy(None, 1)
        (0.7, 0.9, 0.0)
    """
    if predicted is None or predicted in (float("inf"), float("-inf")) or predicted != predicted:
        return 0.0
    exact, target = _as_written(predicted), _as_written(truth)
    error = abs(exact - target) / (abs(target) or 1)
    return sum(error <= 1 - threshold for threshold in THRESHOLDS) / len(THRESHOLDS)


def _as_written(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(float(number)))
