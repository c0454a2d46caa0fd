"""Encoding pixels within a number of bytes: the best quality first, then the largest size that fits."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from PIL import Image

from flagharness.errors import DataError
from flagharness.media._limits import ImageLimits
from flagharness.media._pixels import pad, shrink

_BEST_QUALITY = 95
_LOWEST_QUALITY = 75  # below it text suffers more than by shrinking
_JPEG_MAX_SIDE = 65_500

# A search is over once it has used this share of the allowed bytes; each guess aims a little higher.
_GOOD_SHARE = 0.8
_AIMED_SHARE = 0.92
_GUESSES = 8


class Fitted(NamedTuple):
    """An encoded picture."""

    data: bytes
    mime: str
    width: int
    height: int


def fit(image: Image.Image, limits: ImageLimits, *, try_png: bool) -> Fitted:
    """Encode RGB pixels within all limits; the rules are those of ``encode_image``.

    Raises:
        DataError: If even a single pixel, padded as asked, has more bytes than allowed.
    """
    if limits.max_long_side is not None:
        image = shrink(image, limits.max_long_side)
    if try_png:
        fitted = _png(pad(image, limits.min_short_side))
        if limits.allow_bytes(len(fitted.data)):
            return fitted
    image = shrink(image, _JPEG_MAX_SIDE)
    padded = pad(image, limits.min_short_side)
    fitted = _jpeg(padded, _BEST_QUALITY)
    if limits.max_image_size is None or len(fitted.data) <= limits.max_image_size:
        return fitted
    smaller = (
        _best_quality(padded, limits.max_image_size)
        or _largest_size(image, limits.min_short_side, limits.max_image_size, _low_jpeg)
        or _largest_size(image, limits.min_short_side, limits.max_image_size, _png)  # no JPEG is this small
    )
    if smaller is None:
        raise DataError(
            f"a picture of {image.width}x{image.height} pixels cannot be encoded in {limits.max_image_size} "
            "bytes at any size: raise max_image_size"
        )
    return smaller


def _best_quality(image: Image.Image, max_bytes: int) -> Fitted | None:
    """JPEG of the full size within ``max_bytes``, or None if the lowest quality has more."""
    best = _jpeg(image, _LOWEST_QUALITY)
    if len(best.data) > max_bytes:
        return None
    fits, too_much = _LOWEST_QUALITY, _BEST_QUALITY
    while too_much - fits > 1 and len(best.data) < _GOOD_SHARE * max_bytes:
        quality = (fits + too_much) // 2
        candidate = _jpeg(image, quality)
        if len(candidate.data) <= max_bytes:
            fits, best = quality, candidate
        else:
            too_much = quality
    return best


def _largest_size(
    image: Image.Image, min_short_side: int | None, max_bytes: int, encode: Callable[[Image.Image], Fitted]
) -> Fitted | None:
    """The picture shrunk until it fits, or None if one pixel does not.

    Bytes grow about as the area does, so each guess follows from the last result; a picture that does not obey
    (large flat parts, padding) is left to plain halving after some guesses.
    """
    side = max(image.size)
    last = encode(pad(image, min_short_side))
    if len(last.data) <= max_bytes:
        return last
    fits, too_large, best = 0, side, None
    for attempt in itertools.count():
        enough = best is not None and (len(best.data) >= _GOOD_SHARE * max_bytes or attempt >= _GUESSES)
        if enough or too_large - fits <= 1:
            return best
        if attempt < _GUESSES:
            guess = int(side * math.sqrt(_AIMED_SHARE * max_bytes / len(last.data)))
            side = min(max(guess, fits + 1), too_large - 1)
        else:
            side = (fits + too_large) // 2
        last = encode(pad(shrink(image, side), min_short_side))
        if len(last.data) <= max_bytes:
            fits, best = side, last
        else:
            too_large = side
    return best


def _png(image: Image.Image) -> Fitted:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return Fitted(buffer.getvalue(), "image/png", *image.size)


def _jpeg(image: Image.Image, quality: int) -> Fitted:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality, subsampling=0)
    return Fitted(buffer.getvalue(), "image/jpeg", *image.size)


_low_jpeg = partial(_jpeg, quality=_LOWEST_QUALITY)
