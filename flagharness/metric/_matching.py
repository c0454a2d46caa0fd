"""Whether a short free-text answer says the same as the truth, by rule: never by similarity."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_EDGE = " \t\n.,;:!?\"'`*_()[]{}<>。，；：！？、“”‘’「」（）"
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_LEADING_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
_COMMA = re.compile(r"\s*,\s*")
_NUMBER = re.compile(r"[$€£¥#]?\s*([+-]?\d+(?:\.\d*)?(?:e[+-]?\d{1,3})?)\s*(.*)", re.DOTALL)
_SCALES = {
    "dozen": 12, "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "百": 10**2, "千": 10**3, "万": 10**4, "亿": 10**8,
}  # fmt: skip
_SCALE = re.compile(
    r"(?:(dozen|hundred|thousand|million|billion|trillion)s?\b|(百|千(?![克米瓦卡焦帕赫])|[万亿]))\s*"
)
# A unit starts with a letter: "3/4" is not 3, "10^6" is not 10, and "2x3" is no 2 with a unit x3.
_UNIT = re.compile(
    r"(?:%|°\s*[cf]?|(?!x\d)[a-zμ\u4e00-\u9fff][a-zμ/^\d\u4e00-\u9fff]{0,11})\.?", re.IGNORECASE
)
_COPULA = re.compile(
    r"([^.!?;\n]{0,300}\b(?:is|are|was|were|says|reads|shows|equals|(?:it|that|this|he|she|there)['’]s))\s+"
    r"([^!?;\n]{1,200})"
)
_DOUBTED = re.compile(
    r"(?:\bnot|n['’]t)\s+(?:think|believe|sure|certain|say|clear|know)\b|\b(?:doubt|if|whether|unless)\b"
)
_CHINESE_COPULA = re.compile(r"[^。！？；.!?;\n不没非否或吗]{0,60}是([^。！？；.!?;\n不没非否或吗]{1,60})")
_YES_NO = re.compile(r"(yes|no)[,.!] [a-z](?!.*\b(?:yes|no)\b).*", re.DOTALL)
_NUMBERS = re.compile(r"[(\[{]?\s*[+-]?\d+(?:\.\d+)?(?:\s*[,，]\s*[+-]?\d+(?:\.\d+)?)+\s*[)\]}]?")
_SMALL_WORDS = frozenset(
    (
        "on",
        "in",
        "at",
        "to",
        "of",
        "about",
        "approximately",
        "around",
        "roughly",
        "exactly",
        "called",
        "named",
    )
)


def answers_match(prediction: str, answers: str | int | float | Sequence[str | int | float]) -> bool:
    """Whether a short answer equals one of the true answers.

    Both sides are compared after Unicode compatibility folding, case folding, and without articles, surrounding
    punctuation and repeated spaces. Numbers are compared as numbers: "1,000" is 1000 and "3.0" is 3. A unit behind
    one of them alone does not matter ("12 cm" is 12, "50" is 50 %), two different units do ("12 m" is not 12 cm);
    a scale is no unit ("5 million" is not 5). Lists of numbers are compared number by number: "(1,2)" is "(1, 2)".
    Small words before the answer, and a sentence that states it after its last "is", "are", 是, ..., do not matter:
    "On the left" and "It is on the left" are left; "It is not left", "It is left or right" and "It is dark left" are
    not. Neither does what follows the yes or no a sentence starts with: "Yes, it is".

    Example:
        >>> answers_match("YES", "yes"), answers_match("12 cm", 12), answers_match("the left", "Left")
        (True, True, True)
        >>> answers_match("2018", "2019"), answers_match("3.15", "3.14"), answers_match("decrease", "increase")
        (False, False, False)
        >>> answers_match("kitten", ["cat", "kitten"])
        True
    """
    truths = answers if isinstance(answers, (list, tuple)) else [answers]
    said = normalize_answer(prediction)
    readings = [said, *_stated(said)]
    numbers = _numbers(prediction)
    for truth in map(str, truths):
        if numbers and numbers == _numbers(truth):
            return True
        if any(_same(reading, normalize_answer(truth)) for reading in readings):
            return True
    return False


@lru_cache(maxsize=65536)
def normalize_answer(text: str) -> str:
    """Return the form in which short answers are compared.

    Example:
        >>> normalize_answer("  The **Red  Car**. ")
        'red car'
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("−", "-")
    folded = _LEADING_POINT.sub("0.", _THOUSANDS.sub("", folded.replace("**", "")))
    without = _ARTICLES.sub(" ", folded.strip(_EDGE))
    bare = " ".join((without if without.strip(_EDGE) else folded).strip(_EDGE).split())
    return _COMMA.sub(", ", bare) or folded.strip()  # an answer may be a question mark


def _numbers(text: str) -> list[Decimal]:
    """Return the numbers of a list of two or more; a comma in one may as well separate thousands."""
    text = unicodedata.normalize("NFKC", text).strip(" \t\n.")
    return (
        [Decimal(number) for number in re.findall(r"[+-]?[\d.]+", text)] if _NUMBERS.fullmatch(text) else []
    )


def _stated(said: str) -> list[str]:
    """Return what one sentence states: what follows its last copula, with and without small words, or yes or no."""
    yes_no = _YES_NO.fullmatch(said)
    if yes_no is not None:
        return [yes_no[1]]
    chinese = _CHINESE_COPULA.fullmatch(said)
    if chinese is not None:
        return [chinese[1].strip(), chinese[1].strip().removesuffix("的")]
    match = _COPULA.fullmatch(said)
    if match is not None and _DOUBTED.search(match[1]):
        return []
    words = (match[2] if match else said).split()
    readings = [" ".join(words)]
    while len(words) > 1 and words[0] in _SMALL_WORDS:
        words = words[1:]
        readings.append(" ".join(words))
    return readings


def _same(said: str, truth: str) -> bool:
    if said == truth:
        return said != ""
    wanted, given = _quantity(truth), _quantity(said)
    if wanted is None or given is None or wanted[0] != given[0]:
        return False
    units = {wanted[1], given[1]} - {""}
    return len(units) <= 1 and all(_UNIT.fullmatch(unit) for unit in units)


def _quantity(text: str) -> tuple[Decimal, str] | None:
    """Return the number a text starts with, worked out with its scale, and the unit behind it."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    number, rest = Decimal(match[1]), match[2]
    scale = _SCALE.match(rest)
    if scale is not None:
        number, rest = number * _SCALES[scale[1] or scale[2]], rest[scale.end() :]
    return number, rest.strip().rstrip(".")
