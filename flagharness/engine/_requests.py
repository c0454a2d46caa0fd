"""From a sample to the request for it: messages, media as they are sent, and the hash that identifies it."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass

from flagharness.config import ModelConfig, RequestRules
from flagharness.errors import DataError
from flagharness.media import LIMITS_VERSION, ImageLimits, encode_image
from flagharness.model import Media, Message, Part, Request, media_of, request_hash
from flagharness.prompt import split_marks
from flagharness.run import dump_line
from flagharness.task import Sample

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Question:
    """A sample with its media read: enough to know whether it was asked before, not yet encoded."""

    sample: Sample
    messages: tuple[Message, ...]
    contents: tuple[bytes, ...]
    """The files' own bytes, in the order in which the messages show them."""
    digests: tuple[str, ...]


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
        limits = (model.max_image_size, model.max_long_side, model.min_short_side)
        self._limits = ImageLimits() if rules.original_media else ImageLimits(*limits)
        self._limits_identity = [LIMITS_VERSION, *limits] if self._limits.active else None

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
        contents = []
        for medium in media_of(messages):
            try:
                contents.append(medium.path.read_bytes())
            except OSError as error:
                raise DataError(f"{medium.path}: cannot be read: {error.strerror or error}") from error
        digests = tuple(hashlib.sha256(content).hexdigest() for content in contents)
        if sample.image_sha256 is not None and digests != (sample.image_sha256,):
            raise DataError(f"{sample.images[0]}: not the file that was released (SHA-256)")
        digests = tuple(digest[:32] for digest in digests)
        return Question(sample, messages, tuple(contents), digests)

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

    def encode(self, question: Question, inference: int) -> tuple[Request, list[str]]:
        """Return the request and the media type of each of its media.

        Raises:
            DataError: An image that has to be changed cannot be decoded.
        """
        images = []
        for medium, content in zip(media_of(question.messages), question.contents, strict=True):
            try:
                images.append(encode_image(content, self._limits))
            except DataError as error:
                raise DataError(f"{medium.path}: {error}") from error
        request = Request(
            question_id=question.sample.question_id,
            inference=inference,
            messages=question.messages,
            encoded=tuple(image.data for image in images),
            sampling=self.sampling,
        )
        return request, [image.mime for image in images]


def build_messages(
    sample: Sample, system_prompt: str | None, *, verbatim: bool = False
) -> tuple[Message, ...]:
    """Return the chat turns of a sample: an optional system turn, then text and images at their marks.

    Args:
        verbatim: Images first, then the text as it is.

    Raises:
        DataError: A mark without an image.
    """
    images = len(sample.images)
    pieces = [*range(images), sample.text] if verbatim else split_marks(sample.text, images)
    parts: list[Part] = [piece if isinstance(piece, str) else Media(sample.images[piece]) for piece in pieces]
    user = Message("user", tuple(parts))
    return (Message("system", (system_prompt,)), user) if system_prompt else (user,)
