"""encode_image on small real pictures: what passes untouched, and what pixels come out when a limit acts."""

from __future__ import annotations

import io
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageCms

from flagharness.errors import DataError
from flagharness.media import EncodedImage, ImageLimits, encode_image

HALF = ImageLimits(max_long_side=20)
"""Acts on every picture of 40 pixels and more."""


def _saved(image: Image.Image, file_format: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, file_format, **options)
    return buffer.getvalue()


def _noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    channels = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, (width, height), random.Random(0).randbytes(width * height * channels))


def _pixels(encoded: EncodedImage) -> Image.Image:
    image = Image.open(io.BytesIO(encoded.data))
    image.load()
    assert image.size == (encoded.width, encoded.height)
    assert Image.MIME[str(image.format)] == encoded.mime
    assert image.mode == "RGB"
    return image


def _colour(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    value = image.getpixel((x, y))
    assert isinstance(value, tuple)
    return value


def _is_close(colour: tuple[int, ...], expected: tuple[int, ...], tolerance: int = 4) -> bool:
    return all(abs(a - b) <= tolerance for a, b in zip(colour, expected, strict=True))


# --- Untouched ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file_format", "mime"),
    [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp"), ("GIF", "image/gif")],
)
@pytest.mark.parametrize("limits", [ImageLimits(), ImageLimits(1_000_000, 40, 30)])
def test_picture_within_limits_is_the_same_object(file_format: str, mime: str, limits: ImageLimits) -> None:
    data = _saved(_noise(40, 30), file_format)
    encoded = encode_image(data, limits)
    assert encoded.data is data
    assert encoded.mime == mime
    assert not encoded.changed
    assert (encoded.width, encoded.height) == ((40, 30) if limits.active else (None, None))


def test_without_limits_nothing_but_the_first_bytes_is_looked_at() -> None:
    data = b"\x89PNG\r\n\x1a\n and no header at all"
    assert encode_image(data, ImageLimits()).data is data


def test_rotated_picture_within_limits_is_untouched() -> None:
    data = _with_orientation(_noise(40, 30), 6)
    assert encode_image(data, ImageLimits(max_long_side=40)).data is data


@pytest.mark.parametrize("limit", [0, 1])
def test_file_of_exactly_the_allowed_bytes_passes(limit: int) -> None:
    data = _saved(_noise(40, 30))
    encoded = encode_image(data, ImageLimits(max_image_size=len(data) - limit))
    assert encoded.changed == bool(limit)


@pytest.mark.parametrize("file_format", ["BMP", "TIFF", "AVIF"])
@pytest.mark.parametrize("limits", [ImageLimits(), ImageLimits(max_long_side=1000)])
def test_type_that_endpoints_refuse_becomes_png_of_the_same_pixels(
    file_format: str, limits: ImageLimits
) -> None:
    data = _saved(_noise(40, 30), file_format)
    encoded = encode_image(data, limits)
    assert (encoded.mime, encoded.changed) == ("image/png", True)
    assert _pixels(encoded).tobytes() == Image.open(io.BytesIO(data)).convert("RGB").tobytes()


# --- Sizes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "limits", "expected"),
    [
        ((1500, 1000), ImageLimits(max_long_side=500), (500, 333)),
        ((1000, 1500), ImageLimits(max_long_side=500), (333, 500)),
        ((10, 10), ImageLimits(min_short_side=28), (28, 28)),
        ((10, 100), ImageLimits(min_short_side=28), (28, 100)),
        ((5000, 3), ImageLimits(max_long_side=500), (500, 1)),
        ((3, 5000), ImageLimits(max_long_side=500, min_short_side=28), (28, 500)),
        ((501, 500), ImageLimits(max_long_side=500), (500, 499)),
    ],
)
def test_final_dimensions(size: tuple[int, int], limits: ImageLimits, expected: tuple[int, int]) -> None:
    encoded = encode_image(_saved(Image.new("RGB", size, "red")), limits)
    assert _pixels(encoded).size == expected


