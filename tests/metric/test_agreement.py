"""Agreement and Cohen's kappa: values worked out by hand, and the laws they keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import agreement, cohen_kappa

RATINGS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("first", "second", "share", "kappa"),
    [
        # The example of Cohen's kappa in every textbook: 35 of 50 agreed, 25 by chance.
        (["y"] * 25 + ["n"] * 25, ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15, 0.7, 0.4),
        (["a", "b", "c"], ["a", "b", "c"], 1.0, 1.0),
        (["a", "b"], ["b", "a"], 0.0, -1.0),
        # agreed 1/2; by chance 1/2 * 1 = 1/2
        (["a", "b"], ["a", "a"], 0.5, 0.0),
        (["a", "a"], ["a", "a"], 1.0, None),
        ([], [], None, None),
        # agreed 3/4; by chance (2*1 + 1*2 + 1*1) / 16 = 5/16; so (12/16 - 5/16) / (11/16) = 7/11
        (["a", "a", "b", "c"], ["a", "b", "b", "c"], 0.75, 7 / 11),
    ],
)
def test_values_by_hand(
    first: list[str], second: list[str], share: float | None, kappa: float | None
) -> None:
    assert agreement(first, second) == share
    found = cohen_kappa(first, second)
    assert found == (None if kappa is None else pytest.approx(kappa))


@given(RATINGS)
def test_neither_rater_comes_first(pairs: list[tuple[str, str]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    assert agreement(first, second) == agreement(second, first)
    assert cohen_kappa(first, second) == cohen_kappa(second, first)


@given(RATINGS)
def test_kappa_is_at_most_the_agreement_and_1_only_where_all_agree(pairs: list[tuple[str, str]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    share, kappa = agreement(first, second), cohen_kappa(first, second)
    assert share is not None
    if kappa is not None:
        assert -1 <= kappa <= share + 1e-12
        assert (kappa == 1) == (share == 1)


@given(RATINGS, st.permutations("abc"))
def test_what_the_grades_are_called_does_not_matter(pairs: list[tuple[str, str]], names: list[str]) -> None:
    called = dict(zip("abc", names, strict=True))
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    assert cohen_kappa(first, second) == cohen_kappa([called[a] for a in first], [called[b] for b in second])


def test_raters_of_other_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        agreement(["a"], [])
