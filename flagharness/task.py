"""A task: its config, the classes it names, its data and its evaluator."""

from __future__ import annotations

import dataclasses
import inspect
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flagharness.config import TaskConfig, TaskModules, load_task_config, recorded_judge, snapshot
from flagharness.data import (
    DataInUse,
    Preparation,
    VqaBaseDataset,
    cache_folder,
    file_digest,
    is_prepared,
    prepare,
    read_dropped,
    read_manifest,
)
from flagharness.errors import FOREIGN_FAILURES, ConfigError, DataError, FlagHarnessError, did_you_mean
from flagharness.evaluator import BaseEvaluator
from flagharness.registry import DATASETS, EVALUATORS, Registry

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sample:
    """An annotation made ready to ask: prompt text with ``<image N>`` marks, and media."""

    question_id: str
    text: str
    images: tuple[Path, ...]
    videos: tuple[Path, ...] = ()
    audios: tuple[Path, ...] = ()
    image_sha256: str | None = None
    """What the one image was released as; anything else is not asked."""


class Task:
    """One evaluation. Constructing it loads and checks everything but the data; :meth:`open` gets the data.

    Args:
        path: The task config file.
        overrides: Values laid over the config (``--cfg-options``).
        data_root: Use the data in this folder instead of preparing any.

    Raises:
        ConfigError: Anything in the task folder that cannot be used as it is.
    """

    def __init__(
        self,
        path: Path,
        overrides: Mapping[str, Any] | None = None,
        data_root: str | None = None,
    ) -> None:
        self.config: TaskConfig = load_task_config(path, overrides)
        self.name = self.config.name
        self.folder = self.config.path.parent
        self._modules = TaskModules()
        self._data_root = data_root
        for registry, files in (
            (DATASETS, self.config.register_dataset),
            (EVALUATORS, self.config.register_evaluator),
        ):
            for file, class_name in files.items():
                self._register(registry, file, class_name)
        self._dataset_class = DATASETS.find(
            self.config.dataset["type"], self._modules.scope, f"{self.config.path}: dataset.type"
        )
        self.evaluator = self._build_evaluator()
        self.preparation = self._preparation()
        self.dataset: Any = None
        self.annotations: dict[str, dict[str, Any]] = {}
        self.data_digest = ""
        self.manifest: dict[str, Any] | None = None
        self._in_use: DataInUse | None = None

    def _register(self, registry: Registry, file: str, class_name: str) -> None:
        module = self._modules.load(self.folder / file)
        if (registry.name, class_name) in self._modules.scope:
            return  # by a decorator in the file
        cls = getattr(module, class_name, None)
        if not inspect.isclass(cls):
            known = [name for name, value in vars(module).items() if inspect.isclass(value)]
            raise ConfigError(
                f"{self.folder / file}: no class '{class_name}'.{did_you_mean(class_name, known)}"
            )
        self._modules.scope[registry.name, class_name] = cls

    def _build_evaluator(self) -> BaseEvaluator | None:
        if self.config.evaluator is None or self.config.evaluator.get("skip"):
            return None
        options = dict(self.config.evaluator)
        where = f"{self.config.path}: evaluator"
        cls = EVALUATORS.find(options.pop("type"), self._modules.scope, f"{where}.type")
        options.pop("skip", None)
        options.pop("start_method", None)  # FlagEvalMM's; there is no evaluation process to start here
        if isinstance(options.get("eval_func"), str):
            options["eval_func"] = self._function(options["eval_func"], "get_result", f"{where}.eval_func")
        _check_eval_func(options.get("eval_func"), where, chat=bool(options.get("use_llm_evaluator")))
        evaluator = _construct(cls, {**options, "base_dir": str(self.folder)}, where)
        if not isinstance(evaluator, BaseEvaluator):
            raise ConfigError(
                f"{where}: {cls.__name__} is no subclass of flagharness.evaluator.BaseEvaluator."
            )
        return evaluator

    def _function(self, file: str, name: str, where: str) -> Any:
        function = getattr(self._modules.load(self.folder / file), name, None)
        if not callable(function):
            raise ConfigError(f"{where}: {self.folder / file} defines no function `{name}`.")
        return function

    def _preparation(self) -> Preparation | None:
        config = self.config.dataset.get("config")
        if self._data_root is not None or self.config.dataset.get("data_root") or config is None:
            return None
        where = f"{self.config.path}: dataset.config"
        if not isinstance(config, dict):
            raise ConfigError(f"{where} must be a dict, got {type(config).__name__}.")
        for key in ("processed_dataset_path", "processor"):
            if not isinstance(config.get(key), str) or not config[key]:
                raise ConfigError(f"{where}.{key} must be a non-empty string, got {config.get(key)!r}.")
        processor = (self.folder / Path(config["processor"]).expanduser()).resolve()
        if not processor.is_file():
            raise ConfigError(f"{where}.processor: {processor}: no such file.")
        for key in ("dataset_name", "split"):
            part = config.get(key) or ""
            if not isinstance(part, str) or Path(part).is_absolute() or ".." in Path(part).parts:
                raise ConfigError(f"{where}.{key} must be a relative folder name without '..', got {part!r}.")
        return Preparation(config=config, processor=processor, cache=cache_folder())

    def prepare(self, force: bool = False) -> Path | None:
        """Make sure that the data is there and return its folder, or None for data that is not prepared."""
        if self.preparation is None:
            return None
        where = f"{self.config.path}: dataset.config.processor"
        return prepare(
            self.preparation,
            lambda: self._function(str(self.preparation.processor), "process", where),  # type: ignore[union-attr]
            force=force,
        )

    def open(self) -> None:
        """Prepare and load the data.

        Raises:
            FlagHarnessError: The data cannot be had, or has bad rows.
        """
        options = dict(self.config.dataset)
        options.pop("type")
        root = self._prepare_and_hold() or self._find_data_root(options.get("data_root"))
        options.update(data_root=str(root) if root else None, base_dir=str(self.folder), debug=False)
        where = f"{self.config.path}: dataset"
        self.dataset = _construct(self._dataset_class, options, where)
        for method in ("__len__", "__getitem__", "get_annotation"):
            if not hasattr(self.dataset, method):
                raise ConfigError(f"{where}: {self._dataset_class.__name__} has no `{method}`.")
        self.annotations = self.dataset.get_annotation()
        if len(self.annotations) != len(self.dataset):
            raise ConfigError(
                f"{where}: {len(self.dataset)} samples but {len(self.annotations)} annotations: question_id "
                f"must be unique."
            )
        if root is not None:
            self.manifest = read_manifest(root)
            if dropped := read_dropped(root):
                logger.warning(
                    "%s: the data lacks rows of %d media that could not be had; see %s.",
                    self.name,
                    dropped,
                    root / "dropped.json",
                )
        files = getattr(self.dataset, "anno_files", None) or []
        self.data_digest = "+".join(file_digest(file)[:32] for file in files)

    def _prepare_and_hold(self) -> Path | None:
        """Prepare the data and keep it from being replaced until :meth:`close`."""
        root = self.prepare()
        if root is None or self.preparation is None:
            return None
        self.close()
        self._in_use = DataInUse(root, self.preparation.cache)
        if not is_prepared(self.preparation):  # another process was faster than our hold
            self.close()
            raise DataError(f"{root}: another run replaced this data a moment ago; run again.")
        return root

    def close(self) -> None:
        """Let other runs replace the data; safe to call twice."""
        if self._in_use is not None:
            self._in_use.close()
            self._in_use = None

    def _find_data_root(self, configured: str | None) -> Path | None:
        given = self._data_root if self._data_root is not None else configured
        if given is None:
            return None
        path = Path(given).expanduser()
        # As FlagEvalMM: against the working directory first; then beside the config, which works from anywhere.
        candidates = [path] if path.is_absolute() else [Path.cwd() / path, self.folder / path]
        for candidate in candidates:
            if candidate.is_dir():
                return candidate.resolve()
        tried = " or ".join(str(candidate) for candidate in candidates)
        raise ConfigError(f"{self.config.path}: data_root {given!r}: no such folder: {tried}.")

    def question_ids(self) -> list[str]:
        """Return the question_id of every sample, in the order of the data."""
        if isinstance(self.dataset, VqaBaseDataset):
            return list(self.annotations)
        return [self.sample(index).question_id for index in range(len(self.dataset))]

    def sample(self, index: int) -> Sample:
        """Return one sample, ready to ask. Raises whatever the dataset or a prompt function raises."""
        item = self.dataset[index]
        return Sample(
            question_id=str(item["question_id"]),
            text=item["question"],
            images=_as_paths(item.get("img_path")),
            videos=_as_paths(item.get("video_path")),
            audios=_as_paths(item.get("audio_path")),
            image_sha256=item.get("img_sha256"),
        )

    def describe(self) -> dict[str, Any]:
        """Return the resolved task configuration as JSON data, for the run's record."""
        judge = self.config.judge
        return {
            "path": str(self.config.path),
            "name": self.name,
            "dataset": snapshot(self.config.dataset),
            "evaluator": snapshot(self.config.evaluator),
            "judge": recorded_judge(judge) if isinstance(judge, dict) else judge,
            "request": dataclasses.asdict(self.config.request),
            "meta": snapshot(self.config.meta),
        }


