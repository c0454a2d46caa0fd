"""Several answers to one question, and errors of counts."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import mean_absolute_error, pass_at_k, root_mean_squared_error


@pytest.mark.parametrize(
    ("n", "correct", "k", "chance"),
    [
        (8, 2, 1, 0.25),
        (8, 2, 4, 0.7857),
        (8, 2, 8, 1.0),
        (10, 4, 1, 0.4),
        (5, 0, 3, 0.0),
        (5, 5, 1, 1.0),
        (5, 3, 3, 1.0),
        (1, 0, 1, 0.0),
        (1, 1, 1, 1.0),
    ],
)
def test_pass_at_k_has_its_known_values(n: int, correct: int, k: int, chance: float) -> None:
    assert round(pass_at_k(n, correct, k), 4) == chance


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_pass_at_k_is_the_share_of_draws_that_hold_a_right_answer(case: tuple[int, int, int]) -> None:
    n, correct, k = case
    draws = list(combinations(range(n), k))
    share = sum(any(answer < correct for answer in draw) for draw in draws) / len(draws)
    assert pass_at_k(n, correct, k) == pytest.approx(share)


@pytest.mark.parametrize(("n", "correct", "k"), [(0, 0, 1), (5, 6, 1), (5, -1, 1), (5, 2, 0), (5, 2, 6)])
def test_numbers_that_do_not_fit_together_are_refused(n: int, correct: int, k: int) -> None:
    with pytest.raises(ValueError, match="need 1 <= k <= n"):
        pass_at_k(n, correct, k)


@pytest.mark.parametrize(
    ("predicted", "truth", "mae", "rmse"),
    [
        ([5], [5], 0.0, 0.0),
        ([3, None], [5, 4], 3.0, 3.1622776601683795),
        ([0, 10], [3, 6], 3.5, 3.5355339059327378),
        ([None, None], [0, 0], 0.0, 0.0),
        ([2.5], [2], 0.5, 0.5),
    ],
)
def test_errors_of_counts_have_their_hand_worked_values(
    predicted: list[float | None], truth: list[float], mae: float, rmse: float
) -> None:
    assert mean_absolute_error(predicted, truth) == pytest.approx(mae)
    assert root_mean_squared_error(predicted, truth) == pytest.approx(rmse)


@pytest.mark.parametrize("measure", [mean_absolute_error, root_mean_squared_error])
@pytest.mark.parametrize(("predicted", "truth"), [([], []), ([1], []), ([1], [1, 2])])
def test_lists_that_do_not_fit_together_are_refused(
    measure: object, predicted: list[float], truth: list[float]
) -> None:
    with pytest.raises(ValueError, match="need as many predictions as truths, and some"):
        measure(predicted, truth)  # type: ignore[operator]


_PAIRS = st.lists(st.tuples(st.none() | st.integers(0, 1000), st.integers(0, 1000)), min_size=1)


@given(_PAIRS)
def test_the_squared_error_is_never_below_the_absolute_one(pairs: list[tuple[int | None, int]]) -> None:
    predicted, truth = [p for p, _ in pairs], [t for _, t in pairs]
    assert 0 <= mean_absolute_error(predicted, truth) <= root_mean_squared_error(predicted, truth) + 1e-9


@given(_PAIRS)
def test_a_count_that_could_not_be_read_is_a_count_of_zero(pairs: list[tuple[int | None, int]]) -> None:
    predicted, truth = [p for p, _ in pairs], [t for _, t in pairs]
    assert mean_absolute_error(predicted, truth) == mean_absolute_error([p or 0 for p in predicted], truth)
