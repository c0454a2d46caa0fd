"""Yes or no."""

from __future__ import annotations

import re

from flagharness.extract._extraction import Extraction
from flagharness.extract._reply import Part, boxed, fold, json_field, tagged, visible_part

_WORD = re.compile(r"[A-Za-z]+|[\u4e00-\u9fff]+")
_YES = "yes 是 是的 对 对的 正确 有 有的 存在 可以 能 会 没错 确实 确实是 确实有 肯定的"
_NO = "no 不 否 不是 不是的 不对 错 错误 不正确 没有 不存在 不可以 不能 不会 并不是 并没有 并非 否定的"
_MEANING = {**dict.fromkeys(_YES.split(), "yes"), **dict.fromkeys(_NO.split(), "no")}

_STATED = {
    **dict.fromkeys(["true", "correct", "yeah", "yep", "yup"], "yes"),
    **dict.fromkeys(["false", "incorrect", "nope", "nah"], "no"),
}
_LEADING = re.compile(rf"\W*({'|'.join(_STATED)})\b(?=\s*(?:[^\w\s/]|$)|\s*\n)", re.IGNORECASE)
"""Words that answer only where they lead: elsewhere they describe."""

_NONE_IN_PICTURE = re.compile(
    r"(?:在)?(?:这|该|此|本|这张|这幅|所给)?(?:图|图片|图像|照片|画面)(?:片)?(?:中|里|上|内)?,?"
    r"(?:并|都|也|中|确实)*(没有|不存在|不包含|不含)(?!任何信息|足够|提供|显示|说明|给出)[^,;:.!?\n]{1,20}[.!\s]*"
)
_SAID = r"(yes|no|true|false)\b(?!\s+(?:or|and)\b)"
_CUE = re.compile(
    rf"\banswer\b(?:\s+to\s+(?:the|this|your)\s+question)?\s*(?:is\b|:|=)[\s:\"'(]*{_SAID}"
    r"|\b(?:statement|claim|sentence|description|caption)\s+is\s+(true|false|correct|incorrect)\b(?!\s+(?:or|and|if)\b)"
    r"|答案\s*(?:是|为|:|\])*[\s:\"]*(yes|no|[\u4e00-\u9fff]+)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|cannot|never)|n't)\s+(?:(?:say|be|answer|simply|really|a|an?\s+outright)\s+)*[\"'(]?$",
    re.IGNORECASE,
)
_DENIED_WITHIN = 48  # characters before a word in which "not" may stand
_OTHER_NO = re.compile(
    r"no\s+(?:idea|clue|doubt|matter)\b|no\s+way\s+(?:to|of)\b|(?<=have )no\s+information\b"
    r"|no\s+(?:image|picture|photo|photograph|file|attachment)s?\s+(?:(?:was|were|is|are|has|have|been)\s+)*"
    r"(?:provided|attached|given|available|uploaded|included|shared)\b",
    re.IGNORECASE,
)


def extract_yes_no(text: str, *, answer_tag: str = "answer") -> Extraction[str]:
    r"""Read "yes" or "no" as whole words.

    An answer tag, the last box, a JSON answer field and the last "answer is ..." count first, in this order. Without
    them the whole reply is read, and must hold only one of the two: "Yes, no other object is there" is ambiguous. A
    word that is denied ("not yes") and a "no" that answers nothing ("no idea", "no image was provided") are passed
    over. "True", "Nope" and their like count where they lead. A Chinese word counts when it stands alone between
    punctuation marks; 图中没有 ... as the whole reply is a no.

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
        >>> extract_yes_no('{"answer": true}').value
        'yes'
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
        value = _meaning(cue[group])
        if value is not None and not _denied(part.text, cue.start(group)):
            return Extraction(value, "cue", part.span(cue.start(group), cue.end(group)))
    return _read_words(part, "words")


def _meaning(word: str) -> str | None:
    return _MEANING.get(word.lower()) or _STATED.get(word.lower())


def _denied(text: str, start: int) -> bool:
    return _DENIED.search(text, max(0, start - _DENIED_WITHIN), start) is not None


def _read_words(part: Part, rule: str) -> Extraction[str]:
    leading = _LEADING.match(part.text)
    said = [] if leading is None else [(_STATED[leading[1].lower()], leading.span(1))]
    for word in _WORD.finditer(part.text):
        meaning = _MEANING.get(word[0].lower())
        if meaning is None or (said and meaning == said[-1][0]):
            continue
        if _OTHER_NO.match(part.text, word.start()) or _denied(part.text, word.start()):
            continue
        said.append((meaning, word.span()))
        if len(said) > 1:
            return Extraction(None, "ambiguous")
    none = _NONE_IN_PICTURE.fullmatch(part.text)
    if not said and none is not None:
        said = [("no", none.span(1))]
    if not said:
        return Extraction(None, "unparsed")
    value, (start, end) = said[0]
    return Extraction(value, rule, part.span(start, end))
