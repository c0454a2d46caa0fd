"""Overlap and matching of boxes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import box_iou, match_boxes

_BOX = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 40), st.integers(0, 40)).map(list)
_BOXES = st.lists(_BOX, max_size=6)


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ([0, 0, 10, 10], [0, 0, 10, 10], 1.0),
        ([0, 0, 10, 10], [5, 0, 10, 10], 1 / 3),
        ([0, 0, 10, 10], [10, 0, 10, 10], 0.0),
        ([0, 0, 10, 10], [2, 2, 5, 5], 0.25),
        ([0, 0, 0, 0], [0, 0, 10, 10], 0.0),
    ],
)
def test_overlap(one: list[int], other: list[int], overlap: float) -> None:
    assert box_iou([one], [other])[0, 0] == pytest.approx(overlap)


def test_overlap_with_a_crowd_is_relative_to_the_predicted_box() -> None:
    assert box_iou([[0, 0, 10, 10]], [[0, 0, 100, 100]], [1])[0, 0] == 1.0


def test_no_boxes_overlap_nothing() -> None:
    assert box_iou([], [[0, 0, 1, 1]]).shape == (0, 1)
    assert box_iou([[0, 0, 1, 1]], []).shape == (1, 0)


def test_the_best_overlaps_are_paired_first() -> None:
    truth = [[0, 0, 10, 10], [4, 0, 10, 10]]
    match = match_boxes([[4, 0, 10, 10], [0, 0, 10, 10]], truth)
    assert match == (2, 0, 0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("predicted", "truth", "counts", "f1"),
    [
        ([], [], (0, 0, 0), 1.0),
        ([], [[0, 0, 5, 5]], (0, 0, 1), 0.0),
        ([[0, 0, 5, 5]], [], (0, 1, 0), 0.0),
        ([[0, 0, 5, 5], [0, 0, 5, 5]], [[0, 0, 5, 5]], (1, 1, 0), 2 / 3),
        ([[0, 0, 5, 2.5]], [[0, 0, 5, 5]], (1, 0, 0), 1.0),
        ([[0, 0, 5, 2.4]], [[0, 0, 5, 5]], (0, 1, 1), 0.0),
    ],
)
def test_what_is_paired_is_counted(
    predicted: list[list[float]], truth: list[list[float]], counts: tuple[int, int, int], f1: float
) -> None:
    match = match_boxes(predicted, truth)
    assert match[:3] == counts
    assert match.f1 == pytest.approx(f1)


@given(_BOXES, _BOXES)
def test_order_plays_no_part_and_every_box_is_counted_once(
    predicted: list[list[int]], truth: list[list[int]]
) -> None:
    match = match_boxes(predicted, truth)
    again = match_boxes(predicted[::-1], truth[::-1])
    assert again[:3] == match[:3]
    assert match.true_positives + match.false_positives == len(predicted)
    assert match.true_positives + match.false_negatives == len(truth)
    assert 0 <= match.f1 <= 1
