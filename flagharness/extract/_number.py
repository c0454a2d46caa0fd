"""A number, written in figures or in words."""

from __future__ import annotations

import math
import re

from flagharness.extract._extraction import Extraction
from flagharness.extract._reply import Part, boxed, fold, json_field, last_match, tagged, visible_part

_DIGITS = r"(?:[0-9]+(?:(?:,|\{,\})[0-9]{3}(?![0-9]))*(?:\.[0-9]+)?|(?<![0-9])\.[0-9]+)"
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_^.])(?P<sign>(?<![\w)])[-+])?"
    r"(?:(?<!/)(?:(?P<whole>[0-9]+)\s(?=[0-9]+/))?(?P<over>[0-9]+)/(?P<under>[0-9]+)(?![0-9/.])"
    r"|\\[dt]?frac\s?\{(?P<latex_over>[0-9]+)\}\s?\{(?P<latex_under>[0-9]+)\}"
    rf"|(?P<number>{_DIGITS})(?:[eE](?P<exponent>[+-]?[0-9]{{1,3}})(?![A-Za-z0-9])"
    r"|\s?(?:[×x]|\\times)\s?10(?:\s?\^\s?\{?(?P<power>[+-]?[0-9]{1,3})\}?|(?P<raised>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}))"
    r"|\s?(?P<scale>thousand\b|million\b|billion\b|trillion\b|万|亿))?)"
)
_CUE = re.compile(
    r"\b(?:answer|total|result)\b(?:\s+(?:to|for|of)\s[^.:?!\n]{0,80}?)?(?:\s*[:=]|\s+(?:is|are|equals)\b(?!\s+not\b))"
    r"|答案\s*(?:应该|应|就)?\s*(?:是|为|:)+",
    re.IGNORECASE,
)
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "万": 4, "亿": 8}
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_MINUS = re.compile(r"\b(?:minus|negative) (?=[0-9])", re.IGNORECASE)
_DENIED = re.compile(r"(?:\bnot|n't)\s+(?:exactly\s+)?$", re.IGNORECASE)
_REMARK = re.compile(r"\s*\([^()\n]*\)[\s.!]*$")
_EQUALS = re.compile(r"[=≈]")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_UNITS = {word: value for value, word in enumerate(f"{_ONES} seventeen eighteen nineteen".split())}
_DECADES = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENS = {word: value for value, word in enumerate(_DECADES.split(), 2)}
_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[\s-]+(?P<one>{'|'.join(list(_UNITS)[1:10])}))?|(?P<unit>{'|'.join(_UNITS)}))\b"
    r"(?!\s+(?:hundred|thousand|million|billion))",
    re.IGNORECASE,
)


def extract_number(text: str, *, answer_tag: str = "answer") -> Extraction[float]:
    r"""Read a number.

    The number in the answer tag, the last box, a JSON answer field, or after the last "answer is" (total, result,
    答案是) counts first, in this order; else the last number of the reply. After a cue the first number counts, or
    the one behind the last equals sign. Thousands separators, currency signs, percent signs and units are passed
    over; a digit that belongs to a unit ("m2") is no number. Powers of ten and plain fractions are worked out. Only
    a text without figures is read for number words, up to ninety-nine.

    Args:
        text: The whole reply.
        answer_tag: Name of the tag the prompt asks for.

    Returns:
        The number, by rule "answer_tag", "boxed", "json", "cue", "last_number" or "number_word".

    Example:
        >>> extract_number("$80,000 + $50,000 = $130,000 in total.").value
        130000.0
        >>> extract_number("The answer is 2.0 m (about 6.5 feet)").value, extract_number("20 m2").value
        (2.0, 20.0)
    """
    part = visible_part(text)
    if part is None:
        return Extraction(None, "unfinished_reasoning")
    if not part.text:
        return Extraction(None, "no_response")
    plain = _MINUS.sub(
        lambda match: "-".rjust(len(match[0])), part.text.replace("–", "-").replace("-$", "$-")
    )
    part = Part(fold(plain), part.start)
    marked = (
        ("answer_tag", tagged(part, answer_tag)),
        ("boxed", boxed(part)),
        ("json", json_field(part)),
        ("cue", _after_cue(part)),
    )
    for rule, content in marked:
        found = _first_number(content, rule) if content is not None else None
        if found is not None:
            return found
    return _last_number(part) or _number_word(part) or Extraction(None, "unparsed")


def _after_cue(part: Part) -> Part | None:
    last = last_match(_CUE, part.text)
    if last is None:
        return None
    stop = part.text.find("\n", last.end() + 3)
    return part.cut(last.end(), stop if stop >= 0 else None)


def _first_number(part: Part, rule: str) -> Extraction[float] | None:
    last = last_match(_EQUALS, part.text)
    if last is not None and not _explains(part.text, last):
        found = _first_number(part.cut(last.end()), rule)
        if found is not None:
            return found
    for match in _NUMBER.finditer(part.text):
        value = _value(match)
        if value is not None:
            return Extraction(value, rule, part.span(match.start(), match.end()))
    return None


def _explains(text: str, equals: re.Match[str]) -> bool:
    """Whether an equals sign only explains the one number before it: "12 = 3 * 4"."""
    before = len(_NUMBER.findall(text[: equals.start()]))
    return before == 1 and len(_NUMBER.findall(text[equals.end() :])) > 1


def _last_number(part: Part) -> Extraction[float] | None:
    remark = _REMARK.search(part.text)
    if remark is not None and _NUMBER.search(part.text, 0, remark.start()):
        part = part.cut(0, remark.start())  # "12 apples (6 red and 6 green)" are 12
    for match in reversed(list(_NUMBER.finditer(part.text))):
        value = _value(match)
        if value is not None and not _DENIED.search(part.text, max(0, match.start() - 16), match.start()):
            return Extraction(value, "last_number", part.span(match.start(), match.end()))
    return None


def _number_word(part: Part) -> Extraction[float] | None:
    last = last_match(_WORDS, part.text)
    if last is None:
        return None
    if last["unit"]:
        value = _UNITS[last["unit"].lower()]
    else:
        value = 10 * _TENS[last["tens"].lower()] + (_UNITS[last["one"].lower()] if last["one"] else 0)
    return Extraction(float(value), "number_word", part.span(last.start(), last.end()))


def _value(match: re.Match[str]) -> float | None:
    over, under = match["over"] or match["latex_over"], match["under"] or match["latex_under"]
    if over is not None:
        value = float(over) / float(under) if float(under) else math.inf
        value += float(match["whole"] or 0)
    else:
        digits = match["number"].replace("{,}", "").replace(",", "")
        power = match["exponent"] or match["power"] or (match["raised"] or "").translate(_RAISED)
        value = float(f"{digits}e{power or _SCALES.get((match['scale'] or '').lower(), 0)}")
    if not math.isfinite(value):
        return None
    return -value if match["sign"] == "-" else value
