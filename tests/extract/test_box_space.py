"""Boxes from a model's coordinates to pixels."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flagharness.extract import BBOX_SPACES, Box, boxes_to_pixels, space_suspicion

_COORDINATE = st.floats(-3000, 3000, allow_nan=False)
_BOXES = st.lists(st.builds(Box, st.tuples(*[_COORDINATE] * 4)), max_size=6)
_SIDE = st.integers(1, 5000)


@pytest.mark.parametrize(
    ("xyxy", "space", "size", "pixels"),
    [
        ((50, 100, 150, 300), "norm1000", (200, 100), (10, 10, 30, 30)),
        ((0.5, 0.25, 1, 1), "norm1", (200, 100), (100, 25, 200, 100)),
        ((10, 20, 30, 40), "pixel", (200, 100), (10, 20, 30, 40)),
        ((0, 0, 1000, 1000), "norm1000", (333, 77), (0, 0, 333, 77)),
        ((990, 990, 1012, 1005), "norm1000", (1000, 1000), (990, 990, 1000, 1000)),
        ((0, 0, 1000, 1000), "norm1000", (2007, 1001), (0, 0, 2007, 1001)),
        ((-1e308, 1, 1e308, 2), "norm1000", (1500, 1000), (0, 1, 1500, 2)),
    ],
)
def test_coordinates_become_pixels(
    xyxy: tuple[float, float, float, float], space: str, size: tuple[int, int], pixels: tuple[float, ...]
) -> None:
    (box,) = boxes_to_pixels([Box(xyxy, "dog")], space, *size).boxes
    assert box.xyxy == pytest.approx(pixels)
    assert box.label == "dog"


def test_what_was_put_right_is_counted() -> None:
    placed = boxes_to_pixels(
        [Box((30, 40, 10, 20)), Box((-5, 0, 10, 10)), Box((5, 5, 5, 5)), Box((1, 9, 9, 1))], "pixel", 50, 50
    )
    assert [box.xyxy for box in placed.boxes] == [
        (10, 20, 30, 40),
        (0, 0, 10, 10),
        (5, 5, 5, 5),
        (1, 1, 9, 9),
    ]
    assert (placed.swapped, placed.clipped) == (2, 1)


def test_order_and_repetitions_stay() -> None:
    boxes = [Box((5, 5, 6, 6)), Box((1, 1, 2, 2)), Box((5, 5, 6, 6))]
    assert boxes_to_pixels(boxes, "pixel", 10, 10).boxes == tuple(boxes)


def test_an_unknown_space_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="norm1000, norm1, pixel, got 'norm100'"):
        boxes_to_pixels([], "norm100", 1, 1)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        boxes_to_pixels([Box((1, 2, number, 4))], "norm1000", 100, 100)


@given(st.sampled_from([("norm1000", 1000.0), ("norm1", 1.0)]), _SIDE, _SIDE)
@example(("norm1000", 1000.0), 2007, 1001)
def test_the_far_edge_of_the_scale_is_the_far_edge_of_the_image(
    scale: tuple[str, float], width: int, height: int
) -> None:
    space, full = scale
    placed = boxes_to_pixels([Box((0, 0, full, full))], space, width, height)
    assert placed == ((Box((0, 0, width, height)),), 0, 0)


@given(
    st.sampled_from([("norm1000", 1000.0), ("norm1", 1.0)]),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    _SIDE,
    _SIDE,
)
def test_pixels_lead_back_to_what_was_stated(
    scale: tuple[str, float], fractions: list[float], width: int, height: int
) -> None:
    space, full = scale
    (x1, x2), (y1, y2) = sorted(fractions[:2]), sorted(fractions[2:])
    stated = (x1 * full, y1 * full, x2 * full, y2 * full)
    (box,) = boxes_to_pixels([Box(stated)], space, width, height).boxes
    back = [value / side * full for value, side in zip(box.xyxy, (width, height, width, height), strict=True)]
    assert back == pytest.approx(stated)


@given(_BOXES, st.sampled_from(BBOX_SPACES), _SIDE, _SIDE)
def test_pixel_boxes_lie_in_the_image_with_their_corners_in_order(
    boxes: list[Box], space: str, width: int, height: int
) -> None:
    placed = boxes_to_pixels(boxes, space, width, height)
    assert len(placed.boxes) == len(boxes)
    for box in placed.boxes:
        x1, y1, x2, y2 = box.xyxy
        assert 0 <= x1 <= x2 <= width
        assert 0 <= y1 <= y2 <= height


@given(_BOXES, st.sampled_from(BBOX_SPACES), _SIDE, _SIDE)
def test_the_order_of_the_corners_does_not_matter(
    boxes: list[Box], space: str, width: int, height: int
) -> None:
    turned = [Box((b.xyxy[2], b.xyxy[1], b.xyxy[0], b.xyxy[3])) for b in boxes]
    assert (
        boxes_to_pixels(turned, space, width, height).boxes
        == boxes_to_pixels(boxes, space, width, height).boxes
    )


@given(_BOXES, st.sampled_from(BBOX_SPACES), _SIDE, _SIDE)
def test_pixels_are_left_as_they_are(boxes: list[Box], space: str, width: int, height: int) -> None:
    placed = boxes_to_pixels(boxes, space, width, height).boxes
    again = boxes_to_pixels(placed, "pixel", width, height)
    assert again == (placed, 0, 0)


@pytest.mark.parametrize(
    ("xyxy", "space", "said"),
    [
        ((0.1, 0.1, 0.5, 0.5), "norm1000", "all coordinates <= 1"),
        ((0.1, 0.1, 0.5, 0.5), "pixel", "all coordinates <= 1"),
        ((0.1, 0.1, 0.5, 0.5), "norm1", None),
        ((100, 100, 500, 500), "norm1", "coordinates > 2"),
        ((100, 100, 500, 500), "norm1000", None),
        ((990, 990, 1012, 1005), "norm1000", None),
        ((100, 100, 1900, 500), "norm1000", "coordinates > 1100"),
        ((100, 100, 500, 470), "pixel", None),
        ((100, 100, 500, 900), "pixel", "coordinates beyond the image"),
        ((0, 0, 0, 0), "norm1000", None),
    ],
)
def test_what_looks_like_another_space_is_said(
    xyxy: tuple[float, float, float, float], space: str, said: str | None
) -> None:
    assert space_suspicion([Box(xyxy)], space, 640, 480) == said


def test_one_plausible_box_is_enough_and_no_box_says_nothing() -> None:
    assert space_suspicion([Box((0, 0, 1, 1)), Box((0, 0, 400, 400))], "norm1000", 640, 480) is None
    assert space_suspicion([], "norm1000", 640, 480) is None
