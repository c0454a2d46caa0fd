"""The engine: prepare, ask, score, over many tasks; the only place that knows all three."""

from flagharness.engine._run import Engine
from flagharness.engine._spec import (
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_TASK_FAILED,
    EXIT_UNANSWERED,
    EXIT_USAGE,
    TRY_RUN_SAMPLES,
    RunSpec,
    TaskRun,
)

__all__ = [
    "EXIT_INTERRUPTED",
    "EXIT_OK",
    "EXIT_TASK_FAILED",
    "EXIT_UNANSWERED",
    "EXIT_USAGE",
    "TRY_RUN_SAMPLES",
    "Engine",
    "RunSpec",
    "TaskRun",
]
