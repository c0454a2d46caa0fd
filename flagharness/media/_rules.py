"""How media go to a model: what its config says of pictures, videos and sounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from flagharness.media._audio import check_audio
from flagharness.media._check import check_image
from flagharness.media._limits import ImageLimits
from flagharness.media._video import FrameRule, check_video


@dataclass(frozen=True)
class MediaRules:
    """How media are sent.

    Attributes:
        limits: Of pictures, frames of videos included.
        frames: Which frames of a video are shown; None sends the file itself.
        frame_times: Whether each frame is preceded by a text that says when it is shown.
        audio_as_url: Whether a sound is an ``audio_url`` part instead of an ``input_audio`` one.
    """

    limits: ImageLimits = field(default_factory=ImageLimits)
    frames: FrameRule | None = field(default_factory=FrameRule)
    frame_times: bool = False
    audio_as_url: bool = False

    @property
    def checks(self) -> Mapping[str, Callable[[Path], str | None]]:
        """What looks at a file of each kind before anything is asked."""
        return {
            "image": check_image,
            "video": partial(check_video, frames=self.frames is not None),
            "audio": check_audio,
        }

    def identity(self, kind: str) -> str:
        """Return what a request's hash says of how a medium is sent; "" for the usual way of pictures and sounds."""
        if kind == "video":
            return "file" if self.frames is None else f"{self.frames.identity} {self.frame_times}"
        return "url" if kind == "audio" and self.audio_as_url else ""
