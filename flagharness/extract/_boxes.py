"""Bounding boxes stated in a reply."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flagharness.extract._extraction import Extraction
from flagharness.extract._reply import Part, tagged, visible_part

BOX_KEYS = ("bbox_2d", "bbox", "box_2d", "box")
LABEL_KEYS = ("label", "class", "category", "name", "class_name")

_NUMBER = r"[-+]?[0-9]{1,18}(?:\.[0-9]{0,18})?"
_FOUR = r"\s{0,9},\s{0,9}".join([_NUMBER] * 4)
_FOUR_ALONE = re.compile(rf"[\[(]?\s{{0,9}}({_FOUR})\s{{0,9}}[\])]?")
_LIST_OF_FOUR = re.compile(rf"\[\s{{0,9}}({_FOUR})\s{{0,9}}\]|\(\s{{0,9}}({_FOUR})\s{{0,9}}\)")
_FENCE = re.compile(r"```[A-Za-z0-9_+-]*")
_BRACE = re.compile(r"[{}]")
_BOX_TOKENS = re.compile(
    r"(?:(?:<\|object_ref_start\|>|<ref>)([^<]{0,200})(?:<\|object_ref_end\|>|</ref>)\s{0,9})?"
    r"(?:<\|box_start\|>|<box>)([^<]{0,20000})(?:<\|box_end\|>|</box>)"
)
_TOKEN_NUMBER = re.compile(r"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")
_ESCAPE = re.compile(r"\\(?:[\\'\"nrt\n]|u[0-9A-Fa-f]{4})?")
_WORD_AFTER_NUMBER = re.compile(r"[0-9A-Fa-f.](?:and|else|for|if|in|is|not|or)")
_PARSED_AT_MOST = 5
"""How often each character of a reply may be parsed while whole objects are looked for, on average."""
_LONGEST_LITERAL = 200_000
"""Python's parser takes a while over longer texts; JSON has no such limit."""


@dataclass(frozen=True, slots=True)
class Box:
    """One box as a reply states it.

    Attributes:
        xyxy: x1, y1, x2, y2 in whatever space the model uses; the corners may be in either order.
        label: What the reply calls it; None where it does not say.
    """

    xyxy: tuple[float, float, float, float]
    label: str | None = None


def extract_boxes(text: str, *, answer_tag: str = "answer") -> Extraction[tuple[Box, ...]]:
    """Read the boxes of a reply.

    Read are, whichever is found first: boxes between special box tokens; JSON or a Python literal in a fence (the
    last one first, closed or not), as the whole reply, or from its first to its last bracket; complete objects of a
    text that as a whole is neither, which rescues replies that were cut off; lists of four numbers.

    In parsed values a list of exactly four numbers is a box; an object with one of BOX_KEYS is one box or several,
    with the label under one of LABEL_KEYS; other lists and objects are looked into, and a label on the way down is
    inherited. Points, lists of three or five numbers, and what is no finite number are no boxes. Corners, order and
    repetitions stay as stated.

    Args:
        text: The whole reply.
        answer_tag: Name of the tag that wraps the answer, where the reply has one.

    Returns:
        The boxes, by rule "box_tokens", "json", "literal", "objects" or "lists"; no box at all, by rule "empty_list",
        if the reply says ``[]`` or ``{}``. The span is the stretch of the reply that was parsed.

    Example:
        >>> extract_boxes('[{"bbox_2d": [1, 2, 3, 4], "label": "dog"}]').value
        (Box(xyxy=(1.0, 2.0, 3.0, 4.0), label='dog'),)
        >>> extract_boxes("I see none: []").value
        ()
        >>> extract_boxes("It stands at (5, 6).").rule
        'unparsed'
    """
    visible = visible_part(text)
    if visible is None:
        return Extraction(None, "unfinished_reasoning")
    if not visible.text:
        return Extraction(None, "no_response")
    part = tagged(visible, answer_tag) or visible
    return (
        _box_tokens(part) or _values(part) or _objects(part) or _lists(part) or Extraction(None, "unparsed")
    )


_Found = Extraction[tuple[Box, ...]]


def _box_tokens(part: Part) -> _Found | None:
    boxes: list[Box] = []
    matches: list[re.Match[str]] = []
    for match in _BOX_TOKENS.finditer(part.text):
        numbers = _TOKEN_NUMBER.findall(match[2])
        stated = [box for i in range(0, len(numbers), 4) if (box := _four(numbers[i : i + 4]))]
        if stated and 4 * len(stated) == len(numbers):
            label = (match[1] or "").strip() or None
            matches.append(match)
            boxes.extend(Box(box, label) for box in stated)
    return _found(boxes, "box_tokens", part, matches)


