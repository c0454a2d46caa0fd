"""Loading a task config: an mmengine Config file, always read non-lazily."""

from __future__ import annotations

import ast
import logging
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagharness.config._modules import place_of, sibling_imports
from flagharness.config._request_rules import RequestRules
from flagharness.errors import FOREIGN_FAILURES, ConfigError, did_you_mean

logger = logging.getLogger(__name__)

TOP_LEVEL_KEYS = (
    "config",
    "dataset",
    "evaluator",
    "register_dataset",
    "register_evaluator",
    "request",
    "judge",
    "meta",
)
_ENVIRONMENT = re.compile(r"\{\{\s*\$(\w+)\s*(?::([^{}]*))?\}\}")
_SAFE_NAME = re.compile(r"[^/\\\x00-\x1f]+")


@dataclass(frozen=True)
class TaskConfig:
    """One task config file, loaded and checked. Values may hold functions, classes and sets."""

    path: Path
    name: str
    dataset: dict[str, Any]
    evaluator: dict[str, Any] | None
    register_dataset: dict[str, str] = field(default_factory=dict)
    register_evaluator: dict[str, str] = field(default_factory=dict)
    request: RequestRules = field(default_factory=RequestRules)
    judge: dict[str, Any] | str | None = None
    """The task's own judge config: its keys, or a file beside the task."""
    meta: dict[str, Any] = field(default_factory=dict)


def load_task_config(path: Path, overrides: Mapping[str, Any] | None = None) -> TaskConfig:
    """Read one task config file.

    ``_base_`` may be a string or a list; functions, sets and module constants of a base survive the merge.
    ``{{$NAME:default}}`` inside a string value is replaced by the environment variable, taken literally.

    Args:
        path: The config file.
        overrides: Dotted keys and values laid over the file (``--cfg-options``), e.g.
            ``{"dataset.name": "x"}``.

    Raises:
        ConfigError: The file cannot be read or is not a task; names file, line and the nearest known name.
    """
    path = path.resolve()
    values = _read(path)
    for key, value in (overrides or {}).items():
        _set_dotted(values, key, value, path)
    values = _with_environment(values, path)
    _report_unread_keys(values, path)

    dataset = _dict(values, "dataset", path)
    if dataset is None:
        raise ConfigError(
            f"{path}: no `dataset` in this file, so it is not a task config. A task config has "
            f"`dataset = dict(type=..., name=..., ...)`."
        )
    for key in ("type", "name"):
        if not isinstance(dataset.get(key), str) or not dataset[key]:
            raise ConfigError(f"{path}: dataset.{key} must be a non-empty string, got {dataset.get(key)!r}.")
    name = dataset["name"]
    if not _SAFE_NAME.fullmatch(name) or name in (".", "..") or name != name.strip():
        raise ConfigError(f"{path}: dataset.name {name!r} cannot be a folder name: no '/', '\\' or '..'.")
    if not isinstance(dataset.get("data_root", ""), (str, Path, type(None))):
        raise ConfigError(f"{path}: dataset.data_root must be a folder, got {dataset['data_root']!r}.")
    evaluator = _dict(values, "evaluator", path)
    if evaluator is not None and not isinstance(evaluator.get("type"), str):
        raise ConfigError(f"{path}: evaluator.type must name a class, got {evaluator.get('type')!r}.")
    return TaskConfig(
        path=path,
        name=name,
        dataset=dataset,
        evaluator=evaluator,
        register_dataset=_class_files(values, "register_dataset", path),
        register_evaluator=_class_files(values, "register_evaluator", path),
        request=RequestRules.of(_dict(values, "request", path) or {}, str(path)),
        judge=_judge(values, path),
        meta=_dict(values, "meta", path) or {},
    )


def _read(path: Path) -> dict[str, Any]:
    from mmengine.config import Config

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot read the task config: {error}") from error
    if re.search(r"^\s*with\s+read_base\(\)", text, re.MULTILINE):
        raise ConfigError(
            f'{path}: `with read_base()` is mmengine\'s lazy form. Write `_base_ = "file.py"` instead.'
        )
    try:
        with sibling_imports(path.parent), _closing_temporary_files():
            # Text substitution is off because it would also rewrite prompts; see _with_environment.
            loaded = Config.fromfile(
                path, lazy_import=False, use_predefined_variables=False, use_environment_variables=False
            )
        values: dict[str, Any] = loaded._cfg_dict.to_dict()
        return values
    except KeyError as error:
        if "Duplicate key" in str(error):
            raise ConfigError(_explain_duplicate_bases(path)) from error
        raise ConfigError(f"{place_of(error, *_chain(path))}: KeyError: {error}") from error
    except SyntaxError as error:
        # mmengine parses a temporary copy, so its file name is of no use to anybody.
        raise ConfigError(_syntax_problem(path) or f"{path}: SyntaxError: {error.msg}") from error
    except FOREIGN_FAILURES as error:
        raise ConfigError(f"{place_of(error, *_chain(path))}: {type(error).__name__}: {error}") from error


