"""How a task wants its requests to be, where its protocol says more than question and pictures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from flagharness.errors import ConfigError, did_you_mean

_NOT_SAMPLING = frozenset({"model", "messages", "stream", "stream_options", "n"})
_SAMPLING = ("temperature", "top_p", "top_k", "max_tokens", "max_completion_tokens", "seed", "stop")
_LENGTH_KEYS = frozenset({"max_tokens", "max_completion_tokens"})


@dataclass(frozen=True)
class RequestRules:
    """The ``request`` block of a task config.

    Raises:
        ConfigError: An unknown key, or a value of the wrong type.
    """

    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Body fields that the protocol prescribes; the model config may say otherwise."""
    verbatim: bool = False
    """Send pictures first, then the prompt to the letter: no image marks are read and nothing is trimmed."""
    system_prompt: bool = True
    """False: never send one, whatever the model config says."""
    original_media: bool = False
    """True: never resize or encode again, whatever the model config says."""

    @classmethod
    def of(cls, values: Mapping[str, Any], where: str) -> RequestRules:
        """Check the block as a config file holds it."""
        known = {rule.name: dict if rule.name == "sampling" else bool for rule in fields(cls)}
        for key, value in values.items():
            if key not in known:
                raise ConfigError(
                    f"{where}: nothing reads `request.{key}`.{did_you_mean(key, known)} Known: {', '.join(known)}."
                )
            if not isinstance(value, known[key]):
                kind = "a dict" if known[key] is dict else "True or False"
                raise ConfigError(f"{where}: request.{key} must be {kind}, got {value!r}.")
        for key, value in (values.get("sampling") or {}).items():
            if key in _NOT_SAMPLING or not isinstance(key, str):
                raise ConfigError(f"{where}: request.sampling: {key!r} is not for a task to set.")
            near = did_you_mean(key, _SAMPLING) if key not in _SAMPLING else ""
            if near:
                raise ConfigError(f"{where}: request.sampling: nothing reads `{key}`.{near}")
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise ConfigError(
                    f"{where}: request.sampling.{key}: no request can carry {value!r}: {error}"
                ) from error
        return cls(**values)

    def sampling_with(self, model: Mapping[str, Any]) -> dict[str, Any]:
        """Lay what the model config sets over what the protocol prescribes; the two names of the token limit are one.

        Example:
            >>> RequestRules(sampling={"temperature": 1, "max_tokens": 9}).sampling_with({"max_completion_tokens": 5})
            {'temperature': 1, 'max_completion_tokens': 5}
        """
        overruled = _LENGTH_KEYS if _LENGTH_KEYS & set(model) else frozenset()
        return {**{key: value for key, value in self.sampling.items() if key not in overruled}, **model}