def _values(part: Part) -> _Found | None:
    """Read the first candidate that parses as a whole and holds boxes, or is an empty list or object."""
    for candidate in _candidates(part):
        for rule, parse in (("json", _json), ("literal", _literal)):
            value = parse(candidate.text)
            if value == [] or value == {}:
                return Extraction((), "empty_list", candidate.span(0, len(candidate.text)))
            boxes = tuple(_walk(value))
            if boxes:
                return Extraction(boxes, rule, candidate.span(0, len(candidate.text)))
    return None


def _candidates(part: Part) -> Iterator[Part]:
    fences = list(_FENCE.finditer(part.text))
    blocks = [
        part.cut(opening.end(), fences[i + 1].start() if i + 1 < len(fences) else None)
        for i, opening in enumerate(fences)
        if i % 2 == 0
    ]
    yield from map(_stripped, reversed(blocks))
    yield _stripped(part)
    first, last = part.text.find("["), part.text.rfind("]")
    if 0 <= first < last:
        yield part.cut(first, last + 1)


def _stripped(part: Part) -> Part:
    inner = part.text.strip()
    start = len(part.text) - len(part.text.lstrip())
    return part.cut(start, start + len(inner))


def _objects(part: Part) -> _Found | None:
    """Read complete objects one by one, the outermost that can be parsed."""
    boxes: list[Box] = []
    spans: list[tuple[int, int]] = []
    budget = _PARSED_AT_MOST * len(part.text)
    for start, end in _complete_objects(part.text):
        if (spans and start < spans[-1][1]) or end - start > budget:
            continue
        text = part.text[start:end]
        if text.count(",") < 3:  # four numbers have three commas; parsing costs far more than counting
            continue
        budget -= end - start
        value = _json(text)
        found = list(_walk(_literal(text) if value is None else value))
        if found:
            boxes.extend(found)
            spans.append((start, end))
    return Extraction(tuple(boxes), "objects", part.span(spans[0][0], spans[-1][1])) if boxes else None


def _complete_objects(text: str) -> list[tuple[int, int]]:
    """Return where every object starts and ends whose braces are both there; one that holds another comes first."""
    opened: list[int] = []
    spans = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif opened:
            spans.append((opened.pop(), brace.end()))
    return sorted(spans)


def _lists(part: Part) -> _Found | None:
    matches = list(_LIST_OF_FOUR.finditer(part.text))
    boxes = [Box(box) for match in matches if (box := _four((match[1] or match[2]).split(",")))]
    return _found(boxes, "lists", part, matches)


def _found(boxes: list[Box], rule: str, part: Part, matches: list[re.Match[str]]) -> _Found | None:
    if not boxes:
        return None
    return Extraction(tuple(boxes), rule, part.span(matches[0].start(), matches[-1].end()))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _literal(text: str) -> Any:
    """Return the value of a Python literal that may hold boxes.

    Python's parser warns on stderr of what it finds odd. So it does not get to read prose such as "4in wide", and
    escapes it does not know are made what it takes them for.
    """
    if len(text) > _LONGEST_LITERAL or text.count(",") < 3:
        return None
    if not text.startswith(("[", "(", "{")) and _WORD_AFTER_NUMBER.search(text):
        return None
    try:
        return ast.literal_eval(_ESCAPE.sub(_known_escape, text))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _known_escape(match: re.Match[str]) -> str:
    return match[0] if len(match[0]) > 1 else r"\\"


def _walk(value: Any) -> Iterator[Box]:
    """Yield the boxes of a parsed value in their order; with a stack of its own, as replies may nest deeply."""
    stack: list[tuple[Any, str | None]] = [(value, None)]
    while stack:
        here, label = stack.pop()
        if isinstance(here, dict):
            label = next((here[key] for key in LABEL_KEYS if isinstance(here.get(key), str)), label)
            key = next((key for key in BOX_KEYS if key in here), None)
            if key is not None:
                yield from _boxes_of(here[key], label)
            else:
                stack.extend((inner, label) for inner in reversed(here.values()))
        elif isinstance(here, (list, tuple)):
            box = _four(here)
            if box is not None:
                yield Box(box, label)
            else:
                stack.extend((inner, label) for inner in reversed(here))


def _boxes_of(value: Any, label: str | None) -> Iterator[Box]:
    """Yield the box, or the boxes, under a box key."""
    if isinstance(value, str):
        alone = _FOUR_ALONE.fullmatch(value.strip())
        value = alone[1].split(",") if alone else []
    box = _four(value)
    if box is not None:
        yield Box(box, label)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            box = _four(inner)
            if box is not None:
                yield Box(box, label)


def _four(value: Any) -> tuple[float, float, float, float] | None:
    """Return a list of exactly four finite numbers, also written as texts."""
    if not isinstance(value, (list, tuple)) or len(value) != 4:
        return None
    numbers = []
    for item in value:
        if isinstance(item, bool) or not isinstance(item, (int, float, str)):
            return None
        try:
            number = float(item)
        except (ValueError, OverflowError):
            return None
        if not math.isfinite(number):
            return None
        numbers.append(number)
    return (numbers[0], numbers[1], numbers[2], numbers[3])
