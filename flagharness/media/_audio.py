"""Sounds: which files endpoints take."""

from __future__ import annotations

from pathlib import Path

from flagharness.media._sniff import SNIFF_BYTES, sniff

AUDIO_TYPES = ("audio/wav", "audio/mpeg")
"""What an ``input_audio`` part can hold."""


def check_audio(path: Path) -> str | None:
    """Find what is wrong with a sound file.

    Returns:
        None, or what is wrong as the second half of a sentence that the path begins.
    """
    try:
        with path.open("rb") as stream:
            head = stream.read(SNIFF_BYTES)
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    if not head:
        return "is empty (0 bytes)"
    found = sniff(head)
    if found is None:
        return f"is not a sound (begins with {head[:16]!r})"
    if found.kind != "audio":
        return f"is a {found.kind} file ({found.mime}), not a sound"
    if found.mime not in AUDIO_TYPES:
        return f"is {found.mime}; endpoints take WAV and MP3: convert it"
    return None
