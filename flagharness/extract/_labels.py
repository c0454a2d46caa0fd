"""Reading option labels where they may stand: bounded, never a letter of a word, never "a" or "I" of a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

# What may follow a bare A or I that is meant as a label: no article and no pronoun stands before these.
_FUNCTION_WORDS = (
    "or|and|is|are|was|because|since|as|but|for|due|given|based|with|not|rather|which|where|while|instead|over|both"
    "|the|it|option|choice|matches|fits|would|must|should|has|seems|appears|looks"
)
_ARTICLE = re.compile(rf"[ \t]+(?!(?:{_FUNCTION_WORDS})\b)[A-Za-z0-9]", re.IGNORECASE)
_NOUN = re.compile(r"\b(?:option|choice|letter)\s*$", re.IGNORECASE)
_LABEL_ENDS = re.compile(r"\s*(?:[.,;:!?)\]}>\"'\n]|$|(?:because|since)\b)")
_OPEN, _CLOSE = r"[(\[{<\"']", r"[)\]}>\"']"
_TAIL = r"(?![A-Za-z0-9_+#^=%°]|-[A-Za-z0-9]|'[A-Za-z]|&[A-Za-z]|\.[A-Za-z](?![A-Za-z])|\.[0-9])"
_SEPARATOR = re.compile(
    r"\s*(?:,|;|/|&|\+|和|与|及|或者?|还是|\band\b|\bor\b|\bas well as\b)(?:\s*(?:,|&|和|或|\band\b|\bor\b))?\s*"
    r"(?:(?:option|choice)\s+)?",
    re.IGNORECASE,
)
_SEPARATOR_OR_BRACKET = re.compile(rf"(?:{_SEPARATOR.pattern})|(?=[(\[][A-Z][)\]])", re.IGNORECASE)
_LIST_END = re.compile(r"\s*(?:[.,;/&)\]!?\n]|$|or\b|and\b|are\b|both\b|和|或|都|均|正确(?!率))")


class Label(NamedTuple):
    """A label found in a text."""

    name: str
    """As the row spells it; "" when the row has no such label."""
    start: int
    stop: int
    """Behind its last letter."""
    end: int
    """Behind the bracket that closes it, if one does."""
    enclosed: bool


class Reading(NamedTuple):
    """One label or a list of labels."""

    labels: tuple[Label, ...]
    end: int
    hedged: bool
    """Whether an "or" stands between them."""

    @property
    def valid(self) -> bool:
        return all(label.name for label in self.labels)

    @property
    def names(self) -> set[str]:
        return {label.name for label in self.labels}


class LabelReader:
    """Reads the labels of one row."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.names = {label.upper(): label for label in labels}
        special = [label for label in self.names if not re.fullmatch("[A-Z]", label)]
        token = "|".join(
            [*(re.escape(label) for label in sorted(special, key=len, reverse=True)), "[A-Za-z]"]
        )
        flags = re.IGNORECASE if special else 0
        self._label = re.compile(
            rf"{_OPEN}[\s(\[{{<\"']{{0,4}}(?P<inner>{token})\s*{_CLOSE}{{1,4}}"
            rf"|{_OPEN}{{0,2}}(?<![A-Za-z0-9_'&+^\\])(?P<bare>{token}){_TAIL}",
            flags,
        )
        self._run = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2,26}(?![A-Za-z0-9])", re.IGNORECASE)
        self._spaced = re.compile(
            r"(?<![A-Za-z0-9])[A-Z](?:(?:\s?[+|]\s?| )[A-Z]){1,25}(?=\s*(?:[.,;!)\]}\n]|$))"
        )

    def one(self, text: str, pos: int, *, lower: bool = True) -> Label | None:
        """Return the label at a position.

        A bare lower-case letter counts if `lower`; a and i then only before punctuation. A bare A or I does not count
        before a further word, unless it is one that follows no article or pronoun.
        """
        match = self._label.match(text, pos)
        if match is None:
            return None
        token = match["inner"] or match["bare"]
        name = self.names.get(token.upper(), "")
        if match["inner"]:
            if not name and token.islower():
                return None
            return Label(name, *match.span("inner"), match.end(), True)
        end = match.end()
        if token.islower() and (
            not lower or not name or (token in "ai" and not _LABEL_ENDS.match(text, end))
        ):
            return None
        if token in "AI" and _ARTICLE.match(text, end) and not _NOUN.search(text, max(0, pos - 10), pos):
            return None
        return Label(name, *match.span("bare"), end, False)

    def some(self, text: str, pos: int, *, lower: bool = True) -> Reading | None:
        """Return the label at a position and those listed behind it ("A, B and C")."""
        first = self.one(text, pos, lower=lower)
        if first is None:
            return None
        labels, end, hedged = [first], first.end, False
        # A longer list says a label twice; a text of nothing else would be read again from each of its labels.
        while len(labels) <= len(self.names):
            separator = (_SEPARATOR if not labels[-1].enclosed else _SEPARATOR_OR_BRACKET).match(text, end)
            if separator is None:
                break
            label = self.one(text, separator.end(), lower=lower)
            if label is None or (not label.name and not label.enclosed and label.stop - label.start != 1):
                break
            word = separator[0].strip()
            if word in {",", ";"} and not _LIST_END.match(text, label.end):
                break
            hedged = hedged or "or" in word.lower() or word.startswith(("或", "还是"))
            labels.append(label)
            end = label.end
        return Reading(tuple(labels), end, hedged)

    def run(self, text: str, pos: int) -> Reading | None:
        """Return labels written as one word ("ABD", "A B D", "A+B") at a position.

        Lower case counts only without separators and in ascending order.
        """
        match = self._run.match(text, pos) or self._spaced.match(text, pos)
        if match is None:
            return None
        places = [place for place in range(*match.span()) if text[place].isalpha()]
        letters = "".join(text[place] for place in places)
        upper = letters.upper()
        if len(set(upper)) != len(upper) or any(letter not in self.names for letter in upper):
            return None
        if letters != upper and (not letters.islower() or list(letters) != sorted(letters)):
            return None
        found = (
            Label(self.names[letter], place, place + 1, place + 1, False)
            for letter, place in zip(upper, places, strict=True)
        )
        return Reading(tuple(found), match.end(), False)


@lru_cache(maxsize=256)
def label_reader(labels: tuple[str, ...]) -> LabelReader:
    """Return the reader for a row's labels; rows mostly share theirs."""
    return LabelReader(labels)
