"""Faults of pictures that people met, as rows of one data file."""

from __future__ import annotations

import hashlib
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from flagharness.media import EncodedImage, ImageLimits, check_image, encode_image

_FILE = Path(__file__).parents[1] / "data" / "hard_cases" / "media.json"
_CASES = [case for case in json.loads(_FILE.read_text(encoding="utf-8")) if "picture" in case["input"]]


def _saved(image: Image.Image, file_format: str) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, file_format)
    return buffer.getvalue()


def _red_cmyk_jpeg() -> bytes:
    return _saved(Image.new("CMYK", (64, 64), (0, 255, 255, 0)), "JPEG")


def _line_on_transparent_png() -> bytes:
    image = Image.new("RGBA", (64, 64), (0, 0, 0, 0))
    ImageDraw.Draw(image).rectangle((16, 24, 48, 40), fill=(0, 0, 0, 255))
    return _saved(image, "PNG")


def _fine_text_png() -> bytes:
    image = Image.new("RGB", (1000, 1000), "white")
    draw = ImageDraw.Draw(image)
    for row in range(0, 1000, 10):
        draw.text(
            (2, row),
            f"line {row}: the quick brown fox jumps over the lazy dog " * 3,
            fill="black",
            font_size=6,
        )
    return _saved(image, "PNG")


def _half_jpeg() -> bytes:
    whole = _saved(Image.frombytes("RGB", (200, 200), random.Random(0).randbytes(200 * 200 * 3)), "JPEG")
    return whole[: len(whole) // 2]


_PICTURES = {
    "red CMYK JPEG": _red_cmyk_jpeg,
    "black line on transparent PNG": _line_on_transparent_png,
    "fine text PNG of 1000x1000": _fine_text_png,
    "JPEG cut in half": _half_jpeg,
}


def _facts(encoded: EncodedImage, original: bytes) -> dict[str, Any]:
    pixels = Image.open(io.BytesIO(encoded.data))
    pixels.load()
    return {
        "mime": encoded.mime,
        "mode": pixels.mode,
        "size": list(pixels.size),
        "corner": list(pixels.getpixel((0, 0))),  # type: ignore[arg-type]
        "centre": list(pixels.getpixel((pixels.width // 2, pixels.height // 2))),  # type: ignore[arg-type]
        "same_sha256": hashlib.sha256(encoded.data).digest() == hashlib.sha256(original).digest(),
    }


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_picture_fault_people_met(case: dict[str, Any], tmp_path: Path) -> None:
    row, expected = dict(case["input"]), case["expected"]
    make = _PICTURES.get(row.pop("picture"))
    path = tmp_path / "picture"
    if make is not None:
        path.write_bytes(make())
    problem = check_image(path)
    if "problem" in expected:
        assert problem is not None
        assert expected["problem"] in problem
        return
    assert problem is None
    original = path.read_bytes()
    facts = _facts(encode_image(original, ImageLimits(**row)), original)
    assert {name: facts[name] for name in expected} == expected
