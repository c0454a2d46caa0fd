"""Turning a resolved configuration into plain JSON: functions by name and digest, secrets removed."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

SECRET_WORDS = ("api_key", "apikey", "token", "secret", "password", "authorization")
REMOVED = "***"


def snapshot(value: Any, key: str = "") -> Any:
    """Return ``value`` as JSON data.

    A function or class becomes ``{"callable": qualified name, "source_sha256": digest}``, a set a sorted list,
    a path its text, a numpy value its numbers, anything else unknown its ``repr``. Values under a key that names a
    secret are removed; a ``${NAME}`` placeholder is no secret and stays.
    """
    if _is_secret(key) and value and not (isinstance(value, str) and value.startswith("${")):
        return REMOVED
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(float(value))
    if isinstance(value, Mapping):
        return {str(k): snapshot(v, str(k)) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [snapshot(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted((snapshot(v) for v in value), key=repr)
    if isinstance(value, Path):
        return str(value)
    if callable(value):
        module = getattr(value, "__module__", None)
        # An object that can be called has no name of its own, and its repr an address that changes.
        name = getattr(value, "__qualname__", None) or type(value).__qualname__
        return {
            "callable": f"{module}.{name}" if module else name,
            "source_sha256": source_digest(value),
        }
    if hasattr(value, "tolist"):
        return snapshot(value.tolist())
    return repr(value)


def source_digest(function: Any) -> str | None:
    """SHA-256 of the source text of a function or class, or of its bytecode where the text is not to be had."""
    try:
        return hashlib.sha256(textwrap.dedent(inspect.getsource(function)).encode()).hexdigest()
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return hashlib.sha256(repr(_shape(code)).encode()).hexdigest() if code is not None else None


def _shape(code: CodeType) -> list[Any]:
    constants = [_shape(c) if isinstance(c, CodeType) else snapshot(c) for c in code.co_consts]
    return [code.co_code, code.co_names, constants]


def _is_secret(key: str) -> bool:
    low = key.lower().replace("-", "_")
    return any(low == word or low.endswith("_" + word) for word in SECRET_WORDS)