@contextmanager
def _closing_temporary_files() -> Iterator[None]:
    """Close the copies of config files that mmengine leaves open when one of them fails."""
    try:
        yield
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None:
            if "temp_config_file" in trace.tb_frame.f_locals:
                trace.tb_frame.f_locals["temp_config_file"].close()
            trace = trace.tb_next
        raise


def _syntax_problem(path: Path) -> str | None:
    for file in _chain(path):
        try:
            ast.parse(file.read_bytes())
        except SyntaxError as error:
            return f"{file}:{error.lineno or 1}: SyntaxError: {error.msg}"
        except (OSError, ValueError):
            continue
    return None


def _chain(path: Path) -> list[Path]:
    """Return a config file and all files it is based on, however far."""
    files = [path]
    for file in files:
        files.extend(base for base in _bases(file) if base not in files)
    return files


def _bases(path: Path) -> list[Path]:
    try:
        tree = ast.parse(path.read_bytes())
        for node in tree.body:
            if isinstance(node, ast.Assign) and any(
                isinstance(target, ast.Name) and target.id == "_base_" for target in node.targets
            ):
                value = ast.literal_eval(node.value)
                bases = [value] if isinstance(value, str) else value
                return [(path.parent / base).resolve() for base in bases]
    except (OSError, SyntaxError, TypeError, ValueError):
        pass  # whoever asks is about to report a problem of these files anyway
    return []


def _explain_duplicate_bases(path: Path) -> str:
    owners: dict[str, str] = {}
    clashes = []
    for base in _bases(path):
        for key in _read(base):
            if key in owners:
                clashes.append(f"`{key}` in {owners[key]} and in {base.name}")
            owners[key] = base.name
    return (
        f"{path}: two files of `_base_` define the same key: {'; '.join(clashes) or 'unknown'}. Bases may not "
        f"overlap: keep the key in one of them, or let one base name the other as its own `_base_`."
    )


def _set_dotted(values: dict[str, Any], dotted: str, value: Any, path: Path) -> None:
    if dotted.startswith("config.") and isinstance((values.get("dataset") or {}).get("config"), dict):
        dotted = f"dataset.{dotted}"  # the variable `config` was copied into the dataset when the file ran
    *parents, last = dotted.split(".")
    here: Any = values
    for parent in parents:
        if parent not in here:
            _refuse_misspelt(dotted, parent, here, path)
        if not isinstance(here.setdefault(parent, {}), dict):
            raise ConfigError(f"--cfg-options {dotted}: '{parent}' in {path} is not a dict.")
        here = here[parent]
    if last not in here:
        _refuse_misspelt(dotted, last, here, path)
    here[last] = value


def _refuse_misspelt(dotted: str, key: str, known: Mapping[str, Any], path: Path) -> None:
    near = did_you_mean(key, known)
    if near:
        raise ConfigError(f"--cfg-options {dotted}: {path} has no '{key}'.{near}")


def _with_environment(value: Any, path: Path, key: str = "") -> Any:
    if isinstance(value, str) and "{{" in value:

        def replace(match: re.Match[str]) -> str:
            name, default = match.group(1), match.group(2)
            found = os.environ.get(name, default.strip() if default is not None else None)
            if found is None:
                raise ConfigError(
                    f"{path}: {key} reads the environment variable {name}, which is not set. Set it, or write "
                    f"{{{{${name}:default}}}}."
                )
            return found

        return _ENVIRONMENT.sub(replace, value)
    if isinstance(value, dict):
        return {k: _with_environment(v, path, f"{key}.{k}".lstrip(".")) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_with_environment(v, path, f"{key}[{i}]") for i, v in enumerate(value))
    return value


def _report_unread_keys(values: Mapping[str, Any], path: Path) -> None:
    for key, value in values.items():
        if key in TOP_LEVEL_KEYS or key == "task_name" or not isinstance(value, dict):
            continue
        near = did_you_mean(key, TOP_LEVEL_KEYS)
        if near:
            logger.warning("%s: nothing reads `%s`.%s", path, key, near)


def _dict(values: Mapping[str, Any], key: str, path: Path) -> dict[str, Any] | None:
    value = values.get(key)
    if value is not None and not isinstance(value, dict):
        raise ConfigError(f"{path}: `{key}` must be a dict, got {type(value).__name__}.")
    return value


def _judge(values: Mapping[str, Any], path: Path) -> dict[str, Any] | str | None:
    judge = values.get("judge")
    if judge is not None and not isinstance(judge, (dict, str)):
        raise ConfigError(f"{path}: `judge` must be a dict or the name of a judge config, got {judge!r:.80}.")
    return judge


def _class_files(values: Mapping[str, Any], key: str, path: Path) -> dict[str, str]:
    files = _dict(values, key, path) or {}
    for file, cls in files.items():
        if not isinstance(cls, str) or not isinstance(file, str):
            raise ConfigError(f"{path}: {key} maps a file to a class name: {file!r}: {cls!r} is not one.")
    return files
