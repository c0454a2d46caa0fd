"""The journal: the append-only files under ``items/`` that make a crash cost nothing.

One line per inference, written with a single ``write`` as the answer arrives, so a killed process loses no
answer that it had. A background fsync once a second bounds what a power cut can take to about a second. A line
cut short is skipped, and only that line.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson

from flagharness.errors import DataError
from flagharness.run._prediction import Prediction, dump_line

logger = logging.getLogger(__name__)

FILE_NAME = "journal.jsonl"
SYNC_EVERY_S = 1.0


class Location(NamedTuple):
    """Where one journal line lies: index into :attr:`Journal.files`, byte offset, length."""

    file: int
    offset: int
    length: int


class Journal:
    """All journal files of one task, indexed by what they answer.

    The index holds digests and byte positions only: memory stays flat however long the answers are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: list[Path] = []
        self.torn_lines = 0
        self._ok: dict[bytes, Location] = {}
        self._failed: dict[bytes, Location] = {}
        self._ok_under: dict[tuple[str, int, str | None], Location] = {}
        self._error_under: dict[tuple[str, int, str | None], Location] = {}
        self._newest: dict[tuple[str, int], tuple[bool, Location]] = {}
        self._descriptors: dict[int, int] = {}
        self._out: int | None = None
        self._unsynced = False
        self._torn = False
        self._lock = threading.Lock()
        self._stop_sync = threading.Event()
        self._sync_thread: threading.Thread | None = None
        for path in sorted(folder.glob("*.jsonl")):
            self._scan(path)

    def find(self, request_hash: str) -> Location | None:
        """Return where the good answer to exactly this request lies, if there is one."""
        return self._ok.get(bytes.fromhex(request_hash))

    def find_failure(self, request_hash: str) -> Location | None:
        """Return where the newest failure of exactly this request lies, if there is one."""
        return self._failed.get(bytes.fromhex(request_hash))

    def latest(self, question_id: str, inference: int = 0, settings: str | None = None) -> Location | None:
        """Return the newest good answer to a question, or else its newest failure.

        Args:
            settings: Only what was asked under these settings; None for whatever was asked.
        """
        if settings is not None:
            key = (question_id, inference, settings)
            return self._ok_under.get(key) or self._error_under.get(key)
        found = self._newest.get((question_id, inference))
        return found[1] if found else None

    def has_answer(self, question_id: str, inference: int = 0) -> bool:
        """Whether any request for this question was ever answered."""
        return self._newest.get((question_id, inference), (False,))[0]

    def has_only_failed(self, question_id: str, inference: int = 0) -> bool:
        """Whether this question was asked before and never answered."""
        return not self._newest.get((question_id, inference), (True,))[0]

    def inferences(self) -> int:
        """Return how many inferences per question the journal holds at most."""
        return 1 + max((inference for _, inference in self._newest), default=-1)

    def __len__(self) -> int:
        return len(self._newest)

    def read(self, location: Location) -> Prediction:
        """Read one prediction back from disk."""
        descriptor = self._descriptors.get(location.file)
        if descriptor is None:
            descriptor = os.open(self.files[location.file], os.O_RDONLY)
            self._descriptors[location.file] = descriptor
        line = os.pread(descriptor, location.length, location.offset)
        return Prediction.from_json(orjson.loads(line), str(self.files[location.file]))

    def append(self, prediction: Prediction) -> Location:
        """Write one prediction so that it survives the death of this process."""
        line = dump_line(prediction.to_json())
        with self._lock:
            if self._out is None:
                self._open()
            assert self._out is not None
            if self._torn:
                os.write(self._out, b"\n")
                self._torn = False
            offset = os.lseek(self._out, 0, os.SEEK_END)
            view = memoryview(line)
            self._torn = True  # until the whole line is there: a full disk may take half of it
            while view:
                view = view[os.write(self._out, view) :]
            self._torn = False
            self._unsynced = True
            location = Location(self._out_index, offset, len(line))
            self._index(prediction, location)
        return location

    def close(self) -> None:
        """Sync and close; safe to call twice."""
        self._stop_sync.set()
        if self._sync_thread is not None:
            self._sync_thread.join()
            self._sync_thread = None
        if self._out is not None:
            os.fsync(self._out)
            os.close(self._out)
            self._out = None
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()

    def _open(self) -> None:
        path = self.folder / FILE_NAME
        self.folder.mkdir(parents=True, exist_ok=True)
        self._out = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        end = os.lseek(self._out, 0, os.SEEK_END)
        if end and os.pread(self._out, 1, end - 1) != b"\n":
            self._torn = True  # a line cut by a crash must not spoil the next one
        if path not in self.files:
            self.files.append(path)
        self._out_index = self.files.index(path)
        self._sync_thread = threading.Thread(target=self._sync_loop, name="journal-sync", daemon=True)
        self._sync_thread.start()

    def _sync_loop(self) -> None:
        while not self._stop_sync.wait(SYNC_EVERY_S):
            if self._unsynced and self._out is not None:
                self._unsynced = False
                os.fsync(self._out)

    def _scan(self, path: Path) -> None:
        self.files.append(path)
        index = len(self.files) - 1
        offset = torn = 0
        for line in _lines(path):
            location = Location(index, offset, len(line))
            offset += len(line)
            if not line.strip():
                continue
            try:
                self._index(Prediction.from_json(orjson.loads(line), str(path)), location)
            except (orjson.JSONDecodeError, ValueError, TypeError, DataError):
                torn += 1
        if torn:
            logger.warning(
                "%s: %d line(s) that hold no prediction (cut short by a crash?) were dropped.", path, torn
            )
        self.torn_lines += torn

    def _index(self, prediction: Prediction, location: Location) -> None:
        question = (prediction.question_id, prediction.inference)
        under = (*question, prediction.settings)
        if prediction.ok:
            if prediction.request_hash:
                self._ok[bytes.fromhex(prediction.request_hash)] = location
            self._ok_under[under] = location
            self._newest[question] = (True, location)
        else:
            if prediction.request_hash:
                self._failed[bytes.fromhex(prediction.request_hash)] = location
            self._error_under[under] = location
            if not self.has_answer(*question):
                self._newest[question] = (False, location)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file
