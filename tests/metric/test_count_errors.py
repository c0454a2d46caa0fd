"""Relative errors of counts, by the worked example and its laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import (
    mean_absolute_error,
    normalized_absolute_error,
    root_mean_squared_error,
    share_within,
)

PREDICTED, TRUTH = [10, 9, 19, 0], [10, 10, 20, 5]


def test_the_worked_example() -> None:
    assert mean_absolute_error(PREDICTED, TRUTH) == 1.75
    assert root_mean_squared_error(PREDICTED, TRUTH) == pytest.approx(2.5981, abs=1e-4)
    assert normalized_absolute_error(PREDICTED, TRUTH) == (pytest.approx(0.2875), 0)
    assert [share_within(PREDICTED, TRUTH, percent) for percent in (0, 5, 10)] == [0.25, 0.5, 0.75]


def test_a_truth_of_0_is_left_out_of_the_relative_error_and_takes_an_exact_count() -> None:
    assert normalized_absolute_error([1, 2], [0, 4]) == (0.5, 1)
    assert normalized_absolute_error([1], [0]) == (None, 1)
    assert [share_within([p], [0], 10) for p in (0, 1, None)] == [1, 0, 1]


def test_a_count_that_could_not_be_read_is_0() -> None:
    assert normalized_absolute_error([None], [4]) == (1.0, 0)
    assert share_within([None], [4], 10) == 0


@pytest.mark.parametrize("function", [normalized_absolute_error, lambda p, g: share_within(p, g, 5)])
def test_lengths_that_differ_and_nothing_at_all_are_refused(function: object) -> None:
    for predicted, truth in (([1], [1, 2]), ([], [])):
        with pytest.raises(ValueError, match="as many predictions"):
            function(predicted, truth)  # type: ignore[operator]


_COUNTS = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=20)


@given(_COUNTS)
def test_a_wider_tolerance_takes_in_no_fewer(pairs: list[tuple[int, int]]) -> None:
    predicted, truth = zip(*pairs, strict=True)
    shares = [share_within(predicted, truth, percent) for percent in (0, 5, 10, 100)]
    assert shares == sorted(shares)
    assert shares[0] == sum(p == g for p, g in pairs) / len(pairs)
