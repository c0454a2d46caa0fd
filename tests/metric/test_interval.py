"""The Wilson interval against values from outside and the laws it must obey."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import wilson_interval


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # published: R. G. Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        # worked by hand: z^2 = 3.841459
        (8, 10, 0.4902, 0.9433),
        (5, 10, 0.2366, 0.7634),
        (0, 1, 0.0, 0.7935),
        (1, 1, 0.2065, 1.0),
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_the_interval_has_its_published_ends(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson_interval(successes, n)
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_none_and_all_reach_zero_and_one_exactly() -> None:
    for n in (1, 3, 7, 1000, 10**7):
        assert wilson_interval(0, n).low == 0.0
        assert wilson_interval(n, n).high == 1.0


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (1, 0), (-1, 5), (6, 5), (0, -1), (float("nan"), 5)])
def test_what_is_no_share_is_refused(successes: float, n: int) -> None:
    with pytest.raises(ValueError, match="need 0 <= successes <= n and n >= 1"):
        wilson_interval(successes, n)


_SHARES = st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.floats(0, n), st.just(n)))


@given(_SHARES)
def test_the_interval_holds_the_share_and_stays_within_zero_and_one(share: tuple[float, int]) -> None:
    successes, n = share
    low, high = wilson_interval(successes, n)
    assert 0 <= low <= successes / n <= high <= 1


@given(_SHARES)
def test_right_and_wrong_are_mirror_images(share: tuple[float, int]) -> None:
    successes, n = share
    low, high = wilson_interval(successes, n)
    mirrored = wilson_interval(n - successes, n)
    assert (low, high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)


@given(_SHARES)
def test_ten_times_the_samples_make_a_narrower_interval(share: tuple[float, int]) -> None:
    successes, n = share
    few, many = wilson_interval(successes, n), wilson_interval(10 * successes, 10 * n)
    assert many.high - many.low < few.high - few.low


@given(_SHARES, st.floats(0, 4), st.floats(0, 4))
def test_a_higher_level_makes_a_wider_interval(share: tuple[float, int], one: float, other: float) -> None:
    inner, outer = (wilson_interval(*share, z=z) for z in sorted((one, other)))
    assert outer.low <= inner.low + 1e-12
    assert inner.high <= outer.high + 1e-12
