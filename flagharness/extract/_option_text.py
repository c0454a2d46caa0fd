"""Finding the text of an option in a reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from flagharness.extract._cues import REFUSAL, text_rejected
from flagharness.extract._reply import fold, lowered

_EDGE = " \t\r\n.,;:!?\"'#()[]<>{}"
_ARTICLES = ("a ", "an ", "the ")
_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_LONG_NUMBER = re.compile(r"(?<![0-9.,])[1-9][0-9]{3,14}(?![0-9])")
_UNIT_SPACE = re.compile(r"(?<=[0-9]) (?=[a-zμ°%])")
_UNIT_JOINT = re.compile(r"(?<=[0-9])(?=[a-zμ°%])")
_LETTERS_DIGITS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


class OptionMatch(NamedTuple):
    """An option's text found in a reply."""

    label: str
    start: int
    end: int


class OptionTexts:
    """The texts of one row's options."""

    def __init__(self, labels: tuple[str, ...], options: tuple[str, ...]) -> None:
        names = {label.lower() for label in labels}
        texts = [
            (_plain(_without_label(option, label)), label)
            for label, option in zip(labels, options, strict=False)
        ]
        self.drawn = bool(texts) and all(text == label.lower() for text, label in texts)
        """Whether the options are nothing but their labels, as when the choices are drawn in the picture."""
        self._labels: dict[str, str] = {}
        for text, label in texts:
            if text and text not in names:
                self._labels[text] = label if text not in self._labels else ""  # two alike tell nothing
        self._longest_reply = 2 * sum(map(len, self._labels)) + 100
        self._labels |= _spellings(self._labels)

    def exact(self, text: str) -> str | None:
        """Return the label of the option whose text is all there is."""
        return (self._labels.get(_plain(text)) or None) if self._labels else None

    def contained(self, text: str) -> list[OptionMatch]:
        """Return the options named in a short text: the longest where they overlap, without those ruled out.

        A long text describes more than it answers, and a refusal names what it cannot tell: neither is searched.
        """
        if not self._labels or len(text) > self._longest_reply:
            return []
        lower = lowered(text)
        found = [
            OptionMatch(label, start, end)
            for option, label in self._labels.items()
            for start, end in _occurrences(lower, option)
        ]
        matches = [match for match in found if not any(_covers(other, match) for other in found)]
        refusal = REFUSAL.search(text)
        if refusal and not any(
            match.start < refusal.end() and refusal.start() < match.end for match in matches
        ):
            return []
        return [match for match in matches if not text_rejected(text, match.start, match.end)]

    def end_of_text(self, text: str, pos: int, label: str) -> int | None:
        """Return where the label's own option text ends if it stands at the position, else None."""
        for option, name in self._labels.items():
            if name != label:
                continue
            window = lowered(text[pos : pos + 2 * len(option) + 20])
            start, end = next(_occurrences(window, option), (0, 0))
            if end and window[:start].strip(_EDGE) in {"", "a", "an", "the"}:
                return pos + end
        return None


def _covers(outer: OptionMatch, inner: OptionMatch) -> bool:
    return (
        outer.start <= inner.start
        and inner.end <= outer.end
        and outer.end - outer.start > inner.end - inner.start
    )


def _occurrences(lower: str, option: str) -> Iterator[tuple[int, int]]:
    """Yield where the option stands as whole words, however its words are spaced."""
    first, *others = option.split(" ")
    start = lower.find(first)
    while start >= 0:
        end = start + len(first)
        for word in others:
            after = end
            while after < len(lower) and lower[after].isspace():
                after += 1
            if after == end or not lower.startswith(word, after):
                break
            end = after + len(word)
        else:
            if _bounded(lower, start, end):
                yield start, end
        start = lower.find(first, start + 1)


def _bounded(lower: str, start: int, end: int) -> bool:
    before, after = lower[max(0, start - 2) : start], lower[end : end + 2]
    first, last = lower[start], lower[end - 1]
    if first in _LETTERS_DIGITS and before[-1:] and before[-1] in _LETTERS_DIGITS:
        return False
    if last in _LETTERS_DIGITS and after[:1] and after[0] in _LETTERS_DIGITS:
        return False
    if first.isdigit() and (before[-1:] == "-" or (before[-1:] in {".", ","} and before[:1].isdigit())):
        return False
    return not (last.isdigit() and after[:1] in {".", ","} and after[1:].isdigit())


def _without_label(option: str, label: str) -> str:
    option = fold(option).strip()
    bare = option.lstrip("([")
    if bare[: len(label)] == label and re.match(r"[)\].:]\s+\S", bare[len(label) :]):
        return bare[len(label) + 1 :]
    return option


def _plain(text: str) -> str:
    text = " ".join(text.strip(_EDGE).lower().split())
    for article in _ARTICLES:
        if text.startswith(article):
            return text[len(article) :]
    return text


def _spellings(labels: Mapping[str, str]) -> dict[str, str]:
    """Return other spellings of the options' numbers: 3cm for 3 cm, 1,000 for 1000; none that two options share."""
    others: dict[str, str] = {}
    for text, label in labels.items():
        plain = _THOUSANDS.sub("", text)
        grouped = _LONG_NUMBER.sub(lambda match: f"{int(match[0]):,}", plain)
        for number in {text, plain, grouped}:
            for spelling in {number, _UNIT_SPACE.sub("", number), _UNIT_JOINT.sub(" ", number)}:
                if spelling not in labels:
                    others[spelling] = label if others.get(spelling, label) == label else ""
    return others


@lru_cache(maxsize=4096)
def option_texts(labels: tuple[str, ...], options: tuple[str, ...]) -> OptionTexts:
    """Return the matcher for a row's options."""
    return OptionTexts(labels, options)
