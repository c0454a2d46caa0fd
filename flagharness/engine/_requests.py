"""From a sample to the request for it: messages, media as they are sent, and the hash that identifies it."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass

from flagharness.config import ModelConfig, RequestRules
from flagharness.data import file_digest
from flagharness.errors import DataError
from flagharness.media import (
    LIMITS_VERSION,
    EncodedImage,
    FrameRule,
    ImageLimits,
    MediaRules,
    encode_image,
    read_frames,
    sniff,
)
from flagharness.model import Media, Message, Part, Request, media_of, request_hash
from flagharness.prompt import Place, split_marks
from flagharness.run import dump_line
from flagharness.task import Sample

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """A sample with its media read: enough to know whether it was asked before, not yet encoded."""

    sample: Sample
    messages: tuple[Message, ...]
    contents: tuple[bytes | None, ...]
    """The files' own bytes, in the order in which the messages show them; None for a video shown in frames."""
    digests: tuple[str, ...]


@dataclass(frozen=True)
class Encoded:
    """A request, and what its media became."""

    request: Request
    media_types: tuple[str, ...]
    frame_times: tuple[tuple[float, ...], ...]
    """When the frames of each video are shown, in seconds from its first; one entry a video."""


def media_rules(model: ModelConfig | None, rules: RequestRules) -> MediaRules:
    """Return how media go to a model in a task; as they go by default where there is no model yet."""
    if model is None:
        return MediaRules()
    limits = (model.max_image_size, model.max_long_side, model.min_short_side)
    return MediaRules(
        limits=ImageLimits() if rules.original_media else ImageLimits(*limits),
        frames=None if model.video_mode == "file" else FrameRule(model.max_num_frames, model.fps),
        frame_times=model.frame_times,
        audio_as_url=model.audio_mode == "audio_url",
    )


class RequestBuilder:
    """Builds the requests of one task for one model.

    Pure apart from reading media files; used from worker threads.

    Args:
        rules: What the task's protocol says of its requests.
    """

    def __init__(self, model: ModelConfig, model_identity: str, rules: RequestRules) -> None:
        self._identity = model_identity
        self._verbatim = rules.verbatim
        self.sampling = rules.sampling_with(model.sampling)
        self._system_prompt = model.system_prompt if rules.system_prompt else None
        self._media = media_rules(model, rules)
        limits = self._media.limits
        self._limits_identity = (
            [LIMITS_VERSION, limits.max_image_size, limits.max_long_side, limits.min_short_side]
            if limits.active
            else None
        )

    def settings(self) -> str:
        """Return the digest of what all answers of a run have in common: model, sampling, system prompt.

        Every part of it is part of each request hash, so an answer that is kept has the same settings.
        """
        identity = [self._identity, self.sampling, self._system_prompt]
        return hashlib.sha256(dump_line(identity)).hexdigest()[:12]

    def read(self, sample: Sample) -> Question:
        """Place the media of a sample in its messages and read them.

        Raises:
            DataError: A mark names an image that is not there, a file cannot be read, or it is not the one that the
                data was released with.
        """
        messages = build_messages(sample, self._system_prompt, verbatim=self._verbatim)
        contents: list[bytes | None] = []
        digests = []
        for medium in media_of(messages):
            try:
                if medium.kind == "video" and self._media.frames is not None:
                    contents.append(None)
                    digests.append(file_digest(medium.path))
                else:
                    content = medium.path.read_bytes()
                    contents.append(content)
                    digests.append(hashlib.sha256(content).hexdigest())
            except OSError as error:
                raise DataError(f"{medium.path}: cannot be read: {error.strerror or error}") from error
        if sample.image_sha256 is not None and digests != [sample.image_sha256]:
            raise DataError(f"{sample.images[0]}: not the file that was released (SHA-256)")
        identities = [self._media.identity(medium.kind) for medium in media_of(messages)]
        known = tuple(
            f"{digest[:32]} {identity}".rstrip() for digest, identity in zip(digests, identities, strict=True)
        )
        return Question(sample, messages, tuple(contents), known)

    def hash(self, question: Question, inference: int) -> str:
        """Return the request hash of one inference of a question."""
        return request_hash(
            question_id=question.sample.question_id,
            inference=inference,
            model=self._identity,
            messages=question.messages,
            digests=question.digests,
            limits=self._limits_identity,
            sampling=self.sampling,
        )

    def encode(self, question: Question, inference: int) -> Encoded:
        """Return the request with its media as they are sent.

        Raises:
            DataError: A medium that has to be changed cannot be decoded.
        """
        sent: list[tuple[str, bytes]] = []
        times: list[tuple[float, ...]] = []
        media = iter(zip(question.contents, question.digests, strict=True))
        messages = []
        for message in question.messages:
            parts: list[Part] = []
            for part in message.parts:
                if isinstance(part, str):
                    parts.append(part)
                    continue
                content, digest = next(media)
                try:
                    if content is None:
                        parts += self._frames(part, digest, sent, times)
                    else:
                        parts.append(part)
                        sent.append(self._as_sent(part.kind, content))
                except DataError as error:
                    raise DataError(f"{part.path}: {error}") from error
            messages.append(Message(message.role, tuple(parts)))
        request = Request(
            question_id=question.sample.question_id,
            inference=inference,
            messages=tuple(messages),
            encoded=tuple(data for _, data in sent),
            sampling=self.sampling,
        )
        return Encoded(request, tuple(mime for mime, _ in sent), tuple(times))

    def _as_sent(self, kind: str, content: bytes) -> tuple[str, bytes]:
        if kind == "image":
            image: EncodedImage = encode_image(content, self._media.limits)
            return image.mime, image.data
        found = sniff(content)
        if found is None or found.kind != kind:
            raise DataError(f"is no {kind}")
        return found.mime, content

    def _frames(
        self, video: Media, digest: str, sent: list[tuple[str, bytes]], times: list[tuple[float, ...]]
    ) -> list[Part]:
        assert self._media.frames is not None
        parts: list[Part] = []
        frames = read_frames(video.path, digest, self._media.frames, self._media.limits)
        for frame in frames:
            if self._media.frame_times:
                parts.append(f"[{frame.time_s:.1f} s]")
            parts.append(Media(video.path))
            sent.append((frame.image.mime, frame.image.data))
        times.append(tuple(frame.time_s for frame in frames))
        return parts


def build_messages(
    sample: Sample, system_prompt: str | None, *, verbatim: bool = False
) -> tuple[Message, ...]:
    """Return the chat turns of a sample: an optional system turn, then text and media at their marks.

    Args:
        verbatim: Media first, then the text as it is.

    Raises:
        DataError: A mark without a medium.
    """
    files = {"image": sample.images, "video": sample.videos, "audio": sample.audios}
    numbers = {kind: len(paths) for kind, paths in files.items()}
    if verbatim:
        first = [(kind, index) for kind, paths in files.items() for index in range(len(paths))]
        pieces: list[str | Place] = [*first, sample.text]
    else:
        pieces = split_marks(sample.text, numbers)
    parts: list[Part] = [
        piece if isinstance(piece, str) else Media(files[piece[0]][piece[1]], piece[0]) for piece in pieces
    ]
    user = Message("user", tuple(parts))
    return (Message("system", (system_prompt,)), user) if system_prompt else (user,)
