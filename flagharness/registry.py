"""The registries a task config names its classes from: DATASETS, EVALUATORS, PROMPTS.

They are mmengine registries with one addition: while a task's own files are being imported
(:func:`registering_into`), what those files register belongs to that task alone. Two tasks of one run may
therefore each register a class of the same name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mmengine.registry import Registry as _MMEngineRegistry

from flagharness.errors import ConfigError, did_you_mean

TaskScope = dict[tuple[str, str], type]
"""What one task registered: ``{(registry name, class name): class}``."""

_scope: ContextVar[TaskScope | None] = ContextVar("registering_into", default=None)


@contextmanager
def registering_into(scope: TaskScope) -> Iterator[None]:
    """Send every registration made inside the block to ``scope`` instead of the shared registries."""
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)


class Registry(_MMEngineRegistry):  # type: ignore[misc]
    """An mmengine registry whose registrations can be scoped to one task."""

    def _register_module(
        self, module: Any, module_name: str | list[str] | None = None, force: bool = False
    ) -> None:
        scope = _scope.get()
        if scope is None:
            super()._register_module(module, module_name, force)
            return
        names = [module_name] if isinstance(module_name, str) else module_name or [module.__name__]
        for name in names:
            if (self.name, name) in scope and not force:
                raise ConfigError(
                    f"'{name}' is registered twice as {self.name} by one task: in "
                    f"{_origin(scope[self.name, name])} and in {_origin(module)}. Rename one of them."
                )
            scope[self.name, name] = module

    def find(self, name: object, scope: Mapping[tuple[str, str], type], where: str) -> type:
        """Return the class registered as ``name``, the task's own first.

        Raises:
            ConfigError: No such class; the message names the nearest and all known names.
        """
        if isinstance(name, str):
            found = scope.get((self.name, name)) or self._module_dict.get(name)
            if found is not None:
                return found
        known = sorted({n for kind, n in scope if kind == self.name} | set(self._module_dict))
        raise ConfigError(
            f"{where} is {name!r}, which is not registered.{did_you_mean(str(name), known)} "
            f"Registered: {', '.join(known)}."
        )


def _origin(cls: type) -> str:
    return f"{getattr(cls, '__module__', '?')}.{getattr(cls, '__qualname__', cls)}"


DATASETS = Registry("dataset")
EVALUATORS = Registry("evaluator")
PROMPTS = Registry("prompt_template")
