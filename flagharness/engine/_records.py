"""What a run writes down about itself beside predictions and verdicts."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import time
from collections.abc import Mapping
from typing import Any

import orjson

from flagharness import __version__
from flagharness.config import ModelConfig, snapshot
from flagharness.engine._score import headline_of
from flagharness.engine._spec import TaskRun
from flagharness.run import dump_line

RECORDED_PACKAGES = (
    "mmengine-lite",
    "datasets",
    "pillow",
    "numpy",
    "pycocotools",
    "lvis",
    "faster-coco-eval",
    "openai",
    "orjson",
)
OF_JUDGES = ("accuracy_judged", "range", "complete", "judge_tokens", "cost")
"""What the summary takes over of a result where there is such a thing."""
NO_MATTER_FOR_ANSWERS = frozenset(
    (
        "api_key",
        "url",
        "base_url",
        "num_workers",
        "max_retries",
        "retry_wait_max",
        "timeout",
        "output_dir",
        "price",
    )
)


def model_record(model: ModelConfig) -> dict[str, Any]:
    """Return the model config as written, placeholders unresolved, with the sampling that is really sent."""
    return {**model.source, "sampling_sent": snapshot(model.sampling)}


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Name the settings that differ between two model records and matter for an answer."""
    if not before:
        return []
    return [
        f"{key} {before.get(key)!r} -> {after.get(key)!r}"
        for key in sorted({*before, *after} - NO_MATTER_FOR_ANSWERS)
        if before.get(key) != after.get(key)
    ]


def is_finished(run: TaskRun, record: dict[str, Any]) -> bool:
    """Whether the folder of a task holds a full, scored run of exactly this (what ``--skip`` asks).

    Args:
        record: The config record that this run would write.
    """
    result = run.folder.read_json(run.folder.result) or {}
    stored = run.folder.read_json(run.folder.config) or {}
    counts = result.get("counts") or {}
    wanted = orjson.loads(dump_line(record))
    return (
        result.get("partial") is False
        and counts.get("total") == counts.get("answered") == run.rows
        and stored.get("task") == wanted["task"]
        and (stored.get("data") or {}).get("digest") == wanted["data"]["digest"]
        and (stored.get("run") or {}).get("num_infers") == run.num_infers
        and result.get("complete", True)
        and judge_digest(result) == (run.panel.digest if run.panel else None)
        and bool(stored.get("model"))
        and not differences(stored["model"], wanted["model"])
    )


def judge_digest(result: Mapping[str, Any]) -> str | None:
    """Return what tells whether two results were judged alike; None for one without judges."""
    judge = (result.get("obtained_by") or {}).get("judge") or {}
    return judge.get("digest") if isinstance(judge, dict) else None


def versions() -> dict[str, str]:
    """Return the versions that an answer or a score may depend on."""
    found = {"flagharness": __version__, "python": platform.python_version()}
    for package in RECORDED_PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def task_summary(run: TaskRun) -> dict[str, Any]:
    """Return what summary.json says of one task. ``time_s`` is this run's asking, first request to last answer."""
    result = run.result or {}
    name, value = headline_of(result)
    seconds = None
    if run.started is not None:
        seconds = round((run.finished or time.monotonic()) - run.started, 3)
    return {
        "status": run.status,
        "error": run.error,
        "note": result.get("note"),
        "model": (result.get("obtained_by") or {}).get("model") or run.model_name,
        "last_failure": run.last_failure,
        "metric": name,
        "score": value,
        "ci95": result.get("ci95") if name == "accuracy" else None,
        "n": (result.get("counts") or {}).get("total"),
        "counts": result.get("counts"),
        "partial": result.get("partial"),
        "tokens": result.get("tokens"),
        **{key: result[key] for key in OF_JUDGES if key in result},
        "requests": {"asked": run.asked, "kept": run.kept, "retries": run.retries},
        "time_s": seconds,
    }


def now() -> str:
    """Return the time in UTC, to the second, as ISO 8601."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
