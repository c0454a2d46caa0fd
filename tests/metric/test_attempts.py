"""Three grades as numbers, and the calibration error: values by hand, and laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import attempt_shares, calibration_error


def test_the_shares_of_ten() -> None:
    shares = attempt_shares(5, 3, 2, 10)
    assert shares == {
        "is_correct": 0.5,
        "is_incorrect": 0.3,
        "is_not_attempted": 0.2,
        "is_given_attempted": 0.8,
        "accuracy_given_attempted": 0.625,
        "f1": pytest.approx(2 * 0.625 * 0.5 / (0.625 + 0.5)),
    }


def test_a_sample_without_a_verdict_is_in_no_share_but_in_the_denominator() -> None:
    shares = attempt_shares(2, 1, 1, 8)
    assert (shares["is_correct"], shares["is_not_attempted"]) == (0.25, 0.125)
    assert shares["f1"] == pytest.approx(4 / 11)


@pytest.mark.parametrize("counts", [(0, 0, 4, 4), (0, 3, 1, 4), (0, 0, 0, 4)])
def test_nothing_right_is_zero_and_no_error(counts: tuple[int, int, int, int]) -> None:
    shares = attempt_shares(*counts)
    assert (shares["f1"], shares["accuracy_given_attempted"]) == (0.0, 0.0)


def test_no_samples_have_no_shares() -> None:
    assert set(attempt_shares(0, 0, 0, 0).values()) == {None}


@given(*(st.integers(0, 500) for _ in range(4)))
def test_f1_is_the_harmonic_mean(correct: int, incorrect: int, not_attempted: int, open_: int) -> None:
    n = correct + incorrect + not_attempted + open_
    shares = attempt_shares(correct, incorrect, not_attempted, n)
    if n and correct:
        a, b = shares["accuracy_given_attempted"], shares["is_correct"]
        assert a is not None
        assert b is not None
        assert shares["f1"] == pytest.approx(2 * a * b / (a + b))


def test_one_bin_by_hand() -> None:
    # stated 0.75 on average, right 0.5
    assert calibration_error([100, 50], [True, False]) == pytest.approx(0.25)


def test_two_bins_by_hand() -> None:
    # 100 answers that state 0, 20 of them right; 150 (the rest fills no bin of its own) that state 100, 120 of them
    # right: off by 0.2 in each
    stated = [0.0] * 100 + [100.0] * 150
    right = [True] * 20 + [False] * 80 + [True] * 120 + [False] * 30
    assert calibration_error(stated, right) == pytest.approx(0.2)
    # with half of the first bin right the errors are 0.5 and 0.2, weighted by 100 and 150 of 250
    right[:100] = [True] * 50 + [False] * 50
    assert calibration_error(stated, right) == pytest.approx(math.sqrt(0.4 * 0.25 + 0.6 * 0.04))


@pytest.mark.parametrize("stated", [[], [100.0], [70.0] * 250])
def test_one_and_the_same_confidence_says_nothing(stated: list[float]) -> None:
    assert calibration_error(stated, [True] * len(stated)) is None


@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), min_size=2, max_size=300))
def test_it_is_a_share_and_the_order_of_bins_of_other_confidence_does_not_matter(
    pairs: list[tuple[float, bool]],
) -> None:
    found = calibration_error([c for c, _ in pairs], [hit for _, hit in pairs])
    if found is not None:
        assert 0 <= found <= 1 + 1e-9
    if len({c for c, _ in pairs}) == len(pairs):
        back = pairs[::-1]
        assert calibration_error([c for c, _ in back], [hit for _, hit in back]) == found
