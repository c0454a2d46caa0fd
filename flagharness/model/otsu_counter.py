"""A counter of cells without learning: the floor that a vision-language model should stand above.

Otsu's threshold (N. Otsu, "A threshold selection method from gray-level histograms", IEEE Transactions on
Systems, Man, and Cybernetics 9(1), 1979) parts cells from ground; connected regions are counted, and a region
of several cells counts by its area. numpy and Pillow only.
"""

from __future__ import annotations

import io
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from flagharness.model import Request, Response

Mask = NDArray[np.bool_]

_WORKING_SIDE_PX = 320
"""The picture is thinned out to about this length of its longer side."""
_LARGEST_HOLE = 0.03
"""Pale centres of cells up to this part of the picture are filled."""
_SMALLEST_RADIUS = 0.3
"""Regions with a smaller inscribed radius than this part of the cells' are specks."""
_MIN_CONTRAST = 5.0
"""Grey levels by which the two classes must spread (standard deviation between them)."""


class OtsuCounter:
    """In-process model: answers every question with the number of dark regions in its pictures."""

    def generate(self, request: Request) -> Response:
        """Count in every image of the request and answer with the sum."""
        total = 0
        for encoded in request.images:
            with Image.open(io.BytesIO(encoded)) as image:
                total += count_blobs(np.asarray(image.convert("RGB")))
        return Response(answer=str(total))


def count_blobs(pixels: NDArray[np.uint8]) -> int:
    """Count round dark things of about one size on a bright ground.

    Args:
        pixels: Shape (height, width) or (height, width, channels), values 0 to 255. The channel in which ground
            and things differ most is used.

    Returns:
        The estimate. 0 for a picture of one colour. Specks are left out; a clump counts as often as the disc that
        fits into the large things goes into its area.

    Example:
        >>> pixels = np.full((60, 90), 230, np.uint8)
        >>> pixels[10:30, 10:30] = pixels[30:50, 50:70] = 90
        >>> count_blobs(pixels)
        2
    """
    step = max(1, round(max(pixels.shape[:2]) / _WORKING_SIDE_PX))
    mask = _open(_fill_holes(_dark_mask(pixels)[::step, ::step]))
    regions = _label(mask, diagonal=True)
    if regions.number == 0:
        return 0
    areas = regions.areas()
    depths = np.zeros(regions.number + 1, np.int64)
    np.maximum.at(depths, regions.paint(mask.shape).ravel(), _depth(mask).ravel())
    radii = depths[1:]  # the first is the background
    cell_radius = _weighted_quantile(radii, areas, 0.9)
    cells = areas[radii > _SMALLEST_RADIUS * cell_radius] / (math.pi * cell_radius**2)
    return int(np.maximum(1, np.round(cells)).sum())


def _dark_mask(pixels: NDArray[np.uint8]) -> Mask:
    channels = pixels[..., None] if pixels.ndim == 2 else pixels
    splits = [_otsu(channels[..., i]) for i in range(channels.shape[2])]
    best = max(range(len(splits)), key=lambda i: splits[i].spread)
    if splits[best].spread < _MIN_CONTRAST:
        return np.zeros(channels.shape[:2], np.bool_)
    return np.asarray(channels[..., best] <= splits[best].threshold)


class _Split(NamedTuple):
    threshold: int
    """Grey levels up to this one are dark."""
    spread: float
    """Standard deviation between the two classes, in grey levels."""


def _otsu(channel: NDArray[np.uint8]) -> _Split:
    """Return the threshold with the largest variance between the classes."""
    histogram = np.bincount(channel.ravel(), minlength=256).astype(np.float64) / channel.size
    weight = np.cumsum(histogram)
    first_moment = np.cumsum(histogram * np.arange(256))
    product = weight * (1 - weight)
    between = np.divide(
        (first_moment[-1] * weight - first_moment) ** 2, product, out=np.zeros(256), where=product > 1e-9
    )
    return _Split(int(between.argmax()), math.sqrt(between.max()))


