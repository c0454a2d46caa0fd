"""Frames of videos: which ones, from every container, upright, and what is wrong with a file."""

from __future__ import annotations

import builtins
import io
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from flagharness.errors import ConfigError, DataError
from flagharness.media import Frame, FrameRule, ImageLimits, check_video, choose_frames, read_frames

BUNNY = Path(__file__).parents[1] / "data" / "bigbuckbunny.mp4"
CONTAINERS = [
    ("c.mp4", "h264"),
    ("c.MP4", "mpeg4"),
    ("c.mov", "mpeg4"),
    ("c.avi", "mpeg4"),
    ("c.mkv", "h264"),
    ("c.webm", "libvpx"),
]


def pixels(frame: Frame) -> Any:
    return np.asarray(Image.open(io.BytesIO(frame.image.data)))


def greys(frames: Sequence[Frame]) -> list[int]:
    return [int(pixels(frame)[20, 20, 0]) for frame in frames]


def read(path: Path, limits: ImageLimits | None = None, **rule: Any) -> tuple[Frame, ...]:
    return read_frames(path, f"{path} {path.stat().st_mtime_ns}", FrameRule(**rule), limits or ImageLimits())


# --- which frames ---


@pytest.mark.parametrize(
    ("times", "rule", "chosen"),
    [
        ([], FrameRule(), []),
        ([0.0], FrameRule(), [0]),
        ([3.0], FrameRule(max_frames=4), [0]),
        ([0, 1, 2, 3, 4, 5, 6], FrameRule(max_frames=1), [0]),
        ([0, 1, 2, 3, 4, 5, 6], FrameRule(max_frames=2), [0, 6]),
        ([0, 1, 2, 3, 4, 5, 6], FrameRule(max_frames=4), [0, 2, 4, 6]),
        ([0, 1, 2], FrameRule(max_frames=16), [0, 1, 2]),
        ([n / 25 for n in range(100)], FrameRule(fps=1), [0, 25, 50, 75]),
        ([n / 25 for n in range(101)], FrameRule(fps=1), [0, 25, 50, 75, 100]),
        ([n / 25 for n in range(101)], FrameRule(fps=1, max_frames=3), [0, 50, 100]),
        ([n / 2 for n in range(5)], FrameRule(fps=10), [0, 1, 2, 3, 4]),  # no frame twice
        ([0, 0.1, 0.2, 0.3, 0.4, 2.0], FrameRule(max_frames=3), [0, 4, 5]),  # even in time, not in frames
        ([5, 6, 7], FrameRule(max_frames=2), [0, 2]),  # a clip need not begin at 0
    ],
)
def test_frames_are_even_in_time(times: list[float], rule: FrameRule, chosen: list[int]) -> None:
    assert choose_frames(times, rule) == chosen


def test_16_frames_where_nothing_is_said() -> None:
    assert len(choose_frames(list(range(1000)), FrameRule())) == 16


@given(
    st.lists(st.floats(0, 1e4), min_size=1, max_size=80, unique=True).map(sorted),
    st.none() | st.integers(1, 40),
    st.none() | st.floats(0.01, 50),
)
def test_frames_rise_never_leave_the_clip_and_keep_its_ends(
    times: list[float], most: int | None, fps: float | None
) -> None:
    chosen = choose_frames(times, FrameRule(most, fps))
    assert chosen == sorted(set(chosen))
    assert chosen[0] == 0
    assert chosen[-1] < len(times)
    if most is not None:
        assert len(chosen) <= most
    if fps is None and len(chosen) > 1:
        assert chosen[-1] == len(times) - 1


# --- out of files ---


@pytest.mark.parametrize(("name", "codec"), CONTAINERS)
def test_every_container_gives_its_frames(write_clip: Callable[..., Path], name: str, codec: str) -> None:
    clip = write_clip(name, codec=codec)
    assert check_video(clip, frames=True) is None
    frames = read(clip, max_frames=4)
    assert [frame.time_s for frame in frames] == [0.0, 1.0, 1.9, 2.9]
    assert greys(frames) == pytest.approx([0, 80, 152, 232], abs=7)
    every = read(clip, max_frames=100)
    assert [frame.time_s for frame in every] == [round(n / 10, 3) for n in range(30)]
    assert greys(every) == pytest.approx([8 * n for n in range(30)], abs=7)


