"""Scoring again what lies in a run directory: the data of that run, and its answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from flagharness.config import REMOVED, snapshot
from flagharness.engine._model_fit import tell_evaluator
from flagharness.engine._records import differences, model_record
from flagharness.engine._score import Lookup, visible
from flagharness.engine._spec import RunSpec, TaskRun
from flagharness.errors import DataError
from flagharness.run import Journal, SavedPredictions, TaskFolder
from flagharness.task import Task

logger = logging.getLogger(__name__)


def on_the_data_of_its_run(task: Task, spec: RunSpec) -> Task:
    """Return the task as the stored run had it, where its data came from somewhere else than the config says."""
    folder = TaskFolder(spec.output_dir, task.name)
    stored = _data_of(folder.read_json(folder.config) or {}, task.config.dataset, spec.overrides)
    if not stored:
        return task
    settings = ", ".join(f"{key}={value}" for key, value in stored.items())
    logger.info("%s: data as in the run here: %s", task.name, settings)
    return Task(task.config.path, {**spec.overrides, **stored}, spec.data_root)


def _data_of(
    stored: Mapping[str, Any], current: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the data settings of a run, where the config says otherwise and the command line says nothing."""
    recorded = ((stored.get("task") or {}).get("dataset") or {}).get("config") or {}
    now = current.get("config") or {}
    named = {key.removeprefix("dataset.").removeprefix("config.") for key in given}
    return {
        f"dataset.config.{key}": value
        for key, value in recorded.items()
        if key not in named
        and isinstance(now.get(key), (str, int, float, bool))
        and isinstance(value, (str, int, float, bool))
        and value not in (snapshot(now[key], key), REMOVED)
    }


def saved_answers(run: TaskRun, spec: RunSpec) -> Lookup:
    """Return what finds the stored answers of a run, and say under which settings they were given.

    Sets what the run directory knows of the run: its limit, inferences, model and settings.

    Raises:
        DataError: There is nothing to score, or it cannot be read.
    """
    if not run.folder.path.is_dir():
        raise DataError(f"nothing to score: {run.folder.path} does not exist. Is --output-dir right?")
    stored = run.folder.read_json(run.folder.config) or {}
    about, answered_by = stored.get("run") or {}, stored.get("model") or {}
    if spec.limit is None and isinstance(about.get("limit"), int):
        run.ids = run.ids[: about["limit"]]
        logger.info("%s: the run here was limited to %d samples; scoring those.", run.name, run.rows)
    _say_whose(run, spec, stored)
    if spec.model is None:
        tell_evaluator(run, answered_by.get("answer_tag"), answered_by.get("bbox_space"))
    run.journal = Journal(run.folder.items)
    run.model_name, run.settings = answered_by.get("model_name"), about.get("settings")
    price = spec.model.price if spec.model else answered_by.get("price")
    run.price = price if isinstance(price, Mapping) else None
    saved = SavedPredictions(run.folder, run.journal, run.settings)
    if not len(saved):
        raise DataError(f"nothing to score: no predictions in {run.folder.path}.")
    run.num_infers = about["num_infers"] if isinstance(about.get("num_infers"), int) else saved.num_infers
    ids = run.ids
    tags = spec.model.reasoning_tags if spec.model else answered_by.get("reasoning_tags")
    return lambda index, inference: visible(saved.get(ids[index], inference), tags)


def _say_whose(run: TaskRun, spec: RunSpec, stored: Mapping[str, Any]) -> None:
    answered_by = stored.get("model") or {}
    if answered_by:
        sent = ", ".join(f"{key} {value}" for key, value in (answered_by.get("sampling_sent") or {}).items())
        logger.info(
            "%s: answers of %s (sampling: %s)", run.name, answered_by.get("model_name"), sent or "none sent"
        )
    digest = (stored.get("data") or {}).get("digest")
    if digest and digest != run.task.data_digest:
        logger.warning("%s: the data is not what it was when these answers were given.", run.name)
    if spec.model is not None:
        for line in differences(answered_by, model_record(spec.model)):
            logger.warning("%s: the stored run used other settings: %s", run.name, line)
