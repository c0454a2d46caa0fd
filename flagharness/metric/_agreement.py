"""How far two raters agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def agreement(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return the share of items on which two raters say the same; None without items.

    Example:
        >>> agreement(["yes", "no"], ["yes", "yes"])
        0.5
    """
    pairs = list(zip(first, second, strict=True))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Return Cohen's kappa: the agreement beyond the one that chance would give (Cohen 1960, unweighted).

    None without items, and where both raters always say the same one thing: chance alone explains that, and kappa is
    0 / 0.

    Example:
        >>> cohen_kappa(["yes"] * 25 + ["no"] * 25, ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15)
        0.4
    """
    observed = agreement(first, second)
    if observed is None:
        return None
    n = len(first)
    one, two = Counter(first), Counter(second)
    products = sum(one[kind] * two[kind] for kind in one)
    if products == n * n:
        return None
    return (observed * n * n - products) / (n * n - products)
