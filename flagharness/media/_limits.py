"""What an endpoint accepts of a picture."""

from __future__ import annotations

from dataclasses import dataclass, fields

from flagharness.errors import ConfigError

LIMITS_VERSION = 1
"""Goes up by one whenever the same picture and limits would give other bytes; part of request hashes."""


@dataclass(frozen=True)
class ImageLimits:
    """Bounds on the pictures that are sent. None means no bound.

    Raises:
        ConfigError: If a bound is not a positive whole number, or the sides contradict each other.

    Example:
        >>> ImageLimits(max_long_side=1024).active
        True
        >>> ImageLimits().active
        False
    """

    max_image_size: int | None = None
    """Most bytes of the encoded file that is sent, counted before base64."""

    max_long_side: int | None = None
    """Most pixels of the longer side; a larger picture is shrunk, its proportions kept."""

    min_short_side: int | None = None
    """Fewest pixels of either side; a smaller picture gets white on its right and bottom."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"{field.name} must be a positive whole number, got {value!r}")
        if self.max_long_side and self.min_short_side and self.min_short_side > self.max_long_side:
            raise ConfigError(
                f"min_short_side {self.min_short_side} is larger than max_long_side {self.max_long_side}: "
                "no picture can keep both"
            )

    @property
    def active(self) -> bool:
        """Whether there is any bound at all."""
        return any(getattr(self, field.name) is not None for field in fields(self))

    def allow_size(self, width: int, height: int) -> bool:
        """Whether a picture of so many pixels needs neither shrinking nor padding."""
        too_long = self.max_long_side is not None and max(width, height) > self.max_long_side
        too_short = self.min_short_side is not None and min(width, height) < self.min_short_side
        return not (too_long or too_short)

    def allow_bytes(self, count: int) -> bool:
        """Whether an encoded file of so many bytes may be sent."""
        return self.max_image_size is None or count <= self.max_image_size
