"""What several judges decide together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.judge import GRADES, Opinion, ruling_of

YES, NO, CUT, DEAD = "correct", "incorrect", "judge_unparsed", "judge_failed"


def rule(*statuses: str, min_valid: int = 1) -> tuple[str, str | None]:
    ruling = ruling_of([Opinion(f"j{n}", status) for n, status in enumerate(statuses)], min_valid)
    return ruling.status, ruling.grade


@pytest.mark.parametrize(
    ("statuses", "min_valid", "decided"),
    [
        ([YES], 1, (YES, YES)),
        ([NO], 1, (NO, NO)),
        ([CUT], 1, (CUT, None)),
        ([DEAD], 1, (DEAD, None)),
        ([YES, NO, NO], 2, (NO, NO)),
        ([YES, NO, YES], 2, (YES, YES)),
        ([NO, YES], 1, (NO, NO)),  # a tie: the first judge decides
        ([YES, NO], 1, (YES, YES)),
        (["invalid", NO, YES], 2, ("invalid", "invalid")),
        ([YES, DEAD, NO, NO], 2, (NO, NO)),
        ([YES, DEAD], 2, (DEAD, None)),  # too few verdicts are none
        ([YES, CUT], 2, (CUT, None)),
        (
            [DEAD, CUT],
            1,
            (DEAD, None),
        ),  # asked again in either case; what could not be asked is the worse news
        ([DEAD, YES], 1, (YES, YES)),
    ],
)
def test_the_majority_decides_and_the_first_breaks_ties(
    statuses: list[str], min_valid: int, decided: tuple[str, str | None]
) -> None:
    assert rule(*statuses, min_valid=min_valid) == decided


@given(st.lists(st.sampled_from([*GRADES, CUT, DEAD]), min_size=1, max_size=7), st.integers(1, 4))
def test_a_grade_is_one_that_was_given_most_often_or_there_is_none(
    statuses: list[str], min_valid: int
) -> None:
    status, grade = rule(*statuses, min_valid=min_valid)
    given_grades = [each for each in statuses if each in GRADES]
    if len(given_grades) < min_valid:
        assert (status in (CUT, DEAD), grade) == (True, None)
    else:
        assert given_grades.count(str(grade)) == max(map(given_grades.count, given_grades))


def test_no_failure_ever_becomes_a_grade() -> None:
    for status in (CUT, DEAD):
        ruling = ruling_of([Opinion("j", status, why="x")], 1)
        assert (ruling.open, ruling.grade, ruling.to_json()["why"]) == (True, None, "x")
