"""The tables printed at the end of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flagharness.engine import RunSpec, TaskRun


def summary_table(tasks: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the result table: score, interval, denominator, failures, tokens and time of every task."""
    header = (
        "task",
        "metric",
        "score",
        "95 % CI",
        "n",
        "no answer",
        "unparsed",
        "truncated",
        "tokens",
        "time",
    )
    rows = [_summary_row(name, task) for name, task in tasks.items()]
    notes = [f"{name}: {_note(task)}" for name, task in tasks.items() if _note(task)]
    return "\n".join([align([header, *rows]), *notes])


def _summary_row(name: str, task: Mapping[str, Any]) -> tuple[str, ...]:
    counts = task.get("counts") or {}
    interval = task.get("ci95")
    tokens = task.get("tokens") or {}
    total = counts.get("total")
    return (
        name,
        str(task["metric"]) if task["score"] is not None else _without_score(task["status"]),
        f"{task['score']:.2f}" if task["score"] is not None else "-",
        f"{interval[0]:.2f} - {interval[1]:.2f}" if interval else "-",
        f"{total}{' (partial)' if task.get('partial') else ''}" if total is not None else "-",
        str(total - counts["answered"]) if total is not None else "-",
        _number(counts.get("parse_failures")),
        _number(counts.get("truncated")),
        _thousands(sum(tokens.values())) if tokens else "-",
        f"{task['time_s']:.1f} s" if task.get("time_s") is not None else "-",
    )


def _without_score(status: str) -> str:
    return "no score" if status == "scored" else status


def _note(task: Mapping[str, Any]) -> str:
    counts = task.get("counts") or {}
    total, truncated = counts.get("total") or 0, counts.get("truncated") or 0
    notes = []
    if task.get("error"):
        notes.append(f"{task['status']}: {task['error'].splitlines()[0][:400]}")
    if task.get("note"):
        notes.append(str(task["note"]))
    broken = counts.get("data_errors") or 0
    open_rows = total - (counts.get("answered") or 0) - broken
    if broken:
        notes.append(f"{broken} of {total} samples could not be asked for their data and count as wrong")
    if total and open_rows > 0:
        why = f" (the last: {task['last_failure'][:200]})" if task.get("last_failure") else ""
        notes.append(
            f"{open_rows} of {total} samples have no answer and count as wrong{why}; run again to ask them"
        )
    unjudged = counts.get("judge_failures") or 0
    if unjudged and task.get("range") and task["score"] is not None:
        low, high = task["range"]
        right, judged = task.get("accuracy_judged"), "none was judged"
        if right is not None:
            judged = f"of those judged {right:.2f} % are right"
        notes.append(
            f"{unjudged} of {total} samples have no judge's verdict; {judged}, and the score lies between {low:.2f} "
            f"and {high:.2f}"
        )
    if total and truncated > 0.05 * total:
        notes.append(f"{truncated} of {total} answers were cut off by the token limit; raise max_tokens")
    return "; ".join(notes)


def dry_run_table(runs: Sequence[TaskRun], volumes: Mapping[str, Any], spec: RunSpec) -> str:
    """Return what a run would send: rows, requests, images, and their bytes as they lie on disk."""
    header = ("task", "rows", "requests", "images", "media bytes", "first requests in full")
    rows = []
    for run in runs:
        volume = volumes.get(run.name)
        if volume is None or run.status == "failed":
            rows.append((run.name, "-", "-", "-", "-", "failed"))
            continue
        requests = (run.rows - len(run.bad_rows)) * run.num_infers
        place = str(run.folder.dry_run) if run.folder.dry_run.is_dir() else "-"
        rows.append(
            (run.name, str(run.rows), str(requests), str(volume.images), _thousands(volume.bytes), place)
        )
    notes = [f"{run.name}: {note}" for run in runs if (note := _size_note(run))]
    for run in runs:
        volume = volumes.get(run.name)
        if volume is not None and (volume.videos or volume.audios):
            notes.append(f"{run.name}: {volume.videos} videos and {volume.audios} sounds among them")
        if run.panel is not None and run.status != "failed":
            judges = run.panel.config.judges
            calls = (run.rows - len(run.bad_rows)) * run.num_infers * len(judges)
            who = ", ".join(judge.id for judge in judges)
            notes.append(f"{run.name}: up to {calls} judge calls to {who} (family {run.panel.family.name})")
    return "\n".join([align([header, *rows]), *notes, "Nothing was sent."])


def _size_note(run: TaskRun) -> str | None:
    return None if run.status == "failed" else run.size_note()


def align(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of cells as lines with even columns; the first row is the header."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]])


def _number(value: int | None) -> str:
    return "-" if value is None else str(value)


def _thousands(value: int) -> str:
    return f"{value:,}"
