"""Which sources a preparation really read, for its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_recorded: ContextVar[dict[str, str | None] | None] = ContextVar("recorded_sources", default=None)


@contextmanager
def record_sources() -> Iterator[dict[str, str | None]]:
    """Collect the sources resolved inside the block: ``{source: commit, or None for local files}``."""
    sources: dict[str, str | None] = {}
    token = _recorded.set(sources)
    try:
        yield sources
    finally:
        _recorded.reset(token)


def note_source(source: str, revision: str | None) -> None:
    """Say that a source is being read; costs nothing outside a preparation."""
    sources = _recorded.get()
    if sources is not None:
        sources[source] = revision
