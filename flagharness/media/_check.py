"""Is this file a sound picture? Asked of every picture of a task before the first request."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

from flagharness.errors import DataError
from flagharness.media._sniff import SNIFF_BYTES, MediaType, sniff

_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"
_END_MARKS = {
    "image/jpeg": b"\xff\xd9",
    "image/png": _PNG_END,
    "image/gif": b"\0;",  # end of the last data block, end of the file
}


def check_image(path: Path) -> str | None:
    """Find what is wrong with an image file, in about 0.1 ms for a healthy one.

    The header is read and the end of the file looked at. Only if the end does not settle it (bytes after the
    end mark are legal, some formats have none) are the pixels decoded (of the first frame).

    Returns:
        None, or what is wrong as the second half of a sentence that the path begins, for example
        "does not exist", "is empty (0 bytes)", "is not an image (begins with b'<html>')",
        "is a video (video/mp4), not an image", "cannot be used: cannot decode image/jpeg: ...".
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return "is not a regular file"
        if status.st_size == 0:
            return "is empty (0 bytes)"
        with path.open("rb") as stream:
            return _problem(stream, status.st_size)
    except FileNotFoundError:
        return "does not exist"
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"


def _problem(stream: IO[bytes], size: int) -> str | None:
    from flagharness.media._decoding import decode, open_image

    head = stream.read(SNIFF_BYTES)
    media_type = sniff(head)
    if media_type is None:
        return f"is not an image (begins with {head[:16]!r})"
    if media_type.kind != "image":
        return f"is a {media_type.kind} file ({media_type.mime}), not an image"
    has_end = _has_end(stream, size, head, media_type)
    stream.seek(0)
    try:
        image = open_image(stream, media_type)
        if not has_end:
            decode(image)
            _require_png_end(stream, media_type)
    except DataError as error:
        return f"cannot be used: {error}"
    return None


def _has_end(stream: IO[bytes], size: int, head: bytes, media_type: MediaType) -> bool:
    """Whether the file visibly runs to its end. False only means that this look cannot tell."""
    if media_type.mime == "image/webp":
        return int.from_bytes(head[4:8], "little") + 8 <= size
    mark = _END_MARKS.get(media_type.mime)
    if mark is None or size < len(mark):
        return False
    stream.seek(-len(mark), os.SEEK_END)
    return stream.read() == mark


def _require_png_end(stream: IO[bytes], media_type: MediaType) -> None:
    """Refuse a PNG without its end chunk, which decodes if only a few bytes are missing."""
    if media_type.mime == "image/png":
        stream.seek(0)
        if _PNG_END not in stream.read():
            raise DataError("cannot decode image/png: cut off (no IEND chunk)")
