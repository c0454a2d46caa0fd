"""What one run is asked to do, and the state of each of its tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagharness.config import JudgeConfig, ModelConfig
from flagharness.engine._requests import RequestBuilder
from flagharness.judge import GPT, Panel
from flagharness.run import Journal, Location, Prediction, TaskFolder
from flagharness.task import Task

TRY_RUN_SAMPLES = 32

EXIT_OK = 0
EXIT_TASK_FAILED = 1
EXIT_USAGE = 2
EXIT_UNANSWERED = 3
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class RunSpec:
    """The command line, read and typed."""

    tasks: Sequence[str]
    model: ModelConfig | None
    output_dir: Path
    limit: int | None = None
    """The first this many samples of each task; None for all."""
    data_root: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    dry_run: bool = False
    without_infer: bool = False
    overwrite: bool = False
    skip: bool = False
    skip_bad_rows: bool = False
    judge: JudgeConfig | None = None
    """The judge config of the command line; None for that of the task, the stored run or the environment."""
    retry_parse_failures: bool = False
    """Ask again what was answered unreadably; a deviation that the result states."""
    quiet: bool = False


@dataclass
class TaskRun:
    """One task inside a run: what is to be asked, what was found, what went wrong."""

    task: Task
    folder: TaskFolder
    ids: list[str] = field(default_factory=list)
    """question_id of every sample of this run, in the order of the data."""
    num_infers: int = 1
    judge: JudgeConfig | None = None
    judge_lacks_key: bool = False
    """Whether the judge config was read from the run's record, in which no literal key stands."""
    panel: Panel | None = None
    """The judges that decide about this task."""
    chat: GPT | None = None
    """The judge as a task's own scoring code asks it."""
    judge_label: str | None = None
    """What the files of this run's judges are told apart by, where those of other judges came first."""
    self_judged: str | None = None
    """What the result says where a judge is the model that it judges."""
    journal: Journal | None = None
    builder: RequestBuilder | None = None
    answers: dict[tuple[int, int], Location] = field(default_factory=dict)
    """Where the prediction for (sample index, inference) lies."""
    bad_rows: dict[int, str] = field(default_factory=dict)
    """Problems of samples that cannot be asked, by index."""
    kept: int = 0
    """Answers of an earlier run that still hold."""
    changed: int = 0
    """Samples asked again because the request is not what it was."""
    asked: int = 0
    retries: int = 0
    remaining: int = 0
    started: float | None = None
    finished: float | None = None
    model_name: str | None = None
    price: Mapping[str, float] | None = None
    """What a million tokens of the model cost."""
    settings: str | None = None
    """The settings under which the scored answers were given (see Prediction)."""
    last_failure: str | None = None
    """Why the last request that failed did, for the person who wonders why samples have no answer."""
    error: str | None = None
    """Why the task failed; None while it has not."""
    result: dict[str, Any] | None = None
    status: str = "open"
    """"open", "scored", "failed", "stopped", "skipped" or "answered" (asked, but there is nothing to score)."""

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def label(self) -> str:
        """What the summary calls this task: its name, and the judges where they are not the first ones."""
        return f"{self.name}@{self.judge_label}" if self.judge_label else self.name

    @property
    def rows(self) -> int:
        """Samples of this run: all, or the first ``limit``."""
        return len(self.ids)

    @property
    def partial(self) -> bool:
        return self.rows < len(self.task.dataset)

    def size_note(self) -> str | None:
        """Say when the data is not as large as the benchmark."""
        expected, rows = self.task.config.meta.get("rows"), len(self.task.dataset)
        if isinstance(expected, int) and expected != rows:
            return f"the data holds {rows:,} rows, the benchmark {expected:,}"
        return None

    def prediction_of_bad_row(self, index: int, inference: int) -> Prediction:
        """Return the record of a sample whose data is broken: an error, never a question without its picture."""
        return Prediction(
            question_id=self.ids[index],
            status="error",
            inference=inference,
            error={"type": "data_error", "message": self.bad_rows[index], "http_status": None, "attempts": 0},
        )
