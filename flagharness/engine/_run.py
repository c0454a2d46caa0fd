"""A run from beginning to end: load and check everything, ask, score, write what happened."""

from __future__ import annotations

import asyncio
import logging
import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from flagharness import __version__
from flagharness.config import ModelConfig, find_task_config, snapshot
from flagharness.engine._ask import Asker
from flagharness.engine._check import Volume, check_samples
from flagharness.engine._judged_runs import (
    give_place,
    judge_record,
    judge_saved,
    open_judges,
    tell_of_gaps,
    was_judged,
)
from flagharness.engine._judging import JudgePool, preflight
from flagharness.engine._model_fit import refuse_moved_boxes, tell_evaluator, warn_of_overruled_settings
from flagharness.engine._progress import Progress
from flagharness.engine._records import differences, is_finished, model_record, now, task_summary, versions
from flagharness.engine._requests import RequestBuilder, media_rules
from flagharness.engine._rescore import on_the_data_of_its_run, saved_answers
from flagharness.engine._score import Lookup, score_task, visible
from flagharness.engine._seating import seat_judges, warn_of_self_judging
from flagharness.engine._spec import (
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_TASK_FAILED,
    EXIT_UNANSWERED,
    RunSpec,
    TaskRun,
)
from flagharness.errors import FOREIGN_FAILURES, ConfigError, EndpointError, FlagHarnessError
from flagharness.model import EndpointClient, InProcessClient, load_in_process_model
from flagharness.run import (
    Journal,
    Prediction,
    TaskFolder,
    dump_line,
    only_writer,
    summary_lock,
    write_json,
)
from flagharness.task import Task

logger = logging.getLogger(__name__)

DRY_RUN_REQUESTS = 3


