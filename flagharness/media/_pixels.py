"""Pixels on their way to an endpoint: upright, 8-bit RGB on white, within a size."""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import ExifTags, Image, ImageCms, ImageFile

from flagharness.media._decoding import decode

_WHITE = (255, 255, 255)

# What undoes each value of the EXIF orientation tag.
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

# The usual values of white in pictures of 32-bit integers or floats.
_WHITE_LEVELS = (1, 255, 65535)


def upright_rgb(image: ImageFile.ImageFile) -> Image.Image:
    """Decode a picture to what a person sees: turned by its EXIF orientation, on white, 8-bit RGB.

    Sixteen bits are scaled to eight, not clipped. Colours with an ICC profile are brought to sRGB; a profile
    that cannot be used is left aside. Only the first frame counts.

    Raises:
        DataError: If the pixels cannot be decoded.
    """
    decode(image)
    profile = image.info.get("icc_profile")
    return _to_srgb(_eight_bit(_upright(image)), profile)


def shrink(image: Image.Image, long_side: int) -> Image.Image:
    """Scale a picture down so that its longer side has ``long_side`` pixels; a smaller one stays as it is.

    The other side is rounded down, to one pixel at least: 1500x1000 to 500 gives 500x333.
    """
    longest = max(image.size)
    if longest <= long_side:
        return image
    width, height = (max(1, side * long_side // longest) for side in image.size)
    return image.resize((width, height), Image.Resampling.BICUBIC)


def pad(image: Image.Image, short_side: int | None) -> Image.Image:
    """Add white on the right and at the bottom until both sides have ``short_side`` pixels."""
    if short_side is None or min(image.size) >= short_side:
        return image
    canvas = Image.new("RGB", (max(image.width, short_side), max(image.height, short_side)), _WHITE)
    canvas.paste(image, (0, 0))
    return canvas


def _upright(image: Image.Image) -> Image.Image:
    try:
        orientation = image.getexif().get(ExifTags.Base.Orientation)
    except (SyntaxError, ValueError, TypeError, KeyError, IndexError, struct.error):
        return image  # a damaged EXIF block says nothing about the orientation
    turn = _TURNS.get(orientation or 1)
    return image if turn is None else image.transpose(turn)


def _eight_bit(image: Image.Image) -> Image.Image:
    """Scale 16-bit and 32-bit grey to mode L, so that no value is clipped; other modes pass."""
    if image.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(image) >> 8).astype(np.uint8))
    if image.mode not in ("I", "F"):
        return image
    values = np.asarray(image, dtype=np.float64)
    finite = values[np.isfinite(values)]
    low = min(0.0, finite.min(initial=0.0))
    high = finite.max(initial=0.0)
    white = next((level for level in _WHITE_LEVELS if high <= level), high)
    scaled = (np.nan_to_num(values, nan=low, posinf=high, neginf=low) - low) * (255 / (white - low))
    return Image.fromarray(scaled.round().astype(np.uint8))


def _to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    if image.has_transparency_data:
        image = image.convert("RGBA")
        backdrop = Image.new("RGBA", image.size, (*_WHITE, 255))
        image = Image.alpha_composite(backdrop, image).convert("RGB")
    elif image.mode not in ("RGB", "CMYK", "L"):
        image = image.convert("RGB")
    return (_apply_profile(image, profile) if profile else image).convert("RGB")


def _apply_profile(image: Image.Image, profile: bytes) -> Image.Image:
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        if ImageCms.getProfileDescription(source).startswith("sRGB"):
            return image
        converted = ImageCms.profileToProfile(image, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ImportError):
        return image  # no profile at all, one of another colour model, or Pillow without littlecms
    return image if converted is None else converted
