"""What a task config says about its benchmark, read without running the file."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from flagharness.errors import ConfigError

META_KEYS = ("aliases", "rows", "modality", "metric", "license", "needs_judge", "published")
"""The keys of ``meta``: other names of the task, rows of the full data, what it asks about, the headline metric, the
licence of the data, whether scoring needs a judge, and published results to compare with."""


def read_meta(path: Path) -> dict[str, Any]:
    """Return the ``meta`` block of a task config file; an empty one if it has none.

    Raises:
        ConfigError: If the block holds anything but plain values, or if the file cannot be parsed.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise ConfigError(f"{path}: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "meta" for target in node.targets
        ):
            try:
                meta = _plain(node.value)
            except (TypeError, ValueError) as error:
                raise ConfigError(
                    f"{path}:{node.lineno}: `meta` must be a dict of plain values, so that it can be listed "
                    f"without running the file: {error}"
                ) from error
            if isinstance(meta, dict):
                return meta
            raise ConfigError(f"{path}:{node.lineno}: `meta` must be a dict, got {type(meta).__name__}.")
    return {}


def _plain(node: ast.expr) -> Any:
    """Evaluate a literal in which dicts may also be written as ``dict(key=value)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        if node.args or any(keyword.arg is None for keyword in node.keywords):
            raise ValueError("dict(...) with anything but key=value")
        return {str(keyword.arg): _plain(keyword.value) for keyword in node.keywords}
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_plain(element) for element in node.elts]
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise ValueError("a dict unpacked into it")
        keys = [_plain(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_plain, node.values), strict=True))
    return ast.literal_eval(node)
