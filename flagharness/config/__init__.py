"""Task and model configurations: find, load, check, record."""

from flagharness.config._find import all_task_configs, bundled_folder, find_task_config
from flagharness.config._judge import (
    PROMPT_VARIABLE,
    JudgeConfig,
    JudgeModel,
    default_judge_config,
    load_judge_config,
    recorded_judge,
)
from flagharness.config._meta import META_KEYS, read_meta
from flagharness.config._model import ModelConfig, load_model_config
from flagharness.config._modules import TaskModules, place_of
from flagharness.config._request_rules import RequestRules
from flagharness.config._snapshot import REMOVED, snapshot, source_digest
from flagharness.config._task import TaskConfig, load_task_config
from flagharness.config._url import chat_completions_url

__all__ = [
    "META_KEYS",
    "PROMPT_VARIABLE",
    "REMOVED",
    "JudgeConfig",
    "JudgeModel",
    "ModelConfig",
    "RequestRules",
    "TaskConfig",
    "TaskModules",
    "all_task_configs",
    "bundled_folder",
    "chat_completions_url",
    "default_judge_config",
    "find_task_config",
    "load_judge_config",
    "load_model_config",
    "load_task_config",
    "place_of",
    "read_meta",
    "recorded_judge",
    "snapshot",
    "source_digest",
]
