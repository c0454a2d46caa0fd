"""A short free-text answer."""

from __future__ import annotations

import re

from flagharness.extract._extraction import Extraction
from flagharness.extract._reply import Part, boxed, fold, json_field, last_match, tagged, visible_part

_CUE = re.compile(
    r"(?<!\bto )\b(?:answer|conclusion)\b(?:\s+(?:to|for|of)\s[^.:?!\n]{0,80}?)?"
    r"(?:\s*[:=]|\s+(?:is|are|would\s+be|should\s+be|must\s+be)\b(?!\s+not\b)\s*:?)"
    r"|答案\s*(?:\]|(?:应该|应当|应|就|可能|最终|会)?\s*(?:是|为|:)+)",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|st|mt|prof|jr|sr|vs|no|inc|ltd|co|etc)|\b[A-Z])$", re.IGNORECASE
)
_STOP = re.compile(r"\n|[.!?](?=\s|$|[\u4e00-\u9fff])")
_EDGE = " \t\r\n\"'“”‘’「」『』*`,;:：；，"
_PAIRS = (
    ("(", ")"),
    ("（", "）"),
    ("[", "]"),
    ("【", "】"),
    ("{", "}"),
    ("<", ">"),
    ("\\(", "\\)"),
    ("$", "$"),
)
_TEXT_COMMAND = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s?(?=\{[^{}]*\}$)")
_INITIALS = re.compile(r"\b[A-Za-z]\.[A-Za-z]\.$|\.\.$")


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
    if not visible.text:
        return Extraction(None, "no_response")
    part = Part(fold(visible.text), visible.start)
    tag, box = tagged(part, answer_tag), boxed(part)
    candidates = (
        ("answer_tag", tag),
        ("boxed", box),
        ("json", json_field(part)),
        ("cue", _after_cue(part)),
        ("whole_reply", part if tag is None and box is None else None),  # an empty mark is no answer
    )
    for rule, content in candidates:
        if content is None:
            continue
        start, end = _unwrapped(text, content.start, content.start + len(content.text))
        if start < end:
            return Extraction(text[start:end], rule, (start, end))
    return Extraction(None, "unparsed")


def _after_cue(part: Part) -> Part | None:
    last = last_match(_CUE, part.text)
    if last is None:
        return None
    rest = part.cut(last.end())
    begin = len(rest.text) - len(rest.text.lstrip())
    for stop in _STOP.finditer(rest.text, begin):
        if stop[0] != "." or _ABBREVIATION.search(rest.text, max(0, stop.start() - 6), stop.start()) is None:
            return rest.cut(0, stop.start())
    return rest


def _unwrapped(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the answer stands without the marks around it."""
    while True:
        given = text[start:end]
        bare = given.strip(_EDGE)
        if bare.count("**") % 2:  # **Paris** is ...: the marks belong to a word, not to the answer
            bare = given.strip()
        if bare.endswith(("。", ".")) and not _INITIALS.search(bare, max(0, len(bare) - 4)):
            bare = bare[:-1]
        inner = _inside(bare)
        if inner == given:
            return start, end
        start = text.index(inner, start, end)
        end = start + len(inner)


def _inside(text: str) -> str:
    """Return what one pair of brackets encloses, if one encloses all of the text."""
    command = _TEXT_COMMAND.match(text)
    if command is not None:
        return text[command.end() :]
    for opening, closing in _PAIRS:
        inner = text[len(opening) : -len(closing)]
        if (
            text.startswith(opening)
            and text.endswith(closing)
            and opening not in inner
            and closing not in inner
        ):
            return inner
    return text
