"""Rules that look for phrases: "the answer is B", "I think B", and corrections of an earlier answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from flagharness.extract._cues import (
    CLAUSE_END,
    CONCLUSION,
    COPULA,
    CORRECTION,
    LAST_WORD,
    PREDICATE,
    STRONG,
    announced,
    clause,
)
from flagharness.extract._labels import Reading
from flagharness.extract._mentions import option_named
from flagharness.extract._reply import lowered
from flagharness.extract._row import WRAPPING, Hit, Row

_CAPITAL = re.compile(r"(?<![A-Za-z0-9_'])[A-Z](?![A-Za-z0-9_'])")
_PLURAL = re.compile(r"\b(?:options|choices)\b")
_LISTED = re.compile(r"(?:^|[\s,;:])[(\[]?([A-Z])[.):\]](?=\s|\w)")
_LIST_WITHIN = 4000
_CAPITALS = re.compile(r"(?<![A-Za-z0-9_'])[A-Z]{1,26}(?![A-Za-z0-9_'])")


def announced_answer(row: Row, text: str) -> Hit | None:
    """The last phrase that announces an answer, by its label or else by its option's text."""
    lower = lowered(text)
    cues = [(cue.start(), cue.end()) for cue in STRONG.finditer(lower) if not _is_heading(row, text, cue)]
    readings: list[tuple[int, int, Reading | None]] = [
        (start, pos, row.reading(text, pos)) for start, pos in cues
    ]
    predicated = list(_predicated(row, text, lower))
    readings += _together(predicated, text, lower) if row.many else predicated
    readings.sort(key=lambda item: item[1])
    failure: Hit | None = None
    for start, pos, reading in reversed(readings):
        hit = _committed(row, text, start, pos, reading)
        if hit is None:
            continue
        if hit.value is not None or hit.rule == "invalid_choice":
            return hit
        failure = failure or hit
    for start, pos in reversed(cues) if row.options else ():
        hit = option_named(row, text, pos, pos + len(clause(text, pos)), "cue")
        if hit is not None and announced(text, start, hit.end):
            return hit
    return failure


def _is_heading(row: Row, text: str, cue: re.Match[str]) -> bool:
    """Whether a cue is the heading of a list of the row's options: "Options: A: left, B: right"."""
    if _PLURAL.search(cue[0]) is None:
        return False
    listed = [match[1] for match in _LISTED.finditer(text, max(0, cue.end() - 1), cue.end() + _LIST_WITHIN)]
    return len(listed) > 1 and listed[:2] == list(row.labels[:2])


def _together(
    predicated: list[tuple[int, int, Reading]], text: str, lower: str
) -> list[tuple[int, int, Reading]]:
    """Join what is said to be correct label by label ("A is correct. C is correct."), from the last correction on."""
    said = [item for item in predicated if item[2].valid and announced(text, item[0], item[2].end)]
    if len(said) < 2:
        return said
    for i in range(len(said) - 1, 0, -1):
        if CORRECTION.search(lower, said[i - 1][2].end, said[i][0]):
            said = said[i:]
            break
    start, pos, last = said[-1]
    labels = tuple(label for _, _, reading in said for label in reading.labels)
    return [(start, pos, Reading(labels, last.end, any(reading.hedged for _, _, reading in said)))]


def _predicated(row: Row, text: str, lower: str) -> Iterator[tuple[int, int, Reading]]:
    """Yield labels said to be the answer: B is correct, A and C are correct."""
    done = 0
    for capital in (_CAPITALS if row.many else _CAPITAL).finditer(text):
        pos = capital.start()
        if pos < done:
            continue
        if pos and text[pos - 1] in "([{<\"'":
            pos -= 1
        reading = row.reading(text, pos, lower=False)
        if reading is not None:
            done = reading.end
            if PREDICATE.match(lower, done):
                yield pos, pos, reading


def _committed(row: Row, text: str, start: int, pos: int, reading: Reading | None) -> Hit | None:
    if not announced(text, start, reading.end if reading else pos):
        return None
    ended = reading is not None and CLAUSE_END.match(text, reading.end) is not None
    said = clause(text, pos)
    if row.options and not ended:
        named = row.texts.exact(said)  # "B is closer" may be the text of option A
        if named is not None:
            return Hit(named, "cue", pos, pos + len(said.rstrip()))
    if reading is None:
        return None
    hit = row.hit(reading, "cue")
    if hit.rule == "invalid_choice" and (not ended or (row.options and row.texts.contained(said))):
        return None  # the initials of a name, not a label
    return hit


def concluded_answer(row: Row, text: str) -> Hit | None:
    """The label a sentence ends in ("I think B", "Yes, B"), or the one something is said to be ("it is B")."""
    lower = lowered(text)
    concluded = [
        reading
        for reading in _clause_labels(row, text, CONCLUSION.finditer(lower))
        if CLAUSE_END.match(text, reading.end)
    ]
    for reading in reversed([*concluded, *_last_word(row, text)]):
        hit = row.hit(reading, "cue")
        if hit.value is not None:
            return hit
    said = [
        (row.hit(reading, "cue"), reading.end)
        for reading in _clause_labels(row, text, COPULA.finditer(lower))
    ]
    if not said or not CLAUSE_END.match(text, said[-1][1]):
        return None
    hit = said[-1][0]
    if all(other.value == hit.value for other, _ in said) or CORRECTION.search(lower, said[-2][1], hit.start):
        return hit
    return Hit(None, "ambiguous", hit.start, hit.end)


def _clause_labels(row: Row, text: str, cues: Iterable[re.Match[str]]) -> Iterator[Reading]:
    for cue in cues:
        reading = row.reading(text, cue.end(), lower=False)
        if reading is not None and reading.valid and announced(text, cue.start(), reading.end):
            yield reading


def _last_word(row: Row, text: str) -> Iterator[Reading]:
    """Yield the label a reply ends in, behind a comma, colon or arrow that does not belong to a list of labels."""
    end = len(text.rstrip(WRAPPING))
    last = _CAPITAL.match(text, end - 1, end) if end else None
    if last is None:
        return
    before = text[max(0, end - 61) : end - 1].rstrip("([\"'")
    cue = LAST_WORD.search(before)
    if cue is None or _CAPITAL.search(before[: cue.start()].rstrip(), max(0, cue.start() - 2)):
        return
    reading = row.reading(text, end - 1, lower=False)
    if reading is not None and reading.valid:
        yield reading


def corrected_answer(row: Row, text: str, pos: int) -> Hit | None:
    """Return the answer that replaces one given before the position, if the text takes that one back."""
    taken_back = CORRECTION.search(lowered(text), pos)
    if taken_back is None:
        return None
    rest = text[taken_back.start() :]
    hit = announced_answer(row, rest) or concluded_answer(row, rest)
    if hit is None or hit.value is None:
        return None
    return hit._replace(start=hit.start + taken_back.start(), end=hit.end + taken_back.start())
