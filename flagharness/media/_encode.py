"""From the bytes on disk to the bytes in the request: the same ones, unless a limit asks for others."""

from __future__ import annotations

import io
from dataclasses import dataclass

from flagharness.errors import DataError
from flagharness.media._limits import ImageLimits
from flagharness.media._sniff import SNIFF_BYTES, sniff

PASS_THROUGH = frozenset({"image/gif", "image/jpeg", "image/png", "image/webp"})
"""Types that endpoints take as they are. Pictures of any other type are sent as PNG, which loses nothing."""

_LOSSY = frozenset({"image/jpeg", "image/webp"})

# A PNG with so many times the allowed bytes will not fit as a PNG; the try would cost most of the time.
_HOPELESS_RATIO = 4


@dataclass(frozen=True)
class EncodedImage:
    """A picture as it goes into a request."""

    data: bytes
    """The encoded file. When nothing had to change this is the very object that came in."""

    mime: str
    """Its true media type."""

    width: int | None
    """Pixels as stored in ``data``, before any EXIF rotation; None if nobody had to look."""

    height: int | None
    """As ``width``."""

    changed: bool
    """Whether ``data`` is anything but the original file."""


def encode_image(data: bytes, limits: ImageLimits) -> EncodedImage:
    """Make a picture ready to send, within the limits of an endpoint.

    A JPEG, PNG, WebP or GIF within the limits goes out byte for byte, under its true type. For that decision
    at most the header is read; without any limit not even that.

    Otherwise the first frame is turned upright, put on white as 8-bit sRGB, shrunk to ``max_long_side``
    (bicubic, the other side rounded down), padded with white on the right and at the bottom to
    ``min_short_side``, and encoded: JPEG and WebP as JPEG of quality 95 without chroma subsampling, everything
    else as PNG. If that has too many bytes for ``max_image_size``, it becomes a JPEG of quality 95 or less; if it
    does not fit with quality 75 either, the picture is shrunk. At least about 80 % of the allowed bytes are
    used where the picture has that much to show. The result depends on input and limits alone.

    Args:
        data: The whole file.
        limits: Bounds; ``ImageLimits()`` for none.

    Raises:
        DataError: If the data is no picture, is cut off or damaged (noticed only when pixels are needed), has
            too many pixels to decode, or cannot be made small enough at any size.
    """
    media_type = sniff(data[:SNIFF_BYTES])
    if media_type is None or media_type.kind != "image":
        what = media_type.mime if media_type else f"data that begins with {data[:16]!r}"
        raise DataError(f"cannot decode {what}: not an image")
    passes = media_type.mime in PASS_THROUGH
    if passes and not limits.active:
        return EncodedImage(data, media_type.mime, None, None, changed=False)

    from flagharness.media._decoding import open_image
    from flagharness.media._fitting import fit
    from flagharness.media._pixels import upright_rgb

    image = open_image(io.BytesIO(data), media_type)
    if passes and limits.allow_bytes(len(data)) and limits.allow_size(*image.size):
        return EncodedImage(data, media_type.mime, *image.size, changed=False)
    try_png = media_type.mime not in _LOSSY
    if media_type.mime == "image/png":
        try_png = not _is_hopeless(len(data), max(image.size), limits)
    fitted = fit(upright_rgb(image), limits, try_png=try_png)
    return EncodedImage(fitted.data, fitted.mime, fitted.width, fitted.height, changed=True)


def _is_hopeless(png_bytes: int, long_side: int, limits: ImageLimits) -> bool:
    """Whether a PNG, shrunk to ``max_long_side``, stays far above ``max_image_size``."""
    scale = min(1.0, (limits.max_long_side or long_side) / long_side)
    return not limits.allow_bytes(int(png_bytes * scale**2 / _HOPELESS_RATIO))
