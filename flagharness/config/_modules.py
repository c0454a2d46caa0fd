"""Importing the Python files of a task folder, each task by itself.

A task's files may import each other by bare name (``from helpers import clean``), at the top or inside a
function. Two tasks may both have a ``helpers.py``; neither ``sys.path`` nor the names in ``sys.modules`` that
the rest of the process sees are touched.
"""

from __future__ import annotations

import builtins
import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from flagharness.errors import FOREIGN_FAILURES, ConfigError
from flagharness.registry import TaskScope, registering_into


class TaskModules:
    """The modules of one task. What they register goes to ``scope``, the task's own registrations."""

    def __init__(self) -> None:
        self.scope: TaskScope = {}
        self._loaded: dict[Path, ModuleType] = {}

    def load(self, file: Path) -> ModuleType:
        """Import ``file`` once for this task.

        Raises:
            ConfigError: The file is missing or fails to import; names the file and the line.
        """
        file = file.resolve()
        if file in self._loaded:
            return self._loaded[file]
        if not file.is_file():
            raise ConfigError(f"{file}: no such file.")
        # The name must be unique and known to sys.modules: dataclasses and pickling look classes up there.
        name = (
            f"flagharness_task_{hashlib.sha256(f'{id(self)}:{file}'.encode()).hexdigest()[:12]}_{file.stem}"
        )
        spec = importlib.util.spec_from_file_location(name, file)
        if spec is None or spec.loader is None:
            raise ConfigError(f"{file}: not a Python file.")
        module = importlib.util.module_from_spec(spec)
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._importer(file.parent)}
        self._loaded[file] = module
        sys.modules[name] = module
        try:
            with registering_into(self.scope):
                spec.loader.exec_module(module)
        except ConfigError:
            self._forget(file, name)
            raise
        except FOREIGN_FAILURES as error:
            self._forget(file, name)
            raise ConfigError(f"{place_of(error, file)}: {type(error).__name__}: {error}") from error
        return module

    def _forget(self, file: Path, name: str) -> None:
        del self._loaded[file]
        del sys.modules[name]

    def _importer(self, folder: Path) -> Any:
        def import_sibling_first(
            name: str,
            globals: Mapping[str, object] | None = None,
            locals: Mapping[str, object] | None = None,
            fromlist: Sequence[str] = (),
            level: int = 0,
        ) -> ModuleType:
            sibling = folder / f"{name}.py"
            if level <= 1 and name and "." not in name and sibling.is_file():
                return self.load(sibling)
            return builtins.__import__(name, globals, locals, fromlist, level)

        return import_sibling_first


@contextmanager
def sibling_imports(folder: Path) -> Iterator[None]:
    """Let top-level imports of a config file find its neighbours, and leave no trace afterwards.

    mmengine executes config files itself, so :class:`TaskModules` cannot serve them.
    """
    before = dict(sys.modules)
    for file in folder.glob("*.py"):
        if file.stem not in sys.stdlib_module_names:
            sys.modules.pop(file.stem, None)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            if before.get(name) is not module and _lies_in(module, folder):
                del sys.modules[name]
        for name, module in before.items():
            sys.modules.setdefault(name, module)


def _lies_in(module: ModuleType, folder: Path) -> bool:
    # A package without an __init__.py has no file, only a path.
    origin = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", [])), None)
    return origin is not None and folder in Path(origin).parents


def place_of(error: BaseException, file: Path, *others: Path) -> str:
    """Return ``file:line`` of an exception: of a syntax error, else of the deepest frame beside one of the files."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    folders = {path.parent for path in (file, *others)}
    place = str(file)
    trace = error.__traceback__
    while trace is not None:
        origin = trace.tb_frame.f_code.co_filename
        if Path(origin).parent in folders:
            place = f"{origin}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
