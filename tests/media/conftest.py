"""Clips that the tests write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest


@pytest.fixture
def write_clip(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a clip whose n-th frame has the grey level 8 * n.

    Args: name, frames, rate (a second), codec, stamps (when each frame is shown, in ms, for a varying rate).
    """

    def write(
        name: str,
        frames: int = 30,
        rate: int = 10,
        codec: str = "mpeg4",
        stamps: Sequence[int] | None = None,
        size: tuple[int, int] = (64, 48),
    ) -> Path:
        import av
        import numpy as np

        path = tmp_path / name
        unit = Fraction(1, 1000) if stamps else Fraction(1, rate)
        with av.open(str(path), "w", format=None) as container:
            stream = container.add_stream(codec, rate=rate)
            stream.width, stream.height = size
            stream.pix_fmt, stream.gop_size = "yuv420p", 8
            stream.codec_context.time_base = unit
            for number in range(frames):
                grey = np.full((size[1], size[0], 3), number * 8 % 256, np.uint8)
                frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
                frame.pts, frame.time_base = (stamps[number] if stamps else number), unit
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
        return path

    return write
