"""A number, written in figures or in words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from flagharness.extract._extraction import Extraction
from flagharness.extract._number_words import NUMBER_WORDS, number_of
from flagharness.extract._reply import Part, boxed, fold, json_field, last_match, tagged, visible_part

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SCALES = {
    "dozen": 12, "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 10**3, "千": 10**3, "万": 10**4, "亿": 10**8,
}  # fmt: skip
_SCALE = (
    r"(?P<scale>(?-i:k)\b|\s?(?:hundred|thousand|million|billion|trillion|dozen)\b"
    r"|\s?(?:千(?![克米瓦卡焦帕赫])|[万亿]))"
)
_DIGITS = r"(?:[0-9]+(?:(?:,|\{,\})[0-9]{3}(?![0-9]))*(?:\.[0-9]+)?|(?<![0-9])\.[0-9]+)"
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_^.])(?P<sign>(?<![\w)])[-+])?"
    r"(?:(?:(?P<whole>[0-9]{1,9})\s)?(?<!/)(?P<over>[0-9]+)/(?P<under>[0-9]+)(?![0-9/.])"
    r"|(?P<latex_whole>[0-9]{1,9})?\s?\\[dt]?frac\s?\{(?P<latex_over>[0-9]+)\}\s?\{(?P<latex_under>[0-9]+)\}"
    rf"|(?P<number>{_DIGITS})(?:[eE](?P<exponent>[+-]?[0-9]{{1,3}})(?![A-Za-z0-9])"
    r"|\s?(?:[×x]|\\times)\s?10\s?(?:\^\s?\{?(?P<power>[+-]?[0-9]{1,3})\}?|(?P<raised>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
    rf"|{_SCALE})?)",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:answer|total|result)\b(?:\s+(?:to|for|of)\s[^.:?!\n]{0,80}?)?(?:\s*[:=]|\s+(?:is|are|equals)\b)"
    r"|答案\s*(?:\]|(?:应该|应|就)?\s*(?:是|为|:)+)",
    re.IGNORECASE,
)
_TIMES = re.compile(r"(?<=[0-9])\*(?=[0-9])|(?<=[0-9] )\*(?= [0-9])")
_EQUALS = re.compile(r"[=≈]")
_OPERATOR = r"(?:[-+*×÷·/x]|\\times|\\cdot)"
_TERM = re.compile(rf"[\s)]*{_OPERATOR}[\s(]*[0-9][0-9.,]*\)?")
_ENDS_IN_OPERATOR = re.compile(rf"[0-9)]\s*{_OPERATOR}\s*\(?$")
_DENIED = re.compile(
    r"(?:\bnot|n't|\bcannot|不是|不等于)\s*(?:(?:be|equal|to|exactly|the\s+number)\s+)*[\"'(]?$",
    re.IGNORECASE,
)
_MINUS = re.compile(
    r"(?:(?:^|[^\w\s)])\s*|\b(?:is|are|was|be|at|of|to|about|around|reads|shows|equals)\s+)(?:minus|negative)\s+$",
    re.IGNORECASE,
)
_BEFORE = 40  # characters before a number in which a word may deny it or turn its sign
_EXPLAINED = re.compile(
    r"\W*(?:(?:there\s+(?:is|are)|i\s+(?:see|count|counted)|it\s+is|about|around|approximately|exactly|a\s+total\s+of)\s+)*"
    r"(?P<answer>[-$]?[0-9][^()\n]{0,80}?)\s*\([^()]*\)\W*",
    re.IGNORECASE,
)
_RESULT = re.compile(r"\b(?:total|sum|so|answer|altogether)\b|=", re.IGNORECASE)


def extract_number(text: str, *, answer_tag: str = "answer") -> Extraction[float]:
    r"""Read a number.

    The number in the answer tag, the last box, a JSON answer field, or after the last "answer is" (total, result,
    答案是) counts first, in this order; else the last number of the reply, or the one a reply leads with if all the
    rest is explained in brackets. After a cue the first number counts, or the one behind the last equals sign; before
    the sign if a calculation stands behind it ("12 = 3*4"). A number that is denied ("not 4") counts for nothing.

    Thousands separators, currency signs, percent signs and units are passed over; a digit that belongs to a unit
    ("m2") is no number. Powers of ten, plain and mixed fractions, and a scale ("2 million", 1万) are worked out. Only
    a text without figures, or a tag or box without any, is read for number words.

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
        >>> extract_number("minus 2 1/2").value, extract_number("one hundred and five").value
        (-2.5, 105.0)
    """
    part = visible_part(text)
    if part is None:
        return Extraction(None, "unfinished_reasoning")
    if not part.text:
        return Extraction(None, "no_response")
    plain = _TIMES.sub("×", part.text.replace("–", "-").replace("-$", "$-"))  # else a mark of emphasis
    part = Part(fold(plain), part.start)
    for rule, content in _marked(part, answer_tag):
        found = _first_number(content, rule) if content is not None else None
        if found is None and content is not None and rule in ("answer_tag", "boxed"):
            found = _number_word(content, rule)
        if found is not None:
            return found
    return _last_number(part) or _number_word(part, "number_word") or Extraction(None, "unparsed")


def extract_numbers(text: str, *, answer_tag: str = "answer") -> Extraction[tuple[float, ...]]:
    r"""Read all numbers of an answer, in their order: those in the answer tag, the last box, a JSON answer field or
    after the last "answer is", else those of the whole reply. A number that is denied counts for nothing.

    Args:
        text: The whole reply.
        answer_tag: Name of the tag the prompt asks for.

    Returns:
        The numbers, by rule "answer_tag", "boxed", "json", "cue" or "whole_reply".

    Example:
        >>> extract_numbers("In 2 steps. Answer: (3, -4.5)").value, extract_numbers("no idea").value
        ((3.0, -4.5), None)
    """
    part = visible_part(text)
    if part is None:
        return Extraction(None, "unfinished_reasoning")
    if not part.text:
        return Extraction(None, "no_response")
    part = Part(fold(part.text), part.start)
    for rule, content in (*_marked(part, answer_tag), ("whole_reply", part)):
        found = tuple(number.value for number in _numbers(content, rule)) if content is not None else ()
        if content is not None and found:
            values = tuple(value for value in found if value is not None)
            return Extraction(values, rule, content.span(0, len(content.text)))
    return Extraction(None, "unparsed")


def _marked(part: Part, answer_tag: str) -> tuple[tuple[str, Part | None], ...]:
    """Return what a reply marks as its answer, by rule, in the order in which it counts."""
    return (
        ("answer_tag", tagged(part, answer_tag)),
        ("boxed", boxed(part)),
        ("json", json_field(part)),
        ("cue", _after_cue(part)),
    )


def _after_cue(part: Part) -> Part | None:
    last = last_match(_CUE, part.text)
    if last is None:
        return None
    stop = part.text.find("\n", last.end() + 3)
    return part.cut(last.end(), stop if stop >= 0 else None)


def _first_number(part: Part, rule: str) -> Extraction[float] | None:
    last = last_match(_EQUALS, part.text)
    if last is not None:
        behind = part.cut(last.end())
        found = _before_calculation(part, last.start(), behind, rule) or _first_number(behind, rule)
        if found is not None:
            return found
    return next(_numbers(part, rule), None)


def _before_calculation(part: Part, sign: int, behind: Part, rule: str) -> Extraction[float] | None:
    """Return the number before an equals sign if a calculation follows it and ends the text's numbers."""
    first = _NUMBER.search(behind.text)
    if first is None or behind.text[: first.start()].strip():
        return None
    end = first.end()
    while term := _TERM.match(behind.text, end):
        end = term.end()
    if end == first.end() or _NUMBER.search(behind.text, end):
        return None
    *_, last = [None, *_NUMBER.finditer(part.text, 0, sign)]
    if last is None or part.text[last.end() : sign].strip():
        return None
    if _ENDS_IN_OPERATOR.search(part.text, max(0, last.start() - 10), last.start()):
        return None
    return _read(part, last, rule)


