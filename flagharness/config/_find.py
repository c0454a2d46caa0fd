"""Finding task configs by path or by name."""

from __future__ import annotations

import ast
import os
from pathlib import Path

from flagharness.config._meta import read_meta
from flagharness.errors import ConfigError, did_you_mean


def bundled_folder(name: str) -> Path:
    """Return our own ``tasks`` or ``model_configs``: in the installed package, else in the checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "bundled" / name
    return installed if installed.is_dir() else package.parent / name


def task_roots() -> list[Path]:
    """Return the folders that bare task names are looked up in: ``./tasks``, then our own."""
    roots = [Path.cwd() / "tasks", bundled_folder("tasks")]
    return [root for i, root in enumerate(roots) if root.is_dir() and root not in roots[:i]]


def is_task_config(path: Path) -> bool:
    """Whether a Python file assigns ``dataset`` and is named like no helper: read without running it."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    names = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    # A base such as post_prompt.py assigns `dataset` too, but has neither data nor evaluator of its own.
    return "dataset" in names and bool(names & {"config", "evaluator", "_base_"})


def configs_in(folder: Path) -> list[Path]:
    """Return the task configs of one task folder, sorted by name."""
    return sorted(path for path in folder.glob("*.py") if is_task_config(path))


def all_task_configs() -> list[Path]:
    """Return every task config that a bare name can reach, our own and those of ``./tasks``.

    A folder of ``./tasks`` hides our own of the same name.
    """
    found: dict[str, list[Path]] = {}
    for root in task_roots():
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            found.setdefault(folder.name, configs_in(folder))
    return [config for configs in found.values() for config in configs]


def find_task_config(name: str) -> Path:
    """Resolve one ``--tasks`` value to a config file.

    A path to a file is taken as it is. A path to a folder, or a bare folder name, means the config named like
    the folder, or its only config. A bare config name (file stem), or one of ``meta["aliases"]`` such as the name
    that the benchmark has elsewhere, is found in any task folder.

    Raises:
        ConfigError: Nothing matches, or several do; the message lists the candidates.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path.resolve()
    is_bare = len(path.parts) == 1 and os.sep not in name
    if path.is_dir() and not (
        is_bare and not configs_in(path)
    ):  # the data may lie in a folder of the task's name
        return _config_of_folder(path.resolve(), name)
    if path.suffix == ".py" or len(path.parts) > 1:
        return _bundled_path(path, name)
    roots = task_roots()
    for root in roots:
        if (root / name).is_dir():
            return _config_of_folder(root / name, name)
    configs = all_task_configs()
    aliases = {config: _aliases(config) for config in configs}
    for found in (
        [config for config in configs if config.stem == name],
        [config for config in configs if name in aliases[config]],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            raise ConfigError(
                f"--tasks {name}: several configs have this name: {', '.join(map(str, found))}."
            )
    folders = sorted({config.parent.name for config in configs})
    known = [*folders, *(alias for names in aliases.values() for alias in names)]
    raise ConfigError(
        f"--tasks {name}: no such file, folder or task.{did_you_mean(name, known)} "
        f"Known tasks: {', '.join(folders) or 'none'}."
    )


def _aliases(config: Path) -> list[str]:
    try:
        names = read_meta(config).get("aliases") or []
    except ConfigError:
        return []  # said when this task is the one that is asked for
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _bundled_path(path: Path, name: str) -> Path:
    # `tasks/x/x.py` from any working directory means our own task of that path.
    if not path.is_absolute() and path.parts[0] == "tasks":
        ours = bundled_folder("tasks").joinpath(*path.parts[1:])
        if ours.is_file():
            return ours
        if ours.is_dir():
            return _config_of_folder(ours, name)
    siblings = [str(config) for config in configs_in(path.parent)] if path.parent.is_dir() else []
    hint = did_you_mean(str(path), siblings)
    raise ConfigError(f"--tasks {name}: no such file (working directory {Path.cwd()}).{hint}")


def _config_of_folder(folder: Path, name: str) -> Path:
    namesake = folder / f"{folder.name}.py"
    if namesake.is_file():
        return namesake
    configs = configs_in(folder)
    if len(configs) == 1:
        return configs[0]
    if not configs:
        raise ConfigError(f"--tasks {name}: {folder} holds no task config (a file that assigns `dataset`).")
    listed = "\n".join(f"  {config}" for config in configs)
    raise ConfigError(f"--tasks {name}: {folder} holds several task configs; name one or more:\n{listed}")
