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
_AROUND_SEPARATORS = re.compile(r"\s*([,;:/])\s*")
_LEADING_POINT = re.compile(r"(?<![\w.])\.(?=\d)")
_NUMBER = re.compile(r"[$€£¥]?\s*([+-]?\d+(?:\.\d*)?(?:e[+-]?\d{1,3})?)\s*(.*)", re.DOTALL)
# A unit starts with a letter: "3/4" is not 3, "10^6" is not 10, and "2x3" is no 2 with a unit x3.
_UNIT = re.compile(
    r"(?:%|°\s*[cf]?|(?!x\d|hundred|thousand|million|billion|trillion|dozen|[万亿千百])[a-zμ\u4e00-\u9fff][a-zμ/^\d\u4e00-\u9fff]{0,11})\.?",
    re.IGNORECASE,
)
_COPULA = re.compile(r"[^.!?;\n]{1,300}\b(?:is|are|was|were|says|reads|shows|equals)\s+([^!?;\n]{1,200})")
_CHINESE_COPULA = re.compile(r"(?:[^。！？]{0,60}[^不没])?[是为]([^。！？]{1,60})")
_YES_OR_NO = re.compile(r"(yes|no),[^,]{1,60}")
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
    one of them alone does not matter ("12 cm" is 12, "50" is 50 %), two different units do ("12 m" is not 12 cm).
    A sentence that states the answer after its last "is", "are", ... and nothing but small words counts as the
    answer: "It is on the left" is left; "It is not left", "It is left or right" and "It is dark left" are not.

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
    return any(_same(reading, normalize_answer(str(truth))) for truth in truths for reading in readings)


@lru_cache(maxsize=65536)
def normalize_answer(text: str) -> str:
    """Return the form in which short answers are compared.

    Example:
        >>> normalize_answer("  The **Red  Car**. ")
        'red car'
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("−", "-")
    folded = _AROUND_SEPARATORS.sub(r"\1", folded)
    folded = _LEADING_POINT.sub("0.", _THOUSANDS.sub("", folded.replace("**", "")))
    without = _ARTICLES.sub(" ", folded.strip(_EDGE))
    bare = " ".join((without if without.strip(_EDGE) else folded).strip(_EDGE).split())
    return bare or folded.strip()  # an answer may be a question mark


def _stated(said: str) -> list[str]:
    """Return what a one-sentence reply states after its last copula, with and without small words before it."""
    match = _COPULA.fullmatch(said) or _CHINESE_COPULA.fullmatch(said)
    if match is None:
        word = _YES_OR_NO.match(said)
        return [word[1]] if word else []
    words = match[1].split()
    readings = [" ".join(words)]
    while len(words) > 1 and words[0] in _SMALL_WORDS:
        words = words[1:]
        readings.append(" ".join(words))
    return readings


def _same(said: str, truth: str) -> bool:
    if said == truth:
        return said != ""
    wanted, given = _NUMBER.fullmatch(truth), _NUMBER.fullmatch(said)
    if wanted is None or given is None or Decimal(wanted[1]) != Decimal(given[1]):
        return False
    units = {match[2].strip().rstrip(".") for match in (wanted, given)} - {""}
    return len(units) <= 1 and all(_UNIT.fullmatch(unit) for unit in units)