class Engine:
    """Runs one RunSpec. :meth:`run` returns the exit status; what is to be shown lies in ``summary``."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.runs: list[TaskRun] = []
        self.volumes: dict[str, Volume] = {}
        self.summary: dict[str, Any] = {}
        self._started_at = now()

    def run(self) -> int:
        """Do what the spec says.

        Raises:
            ConfigError: Before anything was asked: a config or the command line cannot be used.
        """
        model = self.spec.model
        if model is None and not self.spec.without_infer and not self.spec.dry_run:
            raise ConfigError("no model: give --cfg model.json, or --model and --url.")
        if model is not None and not model.in_process and not self.spec.without_infer:
            # Its import takes a second that need not be waited for.
            threading.Thread(target=_import_client, daemon=True).start()
        self._load_tasks()
        if self.spec.dry_run:
            return self._dry_run()
        with ExitStack() as locks:
            for run in self.runs:
                locks.enter_context(only_writer(self.spec.output_dir, run.name))
            try:
                if self.spec.without_infer:
                    self._open_tasks()
                    self._score_saved()
                    status = self._exit_status()
                else:
                    assert model is not None
                    status = self._ask(model)
            finally:
                for run in self.runs:
                    run.task.close()
                    for kept in (run.journal, run.panel, run.chat):
                        if kept is not None:
                            kept.close()
            with summary_lock(self.spec.output_dir):
                self._write_summary()
        return status

    def _load_tasks(self) -> None:
        problems = []
        owners: dict[str, Path] = {}
        for name in self.spec.tasks:
            try:
                path = find_task_config(name)
                task = Task(path, self.spec.overrides, self.spec.data_root)
                if self.spec.without_infer and self.spec.data_root is None:
                    task = on_the_data_of_its_run(task, self.spec)
            except ConfigError as error:
                problems.append(str(error))
                continue
            if task.name in owners:
                problems.append(
                    f"two tasks are both called '{task.name}': {owners[task.name]} and {path}. They would write into "
                    f"one folder: change dataset.name of one of them, or run them with two --output-dir."
                )
            owners[task.name] = path
            self.runs.append(TaskRun(task=task, folder=TaskFolder(self.spec.output_dir, task.name)))
        for run in self.runs:
            try:
                seat_judges(run, self.spec)
            except ConfigError as error:
                problems.append(str(error))
        if problems:
            raise ConfigError("\n".join(problems))

    def _summary_of(self, run: TaskRun, before: dict[str, Any]) -> dict[str, Any]:
        """Return a task's part of the summary; a run that asked nothing leaves what asking took as it was."""
        mine = task_summary(run)
        if self.spec.without_infer and run.status == "failed" and before:
            return {**before, "error": f"scoring again failed: {run.error}"}
        if before and mine["time_s"] is None:
            mine |= {key: before[key] for key in ("time_s", "requests") if key in before}
        return mine

    def _open_tasks(self) -> None:
        """Get every task's data and look at all of it. A task whose data fails does not stop the others."""
        model = self.spec.model
        for run in self.runs:
            try:
                run.task.open()
                run.ids = run.task.question_ids()[: self.spec.limit]
                run.num_infers = model.num_infers if model else 1
                if model is not None:
                    tell_evaluator(run, model.answer_tag, model.bbox_space)
                    warn_of_overruled_settings(run, model)
                    refuse_moved_boxes(run, model)
                if not self.spec.without_infer:
                    rules = media_rules(model, run.task.config.request)
                    self.volumes[run.name] = check_samples(run, rules, self.spec.skip_bad_rows)
            except FlagHarnessError as error:
                self._fail(run, str(error))

    def _fail(self, run: TaskRun, reason: str) -> None:
        run.status, run.error = "failed", reason
        logger.error("%s", reason if reason.startswith(f"{run.name}: ") else f"{run.name}: {reason}")

    def _open_runs(self) -> list[TaskRun]:
        return [run for run in self.runs if run.status == "open"]

    # --- asking -----------------------------------------------------------------------------------------------

    def _ask(self, model: ModelConfig) -> int:
        client_of, identity = _client_factory(model)
        self._open_tasks()
        if model.num_infers > 1 and model.sampling.get("temperature") == 0:
            logger.warning(
                "num_infers is %d at temperature 0: the same question, asked again.", model.num_infers
            )
        records: dict[str, dict[str, Any]] = {}
        for run in self._open_runs():
            run.builder = RequestBuilder(model, identity, run.task.config.request)
            run.model_name, run.settings = model.model_name, run.builder.settings()
            run.price = model.price
            record = self._config_record(run, model)
            if not self.spec.overwrite:
                give_place(run)
            if self.spec.skip and is_finished(run, record):
                run.status, run.result = "skipped", run.folder.read_json(run.folder.result)
                logger.info("%s: finished before; skipped.", run.name)
                continue
            run.self_judged = warn_of_self_judging(run, model.model_name)
            records[run.name] = record
        runs = self._open_runs()
        if not runs:
            return self._exit_status()
        asyncio.run(preflight([run for run in runs if self.spec.overwrite or not was_judged(run)]))
        for run in runs:
            if self.spec.overwrite:
                run.folder.start_over()
            self._say_what_changed(run, model)
            write_json(run.folder.config, records[run.name])
            run.journal = Journal(run.folder.items)
            open_judges(run)
        progress = Progress(
            sum((run.rows - len(run.bad_rows)) * run.num_infers for run in runs), self.spec.quiet
        )
        asker = Asker(
            model,
            progress,
            lambda: JudgePool(runs, self._read, progress),
            self._score,
            retry_parse_failures=self.spec.retry_parse_failures,
        )
        try:
            asyncio.run(asker.ask_all(runs, client_of))
        except (KeyboardInterrupt, asyncio.CancelledError):
            asker.interrupted = True
        finally:
            progress.close()
        for run in runs:
            if run.changed:
                logger.info(
                    "%s: %d answered samples were asked again: prompt, media, model or settings changed.",
                    run.name,
                    run.changed,
                )
            if run.status == "open":
                run.status, run.error = "stopped", asker.stop_reason or "interrupted"
        if asker.interrupted:
            kept = sum(len(run.answers) for run in runs)
            logger.warning(
                "Interrupted; %d predictions are safe in %s. The same command goes on from there.",
                kept,
                self.spec.output_dir,
            )
            return EXIT_INTERRUPTED
        for run in runs:
            if run.kept:
                logger.info(
                    "%s: %d answers of the earlier run kept, %d asked.", run.name, run.kept, run.asked
                )
        if asker.stop_reason:
            logger.error(
                "Stopped: %s. What was answered is safe in %s; the same command goes on from there.",
                asker.stop_reason,
                self.spec.output_dir,
            )
        return self._exit_status()

    def _read(self, run: TaskRun, index: int, inference: int) -> Prediction | None:
        assert run.journal is not None
        assert self.spec.model is not None
        if index in run.bad_rows:
            return run.prediction_of_bad_row(index, inference)
        location = run.answers.get((index, inference))
        return visible(run.journal.read(location), self.spec.model.reasoning_tags) if location else None

    def _score(self, run: TaskRun) -> None:
        def lookup(index: int, inference: int) -> Prediction | None:
            return self._read(run, index, inference)

        self._finish_scoring(run, lambda: score_task(run, lookup, write_predictions=True))

    def _finish_scoring(self, run: TaskRun, score: Any) -> None:
        try:
            run.result = score()
            run.status = "answered" if run.task.evaluator is None else "scored"
            tell_of_gaps(run, self.spec)
        except FOREIGN_FAILURES as error:
            logger.debug("scoring failed", exc_info=error)
            known = isinstance(error, FlagHarnessError)
            self._fail(run, str(error) if known else f"scoring failed: {type(error).__name__}: {error}")

    def _say_what_changed(self, run: TaskRun, model: ModelConfig) -> None:
        before = (run.folder.read_json(run.folder.config) or {}).get("model") or {}
        for line in differences(before, model_record(model)):
            logger.info("%s: since the last run here: %s", run.name, line)

    def _score_saved(self) -> None:
        """Score what lies in the run directory; judges are asked where they have not said anything yet."""
        lookups: dict[str, Lookup] = {}
        for run in self._open_runs():
            try:
                lookups[run.name] = saved_answers(run, self.spec)
            except FlagHarnessError as error:
                self._fail(run, str(error))
                continue
            give_place(run)
            run.self_judged = warn_of_self_judging(run, run.model_name)
            open_judges(run)
        judge_saved(self._open_runs(), lookups, self.spec.quiet)
        for run in self._open_runs():
            lookup = lookups[run.name]
            self._finish_scoring(run, partial(score_task, run, lookup, write_predictions=False))

    # --- dry run ----------------------------------------------------------------------------------------------

    def _dry_run(self) -> int:
        self._open_tasks()
        model = self.spec.model
        for run in self._open_runs():
            if model is not None and not model.in_process:
                self._write_dry_requests(run, model)
        return EXIT_TASK_FAILED if any(run.status == "failed" for run in self.runs) else EXIT_OK

    def _write_dry_requests(self, run: TaskRun, model: ModelConfig) -> None:
        """Write the first requests in full, as they can be posted by hand."""
        builder = RequestBuilder(model, model.model_name, run.task.config.request)
        client = EndpointClient(model, wait=_never_wait)
        run.folder.dry_run.mkdir(parents=True, exist_ok=True)
        asked = [index for index in range(run.rows) if index not in run.bad_rows]
        for number, index in enumerate(asked[:DRY_RUN_REQUESTS], start=1):
            encoded = builder.encode(builder.read(run.task.sample(index)), 0)
            body = client.prepare(encoded.request, encoded.media_types)
            (run.folder.dry_run / f"request_{number}.json").write_bytes(body)

    # --- records ----------------------------------------------------------------------------------------------

    def _config_record(self, run: TaskRun, model: ModelConfig) -> dict[str, Any]:
        return {
            "task": run.task.describe(),
            "model": model_record(model),
            "data": {
                "digest": run.task.data_digest,
                "rows": len(run.task.dataset),
                "manifest": run.task.manifest,
            },
            "run": {
                "limit": run.rows if run.partial else None,
                "num_infers": run.num_infers,
                "settings": run.settings,
                "started_at": self._started_at,
            },
            "judge": judge_record(run),
            "versions": versions(),
        }

    def _exit_status(self) -> int:
        if any(run.status in ("failed", "stopped") for run in self.runs):
            return EXIT_TASK_FAILED
        for run in self.runs:
            result = run.result or {}
            counts = result.get("counts") or {}
            judged = result["complete"] if "complete" in result else not counts.get("judge_failures")
            if counts.get("answered") != counts.get("total") or not judged:
                return EXIT_UNANSWERED
        return EXIT_OK

    def _write_summary(self) -> None:
        path = self.spec.output_dir / "summary.json"
        before = TaskFolder(self.spec.output_dir, ".").read_json(path) or {}
        tasks = before.get("tasks") if isinstance(before.get("tasks"), dict) else {}
        mine = {run.label: self._summary_of(run, (tasks or {}).get(run.label) or {}) for run in self.runs}
        self.summary = {
            "flagharness": __version__,
            "model": self.spec.model.model_name if self.spec.model else before.get("model"),
            "started_at": self._started_at,
            "finished_at": now(),
            "tasks": {**(tasks or {}), **mine},
        }
        write_json(path, self.summary)


def _client_factory(model: ModelConfig) -> tuple[Any, str]:
    """Return what opens the client, and the name under which its answers are known."""
    if model.in_process:
        instance, digest = load_in_process_model(model)
        arguments = dump_line(snapshot(model.model_args)).decode()
        identity = f"{model.model_name}:{digest}:{arguments}"
        return (lambda asker: InProcessClient(instance, model.num_workers)), identity
    return (lambda asker: EndpointClient(model, wait=asker.wait)), model.model_name


def _import_client() -> None:
    try:
        import openai  # noqa: F401
    except ImportError:
        logger.debug("openai cannot be imported", exc_info=True)


async def _never_wait(fault: object, seconds: float) -> None:
    raise EndpointError("a dry run asks nothing")
