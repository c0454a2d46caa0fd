"""Which judges decide about a task: from the command line, the task, the stored run or the environment."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from flagharness.config import (
    PROMPT_VARIABLE,
    REMOVED,
    JudgeConfig,
    default_judge_config,
    load_judge_config,
)
from flagharness.engine._spec import RunSpec, TaskRun
from flagharness.errors import ConfigError, did_you_mean
from flagharness.evaluator import BaseEvaluator, BoxEvaluator
from flagharness.judge import FAMILIES, JudgeFamily, Panel

logger = logging.getLogger(__name__)


def seat_judges(run: TaskRun, spec: RunSpec) -> None:
    """Set the judges of a task, if it has any, and hand on the keys of the judge config that are the evaluator's.

    Raises:
        ConfigError: The benchmark needs a judge and the config names none, or a family it does not allow.
    """
    evaluator = run.task.evaluator
    if evaluator is None:
        return
    config = _config_of(run, spec)
    options = dict(config.options) if config is not None else {}
    if isinstance(evaluator, BoxEvaluator) and "score_mode" not in options and os.environ.get("SCORE_MODE"):
        options["score_mode"] = os.environ["SCORE_MODE"]
    evaluator.take_judge_options(options)
    if evaluator.wants_chat and (config is None or not config.judges):
        raise ConfigError(
            f"{run.name}: its own scoring code asks a judge, and none is configured. Give --judge-config, or "
            f"`eval_model_name` and `base_url` in the evaluator."
        )
    if config is None:
        return
    if not config.judges:
        if evaluator.needs_judge:
            raise ConfigError(
                f"{run.name}: only a judge can score this benchmark, and {config.where} says `model_name: null`. "
                f"Give a --judge-config that names a model."
            )
        run.judge = config
        return
    run.judge = config
    if evaluator.judge_families:
        family = _family(evaluator, config, run.name)
        evaluator.use_family(family.name)
        run.panel = Panel(family, config)


def warn_of_self_judging(run: TaskRun, model_name: str | None) -> str | None:
    """Say when a judge is the model that it judges; return what the result says of it."""
    judges = run.judge.judges if run.judge is not None else ()
    same = [judge.id for judge in judges if model_name and _bare(judge.model.model_name) == _bare(model_name)]
    if not same:
        return None
    note = f"the judge {', '.join(same)} is the model that it judges"
    logger.warning("%s: %s.", run.name, note)
    return note


def _bare(name: str) -> str:
    return name.rpartition("/")[2].casefold()


def _config_of(run: TaskRun, spec: RunSpec) -> JudgeConfig | None:
    if spec.judge is not None:
        return spec.judge
    task, evaluator = run.task, run.task.evaluator
    assert evaluator is not None
    stored = run.folder.read_json(run.folder.config) or {} if spec.without_infer else {}
    if isinstance(stored.get("judge"), dict):
        return _stored_config(stored["judge"], run)
    if task.config.judge is not None:
        return load_judge_config(task.config.judge, task.folder)
    if evaluator.judge_source is not None:
        return load_judge_config(evaluator.judge_source, task.folder)
    return default_judge_config() if evaluator.needs_judge else None


def _stored_config(stored: Mapping[str, Any], run: TaskRun) -> JudgeConfig:
    """Read the judge config of a run again; a literal key was not stored with it."""
    run.judge_lacks_key = lacks_key(stored)
    known = {**_without_removed(stored)}
    if stored.get("judges"):
        known["judges"] = [_without_removed(judge) for judge in stored["judges"]]
    try:
        return load_judge_config(known)
    except ConfigError as error:
        raise ConfigError(f"{run.name}: the judge config stored with the run: {error}") from error


def lacks_key(stored: Mapping[str, Any]) -> bool:
    """Whether a judge config as it is stored with a run has lost a literal key."""
    return any(
        part.get("key") == REMOVED or REMOVED in (part.get("extra_headers") or {}).values()
        for part in (stored, *(stored.get("judges") or ()))
    )


def _without_removed(stored: Mapping[str, Any]) -> dict[str, Any]:
    headers = {name: value for name, value in (stored.get("extra_headers") or {}).items() if value != REMOVED}
    return {
        **{key: value for key, value in stored.items() if value != REMOVED and key != "extra_headers"},
        **({"extra_headers": headers} if headers else {}),
    }


def _family(evaluator: BaseEvaluator, config: JudgeConfig, name: str) -> JudgeFamily:
    allowed = evaluator.judge_families
    variable = os.environ.get(PROMPT_VARIABLE)
    wanted = variable or config.judge_prompt
    where = PROMPT_VARIABLE if variable else f"{config.where}: judge_prompt"
    if wanted and wanted not in FAMILIES:
        raise ConfigError(
            f"{name}: {where}: there is no judge family {wanted!r}.{did_you_mean(wanted, FAMILIES)} This benchmark "
            f"allows {', '.join(allowed)}."
        )
    if wanted and len(allowed) == 1 and wanted != allowed[0]:
        logger.info(
            "%s: its judge family is %s whatever is asked for; %s is not used.", name, allowed[0], where
        )
        wanted = None
    if wanted and wanted not in allowed:
        raise ConfigError(f"{name}: {where}: {wanted} is not allowed here; allowed are {', '.join(allowed)}.")
    if variable and wanted:
        logger.info(
            "%s: judge family %s, as the environment variable %s says.", name, wanted, PROMPT_VARIABLE
        )
    family = FAMILIES[wanted or allowed[0]]
    if config.prompt_text is None:
        return family
    try:
        return family.with_prompt(config.prompt_text)
    except ValueError as error:
        raise ConfigError(f"{config.where}: prompt_file: no prompt for {family.name}: {error}.") from error
