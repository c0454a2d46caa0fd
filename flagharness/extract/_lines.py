"""Rules that look at whole lines: a reply, first line or last line that is a label."""

from __future__ import annotations

import re

from flagharness.extract._cues import label_rejected
from flagharness.extract._labels import Reading
from flagharness.extract._row import Hit, Row

_LEAD = re.compile(r"[ \t\"'#>•-]*(?=[A-Za-z0-9(\[{<])")
_DELIMITER = re.compile(r"\s?[.):\]](?=\s|$|[^\s\d])|[ \t]+[-–—]+\s|[,;—]|[ \t]+(?:because|since|as|due)\b")
_LABELLED = re.compile(r"(?:^|\n|[,;/]\s?)[ \t#>•(\[-]*([A-Z])[.):\]]\s*\S")


def bare_reply(row: Row, text: str) -> Hit | None:
    """A reply that is one letter: B, b., (B), "B"."""
    label = row.bare(text, 0, len(text))
    return label and row.hit(Reading((label,), label.end, False), "whole_reply")


def label_reply(row: Row, text: str) -> Hit | None:
    """A reply that is a label with its noun, or a list of labels: Option B."""
    reading = row.alone(text, 0, len(text))
    return reading and row.hit(reading, "whole_reply")


def last_line(row: Row, text: str) -> Hit | None:
    """A label that is the last of several lines; lines before it that are labels too belong to the answer.

    Not if those lines list the options before one of them is chosen.
    """
    readings: list[Reading] = []
    end = len(text.rstrip())
    while end > 0:
        start = text.rfind("\n", 0, end) + 1
        if start == 0 and not readings:
            break
        reading = row.alone(text, start, end) or row.with_text(text, start, end)
        if reading is None:
            break
        readings.append(reading)
        end = start
        while end > 0 and text[end - 1].isspace():
            end -= 1
    if not readings:
        return None
    if not row.many and _is_listing(row, readings[1:]):
        readings = readings[:1]
    labels = tuple(label for reading in reversed(readings) for label in reading.labels)
    hit = row.hit(Reading(labels, readings[0].end, any(reading.hedged for reading in readings)), "last_line")
    return hit if row.many else hit._replace(start=readings[0].labels[0].start)


def _is_listing(row: Row, readings: list[Reading]) -> bool:
    """Whether these lines, the last one first, name all options of the row in their order, one a line."""
    names = [reading.labels[0].name for reading in reversed(readings) if len(reading.labels) == 1]
    return len(names) == len(readings) > 1 and names == list(row.labels[: len(row.options) or None])


def first_line(row: Row, text: str) -> Hit | None:
    """A first line that is a label, or a label with its own option's text."""
    start = len(text) - len(text.lstrip())
    stop = text.find("\n", start)
    alone = row.alone(text, start, stop) if stop >= 0 else None
    if alone is not None and alone.valid:
        return row.hit(alone, "leading_label")
    reading, end = _lead(row, text)
    if reading is None or end is None or not row.options:
        return None
    if row.texts.end_of_text(text, end, reading.labels[-1].name) is None:
        return None
    return _leading(row, text, reading)


def labelled_start(row: Row, text: str) -> Hit | None:
    """A reply that starts with a label and a delimiter: B) because ..."""
    reading, end = _lead(row, text)
    if reading is None or end is None or label_rejected(text, reading.labels[0].start, end):
        return None
    return _leading(row, text, reading)


def _lead(row: Row, text: str) -> tuple[Reading | None, int | None]:
    """Return the labels a text starts with and where their delimiter ends, if they have one."""
    lead = _LEAD.match(text, len(text) - len(text.lstrip()))
    reading = row.reading(text, lead.end()) if lead else None
    if reading is None or not reading.valid:
        return None, None
    delimiter = _DELIMITER.match(text, reading.end)
    if delimiter is None and reading.labels[-1].enclosed:
        return reading, reading.end
    return reading, delimiter.end() if delimiter else None


def _leading(row: Row, text: str, reading: Reading) -> Hit:
    """Return the hit, unless the text goes on with other labels of the row: then it lists the options."""
    others = {match[1] for match in _LABELLED.finditer(text, reading.end)}
    hit = row.hit(reading, "leading_label")
    if hit.value is not None and others & (set(row.labels) - reading.names):
        return Hit(None, "ambiguous", hit.start, hit.end)
    return hit