def _last_number(part: Part) -> Extraction[float] | None:
    explained = _EXPLAINED.fullmatch(part.text)
    if (
        explained is not None
        and len(_NUMBER.findall(explained["answer"])) == 1
        and not _RESULT.search(part.text, explained.end("answer"))
    ):
        part = part.cut(0, explained.end("answer"))
    last = last_match(_EQUALS, part.text)
    if last is not None:
        found = _before_calculation(part, last.start(), part.cut(last.end()), "last_number")
        if found is not None:
            return found
    return next(_numbers(part, "last_number", reverse=True), None)


def _numbers(part: Part, rule: str, *, reverse: bool = False) -> Iterator[Extraction[float]]:
    matches = _NUMBER.finditer(part.text)
    for match in reversed(list(matches)) if reverse else matches:
        found = _read(part, match, rule)
        if found is not None:
            yield found


def _number_word(part: Part, rule: str) -> Extraction[float] | None:
    for match in reversed(list(NUMBER_WORDS.finditer(part.text))):
        found = _stated(part, match, number_of(match[0]), rule)
        if found is not None:
            return found
    return None


def _read(part: Part, match: re.Match[str], rule: str) -> Extraction[float] | None:
    value = _value(match)
    return None if value is None else _stated(part, match, value, rule)


def _stated(part: Part, match: re.Match[str], value: float, rule: str) -> Extraction[float] | None:
    """Return the number with the sign a word before it gives, unless it is denied."""
    window = max(0, match.start() - _BEFORE)
    if _DENIED.search(part.text, window, match.start()):
        return None
    if _MINUS.search(part.text, window, match.start()):
        value = -value
    return Extraction(value, rule, part.span(match.start(), match.end()))


def _value(match: re.Match[str]) -> float | None:
    over, under = match["over"] or match["latex_over"], match["under"] or match["latex_under"]
    if over is not None:
        value = float(over) / float(under) if float(under) else math.inf
        if value < 1:
            value += float(match["whole"] or match["latex_whole"] or 0)
    else:
        digits = match["number"].replace("{,}", "").replace(",", "")
        raised = (match["raised"] or "").translate(_RAISED)
        value = float(f"{digits}e{match['exponent'] or match['power'] or raised or 0}")
        value *= _SCALES.get((match["scale"] or "").strip().lower(), 1)
    if not math.isfinite(value):
        return None
    return -value if match["sign"] == "-" else value
