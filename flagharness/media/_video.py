"""Frames of a video, evenly spread over the whole clip."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from flagharness.errors import ConfigError, DataError
from flagharness.media._encode import EncodedImage
from flagharness.media._file import check_file
from flagharness.media._limits import ImageLimits

DEFAULT_FRAMES = 16
_CLIPS_IN_MEMORY = 8
"""So many clips' frames are kept, as several questions are often asked about one clip in a row."""


@dataclass(frozen=True)
class FrameRule:
    """Which frames of a clip are shown.

    Attributes:
        max_frames: At most so many, evenly spread in time from the first frame to the last; 16 where ``fps`` is not
            set either.
        fps: So many a second, from the first on; where that makes more than ``max_frames``, those are spread.
    """

    max_frames: int | None = None
    fps: float | None = None

    @property
    def identity(self) -> str:
        return f"frames {self.max_frames} {self.fps}"


class Frame(NamedTuple):
    """One frame as it is sent, and when it is shown: seconds from the first frame."""

    image: EncodedImage
    time_s: float


def choose_frames(times: Sequence[float], rule: FrameRule) -> list[int]:
    """Return the positions of the frames that a rule chooses, in their order, none of them twice.

    With two or more the first and the last frame of the clip are among them. Each is the frame nearest to its moment,
    so that clips of a varying frame rate are spread in time, not in frames.

    Args:
        times: When each frame is shown, ascending, in seconds.

    Example:
        >>> choose_frames([0, 1, 2, 3, 4, 5, 6], FrameRule(max_frames=3)), choose_frames([0.0], FrameRule())
        ([0, 3, 6], [0])
        >>> choose_frames([n / 25 for n in range(100)], FrameRule(fps=1))
        [0, 25, 50, 75]
    """
    if not times:
        return []
    length = times[-1] - times[0]
    most = rule.max_frames if rule.max_frames is not None else None if rule.fps else DEFAULT_FRAMES
    if rule.fps:
        number = int(length * rule.fps + 1e-6) + 1
        if most is None or number <= most:
            return _nearest(times, [times[0] + k / rule.fps for k in range(number)])
    number = min(most or 1, len(times))
    if number == 1:
        return [0]
    return _nearest(times, [times[0] + length * k / (number - 1) for k in range(number)])


def _nearest(times: Sequence[float], moments: Sequence[float]) -> list[int]:
    chosen: list[int] = []
    for moment in moments:
        after = min(bisect_left(times, moment - 1e-9), len(times) - 1)
        before = max(after - 1, 0)
        nearest = before if moment - times[before] < times[after] - moment else after
        if not chosen or nearest > chosen[-1]:
            chosen.append(nearest)
    return chosen


def check_video(path: Path, *, frames: bool) -> str | None:
    """Find what is wrong with a video file.

    Args:
        frames: Whether frames are to be taken out of it: then its first one is decoded.

    Returns:
        None, or what is wrong as the second half of a sentence that the path begins.
    """
    return check_file(path, "video", lambda *_: _decoding_problem(path) if frames else None)


def _decoding_problem(path: Path) -> str | None:
    try:
        with _opened(path) as (container, stream):
            next(container.decode(stream))
    except StopIteration:
        return "cannot be used: no frame of it can be decoded"
    except DataError as error:
        return str(error)
    return None


@lru_cache(maxsize=_CLIPS_IN_MEMORY)
def read_frames(path: Path, digest: str, rule: FrameRule, limits: ImageLimits) -> tuple[Frame, ...]:
    """Return the frames of a video that a rule chooses, upright, encoded as JPEG of quality 95 within the limits.

    Only the chosen frames are ever held; between them the file is skipped from key frame to key frame.

    Args:
        digest: Of the file's bytes, so that a file that changed is read anew.

    Raises:
        DataError: It holds no video, or a chosen frame cannot be decoded.
        ConfigError: PyAV is not installed.
    """
    from flagharness.media._fitting import fit

    frames = []
    with _opened(path) as (container, stream):
        shown, keys = _timeline(container, stream, path)
        unit = float(stream.time_base)
        wanted = [shown[at] for at in choose_frames([pts * unit for pts in shown], rule)]
        length, stated = (shown[-1] - shown[0]) * unit, (container.duration or 0) / 1_000_000
        if length < stated / 2 and len(shown) > 1:
            raise DataError(f"its frames end after {length:.1f} of {stated:.1f} s: is it cut off?")
    with _opened(path) as (container, stream):
        for frame, pts in _decoded(container, stream, wanted, keys):
            picture = _upright(frame)
            fitted = fit(picture, limits, try_png=False)
            encoded = EncodedImage(fitted.data, fitted.mime, fitted.width, fitted.height, changed=True)
            frames.append(Frame(encoded, round((pts - shown[0]) * unit, 3)))
    if len(frames) < len(wanted):
        raise DataError(
            f"cannot be decoded to its end: {len(frames)} of {len(wanted)} frames, is it cut off?"
        )
    return tuple(frames)


def _timeline(container: Any, stream: Any, path: Path) -> tuple[list[int], list[int]]:
    """Return when every frame is shown, and when every key frame is, in units of the stream, ascending."""
    shown, keys = [], []
    for packet in container.demux(stream):
        stamp = packet.pts if packet.pts is not None else packet.dts
        if stamp is None or not packet.size or getattr(packet, "is_discard", False):
            continue
        shown.append(stamp)
        if packet.is_keyframe:
            keys.append(stamp)
    if not shown:
        raise DataError("cannot be used: it holds no frame")
    return sorted(set(shown)), sorted(set(keys))


def _decoded(
    container: Any, stream: Any, wanted: Sequence[int], keys: Sequence[int]
) -> Iterator[tuple[Any, int]]:
    """Yield the frame that is on the screen at every wanted stamp."""
    frames = container.decode(stream)
    position = -1
    for stamp in wanted:
        key = keys[max(bisect_left(keys, stamp + 1) - 1, 0)] if keys else position
        if key > position >= 0:
            container.seek(key, stream=stream, backward=True)
            frames = container.decode(stream)
        frame = next((each for each in frames if each.pts is not None and each.pts >= stamp), None)
        if frame is None:
            return
        position = frame.pts
        yield frame, stamp


def _upright(frame: Any) -> Any:
    picture = frame.to_image()
    angle = round(getattr(frame, "rotation", 0) or 0) % 360
    return picture.rotate(angle, expand=True) if angle else picture


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    try:
        import av
    except ImportError as error:
        raise ConfigError(
            'frames of videos take PyAV: pip install "flagharness[video]", or send the files themselves with '
            '"video_mode": "file" in the model config.'
        ) from error
    try:
        with av.open(str(path)) as container:
            if not container.streams.video:
                raise DataError("cannot be used: it holds no video stream")
            stream = container.streams.video[0]
            stream.thread_type = "AUTO"
            yield container, stream
    except (av.error.FFmpegError, EOFError, ValueError) as error:
        raise DataError(f"cannot be decoded: {getattr(error, 'strerror', None) or error}") from error
