"""The part of a reply that holds its answer, and the marks models put around a final answer.

Everything here works on positions of the text as given, so that a viewer can point at what was read. `fold` keeps
every position: it replaces characters one by one.
"""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from typing import NamedTuple


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last of the pattern's matches in the text."""
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


class Part(NamedTuple):
    """A stretch of a reply.

    Attributes:
        text: The characters.
        start: Position of the first one in the whole text.
    """

    text: str
    start: int

    def cut(self, start: int, end: int | None = None) -> Part:
        """Return the stretch from start to end, both counted from the start of this one."""
        return Part(self.text[start:end], self.start + start)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return positions counted from the start of this stretch as positions in the whole text."""
        return self.start + start, self.start + end


_REASONING = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>|◁(/?)think▷", re.IGNORECASE)
_START_TOKEN = re.compile(
    r"\s*(?:<s>|<bos>|<\|im_start\|>\s*(?:assistant)?|<start_of_turn>\s*(?:model)?|<\|endoftext\|>"
    r"|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|assistant\s*[:：\n])\s*",
    re.IGNORECASE,
)
_END = re.compile(
    r"</s>|<eos>|<end_of_turn>|<\|(?:im_end|im_start|endoftext|eot_id|end|end_of_text|return)\|>"
    r"|<｜end▁of▁sentence｜>|\n[ \t]*(?:user|human|用户)[ \t]*[:：]",
    re.IGNORECASE,
)


def visible_part(text: str) -> Part | None:
    """Return what follows the reasoning, without leaked control tokens, invented further turns and outer whitespace.

    None means that the reply was cut off inside its reasoning: what stands there is no answer.
    """
    start, end = 0, len(text)
    if "<" in text or "◁" in text:
        unfinished = False
        for mark in _REASONING.finditer(text):
            unfinished = not (mark[1] or mark[2])
            if not unfinished:
                start = mark.end()
        if unfinished:
            return None
    leading = _START_TOKEN.match(text, start)
    if leading is not None:
        start = leading.end()
    for stop in _END.finditer(text, start):
        if text[start : stop.start()].strip():
            end = stop.start()
            break
    visible = text[start:end].lstrip()
    return Part(visible.rstrip(), end - len(visible))


def _folding() -> dict[int, str]:
    pairs = {chr(0xFF01 + i): chr(0x21 + i) for i in range(94)}  # full-width forms of ASCII
    pairs |= {chr(0x24B6 + i): chr(0x41 + i) for i in range(26)}  # circled letters
    pairs |= dict(zip("　\u00a0。、【】「」『』《》“”‘’−", '  .,[]""""<>""\'\'-', strict=True))
    pairs |= dict.fromkeys("*`$＊｀＄", " ")  # emphasis, code and formula marks
    pairs |= dict.fromkeys("✓✔✅☑👉➡\ufe0f\u20e3", " ")
    return {ord(char): plain for char, plain in pairs.items()}


_FOLDING = _folding()
_EMPHASIS = re.compile(r"(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_])")
_TEXT_COMMAND = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathbb|mathit|mathsf|bf|rm)(?=\s*\{)|\\[()\[\],;!]"
)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def fold(text: str) -> str:
    """Return the text with typography made plain, each character in its place.

    Full-width and circled letters become plain ones, Chinese punctuation its ASCII counterpart; marks of emphasis,
    code and formulas become spaces.
    """
    text = text.translate(_FOLDING)
    if "_" in text:
        text = _EMPHASIS.sub(_blank, text)
    if "\\" in text:
        text = _TEXT_COMMAND.sub(_blank, text)
    return text


def lowered(text: str) -> str:
    """Return the text in lower case, each character in its place."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters grow when lowered
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lower


@lru_cache(maxsize=64)
def _tag_pattern(tag: str) -> re.Pattern[str]:
    return re.compile(rf"<(/?)\s?{re.escape(tag)}\s?>", re.IGNORECASE)


def tagged(part: Part, tag: str) -> Part | None:
    """Return the content of the last <tag>...</tag>; a missing opening or closing tag is forgiven."""
    if "<" not in part.text:
        return None
    opened, content = None, None
    for mark in _tag_pattern(tag).finditer(part.text):
        if not mark[1]:
            opened = mark.end()
        elif opened is not None:
            content, opened = (opened, mark.start()), None
        elif content is None:
            content = (part.text.rfind("\n", 0, mark.start()) + 1, mark.start())
    if content is None and opened is not None:
        content = (opened, len(part.text))
    return None if content is None else part.cut(*content)


_BOX = re.compile(r"\\f?boxed\s?\{|<\|begin_of_box\|>")
_BRACE = re.compile(r"[{}]")


def boxed(part: Part, *, closed: bool = False) -> Part | None:
    r"""Return the content of the last \boxed{...}, braces balanced.

    Args:
        part: Where to look.
        closed: Whether a box that is never closed counts for nothing; else it reaches to the end of its line.
    """
    if "box" not in part.text:
        return None
    last = last_match(_BOX, part.text)
    if last is None:
        return None
    if last[0].startswith("<"):
        stop = part.text.find("<|end_of_box|>", last.end())
        return part.cut(last.end(), stop if stop >= 0 else None)
    depth = 1
    for brace in _BRACE.finditer(part.text, last.end()):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return part.cut(last.end(), brace.start())
    if closed:
        return None
    stop = part.text.find("\n", last.end())
    return part.cut(last.end(), stop if stop >= 0 else None)


_FIELD = re.compile(
    r"""(["'])(?:(?:final|correct|predicted|selected)[_ ]?)?(?:answers?|choices?|options?|label|答案)\1"""
    r"""\s{0,9}:\s{0,9}"""
    r"""(?:"((?:[^"\\]|\\.){0,4000})"|'((?:[^'\\\n]|\\.){0,4000})'|(\[[^\[\]{}]{0,4000}\]|[^\s,\[\]{}"']{1,400}))""",
    re.IGNORECASE,
)


def json_field(part: Part) -> Part | None:
    """Return the value of the last answer field of a JSON object, also of one that is cut off or not quite JSON."""
    if ":" not in part.text or "{" not in part.text:
        return None
    last = last_match(_FIELD, part.text)
    if last is None:
        return None
    group = last.lastindex or 0
    return part.cut(last.start(group), last.end(group))
