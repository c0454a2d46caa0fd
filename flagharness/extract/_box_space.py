"""From the coordinates a model answers in to pixels. The space is declared, never guessed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from flagharness.extract._boxes import Box

BBOX_SPACES = ("norm1000", "norm1", "pixel")
"""What coordinates are fractions of: 1000 is the width or height of the image, 1 is, or they are pixels."""


class PixelBoxes(NamedTuple):
    """Boxes in pixels of the original image: x1 <= x2, y1 <= y2, inside the image, in the order of the reply."""

    boxes: tuple[Box, ...]
    swapped: int
    """How many had their corners the other way round."""
    clipped: int
    """How many reached out of the image."""


def boxes_to_pixels(boxes: Sequence[Box], space: str, width: int, height: int) -> PixelBoxes:
    """Map boxes to pixels, put their corners in order and clip them to the image.

    A box without area stays, repetitions stay: a benchmark counts what was answered.

    Args:
        boxes: As :func:`extract_boxes` gives them.
        space: One of BBOX_SPACES.
        width, height: Of the original image file, in pixels.

    Raises:
        ValueError: For another space, or for a coordinate that is no finite number.

    Example:
        >>> boxes_to_pixels([Box((500, 1005, 100, 0))], "norm1000", 200, 100)
        PixelBoxes(boxes=(Box(xyxy=(20.0, 0.0, 100.0, 100.0), label=None),), swapped=1, clipped=1)
    """
    if space not in BBOX_SPACES:
        raise ValueError(f"the space of boxes is one of {', '.join(BBOX_SPACES)}, got {space!r}")
    placed = []
    swapped = clipped = 0
    for box in boxes:
        if not all(map(math.isfinite, box.xyxy)):
            raise ValueError(f"the coordinates of a box are finite numbers, got {box.xyxy}")
        x1, y1, x2, y2 = box.xyxy
        swapped += x1 > x2 or y1 > y2
        sides = (width, height, width, height)
        ordered = (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))
        corners = tuple(_pixels(value, space, side) for value, side in zip(ordered, sides, strict=True))
        left, top, right, bottom = (
            min(max(value, 0.0), float(side)) for value, side in zip(corners, sides, strict=True)
        )
        clipped += (left, top, right, bottom) != corners
        placed.append(Box((left, top, right, bottom), box.label))
    return PixelBoxes(tuple(placed), swapped, clipped)


def space_suspicion(boxes: Sequence[Box], space: str, width: int, height: int) -> str | None:
    """Say why the boxes of a reply look as if they were given in another space; None if they do not.

    For a message only: the boxes are read in the declared space whatever comes out here.

    Example:
        >>> space_suspicion([Box((0.1, 0.1, 0.5, 0.5))], "norm1000", 640, 480)
        'all coordinates <= 1'
    """
    values = [abs(value) for box in boxes for value in box.xyxy]
    if not values:
        return None
    largest = max(values)
    if space == "norm1":
        return "coordinates > 2" if largest > 2 else None
    if 0 < largest <= 1:
        return "all coordinates <= 1"
    if space == "norm1000":
        return "coordinates > 1100" if largest > 1100 else None
    if any(
        max(abs(box.xyxy[0]), abs(box.xyxy[2])) > 1.1 * width
        or max(abs(box.xyxy[1]), abs(box.xyxy[3])) > 1.1 * height
        for box in boxes
    ):
        return "coordinates beyond the image"
    return None


def _pixels(value: float, space: str, side: int) -> float:
    """Return a coordinate in pixels; multiplied first, so that 1000 of 1000 is the side itself."""
    if space == "norm1000":
        return value * side / 1000
    return value * side if space == "norm1" else value
