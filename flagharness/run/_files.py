"""Writing whole files so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from flagharness.run._prediction import dump, dump_pretty


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a temporary neighbour of ``path`` that takes its place when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write one text file, UTF-8."""
    with replacing(path) as file:
        file.write(text.encode())


def write_json(path: Path, value: Any) -> None:
    """Write one indented JSON file; NaN becomes null."""
    with replacing(path) as file:
        file.write(dump_pretty(value))


def write_json_list(path: Path, records: Iterable[Any]) -> int:
    """Write a JSON list, one record a line, without holding it in memory. Returns the number of records."""
    count = 0
    with replacing(path) as file:
        file.write(b"[")
        for record in records:
            file.write(b",\n" if count else b"\n")
            file.write(dump(record))
            count += 1
        file.write(b"\n]\n")
    return count
