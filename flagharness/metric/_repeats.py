"""What several answers to one question are worth."""

from __future__ import annotations

from math import comb


def pass_at_k(n: int, correct: int, k: int) -> float:
    """Chance that at least one of ``k`` answers drawn from ``n`` is right, of which ``correct`` are.

    The unbiased estimator of Chen et al. 2021 (arXiv 2107.03374, section 2.1).

    Args:
        n: Answers that were given, at least 1.
        correct: Right ones among them, 0 to n.
        k: 1 to n.

    Raises:
        ValueError: If the numbers do not fit together.

    Example:
        >>> [round(pass_at_k(8, 2, k), 4) for k in (1, 4, 8)]
        [0.25, 0.7857, 1.0]
    """
    if not (1 <= k <= n and 0 <= correct <= n):
        raise ValueError(f"need 1 <= k <= n and 0 <= correct <= n, got n={n}, correct={correct}, k={k}")
    return 1 - comb(n - correct, k) / comb(n, k)
