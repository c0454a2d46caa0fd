"""The rules by which a choice is read, each a method that looks at a folded text (see `_reply.fold`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from flagharness.extract._cues import (
    CLAUSE_END,
    CONCLUSION,
    COPULA,
    CORRECTION,
    LAST_WORD,
    PREDICATE,
    STRONG,
    announced,
    label_rejected,
)
from flagharness.extract._labels import LabelReader, Reading
from flagharness.extract._option_text import OptionTexts, option_texts

_WRAPPING = " \t\r\n\"'.,;:!?()[]{}<>#•-"
_NAMED = re.compile(
    r"(?:the\s)?\s*(?:(?:correct|final|best|right)\s)?\s*(?:options?|choices?|answers?|letter|选项|选择|选|答案)\s*(?:是|为|:)?\s*",
    re.IGNORECASE,
)
_NAMED_AFTER = re.compile(r"\s*(?:options?|choices?|选项|项)?", re.IGNORECASE)
_LEAD = re.compile(r"[ \t\"'#>•-]*(?=[A-Za-z0-9(\[{<])")
_DELIMITER = re.compile(r"\s?[.):\]](?=\s|$|[^\s\d])|[ \t]+[-–—]+\s|,|—|[ \t]+(?:because|since|as|due)\b")
_OTHER_LABELLED = re.compile(r"(?:^|\n|[,;/]\s?)[ \t#>•(\[-]*([A-Z])[.):\]]\s*\S")
_MENTION = re.compile(
    r"\b(?:options?|choices?|letter)\s{0,3}#?|选项\s?|(?=[(\[][A-Z][)\]])|(?=[A-Z](?:选项|项))", re.IGNORECASE
)
_CAPITAL = re.compile(r"(?<![A-Za-z0-9_'])[A-Z](?![A-Za-z0-9_'])")
_CONCLUDING = re.compile(
    r"\b(?:so|thus|therefore|hence|finally|conclusion|overall)\b|因此|所以|综上|故", re.IGNORECASE
)
_OR = re.compile(r"\bor\b|或", re.IGNORECASE)
_CLAUSE = 400  # characters behind a cue in which an option's text is looked for


class Hit(NamedTuple):
    """What a rule found."""

    value: str | None
    """The label or labels; None for a commitment that reads as nothing."""
    rule: str
    """The rule, or the reason when the value is None."""
    start: int
    end: int


class Chooser:
    """Reads the choice of one row's replies.

    Args:
        reader: Reads the row's labels.
        labels: The row's labels.
        options: The row's option texts.
        many: Whether several labels make an answer.
    """

    def __init__(
        self, reader: LabelReader, labels: tuple[str, ...], options: tuple[str, ...], many: bool
    ) -> None:
        self._reader, self._labels, self._options, self._many = reader, labels, options, many

    @cached_property
    def _texts(self) -> OptionTexts:
        return option_texts(self._labels, self._options)

    def read(self, text: str) -> Hit | None:
        """Apply the rules for text without marks, in their order."""
        failure: Hit | None = None
        for rule in (
            self.whole,
            self._cue,
            self._leading,
            self._exact,
            self._conclusion,
            self._labelled_start,
            self._mention,
            self._contained,
        ):
            hit = rule(text)
            if hit is None:
                continue
            if hit.value is not None or hit.rule == "invalid_choice":
                return hit
            failure = failure or hit
        return failure

    def correction(self, text: str, pos: int) -> Hit | None:
        """Return the answer that replaces one given before the position, if the text takes that one back."""
        if not text[pos:].strip(_WRAPPING):
            return None
        taken_back = CORRECTION.search(text, pos)
        if taken_back is None:
            return None
        rest = text[taken_back.start() :]
        hit = self._cue(rest) or self._conclusion(rest)
        if hit is None or hit.value is None:
            return None
        return hit._replace(start=hit.start + taken_back.start(), end=hit.end + taken_back.start())

    def whole(self, text: str) -> Hit | None:
        """A reply that is nothing but a label: B, b., (B), Option B."""
        if len(text) > 200:
            return None
        return self._alone(text, 0, len(text), "whole_reply")

    def _alone(self, text: str, start: int, end: int, rule: str) -> Hit | None:
        while start < end and text[start] in _WRAPPING:
            start += 1
        while end > start and text[end - 1] in _WRAPPING:
            end -= 1
        name = self._reader.names.get(text[start:end].upper())
        if name is not None:
            return Hit(name, rule, start, end)
        if start == end:
            return None
        if end - start == 1 and "A" <= text[start] <= "Z":
            return Hit(None, "invalid_choice", start, end)
        named = _NAMED.match(text, start, end)
        reading = self._reading(text, named.end() if named else start)
        if reading is None or _NAMED_AFTER.fullmatch(text, min(reading.end, end), end) is None:
            return None
        return self._hit(reading, rule)

    def _reading(self, text: str, pos: int, *, lower: bool = True) -> Reading | None:
        if not self._many:
            return self._reader.some(text, pos, lower=lower)
        reading = self._reader.run(text, pos) or self._reader.some(text, pos, lower=lower)
        return reading and self._with_texts(text, reading)

    def _with_texts(self, text: str, reading: Reading) -> Reading:
        """Read on over option texts that stand between the labels: A. cat, C. dog."""
        while True:
            delimiter = re.compile(r"\s?[.):]\s*").match(text, reading.end)
            end = delimiter and self._texts.end_of_text(text, delimiter.end(), reading.labels[-1].name)
            separator = end and re.compile(r"\s*(?:[,;]|\band\b|和|\n)+\s*").match(text, end)
            following = separator and self._reader.some(text, separator.end(), lower=False)
            if not following or following.labels[-1].name in reading.names:
                return reading
            reading = Reading(
                reading.labels + following.labels, following.end, reading.hedged or following.hedged
            )

    def _hit(self, reading: Reading, rule: str) -> Hit:
        start, end = reading.labels[0].start, reading.labels[-1].stop
        if not reading.valid:
            return Hit(None, "invalid_choice", start, end)
        names = reading.names
        if len(names) > 1 and (reading.hedged or not self._many):
            return Hit(None, "ambiguous", start, end)
        return Hit("".join(name for name in self._labels if name in names), rule, start, end)

    def _cue(self, text: str) -> Hit | None:
        """The last phrase that announces an answer; a last line that is a label counts as one."""
        last_line = text.rstrip().rfind("\n") + 1
        if last_line > 0:
            hit = self._alone(text, last_line, len(text), "last_line")
            if hit is not None and hit.rule != "ambiguous":
                return hit
        cues = [(cue.start(), cue.end()) for cue in STRONG.finditer(text)]
        readings = [(start, pos, self._reading(text, pos)) for start, pos in cues]
        readings += self._predicated(text)
        readings.sort(key=lambda item: item[1])
        failure = None
        for start, pos, reading in reversed(readings):
            hit = self._committed(text, start, pos, reading)
            if hit is None:
                continue
            if hit.value is not None or hit.rule == "invalid_choice":
                return hit
            failure = failure or hit
        return self._named_after(text, cues) or failure

    def _committed(self, text: str, start: int, pos: int, reading: Reading | None) -> Hit | None:
        if reading is None:
            label = self._texts.exact(_clause(text, pos))
            if label is None or not announced(text, start, pos):
                return None
            return Hit(label, "cue", pos, pos + len(_clause(text, pos).rstrip()))
        if not announced(text, start, reading.end):
            return None
        hit = self._hit(reading, "cue")
        if hit.rule == "invalid_choice" and (
            not CLAUSE_END.match(text, reading.end) or self._texts.contained(_clause(text, pos))
        ):
            return None
        if hit.value is not None and not CLAUSE_END.match(text, reading.end):
            label = self._texts.exact(_clause(text, pos))  # "B is closer" may be the text of option A
            if label is not None:
                return Hit(label, "cue", pos, pos + len(_clause(text, pos).rstrip()))
        return hit

    def _named_after(self, text: str, cues: list[tuple[int, int]]) -> Hit | None:
        """The option whose text stands in the clause behind the last cue that has one."""
        for start, pos in reversed(cues):
            hit = self._one_text(text, pos, pos + len(_clause(text, pos)), "cue")
            if hit is not None and announced(text, start, hit.end):
                return hit
        return None

    def _predicated(self, text: str) -> Iterator[tuple[int, int, Reading | None]]:
        """Labels said to be the answer: B is correct."""
        for predicate in PREDICATE.finditer(text):
            end = predicate.start()
            for capital in _CAPITAL.finditer(text, max(0, end - 40), end):
                pos = capital.start()
                if pos and text[pos - 1] in "([{<\"'":
                    pos -= 1
                reading = self._reader.some(text, pos, lower=False)
                if reading is not None and reading.end <= end and not text[reading.end : end].strip():
                    yield pos, pos, reading
                    break

    def _leading(self, text: str) -> Hit | None:
        """A first line that is a label, or a label with its own option's text."""
        start = len(text) - len(text.lstrip())
        stop = text.find("\n", start)
        if stop >= 0:
            hit = self._alone(text, start, stop, "leading_label")
            if hit is not None and hit.value is not None:
                following = self._alone(text, stop, _line_end(text, stop + 1), "leading_label")
                return hit if following is None else Hit(None, "ambiguous", hit.start, hit.end)
        reading, delimiter = self._lead(text)
        if reading is None or delimiter is None or not reading.valid or not self._options:
            return None
        if self._texts.end_of_text(text, delimiter, reading.labels[-1].name) is None:
            return None
        return self._labelled(text, reading)

    def _labelled_start(self, text: str) -> Hit | None:
        """A reply that starts with a label and a delimiter: B) because ..."""
        reading, delimiter = self._lead(text)
        if reading is None or delimiter is None or not reading.valid:
            return None
        if label_rejected(text, reading.labels[0].start, delimiter):
            return None
        return self._labelled(text, reading)

    def _lead(self, text: str) -> tuple[Reading | None, int | None]:
        lead = _LEAD.match(text, len(text) - len(text.lstrip()))
        reading = self._reading(text, lead.end()) if lead else None
        if reading is None:
            return None, None
        delimiter = _DELIMITER.match(text, reading.end)
        if delimiter is None and reading.labels[-1].enclosed:
            return reading, reading.end
        return reading, delimiter.end() if delimiter else None

    def _labelled(self, text: str, reading: Reading) -> Hit | None:
        others = {match[1] for match in _OTHER_LABELLED.finditer(text, reading.end)}
        hit = self._hit(reading, "leading_label")
        if hit.value is not None and others & (set(self._labels) - reading.names):
            return Hit(None, "ambiguous", hit.start, hit.end)
        return hit

    def _exact(self, text: str) -> Hit | None:
        """A reply that is an option's text, or whose first or last line is."""
        if not self._options:
            return None
        stripped = text.strip()
        for line in (
            stripped,
            stripped[: stripped.find("\n")] if "\n" in stripped else "",
            stripped[stripped.rfind("\n") + 1 :],
        ):
            label = self._texts.exact(line) if line else None
            if label is not None:
                start = text.rfind(line) if line != stripped else text.find(line)
                return Hit(label, "option_text", start, start + len(line))
        return None

    def _conclusion(self, text: str) -> Hit | None:
        """The label a sentence ends in: "I think B", "Yes, B"; or the one label something is said to be: "it is B"."""
        hits = list(self._clause_labels(text, CONCLUSION))
        last_word = self._last_word(text)
        if last_word is not None:
            hits.append(last_word)
        for hit in reversed(hits):
            if hit.value is not None:
                return hit
        said = [hit for hit in self._clause_labels(text, COPULA) if hit.value is not None]
        if not said:
            return None
        if all(hit.value == said[-1].value for hit in said) or CORRECTION.search(
            text, said[-2].end, said[-1].start
        ):
            return said[-1]
        return Hit(None, "ambiguous", said[-1].start, said[-1].end)

    def _clause_labels(self, text: str, cue_pattern: re.Pattern[str]) -> Iterator[Hit]:
        for cue in cue_pattern.finditer(text):
            reading = self._reading(text, cue.end(), lower=False)
            if reading is None or not reading.valid or not CLAUSE_END.match(text, reading.end):
                continue
            if announced(text, cue.start(), reading.end):
                yield self._hit(reading, "cue")

    def _last_word(self, text: str) -> Hit | None:
        end = len(text.rstrip(_WRAPPING))
        for capital in _CAPITAL.finditer(text, max(0, end - 1), end):
            before = text[max(0, capital.start() - 60) : capital.start()].rstrip("([\"'")
            cue = LAST_WORD.search(before)
            if cue is None or _CAPITAL.search(before[: cue.start()].rstrip(), max(0, cue.start() - 2)):
                return None
            reading = self._reading(text, capital.start(), lower=False)
            if reading is not None and reading.valid:
                return self._hit(reading, "cue")
        return None

    def _mention(self, text: str) -> Hit | None:
        """The only label that is named as one: "option B", "(B)"."""
        return self._only(self._mentioned(text))

    def _mentioned(self, text: str) -> Iterator[Reading]:
        for mention in _MENTION.finditer(text):
            pos = mention.end()
            while pos < len(text) and text[pos] == " ":
                pos += 1
            reading = self._reading(text, pos, lower=mention.end() > mention.start())
            if (
                reading is not None
                and reading.valid
                and not label_rejected(text, mention.start(), reading.end)
            ):
                yield reading
        if self._options and self._texts.drawn:
            for capital in _CAPITAL.finditer(text):
                reading = self._reading(text, capital.start(), lower=False)
                if (
                    reading is not None
                    and reading.valid
                    and not label_rejected(text, capital.start(), reading.end)
                ):
                    yield reading

    def _only(self, readings: Iterable[Reading]) -> Hit | None:
        found = list(readings)
        if not found:
            return None
        names = set().union(*(reading.names for reading in found))
        hedged = any(reading.hedged for reading in found)
        first = found[0].labels[0]
        if len(names) > 1 and (hedged or not self._many):
            return Hit(None, "ambiguous", first.start, first.stop)
        return Hit(
            "".join(name for name in self._labels if name in names), "mention", first.start, first.stop
        )

    def _contained(self, text: str) -> Hit | None:
        """The only option whose text a short reply, or its concluding last line, holds."""
        if not self._options:
            return None
        hit = self._one_text(text, 0, len(text), "option_text")
        last_line = text.rstrip().rfind("\n") + 1
        if hit is None and last_line > 0 and _CONCLUDING.search(text, last_line):
            hit = self._one_text(text, last_line, len(text), "option_text")
        return hit

    def _one_text(self, text: str, start: int, end: int, rule: str) -> Hit | None:
        matches = self._texts.contained(text[start:end]) if self._options else []
        if not matches:
            return None
        names = {match.label for match in matches}
        first, last = (
            start + min(match.start for match in matches),
            start + max(match.end for match in matches),
        )
        hedged = "" in names or _OR.search(text, first, last) is not None
        if len(names) > 1 and (hedged or not self._many) or "" in names:
            return Hit(None, "ambiguous", first, last)
        return Hit("".join(name for name in self._labels if name in names), rule, first, last)


def _clause(text: str, pos: int) -> str:
    stop = re.compile(r"\n|[.!?;](?=\s|$)").search(text, pos, pos + _CLAUSE)
    return text[pos : stop.start() if stop else pos + _CLAUSE]


def _line_end(text: str, pos: int) -> int:
    stop = text.find("\n", pos)
    return stop if stop >= 0 else len(text)
