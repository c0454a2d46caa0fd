from __future__ import annotations

import io
import os
import random
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from flagharness.media import check_image


def _saved(file_format: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image = Image.frombytes("RGB", (120, 90), random.Random(0).randbytes(120 * 90 * 3))
    image.save(buffer, file_format, **options)
    return buffer.getvalue()


def _check(tmp_path: Path, data: bytes, name: str = "picture.jpg") -> str | None:
    path = tmp_path / name
    path.write_bytes(data)
    return check_image(path)


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "AVIF"])
def test_healthy_picture_has_no_problem_whatever_its_name(file_format: str, tmp_path: Path) -> None:
    assert _check(tmp_path, _saved(file_format), "named.jpg") is None


def test_progressive_jpeg_is_healthy(tmp_path: Path) -> None:
    assert _check(tmp_path, _saved("JPEG", progressive=True)) is None


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "GIF", "WEBP"])
@pytest.mark.parametrize("tail", [b"\0", b"\n", b"appended by a camera" * 50])
def test_bytes_after_the_end_are_legal(file_format: str, tail: bytes, tmp_path: Path) -> None:
    assert _check(tmp_path, _saved(file_format) + tail) is None


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF", "AVIF"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_cut_picture_is_found(file_format: str, share: float, tmp_path: Path) -> None:
    data = _saved(file_format)
    problem = _check(tmp_path, data[: int(len(data) * share)])
    assert problem is not None
    assert problem.startswith("cannot be used: cannot decode image/")


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("missing", [1, 2, 5, 12])
def test_a_few_missing_bytes_are_found(file_format: str, missing: int, tmp_path: Path) -> None:
    assert _check(tmp_path, _saved(file_format)[:-missing]) is not None


def test_cut_header_is_found(tmp_path: Path) -> None:
    assert "damaged header" in str(_check(tmp_path, _saved("JPEG")[:30]))


def test_empty_file(tmp_path: Path) -> None:
    assert _check(tmp_path, b"") == "is empty (0 bytes)"


def test_text_named_jpg(tmp_path: Path) -> None:
    problem = _check(tmp_path, b"<html>404 not found</html>")
    assert problem == "is not an image (begins with b'<html>404 not fo')"


def test_video_in_place_of_a_picture(tmp_path: Path) -> None:
    problem = _check(tmp_path, b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41")
    assert problem == "is a video file (video/mp4), not an image"


def test_heic_says_what_to_do(tmp_path: Path) -> None:
    problem = _check(tmp_path, b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")
    assert problem == "cannot be used: cannot decode image/heic: convert it to JPEG or PNG"


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert check_image(tmp_path / "nothing.png") == "does not exist"
    assert check_image(tmp_path) == "is not a regular file"
    (tmp_path / "file").write_bytes(b"x")
    assert str(check_image(tmp_path / "file" / "below.png")).startswith("cannot be read (")


def test_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    assert check_image(tmp_path / "pipe.png") == "is not a regular file"


def _png_header(width: int, height: int) -> bytes:
    chunk = b"IHDR" + struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    ihdr = struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    idat = b"IDAT" + zlib.compress(b"")
    return (
        b"\x89PNG\r\n\x1a\n"
        + ihdr
        + struct.pack(">I", len(idat) - 4)
        + idat
        + struct.pack(">I", zlib.crc32(idat))
    )


def test_decompression_bomb_is_a_problem(tmp_path: Path) -> None:
    bomb = _png_header(50_000, 50_000) + b"\0\0\0\0IEND\xaeB`\x82"
    problem = _check(tmp_path, bomb)
    assert problem is not None
    assert "50000x50000 are more than 178956970 pixels" in problem


def test_large_picture_below_the_bound_gives_no_warning(tmp_path: Path) -> None:
    large = _png_header(10_000, 10_000) + b"\0\0\0\0IEND\xaeB`\x82"
    assert _check(tmp_path, large) is None
