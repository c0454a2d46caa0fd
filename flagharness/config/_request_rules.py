"""How a task wants its requests to be, where its protocol says more than question and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from flagharness.errors import ConfigError, did_you_mean

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
        return cls(**values)

    def sampling_with(self, model: Mapping[str, Any]) -> dict[str, Any]:
        """Lay what the model config sets over what the protocol prescribes; the two names of the token limit are one.

        Example:
            >>> RequestRules(sampling={"temperature": 1, "max_tokens": 9}).sampling_with({"max_completion_tokens": 5})
            {'temperature': 1, 'max_completion_tokens': 5}
        """
        overruled = _LENGTH_KEYS if _LENGTH_KEYS & set(model) else frozenset()
        return {**{key: value for key, value in self.sampling.items() if key not in overruled}, **model}