class _Regions(NamedTuple):
    """Connected regions of a mask as horizontal runs: ``mask[row, start:end]`` is one."""

    row: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    of_run: NDArray[np.int64]
    """Which region, from 0, a run belongs to."""
    number: int

    def areas(self) -> NDArray[np.float64]:
        """Return the pixels of each region."""
        return np.bincount(self.of_run, weights=self.end - self.start).astype(np.float64)

    def paint(self, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return a picture of the region numbers from 1; 0 elsewhere."""
        height, width = shape
        steps = np.zeros((height, width + 1), np.int64)
        steps[self.row, self.start] += self.of_run + 1
        steps[self.row, self.end] -= self.of_run + 1
        return np.cumsum(steps.ravel()).reshape(height, width + 1)[:, :width]


def _label(mask: Mask, *, diagonal: bool) -> _Regions:
    """Find the connected regions; ``diagonal`` says whether touching corners connect."""
    height, width = mask.shape
    padded = np.zeros((height, width + 2), np.int8)
    padded[:, 1:-1] = mask
    edges = np.flatnonzero(np.diff(padded, axis=1))
    row, start = np.divmod(edges[0::2], width + 1)
    end = edges[1::2] % (width + 1)
    above, below = _touching_runs(row * (width + 2), start, end, width + 2, int(diagonal))
    label = np.arange(len(row))
    while True:
        lower = np.minimum(label[above], label[below])
        merged = label.copy()
        np.minimum.at(merged, label[above], lower)
        np.minimum.at(merged, label[below], lower)
        while not np.array_equal(merged, merged[merged]):
            merged = merged[merged]
        if np.array_equal(merged, label):
            break
        label = merged
    names, of_run = np.unique(label, return_inverse=True)
    return _Regions(row, start, end, of_run, len(names))


def _touching_runs(
    offset: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64], stride: int, reach: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of runs, one above the other, that touch: all pixels in one line make it a search."""
    first = np.searchsorted(offset + end, offset + stride + start - reach, side="right")
    last = np.searchsorted(offset + start, offset + stride + end + reach, side="left")
    partners = np.maximum(last - first, 0)
    above = np.repeat(np.arange(len(start)), partners)
    rank = np.arange(len(above)) - np.repeat(np.cumsum(partners) - partners, partners)
    return above, rank + np.repeat(first, partners)


def _fill_holes(mask: Mask) -> Mask:
    """Fill the small regions of ground that do not reach the border."""
    height, width = mask.shape
    ground = _label(~mask, diagonal=False)
    at_border = (ground.row == 0) | (ground.row == height - 1) | (ground.start == 0) | (ground.end == width)
    stays = ground.areas() > _LARGEST_HOLE * mask.size
    stays[ground.of_run[at_border]] = True
    return np.asarray(~np.concatenate(([False], stays))[ground.paint(mask.shape)])


def _open(mask: Mask) -> Mask:
    """Cut off what is thinner than about five pixels."""
    opened = ~_erode(_erode(~_erode(_erode(mask, 0), 1), 0), 1)
    return mask & opened


def _erode(mask: Mask, turn: int) -> Mask:
    """Take one pixel off every edge but the picture's own.

    A cross on even and a square on odd turns: together they keep discs round.
    """
    padded = np.pad(mask, 1, constant_values=True)
    left = padded[1:-1, 1:-1] & padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    if turn % 2:
        left &= padded[:-2, :-2] & padded[2:, 2:] & padded[:-2, 2:] & padded[2:, :-2]
    return np.asarray(left)


def _depth(mask: Mask) -> NDArray[np.int64]:
    """Return for each pixel after how many erosions it is gone: its distance to the ground in pixels."""
    depth = np.zeros(mask.shape, np.int64)
    for turn in range(max(mask.shape)):  # a mask that covers everything is never eaten up
        if not mask.any():
            break
        depth += mask
        mask = _erode(mask, turn)
    return depth


def _weighted_quantile(values: NDArray[np.int64], weights: NDArray[np.float64], q: float) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, q * total[-1])])
