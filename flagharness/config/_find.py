"""Finding task configs by path or by name."""

from __future__ import annotations

import ast
from pathlib import Path

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
    """Return every task config that a bare name can reach, our own and those of ``./tasks``."""
    found: list[Path] = []
    for root in task_roots():
        for folder in sorted(path for path in root.iterdir() if path.is_dir()):
            found.extend(configs_in(folder))
    return found


def find_task_config(name: str) -> Path:
    """Resolve one ``--tasks`` value to a config file.

    A path to a file is taken as it is. A path to a folder, or a bare folder name, means the config named like
    the folder, or its only config. A bare config name (file stem) is found in any task folder.

    Raises:
        ConfigError: Nothing matches, or several do; the message lists the candidates.
    """
    path = Path(name).expanduser()
    if path.is_file():
        return path.resolve()
    if path.is_dir():
        return _config_of_folder(path.resolve(), name)
    if path.suffix == ".py" or len(path.parts) > 1:
        return _bundled_path(path, name)
    roots = task_roots()
    for root in roots:
        if (root / name).is_dir():
            return _config_of_folder(root / name, name)
    by_stem = [config for config in all_task_configs() if config.stem == name]
    if len(by_stem) == 1:
        return by_stem[0]
    if by_stem:
        raise ConfigError(f"--tasks {name}: several configs have this name: {', '.join(map(str, by_stem))}.")
    known = sorted({folder.name for root in roots for folder in root.iterdir() if folder.is_dir()})
    raise ConfigError(
        f"--tasks {name}: no such file, folder or task.{did_you_mean(name, known)} "
        f"Known tasks: {', '.join(known) or 'none'}."
    )


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
