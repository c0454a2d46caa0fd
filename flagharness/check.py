"""Whether a task folder is whole: its config loads, it is documented, and its golden cases come out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

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
        for name in ("README.md", FILE_NAME):
            if not (task.folder / name).is_file():
                found.problems.append(f"the folder has no {name}")
    golden = task.folder / FILE_NAME
    if golden.is_file() and task.evaluator is not None:
        _check_golden_file(task, golden, found)
    return found


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
