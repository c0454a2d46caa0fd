"""Confidence intervals for shares."""

from __future__ import annotations

import math
from typing import NamedTuple

Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """Two shares in [0, 1], low first."""

    low: float
    high: float


def wilson_interval(successes: float, n: int, z: float = Z_95) -> Interval:
    """Wilson score interval of a share (E. B. Wilson, JASA 22 (1927) 209-212).

    Unlike the normal approximation it stays within [0, 1] and says something useful at 0 and at n successes.

    Args:
        successes: Number of successes, 0 to n. May be fractional when samples carry graded scores; the
            interval is then an approximation.
        n: Number of samples, at least 1.
        z: Quantile of the normal distribution; the default makes a 95 % interval.

    Raises:
        ValueError: If n is below 1 or successes lies outside 0 to n.

    Example:
        >>> [round(share, 4) for share in wilson_interval(8, 10)]
        [0.4902, 0.9433]
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"need 0 <= successes <= n and n >= 1, got {successes} of {n}")
    share = successes / n
    spread = z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    # Rounding must not push the ends past the share itself (they meet it at 0 and at n successes).
    return Interval(max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))
