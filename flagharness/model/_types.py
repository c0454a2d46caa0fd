"""What goes to a model and what comes back, whatever kind of model it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Media:
    """One medium of a message, by its place on disk: ``kind`` is "image", "video" or "audio"."""

    path: Path
    kind: str = "image"


Part = str | Media
"""A piece of a message: text, or a medium at its place between the texts."""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat turn: ``role`` is "system", "user" or "assistant"."""

    role: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Request:
    """One question as a model receives it: one inference of one sample.

    ``encoded`` holds the media of all messages, in order, as they are sent: the file's own bytes unless a
    limit of the model config asked for a change.
    """

    question_id: str
    inference: int
    messages: tuple[Message, ...]
    encoded: tuple[bytes, ...]
    sampling: Mapping[str, Any]

    @property
    def images(self) -> list[bytes]:
        """The encoded images in the order in which the messages show them."""
        media = [part for message in self.messages for part in message.parts if isinstance(part, Media)]
        return [data for part, data in zip(media, self.encoded, strict=True) if part.kind == "image"]

    @property
    def text(self) -> str:
        """The text of the user turns. A medium between texts leaves a mark there: ``<image N>``, N-th of images."""
        pieces: list[str] = []
        seen: Counter[str] = Counter()
        for part in (part for message in self.messages if message.role == "user" for part in message.parts):
            if isinstance(part, str):
                pieces.append(part)
            else:
                seen[part.kind] += 1
                if pieces:
                    pieces.append(f"<{part.kind} {seen[part.kind]}>")
        return "".join(pieces)


CUT_OFF_REASONS = frozenset(
    ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded")
)
"""How endpoints spell that the token limit ended a reply."""


def cut_off(finish_reason: str | None) -> bool:
    """Whether a reply ended at the token limit.

    Example:
        >>> cut_off("length"), cut_off("MAX_TOKENS"), cut_off("stop"), cut_off(None)
        (True, True, False, False)
    """
    return finish_reason is not None and finish_reason.lower() in CUT_OFF_REASONS


@dataclass
class Response:
    """What a model answered. ``answer`` is the visible text, ``reason`` the reasoning before it."""

    answer: str
    reason: str = ""
    usage: dict[str, Any] | None = None
    finish_reason: str | None = None
    response_id: str | None = None
    model: str | None = None
    """The model name that the endpoint reported."""
    refused: bool = False
    latency_s: float | None = None
    """Seconds that the attempt which succeeded took; the engine measures where a model does not say."""
    attempts: list[dict[str, Any]] = field(default_factory=list)
    """One record per attempt before the one that succeeded: kind, HTTP status, message, seconds."""


@runtime_checkable
class InProcessModel(Protocol):
    """A model that runs inside this process: one class with ``generate``, plain or ``async``.

    It is constructed with the model config's ``model_args`` as keywords. A plain ``generate`` is called in
    worker threads, at most ``num_workers`` at a time.
    """

    def generate(self, request: Request) -> Response | Awaitable[Response]:
        """Answer one request. Raising is a failed request; the row is recorded as such."""
        ...


class Client(Protocol):
    """What the engine asks: an endpoint or an in-process model behind the same face."""

    def prepare(self, request: Request, media_types: Sequence[str]) -> Any:
        """Turn a request into what :meth:`ask` takes. Runs in worker threads."""
        ...

    async def ask(self, prepared: Any, /) -> Response:
        """Answer, or raise a Fault that holds all attempts."""
        ...
