"""A short free-text answer."""

from __future__ import annotations

import re

from flagharness.extract._extraction import Extraction
from flagharness.extract._reply import Part, boxed, fold, json_field, last_match, tagged, visible_part

_CUE = re.compile(
    r"(?<!\bto )\b(?:answer|conclusion)\b(?:\s+(?:to|for|of)\s[^.:?!\n]{0,80}?)?"
    r"(?:\s*[:=]|\s+(?:is|are|would\s+be|should\s+be|must\s+be)\b(?!\s+not\b)\s*:?)"
    r"|答案\s*(?:应该|应当|应|就|可能|最终|会)?\s*(?:是|为|:)+",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|mt|prof|jr|sr|vs|no|inc|ltd|co|etc)|\b[A-Z])$", re.IGNORECASE
)
_STOP = re.compile(r"\n|[.!?](?=\s|$|[\u4e00-\u9fff])")
_WRAPPING = " \t\r\n\"'#.,;:!"
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def extract_short_answer(text: str, *, answer_tag: str = "answer") -> Extraction[str]:
    r"""Read a short free-text answer.

    The answer tag, the last box, a JSON answer field and the sentence after the last "answer is", "Answer:" or 答案是
    count first, in this order; else the whole reply is the answer. Wrapping quotes, emphasis and the full stop at the
    end are taken off; nothing else is changed.

    Args:
        text: The whole reply.
        answer_tag: Name of the tag the prompt asks for.

    Returns:
        The answer, by rule "answer_tag", "boxed", "json", "cue" or "whole_reply".

    Example:
        >>> extract_short_answer("The sign is red. The answer is **stop sign**.").value
        'stop sign'
        >>> extract_short_answer('"Oak Street."').value
        'Oak Street'
    """
    visible = visible_part(text)
    if visible is None:
        return Extraction(None, "unfinished_reasoning")
    if not visible.text.strip():
        return Extraction(None, "no_response")
    part = Part(fold(visible.text), visible.start)
    candidates = (
        ("answer_tag", tagged(part, answer_tag)),
        ("boxed", boxed(part)),
        ("json", json_field(part)),
        ("cue", _after_cue(part)),
        ("whole_reply", part),
    )
    for rule, content in candidates:
        bare = _unwrapped(content) if content is not None else None
        if bare is not None:
            span = bare.span(0, len(bare.text))
            return Extraction(text[span[0] : span[1]], rule, span)
    return Extraction(None, "unparsed")


def _after_cue(part: Part) -> Part | None:
    last = last_match(_CUE, part.text)
    if last is None:
        return None
    rest = part.cut(last.end())
    rest = rest.cut(len(rest.text) - len(rest.text.lstrip()))
    for stop in _STOP.finditer(rest.text):
        if stop[0] != "." or _ABBREVIATION.search(rest.text, max(0, stop.start() - 6), stop.start()) is None:
            return rest.cut(0, stop.start())
    return rest


def _unwrapped(part: Part) -> Part | None:
    """Return the part without wrapping marks; None when nothing is left."""
    while True:
        start = len(part.text) - len(part.text.lstrip(_WRAPPING.replace(".", "")))
        end = len(part.text.rstrip(_WRAPPING))
        if start >= end:
            return None
        if _PAIRS.get(part.text[start]) == part.text[end - 1]:
            start, end = start + 1, end - 1
        elif (start, end) == (0, len(part.text)):
            return part
        part = part.cut(start, end)
