"""One row's labels and options, as the rules of choice extraction see them."""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from flagharness.extract._labels import Label, Reading, label_reader
from flagharness.extract._option_text import OptionTexts, option_texts

WRAPPING = " \t\r\n\"'.,;:!?()[]{}<>#•-"
"""Characters around an answer that do not belong to it."""

_NOUN_BEFORE = re.compile(r"(?:options?|choices?|letters?|选项)\s*:?\s*", re.IGNORECASE)
_NOUN_AFTER = re.compile(
    r"(?:\s{0,4}(?:options?|choices?|选项|项))?[\s\"'.,;:!?()\[\]{}<>#•-]*", re.IGNORECASE
)
_DELIMITER = re.compile(r"\s?[.):]\s*")
_BETWEEN_TEXTS = re.compile(r"\s*(?:[,;]|\band\b|和|\n)(?:\s*\band\b)?\s*")


class Hit(NamedTuple):
    """What a rule found."""

    value: str | None
    """The label or labels; None for a commitment that reads as nothing."""
    rule: str
    """The rule, or the reason when the value is None."""
    start: int
    end: int


class Row:
    """Reads labels and options of one row.

    Args:
        labels: The row's labels in order.
        options: The texts behind them; may be empty.
        many: Whether several labels make an answer.
    """

    def __init__(self, labels: tuple[str, ...], options: tuple[str, ...], many: bool) -> None:
        self.labels, self.options, self.many = labels, options, many
        self._reader = label_reader(labels)

    @cached_property
    def texts(self) -> OptionTexts:
        """The option texts; prepared only when a rule asks for them."""
        return option_texts(self.labels, self.options)

    def reading(self, text: str, pos: int, *, lower: bool = True) -> Reading | None:
        """Return the label or list of labels at a position."""
        if not self.many:
            return self._reader.some(text, pos, lower=lower)
        reading = self._reader.run(text, pos) or self._reader.some(text, pos, lower=lower)
        return reading and self._over_texts(text, reading)

    def _over_texts(self, text: str, reading: Reading) -> Reading:
        """Read on over option texts that stand between the labels: A. cat, C. dog."""
        while True:
            delimiter = _DELIMITER.match(text, reading.end)
            end = delimiter and self.texts.end_of_text(text, delimiter.end(), reading.labels[-1].name)
            separator = end and _BETWEEN_TEXTS.match(text, end)
            following = separator and self._reader.some(text, separator.end(), lower=False)
            if not following or following.labels[-1].name in reading.names:
                return reading
            reading = Reading(
                reading.labels + following.labels, following.end, reading.hedged or following.hedged
            )

    def bare(self, text: str, start: int, end: int) -> Label | None:
        """Return the label that is all that stands from start to end; in any case, in any brackets."""
        core = text[start:end].lstrip(WRAPPING)
        start = end - len(core)
        core = core.rstrip(WRAPPING)
        name = self._reader.names.get(core.upper())
        if name is None and not (len(core) == 1 and "A" <= core <= "Z"):
            return None
        return Label(name or "", start, start + len(core), start + len(core), False)

    def alone(self, text: str, start: int, end: int) -> Reading | None:
        """Return the label ("option B" too) or list of labels that is all that stands from start to end."""
        label = self.bare(text, start, end)
        if label is not None:
            return Reading((label,), label.end, False)
        start = end - len(text[start:end].lstrip(WRAPPING))
        if start == end:
            return None
        noun = _NOUN_BEFORE.match(text, start, end)
        reading = self.reading(text, noun.end() if noun else start)
        if reading is None or reading.end > end or not _NOUN_AFTER.fullmatch(text, reading.end, end):
            return None
        return reading

    def with_text(self, text: str, start: int, end: int) -> Reading | None:
        """Return the label that stands from start to end with its own option's text and nothing else: B. cotton."""
        if not self.options:
            return None
        start = end - len(text[start:end].lstrip(" \t\"'#([•>-"))
        reading = self._reader.some(text, start)
        delimiter = reading and _DELIMITER.match(text, reading.end, end)
        if not reading or not delimiter or not reading.valid:
            return None
        label = self.texts.exact(text[delimiter.end() : end])
        return reading if label == reading.labels[-1].name else None

    def hit(self, reading: Reading, rule: str) -> Hit:
        """Return the value of a reading, or why it has none."""
        start, end = reading.labels[0].start, reading.labels[-1].stop
        if not reading.valid:
            return Hit(None, "invalid_choice", start, end)
        return self.hit_of(reading.names, rule, start, end, hedged=reading.hedged)

    def hit_of(self, names: set[str], rule: str, start: int, end: int, *, hedged: bool) -> Hit:
        """Return the names as a value; more than one is ambiguous unless the row takes many and none is hedged."""
        if len(names) > 1 and (hedged or not self.many):
            return Hit(None, "ambiguous", start, end)
        value = (
            "".join(name for name in self.labels if name in names) if len(names) > 1 else next(iter(names))
        )
        return Hit(value, rule, start, end)
