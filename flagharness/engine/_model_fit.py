"""What a model config means for a task: how its answers are read, and which of its settings do not fit."""

from __future__ import annotations

import logging

from flagharness.config import ModelConfig
from flagharness.engine._spec import TaskRun
from flagharness.errors import ConfigError
from flagharness.evaluator import BoxEvaluator

logger = logging.getLogger(__name__)


def tell_evaluator(run: TaskRun, answer_tag: str | None, bbox_space: str | None) -> None:
    """Read answers as this model writes them: out of its tag (unless the task itself names one), in its space."""
    if run.task.evaluator is None:
        return
    if answer_tag and "answer_tag" not in (run.task.config.evaluator or {}):
        run.task.evaluator.answer_tag = answer_tag
    if bbox_space:
        run.task.evaluator.bbox_space = bbox_space


def warn_of_overruled_settings(run: TaskRun, model: ModelConfig) -> None:
    """Name what of the model config does not reach a task whose protocol forbids it."""
    rules = run.task.config.request
    limits = [key for key in ("max_image_size", "max_long_side", "min_short_side") if getattr(model, key)]
    overruled = limits if rules.original_media else []
    if not rules.system_prompt and model.system_prompt:
        overruled = [*overruled, "system_prompt"]
    if overruled:
        logger.warning("%s: its protocol allows no %s; not used.", run.name, ", ".join(overruled))


def refuse_moved_boxes(run: TaskRun, model: ModelConfig) -> None:
    """Refuse picture limits that would give a model other coordinates than the truth has.

    Raises:
        ConfigError: Naming the settings.
    """
    if not isinstance(run.task.evaluator, BoxEvaluator) or run.task.config.request.original_media:
        return
    shrinking = [key for key in ("max_image_size", "max_long_side") if getattr(model, key)]
    why = None
    if model.min_short_side:
        why = "min_short_side pads pictures: a model's coordinates then belong to a larger picture than the truth's"
    elif shrinking and model.bbox_space == "pixel":
        why = f"{' and '.join(shrinking)} may shrink pictures, and bbox_space 'pixel' means pixels of the original"
    if why:
        raise ConfigError(f"{run.name}: {why}. Take the limit out of the model config for this task.")