def _check_eval_func(function: Any, where: str, *, chat: bool) -> None:
    """Refuse before anything is asked what could not be called once everything is answered."""
    if function is None:
        return
    if not callable(function):
        raise ConfigError(f"{where}.eval_func must be a file or a function, got {function!r}.")
    try:
        inspect.signature(function).bind({}, [], *([None] if chat else []))
    except TypeError as error:
        raise ConfigError(
            f"{where}.eval_func: {getattr(function, '__name__', function)} cannot be called as "
            f"get_result(annotations, predictions{', llm' if chat else ''}): {error}."
        ) from error
    except ValueError:
        return  # a built-in without a signature


def _as_paths(value: Any) -> tuple[Path, ...]:
    if not value:
        return ()
    return tuple(Path(path) for path in ([value] if isinstance(value, (str, Path)) else value))


def _construct(cls: type, options: dict[str, Any], where: str) -> Any:
    """Build a registered class; ``base_dir`` and ``debug`` are only passed to classes that take them."""
    parameters = inspect.signature(cls).parameters
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    for injected in ("base_dir", "debug", "data_root"):
        if injected in options and injected not in parameters and not takes_all:
            del options[injected]
    try:
        return cls(**options)
    except FlagHarnessError as error:
        raise type(error)(f"{where}: {error}") from error
    except TypeError as error:
        known = [name for name in parameters if name != "self"]
        unknown = [name for name in options if name not in parameters and not takes_all]
        hint = f"{did_you_mean(unknown[0], known)} It takes {', '.join(known)}." if unknown else ""
        raise ConfigError(f"{where}: {cls.__name__}: {error}.{hint}") from error
    except FOREIGN_FAILURES as error:
        raise ConfigError(
            f"{where}: {cls.__name__} cannot be built: {type(error).__name__}: {error}"
        ) from error