def test_padding_is_white_on_the_right_and_at_the_bottom() -> None:
    pixels = _pixels(encode_image(_saved(Image.new("RGB", (10, 10))), ImageLimits(min_short_side=28)))
    assert np.asarray(pixels)[:10, :10].max() == 0
    assert np.asarray(pixels)[10:, :].min() == 255
    assert np.asarray(pixels)[:, 10:].min() == 255


@pytest.mark.parametrize(
    ("file_format", "mime"),
    [("PNG", "image/png"), ("GIF", "image/png"), ("JPEG", "image/jpeg"), ("WEBP", "image/jpeg")],
)
def test_changed_picture_keeps_its_family(file_format: str, mime: str) -> None:
    assert encode_image(_saved(_noise(40, 30), file_format), HALF).mime == mime


# --- Colours and orientation -------------------------------------------------------------------------------


def _with_orientation(image: Image.Image, orientation: int, file_format: str = "JPEG") -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return _saved(image, file_format, exif=exif)


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
def test_rotated_picture_is_turned_upright_before_it_is_shrunk(file_format: str) -> None:
    lying = Image.new("RGB", (60, 40), "blue")
    lying.paste("red", (0, 0, 30, 40))  # the left half becomes the upper half
    encoded = encode_image(_with_orientation(lying, 6, file_format), HALF)
    pixels = _pixels(encoded)
    assert pixels.size == (13, 20)
    assert _is_close(_colour(pixels, 6, 3), (254, 0, 0))
    assert _is_close(_colour(pixels, 6, 17), (0, 0, 254))


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_puts_the_mark_where_a_viewer_sees_it(orientation: int, file_format: str) -> None:
    stored_corner = {1: (0, 0), 2: (1, 0), 3: (1, 1), 4: (0, 1), 5: (0, 0), 6: (0, 1), 7: (1, 1), 8: (1, 0)}
    image = Image.new("RGB", (48, 48), "white")
    x, y = (24 * side for side in stored_corner[orientation])
    image.paste("black", (x, y, x + 24, y + 24))
    pixels = _pixels(encode_image(_with_orientation(image, orientation, file_format), HALF))
    dark = [
        position for position in ((4, 4), (15, 4), (4, 15), (15, 15)) if max(_colour(pixels, *position)) < 40
    ]
    assert dark == [(4, 4)]


def test_damaged_exif_is_no_reason_to_fail() -> None:
    data = _saved(_noise(40, 30), "JPEG", exif=b"Exif\0\0garbage that is no TIFF header")
    assert _pixels(encode_image(data, HALF)).size == (20, 15)


def test_transparent_pixels_become_white() -> None:
    image = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (10, 10, 30, 30))
    pixels = _pixels(encode_image(_saved(image), HALF))
    assert _colour(pixels, 0, 0) == (255, 255, 255)
    assert _colour(pixels, 10, 10) == (0, 0, 0)


def test_half_transparent_pixels_are_mixed_with_white() -> None:
    pixels = _pixels(encode_image(_saved(Image.new("RGBA", (40, 40), (255, 0, 0, 128))), HALF))
    assert _is_close(_colour(pixels, 5, 5), (255, 127, 127), 1)


@pytest.mark.parametrize("transparency", [0, b"\x00\xff"])
def test_transparent_palette_entry_becomes_white(transparency: int | bytes) -> None:
    image = Image.new("P", (40, 40), 0)
    image.putpalette([0, 0, 0, 0, 128, 0])
    image.paste(1, (20, 0, 40, 40))
    pixels = _pixels(encode_image(_saved(image, transparency=transparency), HALF))
    assert _colour(pixels, 2, 10) == (255, 255, 255)
    assert _colour(pixels, 17, 10) == (0, 128, 0)


def test_grey_with_alpha_and_bilevel() -> None:
    grey = _pixels(encode_image(_saved(Image.new("LA", (40, 40), (0, 0))), HALF))
    assert _colour(grey, 5, 5) == (255, 255, 255)
    bilevel = _pixels(encode_image(_saved(Image.new("1", (40, 40), 1)), HALF))
    assert _colour(bilevel, 5, 5) == (255, 255, 255)


