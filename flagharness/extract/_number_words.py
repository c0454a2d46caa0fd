"""Numbers written in English words: "one hundred and five", "two million"."""

from __future__ import annotations

import re

_ONES = "one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: value for value, word in enumerate(f"zero {_ONES} {_TEENS}".split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_ONE = rf"(?:{'|'.join(_ONES.split())})"
_UP_TO_99 = rf"(?:(?:{'|'.join(_TENS.split())})(?:[\s-]+{_ONE}\b)?|{'|'.join(_SMALL)})"
_A = r"(?<!half )a"
_GAP = r"[\s-]+(?:and\s+)?"
_UP_TO_999 = rf"(?:(?:{_ONE}|{_A})[\s-]+hundred\b(?:{_GAP}{_UP_TO_99}\b)?|{_UP_TO_99})"
_SCALE = rf"(?:{'|'.join(_SCALES)})\b"
NUMBER_WORDS = re.compile(
    rf"\b(?:(?:{_UP_TO_999}|{_A})[\s-]+{_SCALE}(?:,?{_GAP}{_UP_TO_999}[\s-]+{_SCALE})*(?:,?{_GAP}{_UP_TO_999})?"
    rf"|{_UP_TO_999})\b",
    re.IGNORECASE,
)
"""One number of any length."""


def number_of(words: str) -> float:
    """Return the number that a match of NUMBER_WORDS states.

    Example:
        >>> number_of("one hundred and twenty-three"), number_of("two million five hundred")
        (123.0, 2000500.0)
    """
    total = group = 0
    for word in re.findall("[a-z]+", words.lower()):
        if word in _SCALES:
            total, group = total + (group or 1) * _SCALES[word], 0
        elif word == "hundred":
            group = 100 * (group or 1)
        else:
            group += _SMALL.get(word, 0)
    return float(total + group)
