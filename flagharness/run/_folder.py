"""The run directory: where each file of a task lies, who may write there, what is already there."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from flagharness.errors import ConfigError, DataError
from flagharness.run._journal import Journal
from flagharness.run._prediction import Prediction

logger = logging.getLogger(__name__)


class TaskFolder:
    """The files of one task inside a run directory."""

    def __init__(self, output_dir: Path, task_name: str) -> None:
        self._name = task_name
        self.path = output_dir / task_name
        self.judge = self.path / "judge"
        self.items = self.path / "items"
        self.config = self.path / f"{task_name}_config.json"
        self.predictions = self.path / f"{task_name}.json"
        self.evaluated = self.path / f"{task_name}_evaluated.json"
        self.result = self.path / f"{task_name}_result.json"
        self.dry_run = self.path / "dry_run"

    def of_judge(self, label: str) -> TaskFolder:
        """Return the folder with the scored files of another judge than the first, beside those of the first."""
        other = copy.copy(self)
        other.evaluated = self.path / f"{self._name}_evaluated.{label}.json"
        other.result = self.path / f"{self._name}_result.{label}.json"
        return other

    def read_json(self, path: Path) -> dict[str, Any] | None:
        """Return a JSON object of this run, or None when the file is missing or unreadable."""
        try:
            value = orjson.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, orjson.JSONDecodeError) as error:
            logger.warning("%s: not readable, ignored: %s", path, error)
            return None
        return value if isinstance(value, dict) else None

    def start_over(self) -> None:
        """Put everything that lies here aside (``--overwrite``): renamed, never deleted."""
        if not self.path.exists():
            return
        for number in range(1, 10_000):
            aside = self.path.with_name(f"{self.path.name}.old-{number}")
            if not aside.exists():
                self.path.rename(aside)
                logger.info("The earlier run was put aside as %s", aside)
                return


@contextmanager
def only_writer(output_dir: Path, task_name: str) -> Iterator[None]:
    """Hold one task of a run directory for this process.

    Raises:
        ConfigError: Another process is writing there, or nobody may.
    """
    from filelock import FileLock, Timeout

    path = output_dir / f".{task_name}.lock"
    lock = FileLock(path, timeout=0)
    try:
        output_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise ConfigError(
            f"{output_dir / task_name}: another flagharness is writing this task. Wait for it, or give another "
            f"--output-dir."
        ) from None
    except OSError as error:
        raise ConfigError(f"--output-dir {output_dir}: cannot write there: {error}") from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def summary_lock(output_dir: Path) -> Iterator[None]:
    """Hold the run's summary, which several processes may add their tasks to, for a moment."""
    from filelock import FileLock

    with FileLock(output_dir / ".summary.lock"):
        yield


class SavedPredictions:
    """Predictions that lie in a run directory: our journal, else prediction files in FlagEvalMM's layout.

    Args:
        settings: Of the journal, only what was asked under these settings (see :class:`Prediction`).
    """

    def __init__(self, folder: TaskFolder, journal: Journal, settings: str | None = None) -> None:
        self._journal = journal
        self._settings = settings
        self._by_key: dict[tuple[str, int], Prediction] = {}
        self.num_infers = journal.inferences()
        if len(journal):
            self.source = "journal"
            return
        for place, record in _records(folder):
            for prediction in _expand(record, place):
                key = (prediction.question_id, prediction.inference)
                if key in self._by_key:
                    raise DataError(
                        f"{place}: question_id {key[0]!r} occurs twice. Remove one of the two rows."
                    )
                self._by_key[key] = prediction
        self.source = "prediction files" if self._by_key else "nothing"
        self.num_infers = 1 + max((k for _, k in self._by_key), default=0)

    def __len__(self) -> int:
        return len(self._by_key) or len(self._journal)

    def get(self, question_id: str, inference: int) -> Prediction | None:
        """Return the newest prediction for a question, good ones before failures; None when there is none."""
        if self._by_key:
            return self._by_key.get((question_id, inference))
        location = self._journal.latest(question_id, inference, self._settings)
        return self._journal.read(location) if location else None


def _records(folder: TaskFolder) -> Iterator[tuple[str, Any]]:
    if folder.predictions.is_file():
        records = _load(folder.predictions)
        if not isinstance(records, list):
            raise DataError(f"{folder.predictions}: expected a JSON list of predictions.")
        for position, record in enumerate(records):
            yield f"{folder.predictions}, row {position}", record
        return
    for path in sorted(folder.items.glob("*.json")):
        yield str(path), _load(path)


def _load(path: Path) -> Any:
    try:
        return orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"{path}: not a readable JSON file: {error}") from error


def _expand(record: Any, place: str) -> Iterator[Prediction]:
    """Split a record with several inferences (``answer: {"inference_0": ...}``) into one per inference."""
    answers = record.get("answer") if isinstance(record, dict) else None
    if not isinstance(answers, dict):
        yield Prediction.from_json(record, place)
        return
    for key, answer in answers.items():
        prefix, _, number = key.rpartition("_")
        if prefix != "inference" or not (number.isascii() and number.isdigit()):
            raise DataError(f"{place}: answer key {key!r} is not of the form inference_0.")
        single = {**record, "answer": answer, "inference": int(number)}
        for name, value in record.items():
            if isinstance(value, list):
                single[name] = value[int(number)] if int(number) < len(value) else None
        if answer and record.get("status") == "error":  # another inference of this question failed
            single.update(status="ok", error=None)
        yield Prediction.from_json({k: v for k, v in single.items() if v is not None}, place)


def merge_inferences(predictions: list[Prediction]) -> dict[str, Any]:
    """Return the row of ``{task}.json`` for one question: a plain record, or lists when there are several."""
    first = predictions[0]
    if len(predictions) == 1:
        return first.to_json()
    return {
        "question_id": first.question_id,
        "question": first.question,
        "answer": {f"inference_{p.inference}": p.answer for p in predictions},
        "reason": [p.reason for p in predictions],
        "usage": [p.usage for p in predictions],
        "status": "ok" if all(p.ok for p in predictions) else "error",
        "error": next((p.error for p in predictions if p.error), None),
        "finish_reason": [p.finish_reason for p in predictions],
        "latency_s": [p.latency_s for p in predictions],
        "response_id": [p.response_id for p in predictions],
        "request_hash": [p.request_hash for p in predictions],
    }
