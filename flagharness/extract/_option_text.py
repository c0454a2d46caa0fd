"""Finding the text of an option in a reply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from flagharness.extract._cues import REFUSAL, text_rejected
from flagharness.extract._reply import fold, lowered

_EDGE = " \t\r\n.,;:!?\"'#()[]<>{}"
_ARTICLES = ("a ", "an ", "the ")
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
        self._compact: dict[str, str] = {}
        for plain, label in self._labels.items():
            compact = _compact(plain)
            self._compact[compact] = label if compact not in self._compact else ""
        self._longest_reply = 2 * sum(map(len, self._labels)) + 100

    def exact(self, text: str) -> str | None:
        """Return the label of the option whose text is all there is."""
        if not self._labels:
            return None
        plain = _plain(text)
        return self._labels.get(plain) or self._compact.get(_compact(plain)) or None

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
        option = next((option for option, name in self._labels.items() if name == label), None)
        if option is None:
            return None
        window = lowered(text[pos : pos + 2 * len(option) + 20])
        start, end = next(_occurrences(window, option), (0, 0))
        return pos + end if end and window[:start].strip(_EDGE) in {"", "a", "an", "the"} else None


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


_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")
_GAP_BEFORE_UNIT = re.compile(r"(?<=[0-9])\s+(?=[a-z%°])")


def _plain(text: str) -> str:
    text = " ".join(text.strip(_EDGE).lower().split())
    for article in _ARTICLES:
        if text.startswith(article):
            return text[len(article) :]
    return text


def _compact(text: str) -> str:
    """Write numbers one way: "3 cm" as "3cm", "1,000" as "1000"."""
    if not any(character.isdigit() for character in text):
        return text
    return _GAP_BEFORE_UNIT.sub("", _THOUSANDS.sub("", text))


@lru_cache(maxsize=4096)
def option_texts(labels: tuple[str, ...], options: tuple[str, ...]) -> OptionTexts:
    """Return the matcher for a row's options."""
    return OptionTexts(labels, options)
