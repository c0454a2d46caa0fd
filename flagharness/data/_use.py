"""Data folders in use: nobody may replace the pictures of a run that is still asking about them."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flagharness.errors import DataError


class DataInUse:
    """Keeps a prepared data folder from being replaced until :meth:`close`; any number of readers may."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._file = _lock_file(folder, cache)
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def close(self) -> None:
        """Let go of the folder; safe to call twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


@contextmanager
def replacing_data(folder: Path, cache: Path) -> Iterator[None]:
    """Hold a data folder alone while it is replaced.

    Raises:
        DataError: A run is using it.
    """
    file = _lock_file(folder, cache)
    try:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"{folder}: another run is using this data, and other settings would replace it. Wait for that run, "
                f"or keep the data apart: --cfg-options config.processed_dataset_path=ANOTHER_NAME."
            ) from None
        yield
    finally:
        os.close(file)


def _lock_file(folder: Path, cache: Path) -> int:
    locks = cache / ".locks"
    locks.mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return os.open(locks / f"{name}.use", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
