"""What tasks there are, by what their configs say of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagharness.config import META_KEYS, all_task_configs, read_meta
from flagharness.errors import ConfigError
from flagharness.report._table import align

JUDGE_TEXTS = {True: "yes", False: "no"}


def list_tasks() -> list[dict[str, Any]]:
    """Return one record per task that a bare name can reach; no file is run."""
    return [_record(path) for path in all_task_configs()]


def task_table(tasks: Sequence[Mapping[str, Any]]) -> str:
    """Return the records of :func:`list_tasks` as a table."""
    header = ("task", "also called", "rows", "modality", "metric", "judge", "licence", "published", "config")
    unread = [task["error"] for task in tasks if "error" in task]
    return "\n".join([align([header, *map(_cells, tasks)]), *unread])


def _record(path: Path) -> dict[str, Any]:
    try:
        meta, error = read_meta(path), None
    except ConfigError as problem:
        meta, error = {}, str(problem)
    record = {"name": path.stem, "path": str(path), **{key: meta.get(key) for key in META_KEYS}}
    for key in ("aliases", "published"):
        if record[key] is not None and not isinstance(record[key], list):
            record[key], error = None, f"{path}: meta.{key} must be a list."
    return {**record, "error": error} if error else record


def _short(text: str, most: int = 44) -> str:
    return text if len(text) <= most else f"{text[: most - 3].rstrip()}..."


def _cells(task: Mapping[str, Any]) -> tuple[str, ...]:
    published: Any = next(iter(task["published"] or []), {})
    published = published if isinstance(published, dict) else {}
    reference = next((value for key, value in published.items() if key not in ("model", "source")), None)
    judge = task["needs_judge"]
    return (
        task["name"],
        ", ".join(map(str, task["aliases"] or [])) or "-",
        f"{task['rows']:,}" if isinstance(task["rows"], int) else "-",
        str(task["modality"] or "-"),
        _short(str(task["metric"] or "-")),
        "-" if judge is None else JUDGE_TEXTS.get(judge, str(judge)),
        _short(str(task["license"] or "-")),
        f"{published['model']} {reference}" if published.get("model") and reference is not None else "-",
        str(task["path"]),
    )
