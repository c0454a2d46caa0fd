"""Models that run inside this process: found by ``file.py:Class`` or ``package.module:Class``."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from flagharness.config import ModelConfig, TaskModules, source_digest
from flagharness.errors import FOREIGN_FAILURES, ConfigError, did_you_mean
from flagharness.model._faults import Fault
from flagharness.model._types import InProcessModel, Request, Response, cut_off

_FIELD_KINDS: dict[str, tuple[type, ...]] = {
    "answer": (str,),
    "reason": (str,),
    "usage": (dict, type(None)),
    "finish_reason": (str, type(None)),
}


def load_in_process_model(config: ModelConfig) -> tuple[InProcessModel, str]:
    """Build the model that ``model_type`` names.

    Returns:
        The model and a digest of its source, which is part of what identifies its answers.

    Raises:
        ConfigError: No such file, module or class, or the class cannot be built from ``model_args``.
    """
    place, _, class_name = config.model_type.rpartition(":")
    where = f"model_type '{config.model_type}'"
    if place.endswith(".py"):
        file = Path(place).expanduser()
        beside_config = config.base_folder / file
        file = beside_config if beside_config.is_file() else file
        module = TaskModules().load(file)
    else:
        try:
            module = importlib.import_module(place)
        except ImportError as error:
            raise ConfigError(f"{where}: cannot import '{place}': {error}") from error
    cls = getattr(module, class_name, None)
    if not inspect.isclass(cls):
        known = [name for name, value in vars(module).items() if inspect.isclass(value)]
        raise ConfigError(f"{where}: no class '{class_name}' in {place}.{did_you_mean(class_name, known)}")
    try:
        model = cls(**config.model_args)
    except FOREIGN_FAILURES as error:
        raise ConfigError(f"{where}: cannot build the model: {type(error).__name__}: {error}") from error
    if not isinstance(model, InProcessModel):
        raise ConfigError(f"{where}: the class has no method `generate(request) -> Response`.")
    return model, source_digest(module) or ""


class InProcessClient:
    """Gives an in-process model the same face as an endpoint. Use as an async context manager."""

    def __init__(self, model: InProcessModel, num_workers: int) -> None:
        self._model = model
        self._threads = ThreadPoolExecutor(num_workers, thread_name_prefix="model")

    async def __aenter__(self) -> InProcessClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def prepare(self, request: Request, media_types: Sequence[str]) -> Request:
        """Return the request itself: nothing has to be encoded for a wire."""
        return request

    async def ask(self, request: Request) -> Response:
        """Answer one request.

        Raises:
            Fault: The model raised, or returned something that is no Response.
        """
        try:
            answer: Any
            if inspect.iscoroutinefunction(self._model.generate):
                answer = await self._model.generate(request)
            else:
                loop = asyncio.get_running_loop()
                answer = await loop.run_in_executor(self._threads, self._model.generate, request)
                if inspect.isawaitable(answer):
                    answer = await answer
        except FOREIGN_FAILURES as error:
            raise _model_fault(f"{type(error).__name__}: {error}") from error
        if not isinstance(answer, Response):
            raise _model_fault(f"generate() must return a Response, got {answer!r:.200}")
        for name, kinds in _FIELD_KINDS.items():
            if not isinstance(getattr(answer, name), kinds):
                raise _model_fault(f"Response.{name} cannot be {getattr(answer, name)!r:.200}")
        if cut_off(answer.finish_reason):
            answer.finish_reason = "length"
        return answer


def _model_fault(message: str) -> Fault:
    fault = Fault("model_error", message)
    fault.attempts = [fault.record(0.0)]
    return fault