@pytest.mark.parametrize("file_format", ["PNG", "TIFF"])
def test_sixteen_bit_grey_is_scaled_not_clipped(file_format: str) -> None:
    values = np.full((40, 40), 32768, dtype=np.uint16)
    values[:, :10] = 0
    values[:, 30:] = 65535
    pixels = _pixels(encode_image(_saved(Image.fromarray(values), file_format), HALF))
    assert [_colour(pixels, x, 10)[0] for x in (1, 10, 18)] == [0, 128, 255]


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0, 255, (0, 255)),
        (0, 65535, (0, 255)),
        (0, 1, (0, 255)),
        (0, 127.5, (0, 128)),
        (-500.0, 100_000.0, (0, 255)),
        (5.0, 1e9, (0, 255)),
        (0.0, 0.0, (0, 0)),
        (float("nan"), float("inf"), (0, 0)),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_wide_grey_values_fill_eight_bits(
    low: float, high: float, shown: tuple[int, int], dtype: type
) -> None:
    values = np.full((40, 40), low, dtype=np.float64)
    values[:, 20:] = high
    if dtype is np.int32:
        values = np.nan_to_num(values, nan=0, posinf=0)
        shown = (0, 127) if high == 127.5 else shown
    pixels = _pixels(encode_image(_saved(Image.fromarray(values.astype(dtype)), "TIFF"), HALF))
    assert (_colour(pixels, 2, 10)[0], _colour(pixels, 17, 10)[0]) == shown


def test_cmyk_is_not_inverted() -> None:
    image = Image.new("CMYK", (40, 40), (0, 255, 255, 0))
    image.paste((0, 0, 0, 0), (20, 0, 40, 40))
    for file_format in ("JPEG", "TIFF"):
        pixels = _pixels(encode_image(_saved(image, file_format), HALF))
        assert _is_close(_colour(pixels, 2, 10), (254, 0, 0), 8)
        assert _is_close(_colour(pixels, 17, 10), (255, 255, 255), 8)


def test_lab_is_converted() -> None:
    pixels = _pixels(encode_image(_saved(Image.new("LAB", (40, 40), (255, 128, 128)), "TIFF"), HALF))
    assert min(_colour(pixels, 5, 5)) > 250


def test_colours_of_another_profile_become_srgb() -> None:
    linear = ImageCms.ImageCmsProfile(ImageCms.createProfile("XYZ")).tobytes()
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    image = Image.new("RGB", (40, 40), (200, 100, 50))
    for profile in (b"no profile", linear, lab, srgb):  # none of these says other colours for RGB pixels
        pixels = _pixels(encode_image(_saved(image, icc_profile=profile), HALF))
        assert _colour(pixels, 5, 5) == (200, 100, 50)
    pixels = _pixels(encode_image(_saved(image, icc_profile=_swapped_profile(srgb)), HALF))
    assert _is_close(_colour(pixels, 5, 5), (100, 200, 50), 60)
    assert _colour(pixels, 5, 5)[1] > _colour(pixels, 5, 5)[0]


def _swapped_profile(srgb: bytes) -> bytes:
    """An RGB profile whose red and green primaries are exchanged, under another name."""
    marked = srgb.replace(b"rXYZ", b"tXYZ", 1).replace(b"gXYZ", b"rXYZ", 1).replace(b"tXYZ", b"gXYZ", 1)
    return marked.replace(b"s\0R\0G\0B", b"t\0e\0s\0t")


def test_first_frame_of_an_animation_is_taken() -> None:
    frames = [Image.new("RGB", (40, 40), colour) for colour in ("red", "blue")]
    data = _saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    pixels = _pixels(encode_image(data, HALF))
    assert _colour(pixels, 5, 5) == (255, 0, 0)


# --- Bytes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file_format", ["JPEG", "PNG"])
@pytest.mark.parametrize("limit", [150_000, 60_000, 20_000, 5_000, 1_500])
def test_noise_uses_most_of_the_allowed_bytes_and_never_more(file_format: str, limit: int) -> None:
    data = _saved(_noise(300, 200), file_format, **({"quality": 97} if file_format == "JPEG" else {}))
    encoded = encode_image(data, ImageLimits(max_image_size=limit))
    assert len(encoded.data) <= limit
    assert len(encoded.data) >= 0.7 * min(limit, len(data))
    assert Image.open(io.BytesIO(encoded.data)).size == (encoded.width, encoded.height)


