from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.media import sniff

_EBML = (
    b"\x1a\x45\xdf\xa3\x01\0\0\0\0\0\0\x1f\x42\x86\x81\x01"
    b"\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82"
)
_OGG = b"OggS\0\x02" + bytes(20) + b"\x01\x2a"
_BMP = b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0"


@pytest.mark.parametrize(
    ("head", "mime", "extension"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg", ".jpg"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png", ".png"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp", ".webp"),
        (b"GIF87a\x01\0", "image/gif", ".gif"),
        (b"GIF89a\x01\0", "image/gif", ".gif"),
        (_BMP + b"\x28\0\0\0", "image/bmp", ".bmp"),
        (b"II*\0\x08\0\0\0", "image/tiff", ".tif"),
        (b"MM\0*\0\0\0\x08", "image/tiff", ".tif"),
        (b"\0\0\0\x1cftypavif\0\0\0\0mif1miaf", "image/avif", ".avif"),
        (b"\0\0\0\x1cftypmif1\0\0\0\0mif1avif", "image/avif", ".avif"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "image/heic", ".heic"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0mif1heic", "image/heic", ".heic"),
        (b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41", "video/mp4", ".mp4"),
        (b"\0\0\0\x20ftypmp42\0\0\0\0", "video/mp4", ".mp4"),
        (b"\0\0\0\x14ftypqt  \0\0\x02\0qt  ", "video/quicktime", ".mov"),
        (b"\0\0\x10\0moov\0\0\0\x6cmvhd", "video/quicktime", ".mov"),
        (_EBML + b"\x84webm", "video/webm", ".webm"),
        (_EBML + b"\x88matroska", "video/x-matroska", ".mkv"),
        (b"RIFF\x24\0\0\0AVI LIST", "video/x-msvideo", ".avi"),
        (b"FLV\x01\x05", "video/x-flv", ".flv"),
        (_OGG + b"\x80theora", "video/ogg", ".ogv"),
        (_OGG + b"\x01vorbis", "audio/ogg", ".ogg"),
        (_OGG + b"OpusHead", "audio/ogg", ".ogg"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav", ".wav"),
        (b"ID3\x04\0\0\0\0\0\0", "audio/mpeg", ".mp3"),
        (b"\xff\xfb\x90\x64\0\0", "audio/mpeg", ".mp3"),
        (b"fLaC\0\0\0\x22", "audio/flac", ".flac"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0", "audio/mp4", ".m4a"),
    ],
)
def test_first_bytes_tell_type_and_extension(head: bytes, mime: str, extension: str) -> None:
    media_type = sniff(head)
    assert media_type is not None
    assert (media_type.mime, media_type.extension) == (mime, extension)
    assert media_type.kind == mime.partition("/")[0]


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\xff\xd8",
        b"<html><body>not found</body></html>",
        b"BMW is a car maker and this is a text",
        b"RIFF\x24\0\0\0XXXX",
        b"version https://git-lfs.github.com/spec/v1",
        b"\xff\xff\xff\xff\xff\xff",
        b"\xff\xfe<\0h\0t\0m\0l\0",  # UTF-16 text
        b"%PDF-1.7",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    ],
)
def test_anything_else_has_no_type(head: bytes) -> None:
    assert sniff(head) is None


@given(st.binary(max_size=80))
def test_no_bytes_make_it_fail(head: bytes) -> None:
    sniff(head)


def test_importing_media_loads_neither_pillow_nor_numpy() -> None:
    code = "import sys, flagharness.media; sys.exit(bool({'PIL', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
