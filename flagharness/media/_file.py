"""What every check of a media file begins with: it is there, can be read, and is of the kind that is meant."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO

from flagharness.media._sniff import SNIFF_BYTES, MediaType, sniff

NAMES = {"image": "an image", "video": "a video", "audio": "a sound"}
Look = Callable[[IO[bytes], bytes, MediaType], str | None]
"""Gets the open file, its first bytes and its type; finds what else is wrong."""


def check_file(path: Path, kind: str, look: Look) -> str | None:
    """Find what is wrong with a media file; ``look`` is asked about one of the right kind.

    Returns:
        None, or what is wrong as the second half of a sentence that the path begins, for example
        "does not exist", "is empty (0 bytes)", "is not an image (begins with b'<html>')",
        "is a video file (video/mp4), not an image".
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file"
        if status.st_size == 0:
            return "is empty (0 bytes)"
        with path.open("rb") as stream:
            head = stream.read(SNIFF_BYTES)
            found = sniff(head)
            if found is None:
                return f"is not {NAMES[kind]} (begins with {head[:16]!r})"
            if found.kind != kind:
                return f"is {NAMES[found.kind]} file ({found.mime}), not {NAMES[kind]}"
            return look(stream, head, found)
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
