"""Which sounds endpoints take."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flagharness.media import check_audio

WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (WAV, None),
        (b"ID3\4\0\0\0\0\0\0" + b"\xff\xfb\x90\0", None),
        (b"\xff\xfb\x90\x00" + bytes(60), None),
        (b"", "is empty (0 bytes)"),
        (b"hello", "is not a sound (begins with b'hello')"),
        (b"\x89PNG\r\n\x1a\n....", "is an image file (image/png), not a sound"),
        (b"fLaC....", "is audio/flac; endpoints take WAV and MP3: convert it"),
        (b"OggS" + bytes(40), "is audio/ogg; endpoints take WAV and MP3: convert it"),
    ],
)
def test_what_a_sound_file_may_be(tmp_path: Path, content: bytes, problem: str | None) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    assert check_audio(path) == problem


def test_a_sound_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert check_audio(tmp_path / "a.wav") == "does not exist"


def test_a_pipe_is_told_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.wav")
    assert check_audio(tmp_path / "a.wav") == "is not a regular file"
