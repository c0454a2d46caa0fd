"""Reading the keys of a model or judge config: types, ranges, ``${NAME}`` placeholders, and what of it is secret."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from flagharness.config._snapshot import REMOVED, snapshot
from flagharness.config._url import without_credentials
from flagharness.errors import ConfigError

SHORTEST_SECRET = 8
"""Keys such as "EMPTY" or "none" are no secrets, and words that short must not be cut out of answers."""
PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
SECRET_KEYS = ("api_key", "key")
_SECRET_NAME = re.compile(r"(?i)key|tok|secret|pass|auth")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class Values:
    """The keys of one config, taken one by one; what is never taken is left in ``rest``.

    Args:
        raw: The config as written.
        where: The file, for messages.
    """

    def __init__(self, raw: Mapping[str, Any], where: str) -> None:
        self._raw = raw
        self._where = where
        self.rest = dict(raw)
        self.secrets: list[str] = []
        """Values that must never be shown, as they are found."""

    def fail(self, key: str, expected: str) -> ConfigError:
        """Return the error that says what a key must be."""
        shown = REMOVED if key in SECRET_KEYS else repr(self._raw.get(key))
        return ConfigError(f"{self._where}: `{key}` must be {expected}, got {shown}.")

    def take(self, key: str, kind: type | tuple[type, ...], expected: str, default: Any = None) -> Any:
        """Return a value with its placeholders filled; None means not given."""
        value = self.rest.pop(key, None)
        if value is None:
            return default
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.fail(key, expected)
        return self.resolved(value, key)

    def number(
        self,
        key: str,
        minimum: float,
        default: Any,
        kind: type | tuple[type, ...] = int,
        maximum: float = 2**53,
    ) -> Any:
        """Return a number within its range."""
        what = "a whole number" if kind is int else "a number"
        value = self.take(key, kind, f"{what} of at least {minimum:g}", default)
        if value is None:
            return None
        if not value >= minimum:
            raise self.fail(key, f"{what} of at least {minimum:g}")
        if value > maximum:
            raise self.fail(key, f"{what} of at most {maximum:g}")
        # 0 in a file and 0.0 from the command line must be one setting, also for the request hash.
        return value if kind is int else float(value)

    def price(self) -> dict[str, float] | None:
        """Return ``price``: what a million tokens cost, ``input`` and ``output``."""
        expected = 'an object such as {"input": 2.5, "output": 10} (per million tokens)'
        price = self.take("price", dict, expected)
        if price is None:
            return None
        numbers = [
            value
            for value in price.values()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        ]
        if set(price) != {"input", "output"} or len(numbers) != 2 or min(numbers) < 0:
            raise self.fail("price", expected)
        return {kind: float(price[kind]) for kind in ("input", "output")}

    def headers(self) -> dict[str, str]:
        """Return ``extra_headers``; all of their values count as secret."""
        headers = self.rest.pop("extra_headers", None) or {}
        if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
            raise ConfigError(f"{self._where}: `extra_headers` must be an object of strings.")
        for key in headers:
            if not _HEADER_NAME.fullmatch(key):
                raise ConfigError(f"{self._where}: extra_headers: {key!r} is no header name.")
        resolved = {
            key: header_value(self.resolved(value, "extra_headers"), f"extra_headers.{key}", self._where)
            for key, value in headers.items()
        }
        self.secrets.extend(resolved.values())
        return resolved

    def resolved(self, value: Any, key: str) -> Any:
        """Fill ``${NAME}`` from the environment; what came from there is treated as a secret."""
        if not isinstance(value, str):
            return value

        def replace(match: re.Match[str]) -> str:
            name = match.group(1)
            found = os.environ.get(name)
            if not found:
                raise ConfigError(
                    f"{self._where}: `{key}` reads the environment variable {name}, which is "
                    f"{'empty' if found == '' else 'not set'}. Export it first."
                )
            if key in (*SECRET_KEYS, "extra_headers") or _SECRET_NAME.search(name):
                self.secrets.append(found)
            return found

        return PLACEHOLDER.sub(replace, value)


def _is_amount(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")


def header_value(value: str | None, key: str, where: str) -> str:
    """Take off the newline that a key read from a file often has; refuse what no HTTP header can carry."""
    text = (value or "").strip()
    if not all(" " <= character <= "~" for character in text):
        raise ConfigError(f"{where}: `{key}` holds a character that no HTTP header can carry.")
    return text


def all_forms(secrets: list[str]) -> tuple[str, ...]:
    """Return each secret as it is and as JSON text would quote it, longest first."""
    forms = {form for secret in secrets for form in (secret, json.dumps(secret)[1:-1])}
    return tuple(sorted((form for form in forms if len(form) >= SHORTEST_SECRET), key=lambda f: (-len(f), f)))


def without_secrets(raw: Mapping[str, Any], url_keys: tuple[str, ...]) -> dict[str, Any]:
    """Return a config as it can be recorded: placeholders unresolved, literal secrets removed.

    Args:
        url_keys: Keys that hold a URL or a list of them.
    """
    shown = {key: snapshot(value) if isinstance(value, (dict, list)) else value for key, value in raw.items()}
    for key in SECRET_KEYS:
        literal = shown.get(key) and not PLACEHOLDER.fullmatch(str(shown[key]))
        if literal and str(shown[key]).lower() != "empty":
            shown[key] = REMOVED
    if isinstance(shown.get("extra_headers"), dict):
        shown["extra_headers"] = {
            key: value if PLACEHOLDER.fullmatch(str(value)) else REMOVED
            for key, value in shown["extra_headers"].items()
        }
    for key in url_keys:
        if isinstance(shown.get(key), str):
            shown[key] = without_credentials(shown[key])
        elif isinstance(shown.get(key), list):
            shown[key] = [without_credentials(str(url)) for url in shown[key]]
    return shown
