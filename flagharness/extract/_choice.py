"""The option, or options, a reply chooses."""

from __future__ import annotations

from collections.abc import Sequence

from flagharness.extract._cues import retracted
from flagharness.extract._extraction import Extraction
from flagharness.extract._lines import bare_reply, first_line, label_reply, labelled_start, last_line
from flagharness.extract._mentions import exact_text, only_in_backticks, only_label, only_text
from flagharness.extract._phrases import announced_answer, concluded_answer, corrected_answer
from flagharness.extract._reply import Part, boxed, fold, json_field, tagged, visible_part
from flagharness.extract._row import Hit, Row

_COMMITMENTS = (bare_reply, last_line, announced_answer, label_reply, first_line, exact_text)
_CONCLUSIONS = (concluded_answer, labelled_start)
_MENTIONS = (only_label, only_text)
_SEARCHES = (announced_answer, concluded_answer, *_MENTIONS)
_SEARCHED = 40_000  # characters at the end of a reply in which they look; longer ones go round in circles


def extract_choice(
    text: str, labels: Sequence[str], options: Sequence[str] | None = None, *, answer_tag: str = "answer"
) -> Extraction[str]:
    r"""Read which option a reply chooses.

    Only the row's own labels count. The rules, in this order: what follows the reasoning; the last answer tag; the
    last box; a JSON answer field; the last phrase that announces an answer ("the answer is B", 故选B) and is not
    negated; a reply that is a label; a leading or a last line that is one; weaker phrases ("it is B"); the one label
    named ("option B"); an option's text; the one label in back-ticks. A later correction ("Wait, ...") replaces an
    earlier answer; "No, that's wrong" at the end takes it back. Two labels without a final commitment, and a letter
    in prose, read as nothing.

    Args:
        text: The whole reply.
        labels: The row's labels in order, such as "ABCD".
        options: The texts behind the labels, in the same order.
        answer_tag: Name of the tag the prompt asks for.

    Returns:
        The label as the row spells it, by rule "answer_tag", "boxed", "json", "cue", "whole_reply",
        "leading_label", "last_line", "mention" or "option_text".

    Example:
        >>> extract_choice("The correct answer is **B**. Here is why: A is wrong.", "ABCD")
        Extraction(value='B', rule='cue', span=(24, 25))
        >>> extract_choice("A dog is there.", "ABCD", ["cat", "dog", "hen", "cow"]).value
        'B'
        >>> extract_choice("Based on the photo I cannot tell.", "ABCD").rule
        'unparsed'
    """
    return _extract(text, labels, options, answer_tag, many=False)


def extract_choices(
    text: str, labels: Sequence[str], options: Sequence[str] | None = None, *, answer_tag: str = "answer"
) -> Extraction[str]:
    """Read which options a reply chooses, of a question that may have several answers.

    The rules are those of `extract_choice`, with a list of labels ("A, B and C", "ABC") wherever one label may stand.
    "A or B" chooses nothing.

    Args:
        text: The whole reply.
        labels: The row's labels in order, such as "ABCD".
        options: The texts behind the labels, in the same order.
        answer_tag: Name of the tag the prompt asks for.

    Returns:
        The labels in the row's order, without separators.

    Example:
        >>> extract_choices("ANSWER: C, A and B", "ABCD").value
        'ABC'
    """
    return _extract(text, labels, options, answer_tag, many=True)


def _extract(
    text: str, labels: Sequence[str], options: Sequence[str] | None, answer_tag: str, *, many: bool
) -> Extraction[str]:
    visible = visible_part(text)
    if visible is None:
        return Extraction(None, "unfinished_reasoning")
    if not visible.text:
        return Extraction(None, "no_response")
    row = Row(tuple(labels), tuple(options or ()), many)
    part = Part(fold(visible.text), visible.start)
    hit = _read(row, part, answer_tag)
    if hit is None:
        hit = only_in_backticks(row, visible.text, part.text)
    if hit is None:
        return Extraction(None, "unparsed")
    if hit.value is None:
        return Extraction(None, hit.rule)
    if hit.rule != "whole_reply":
        tail = max(0, len(part.text) - _SEARCHED)
        corrected = _shifted(corrected_answer(row, part.text[tail:], max(0, hit.end - tail)), tail)
        if corrected is None and retracted(part.text, hit.end):
            return Extraction(None, "unparsed")
        hit = corrected or hit
    return Extraction(hit.value, hit.rule, part.span(hit.start, hit.end))


def _read(row: Row, part: Part, answer_tag: str) -> Hit | None:
    """Read the marks in their order, then the plain text. Positions count from the start of the part."""
    content = tagged(part, answer_tag)
    if content is not None and content.text.strip():
        return _marked(row, part, boxed(content) or content, "answer_tag") or Hit(None, "unparsed", 0, 0)
    failure: Hit | None = None
    for rule, content in (("boxed", boxed(part)), ("json", json_field(part))):
        hit = _marked(row, part, content, rule) if content is not None else None
        if hit is not None and hit.value is not None:
            return hit
        failure = failure or hit
    return _plain(row, part.text) or failure


def _marked(row: Row, part: Part, content: Part, rule: str) -> Hit | None:
    hit = _shifted(_plain(row, content.text), content.start - part.start)
    return hit if hit is None or hit.value is None else hit._replace(rule=rule)


def _shifted(hit: Hit | None, by: int) -> Hit | None:
    return hit if hit is None or by == 0 else hit._replace(start=hit.start + by, end=hit.end + by)


def _plain(row: Row, text: str) -> Hit | None:
    """Apply the rules for text without marks.

    An answer that reads as nothing ("A or B") leaves the word to a conclusion behind it, but not to what is merely
    mentioned.
    """
    failure: Hit | None = None
    for rule in _COMMITMENTS + _CONCLUSIONS + _MENTIONS:
        if failure is not None and rule not in _CONCLUSIONS and rule is not announced_answer:
            continue
        start = max(0, len(text) - _SEARCHED) if rule in _SEARCHES else 0
        hit = _shifted(rule(row, text[start:]), start)
        if hit is not None and (hit.value is not None or hit.rule == "invalid_choice"):
            return hit
        failure = failure or hit
    return failure
