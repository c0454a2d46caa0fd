"""Yes or no."""

from __future__ import annotations

import re

from flagharness.extract._extraction import Extraction
from flagharness.extract._reply import Part, boxed, fold, json_field, tagged, visible_part

_WORD = re.compile(r"[A-Za-z]+|[\u4e00-\u9fff]+")
_MEANING = {
    **dict.fromkeys(("yes", "yeah", "yep", "yup", "肯定", "肯定的"), "yes"),
    **dict.fromkeys(("no", "nope", "否定", "否定的"), "no"),
    **dict.fromkeys(
        ("是", "是的", "对", "对的", "正确", "有", "有的", "存在", "可以", "能", "会", "没错"), "yes"
    ),
    **dict.fromkeys(
        (
            "不",
            "否",
            "不是",
            "不是的",
            "不对",
            "错",
            "错误",
            "不正确",
            "没有",
            "不存在",
            "不可以",
            "不能",
            "不会",
        ),
        "no",
    ),
}
_WHOLE = {"true": "yes", "false": "no"}
"""Words that answer only where they are all there is: prose says "true" of other things."""
_NO_ANSWER = re.compile(
    r"\bno\s+(?:visible\s+|such\s+)?(?:idea|clue|image|picture|photo|video|way|information)\b"
    r"|(?:\b(?:not|never|cannot)|n't)\s+(?:[a-z]+\s+)?[\"']?(?:yes|no)\b",
    re.IGNORECASE,
)
"""What holds the word and does not answer: "no idea", "not yes", "can't say yes"."""
_CUE = re.compile(
    r"\banswer\b(?:\s+to\s+(?:the|this|your)\s+question)?\s*(?:is\b|:|=)[\s:\"'(]*(yes|no)\b(?!\s+(?:or|and)\b)"
    r"|答案\s*(?:是|为|:)?[\s:\"]*(yes|no|[\u4e00-\u9fff]+)",
    re.IGNORECASE,
)


def extract_yes_no(text: str, *, answer_tag: str = "answer") -> Extraction[str]:
    r"""Read "yes" or "no" as whole words.

    An answer tag, the last box, a JSON answer field and the last "answer is ..." count first, in this order. Without
    them the whole reply is read, and must hold only one of the two: "Yes, no other object is there" is ambiguous.
    A Chinese word counts when it stands alone between punctuation marks.

    Args:
        text: The whole reply.
        answer_tag: Name of the tag the prompt asks for.

    Returns:
        "yes" or "no", by rule "answer_tag", "boxed", "json", "cue" or "words".

    Example:
        >>> extract_yes_no("Yes, the stone carries a death notice.").value
        'yes'
        >>> extract_yes_no("**No**: there is none").value, extract_yes_no("not sure").rule
        ('no', 'unparsed')
    """
    part = visible_part(text)
    if part is None:
        return Extraction(None, "unfinished_reasoning")
    if not part.text:
        return Extraction(None, "no_response")
    part = Part(fold(part.text), part.start)
    marked = (("answer_tag", tagged(part, answer_tag)), ("boxed", boxed(part)), ("json", json_field(part)))
    for rule, content in marked:
        found = _read_words(content, rule) if content is not None else None
        if found is not None and found.value is not None:
            return found
    for cue in reversed(list(_CUE.finditer(part.text))):
        group = cue.lastindex or 0
        value = _MEANING.get(cue[group].lower())
        if value is not None:
            return Extraction(value, "cue", part.span(cue.start(group), cue.end(group)))
    return _read_words(part, "words")


def _read_words(part: Part, rule: str) -> Extraction[str]:
    bare = part.text.strip(" \t\n.!*\"'()").lower()
    if bare in _WHOLE:
        start = part.text.lower().index(bare)
        return Extraction(_WHOLE[bare], rule, part.span(start, start + len(bare)))
    first: re.Match[str] | None = None
    value = None
    silent = [match.span() for match in _NO_ANSWER.finditer(part.text)]
    for word in _WORD.finditer(part.text):
        meaning = _MEANING.get(word[0].lower())
        if meaning is None or meaning == value or any(a <= word.start() < b for a, b in silent):
            continue
        if first is not None:
            return Extraction(None, "ambiguous")
        first, value = word, meaning
    if first is None:
        return Extraction(None, "unparsed")
    return Extraction(value, rule, part.span(first.start(), first.end()))
