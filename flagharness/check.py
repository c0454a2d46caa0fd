"""Whether a task folder is whole: its config loads, it is documented, and its golden cases come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagharness.config import META_KEYS
from flagharness.errors import FlagHarnessError
from flagharness.golden import FILE_NAME, check_golden, load_golden
from flagharness.task import Task


@dataclass
class TaskCheck:
    """What was found about one task config."""

    path: Path
    problems: list[str] = field(default_factory=list)
    golden_cases: int = 0


def check_task(path: Path) -> TaskCheck:
    """Look at a task folder without its data and without a request.

    A config that says nothing of itself (no ``meta``) is only loaded: that is how a private task may look.
    """
    found = TaskCheck(path)
    try:
        task = Task(path)
    except FlagHarnessError as error:
        found.problems.append(str(error))
        return found
    meta = task.config.meta
    if meta:
        missing = [key for key in META_KEYS if key not in meta]
        if missing:
            found.problems.append(f"meta lacks {', '.join(missing)}")
        found.problems.extend(_meta_problems(meta))
        for name in ("README.md", FILE_NAME):
            if not (task.folder / name).is_file():
                found.problems.append(f"the folder has no {name}")
    golden = task.folder / FILE_NAME
    if golden.is_file() and task.evaluator is not None:
        _check_golden_file(task, golden, found)
    return found


def _meta_problems(meta: Mapping[str, Any]) -> list[str]:
    texts = {key: f"{key} must be a text" for key in ("modality", "metric", "license")}
    wrong = [why for key, why in texts.items() if not isinstance(meta.get(key, ""), str)]
    rows, aliases, published = meta.get("rows"), meta.get("aliases", []), meta.get("published", [])
    if rows is not None and (not isinstance(rows, int) or isinstance(rows, bool) or rows < 1):
        wrong.append("rows must be a whole number above 0, or None")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        wrong.append("aliases must be a list of names")
    if not isinstance(published, list) or not all(
        isinstance(entry, dict) and "model" in entry for entry in published
    ):
        wrong.append("published must be a list of dicts with a model")
    if meta.get("needs_judge", False) not in (True, False, "optional"):
        wrong.append("needs_judge must be True, False or 'optional'")
    return [f"meta.{problem}" for problem in wrong]


def _check_golden_file(task: Task, golden: Path, found: TaskCheck) -> None:
    assert task.evaluator is not None
    try:
        cases = load_golden(golden)
    except FlagHarnessError as error:
        found.problems.append(str(error))
        return
    if not cases:
        found.problems.append(f"{golden.name} holds no case")
    for case in cases:
        found.problems.extend(
            f"golden case '{case.case}': {problem}" for problem in check_golden(task.evaluator, case)
        )
    found.golden_cases = len(cases)
