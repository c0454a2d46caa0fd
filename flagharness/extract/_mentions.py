"""Rules that look for what is named: an option's text, or the only label of a reply."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flagharness.extract._cues import announced, clause, label_rejected
from flagharness.extract._labels import Reading
from flagharness.extract._reply import last_match
from flagharness.extract._row import Hit, Row

_MENTION = re.compile(
    r"\b(?:options?|choices?|letter)\s{0,3}#?\s{0,3}|选项\s?|(?=[(\[](?-i:[A-Z])[)\]])|(?=(?-i:[A-Z])(?:选项|项))",
    re.IGNORECASE,
)
_CAPITAL = re.compile(r"(?<![A-Za-z0-9_'])[A-Z](?![A-Za-z0-9_'])")
_CONCLUDING = re.compile(
    r"(?:^|[\n.,;:!?])\s{0,9}(?:so|thus|therefore|hence|finally|in\s+conclusion|overall)\b,?|因此|所以|综上|故",
    re.IGNORECASE,
)
_BACKTICKED = re.compile(
    r"(?<!`)(?P<ticks>`{1,3})(?!`)(?:\s{0,3}(?P<label>[A-Z])\s{0,3}|[^`\n]+)(?P=ticks)(?!`)"
)
_BACKTICKED_WITHIN = 40_000
_OR = re.compile(r"\bor\b|或", re.IGNORECASE)


def exact_text(row: Row, text: str) -> Hit | None:
    """A reply that is an option's text, or whose first or last line is."""
    if not row.options:
        return None
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    first_stop, last_start = text.find("\n", start, end), text.rfind("\n", start, end) + 1
    stretches = ((start, end), (start, first_stop), (last_start, end)) if first_stop >= 0 else ((start, end),)
    for begin, stop in stretches:
        label = row.texts.exact(text[begin:stop])
        if label is not None:
            return Hit(label, "option_text", begin, stop)
    return None


def only_label(row: Row, text: str) -> Hit | None:
    """The only label that is named as one: "option B", "(B)"; any capital if the choices are drawn in the picture."""
    readings = list(_mentioned(row, text))
    if not readings:
        return None
    names = {name for reading in readings for name in reading.names}
    first = readings[0].labels[0]
    return row.hit_of(
        names, "mention", first.start, first.stop, hedged=any(reading.hedged for reading in readings)
    )


def _mentioned(row: Row, text: str) -> Iterator[Reading]:
    for mention in _MENTION.finditer(text):
        reading = row.reading(text, mention.end(), lower=mention.end() > mention.start())
        yield from _meant(row, text, mention.start(), reading)
    done = 0
    for capital in _CAPITAL.finditer(text) if row.options and row.texts.drawn else ():
        reading = row.reading(text, capital.start(), lower=False) if capital.start() >= done else None
        done = reading.end if reading else done
        yield from _meant(row, text, capital.start(), reading)


def _meant(row: Row, text: str, start: int, reading: Reading | None) -> Iterator[Reading]:
    if reading is not None and reading.valid and not label_rejected(text, start, reading.end):
        yield reading


def only_in_backticks(row: Row, text: str, plain: str) -> Hit | None:
    """The only label of the row that stands alone between back-ticks, as some prompts ask for it.

    Args:
        row: The row.
        text: The reply as it came.
        plain: The same text folded: each character in its place, the back-ticks gone.
    """
    tail = max(0, len(text) - _BACKTICKED_WITHIN)
    spans = [span for span in _BACKTICKED.finditer(text, tail) if span["label"] in row.labels]
    if len({span["label"] for span in spans}) != 1:
        return None
    start, end = spans[-1].span("label")
    if label_rejected(plain, start, end) or not announced(plain, start, end):
        return None
    return Hit(spans[-1]["label"], "mention", start, end)


def only_text(row: Row, text: str) -> Hit | None:
    """The only option whose text a short reply, or its conclusion, holds."""
    if not row.options:
        return None
    concluding = last_match(_CONCLUDING, text)
    if concluding is not None:
        pos = concluding.end()
        hit = option_named(row, text, pos, pos + len(clause(text, pos)), "option_text")
        if hit is not None and hit.value is not None:
            return hit
    return option_named(row, text, 0, len(text), "option_text")


def option_named(row: Row, text: str, start: int, end: int, rule: str) -> Hit | None:
    """Return the option whose text stands from start to end."""
    matches = row.texts.contained(text[start:end])
    if not matches:
        return None
    names = {match.label for match in matches}
    first, last = start + min(match.start for match in matches), start + max(match.end for match in matches)
    if "" in names:
        return Hit(None, "ambiguous", first, last)
    return row.hit_of(names, rule, first, last, hedged=_OR.search(text, first, last) is not None)
