"""Sounds: which files endpoints take."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from flagharness.media._file import check_file
from flagharness.media._sniff import MediaType

AUDIO_TYPES = ("audio/wav", "audio/mpeg")
"""What an ``input_audio`` part can hold."""


def check_audio(path: Path) -> str | None:
    """Find what is wrong with a sound file.

    Returns:
        None, or what is wrong as the second half of a sentence that the path begins.
    """
    return check_file(path, "audio", _problem)


def _problem(stream: IO[bytes], head: bytes, media_type: MediaType) -> str | None:
    if media_type.mime not in AUDIO_TYPES:
        return f"is {media_type.mime}; endpoints take WAV and MP3: convert it"
    return None
