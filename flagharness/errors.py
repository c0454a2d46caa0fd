"""What can go wrong, as one tree.

    FlagHarnessError      anything a person can act on; printed without a traceback
    |- ConfigError        a task, model or command-line setting is wrong
    |- DataError          a source, a row or a media file is wrong
    |- EndpointError      the model could not be reached or refuses to serve this run
    `- ScoringError       an evaluator cannot score what it was given

Every message says what was expected, what came, where, and what to do.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FlagHarnessError(Exception):
    """Base of all errors whose message is written for the person at the terminal."""


class ConfigError(FlagHarnessError):
    """A task config, model config or command line that cannot be used as it is."""


class DataError(FlagHarnessError):
    """A source, annotation row or media file that cannot be used as it is."""


class EndpointError(FlagHarnessError):
    """The endpoint is unreachable or rejects every request of this run."""


class ScoringError(FlagHarnessError):
    """An evaluator was given something that it cannot score."""


FOREIGN_FAILURES = (Exception, SystemExit)
"""What code of a task or model may raise. ``sys.exit()`` in it must not end a run in silence."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean 'x'?"`` for the nearest known name, or ``""``.

    Example:
        >>> did_you_mean("BaseEvalutor", ["BaseEvaluator", "PromptTemplate"])
        " Did you mean 'BaseEvaluator'?"
        >>> did_you_mean("zzz", ["BaseEvaluator"])
        ''
    """
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""


def listing(lines: Iterable[str], limit: int = 20) -> str:
    """Join problem lines for an error message: at most ``limit`` of them, the rest as a number."""
    lines = list(lines)
    shown = [f"  {line}" for line in lines[:limit]]
    if len(lines) > limit:
        shown.append(f"  ... and {len(lines) - limit} more")
    return "\n".join(shown)
