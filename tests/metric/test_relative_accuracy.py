"""Mean relative accuracy, by values worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import mean_relative_accuracy


@pytest.mark.parametrize(
    ("predicted", "truth", "score"),
    [
        (1, 1, 1.0),
        (1.05, 1, 1.0),
        (0.95, 1, 1.0),
        (1.1, 1, 0.9),
        (0.9, 1, 0.9),
        (2.0, 1.9, 0.9),
        (1.1957, 1.1, 0.9),
        (0.85, 1, 0.8),
        (1.2, 1, 0.7),
        (0.8, 1, 0.7),
        (0.7, 1, 0.5),
        (0.6, 1, 0.3),
        (1.5, 1, 0.1),
        (1.51, 1, 0.0),
        (0.3, 0, 0.5),
        (0, 0, 1.0),
        (0, 2, 0.0),
        (-1, 1, 0.0),
        (-1, -1, 1.0),
        (None, 1, 0.0),
        (None, 0, 0.0),
        (1e308, 5e-324, 0.0),
        (float("inf"), 1, 0.0),
        (float("nan"), 1, 0.0),
    ],
)
def test_values_worked_out_by_hand(predicted: float | None, truth: float, score: float) -> None:
    assert mean_relative_accuracy(predicted, truth) == pytest.approx(score)


def test_a_whole_number_of_any_size_is_scored() -> None:
    assert mean_relative_accuracy(10**400, 1) == 0
    assert mean_relative_accuracy(10**400, 10**400) == 1


_NUMBER = st.floats(-1e6, 1e6, allow_nan=False)


@given(_NUMBER, _NUMBER)
def test_it_is_a_number_of_tenths_and_the_truth_itself_scores_1(predicted: float, truth: float) -> None:
    score = mean_relative_accuracy(predicted, truth)
    assert 0 <= score <= 1
    assert round(score * 10) == pytest.approx(score * 10)
    assert mean_relative_accuracy(truth, truth) == 1


@given(st.floats(0.001, 1e6), st.floats(0, 1), st.floats(0, 1))
def test_what_is_nearer_never_scores_less(truth: float, one: float, other: float) -> None:
    near, far = sorted((one, other))
    assert mean_relative_accuracy(truth * (1 + near), truth) >= mean_relative_accuracy(
        truth * (1 + far), truth
    )