def test_png_that_fits_after_shrinking_stays_png() -> None:
    data = _saved(_noise(100, 100))
    encoded = encode_image(data, ImageLimits(max_image_size=len(data) // 3, max_long_side=50))
    assert encoded.mime == "image/png"
    assert (encoded.width, encoded.height) == (50, 50)


def test_quality_goes_down_before_size_does() -> None:
    data = _saved(_noise(100, 100))
    encoded = encode_image(data, ImageLimits(max_image_size=len(data) // 2))
    assert encoded.mime == "image/jpeg"
    assert (encoded.width, encoded.height) == (100, 100)


def test_padding_is_kept_when_bytes_are_short() -> None:
    encoded = encode_image(_saved(_noise(300, 20)), ImageLimits(max_image_size=2_000, min_short_side=28))
    assert len(encoded.data) <= 2_000
    assert encoded.height == 28
    assert encoded.width is not None
    assert 28 <= encoded.width < 300


def test_strip_longer_than_a_jpeg_may_be() -> None:
    data = _saved(_noise(70_000, 1))
    encoded = encode_image(data, ImageLimits(max_image_size=len(data) - 1_000))
    assert encoded.mime in ("image/jpeg", "image/png")
    assert len(encoded.data) < len(data)
    small = encode_image(data, ImageLimits(max_image_size=30_000))
    assert small.mime == "image/jpeg"
    assert len(small.data) <= 30_000


def test_impossible_limit_says_so() -> None:
    with pytest.raises(DataError, match=r"100x100 pixels cannot be encoded in 20 bytes at any size: raise"):
        encode_image(_saved(_noise(100, 100)), ImageLimits(max_image_size=20))


def test_result_depends_on_nothing_else() -> None:
    data, limits = _saved(_noise(200, 200)), ImageLimits(max_image_size=9_000)
    assert encode_image(data, limits) == encode_image(bytes(bytearray(data)), limits)


@settings(max_examples=60, deadline=None)
@given(
    width=st.integers(1, 130),
    height=st.integers(1, 130),
    mode=st.sampled_from(["RGB", "RGBA", "L"]),
    file_format=st.sampled_from(["PNG", "JPEG", "BMP"]),
    max_image_size=st.none() | st.integers(500, 20_000),
    max_long_side=st.none() | st.integers(12, 150),
    min_short_side=st.none() | st.integers(1, 12),
)
def test_limits_are_never_exceeded(
    width: int,
    height: int,
    mode: str,
    file_format: str,
    max_image_size: int | None,
    max_long_side: int | None,
    min_short_side: int | None,
) -> None:
    image = _noise(width, height, mode)
    data = _saved(image if file_format == "PNG" else image.convert("RGB"), file_format)
    limits = ImageLimits(max_image_size, max_long_side, min_short_side)
    encoded = encode_image(data, limits)
    size = Image.open(io.BytesIO(encoded.data)).size
    assert len(encoded.data) <= (max_image_size or len(encoded.data))
    assert max(size) <= (max_long_side or max(size))
    assert min(size) >= (min_short_side or 1)
    assert (encoded.data is data) is not encoded.changed


# --- Faults ------------------------------------------------------------------------------------------------


def test_cut_picture_that_has_to_change_is_an_error() -> None:
    data = _saved(_noise(100, 100), "JPEG")
    with pytest.raises(DataError, match="cannot decode image/jpeg: cut off or damaged"):
        encode_image(data[: len(data) // 2], HALF)


def test_damaged_header_is_an_error() -> None:
    with pytest.raises(DataError, match="cannot decode image/png: damaged header"):
        encode_image(_saved(_noise(100, 100))[:20], HALF)


@pytest.mark.parametrize("data", [b"", b"hello", b"ID3\x04\0\0"])
def test_no_picture_is_an_error(data: bytes) -> None:
    with pytest.raises(DataError, match="not an image"):
        encode_image(data, ImageLimits())


def test_picture_that_cannot_be_read_here_is_an_error() -> None:
    with pytest.raises(DataError, match="image/heic: convert it to JPEG or PNG"):
        encode_image(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", ImageLimits())