def test_a_varying_rate_is_spread_in_time(write_clip: Callable[..., Path]) -> None:
    clip = write_clip("v.mkv", frames=6, stamps=[0, 100, 200, 300, 400, 2000])
    frames = read(clip, max_frames=3)
    assert [frame.time_s for frame in frames] == [0.0, 0.4, 2.0]
    assert greys(frames) == pytest.approx([0, 32, 40], abs=7)


def test_a_clip_of_one_frame_has_one(write_clip: Callable[..., Path]) -> None:
    assert [frame.time_s for frame in read(write_clip("one.mp4", frames=1), max_frames=8)] == [0.0]


def test_a_real_clip() -> None:
    frames = read(BUNNY, max_frames=4)
    assert [frame.time_s for frame in frames] == [0.0, 1.76, 3.48, 5.24]
    assert {(frame.image.width, frame.image.height) for frame in frames} == {(160, 90)}
    assert len({pixels(frame).tobytes() for frame in frames}) == 4
    assert len(read(BUNNY, fps=2)) == 11


def test_frames_keep_the_limits_of_pictures(write_clip: Callable[..., Path]) -> None:
    (frame, _) = read(write_clip("l.mp4"), ImageLimits(max_long_side=32), max_frames=2)
    assert (frame.image.width, frame.image.height, frame.image.mime) == (32, 24, "image/jpeg")
    assert pixels(frame).shape == (24, 32, 3)


def test_a_clip_that_was_filmed_sideways_is_shown_upright(write_clip: Callable[..., Path]) -> None:
    clip = write_clip("r.mp4", size=(64, 48))
    data = bytearray(clip.read_bytes())
    at = data.index(b"tkhd") + 4 + 40  # version, flags, times, id, duration, layer, volume: then the matrix
    turned = struct.pack(">9i", 0, 1 << 16, 0, -(1 << 16), 0, 0, 48 << 16, 0, 1 << 30)
    data[at : at + 36] = turned
    clip.write_bytes(data)
    (frame,) = read(clip, max_frames=1)
    assert (frame.image.width, frame.image.height) == (48, 64)


def test_the_same_question_about_one_clip_decodes_it_once(write_clip: Callable[..., Path]) -> None:
    clip = write_clip("s.mp4")
    assert read(clip, max_frames=2) is read(clip, max_frames=2)
    assert read(clip, max_frames=3) is not read(clip, max_frames=2)


# --- what is wrong with a file ---


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "does not exist"),
        (b"", "is empty (0 bytes)"),
        (b"<html>sorry</html>", "is not a video (begins with b'<html>sorry</htm')"),
        (b"\x89PNG\r\n\x1a\n....", "is an image file (image/png), not a video"),
        (BUNNY.read_bytes()[:9_000], "cannot be decoded"),
    ],
)
def test_a_file_without_frames_is_told_before_anything_is_asked(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "x.mp4"
    if content is not None:
        path.write_bytes(content)
    problem = check_video(path, frames=True)
    assert problem is not None
    assert said in problem


def test_a_file_that_is_sent_as_it_is_need_not_be_decoded(tmp_path: Path) -> None:
    path = tmp_path / "x.mp4"
    path.write_bytes(BUNNY.read_bytes()[:9_000])
    assert check_video(path, frames=False) is None


def test_a_clip_that_breaks_off_is_told(write_clip: Callable[..., Path]) -> None:
    clip = write_clip("x.mkv")
    data = clip.read_bytes()
    clip.write_bytes(data[: len(data) // 3])
    with pytest.raises(DataError, match=r"its frames end after 0\.\d of (2\.9|3\.0) s: is it cut off"):
        read(clip, max_frames=4)


def test_without_pyav_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *rest: Any, **more: Any) -> Any:
        if name == "av":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ConfigError, match=r'pip install "flagharness\[video\]"'):
        check_video(BUNNY, frames=True)
