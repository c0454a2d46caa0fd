"""Three grades - correct, incorrect, not attempted - as numbers, and how well stated confidence fits."""

from __future__ import annotations

import math
from collections.abc import Sequence

BIN_SIZE = 100


def attempt_shares(correct: int, incorrect: int, not_attempted: int, n: int) -> dict[str, float | None]:
    """Return SimpleQA's numbers, as shares of ``n``.

    ``f1`` is the harmonic mean of ``accuracy_given_attempted`` and ``is_correct``. Everything is computed from the
    counts, which need not sum to ``n``: a sample without a verdict is in no share. (SimpleVQA/SimpleVQA,
    ``simpleVQA_eval.py``; openai/simple-evals, ``simpleqa_eval.py``.)

    Example:
        >>> attempt_shares(5, 3, 2, 10)["accuracy_given_attempted"], attempt_shares(0, 0, 4, 4)["f1"]
        (0.625, 0.0)
    """
    names = ("is_correct", "is_incorrect", "is_not_attempted", "is_given_attempted")
    if n == 0:
        return dict.fromkeys((*names, "accuracy_given_attempted", "f1"))
    attempted = correct + incorrect
    counts = (correct, incorrect, not_attempted, attempted)
    return {
        **{name: count / n for name, count in zip(names, counts, strict=True)},
        "accuracy_given_attempted": correct / attempted if attempted else 0.0,
        "f1": 2 * correct / (attempted + n) if correct else 0.0,
    }


def calibration_error(confidence: Sequence[float], correct: Sequence[bool]) -> float | None:
    """Return the root mean square calibration error over bins of 100 answers sorted by confidence (Hendrycks et al.;
    the metric of Humanity's Last Exam).

    The answers that fill no bin of their own are in the last one; every bin counts. None without answers, and where
    all state the same confidence: then it says nothing.

    Args:
        confidence: In percent, 0 to 100.
        correct: Whether each answer is right.

    Returns:
        A share, 0 to 1.

    Example:
        >>> calibration_error([100, 50], [True, True])
        0.25
        >>> calibration_error([100, 100], [True, False]) is None
        True
    """
    pairs = sorted(zip(confidence, correct, strict=True), key=lambda pair: pair[0])
    if not pairs or pairs[0][0] == pairs[-1][0]:
        return None
    bins = max(1, len(pairs) // BIN_SIZE)
    error = 0.0
    for number in range(bins):
        end = len(pairs) if number == bins - 1 else (number + 1) * BIN_SIZE
        members = pairs[number * BIN_SIZE : end]
        stated = sum(value for value, _ in members) / len(members) / 100
        right = sum(hit for _, hit in members) / len(members)
        error += len(members) / len(pairs) * (stated - right) ** 2
    return math.sqrt(error)
