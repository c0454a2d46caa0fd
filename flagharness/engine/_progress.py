"""The progress line: done, failed, rate, time left, tokens, and what is being waited for."""

from __future__ import annotations

import sys
from collections import Counter

from tqdm import tqdm


class Progress:
    """One line on stderr while a run asks; nothing at all when stderr is no terminal or ``quiet`` is set."""

    def __init__(self, total: int, quiet: bool) -> None:
        # disable=None is tqdm's way to say: only on a terminal.
        self._bar = tqdm(
            total=total, unit="req", smoothing=0.1, dynamic_ncols=True, disable=True if quiet else None
        )
        self._failed = 0
        self._tokens = 0
        self._waiting: Counter[str] = Counter()
        self._judging = 0

    def one(self, *, ok: bool, tokens: int) -> None:
        """Count one finished request."""
        self._failed += not ok
        self._tokens += tokens
        if not self._bar.disable:
            self._show()
            self._bar.update(1)

    def waiting(self, kind: str, change: int) -> None:
        """Count a request that starts or ends waiting for its next attempt."""
        self._waiting[kind] += change
        if not self._bar.disable:
            self._show()

    def judging(self, number: int) -> None:
        """Show how many answers wait for a judge."""
        self._judging = number
        if not self._bar.disable:
            self._show()

    def say(self, message: str) -> None:
        """Write a message to a person without tearing the line."""
        # A bar that is not shown has no file of its own.
        tqdm.write(message, file=sys.stderr)

    def close(self) -> None:
        """End the line."""
        self._bar.close()

    def _show(self) -> None:
        parts = [f"failed {self._failed}", f"tokens {self._tokens}"]
        waiting = [f"{count} {kind}" for kind, count in self._waiting.items() if count]
        if waiting:
            parts.append(f"retrying {', '.join(waiting)}")
        if self._judging:
            parts.append(f"waiting for a judge {self._judging}")
        self._bar.set_postfix_str(", ".join(parts), refresh=False)
