"""Reading a judge's reply: fields at the start of a line, JSON objects, bare verdicts; never a word inside prose.

Pure functions. What cannot be read raises :class:`Unreadable`, whose text says why; nothing is ever guessed, and no
reading of a doubtful reply is "incorrect".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from flagharness.model import split_reasoning

_INVISIBLE = re.compile(r"[\u200b-\u200f\u2060\ufeff]")
_END_TOKENS = re.compile(r"(?:(?:</s>|<\|[\w-]+\|>|<eos>|<end_of_turn>)\s*)+\Z")
_FENCE = re.compile(r"^[ \t]*```[^\n`]*$", re.MULTILINE)
_MARKUP = re.compile(r"\*\*|__|`|\\(?:text|mathrm|textbf)\b")
_FOLDED = str.maketrans("：｛｝［］（）“”，", ':{}[]()"",')
_BULLET = r"[ \t]*(?:(?:[-*•]|\#{1,6}|\d{1,2}[.)])[ \t]+)?"
_WRAPPING = " \t\n.!。！\"'’‘<>[](){}【】「」*:_"
_JOINED = re.compile(r"[\s\])}】\"']*(?:/|\||,|，|、|\bor\b|\band\b|或者?|和)[\s\[({【\"']*", re.IGNORECASE)
_OPENING_BOX = re.compile(r"\\f?boxed\s*\{")


class Unreadable(ValueError):
    """A reply in which no verdict can be read."""


def own_words(reply: str) -> str:
    """Return what a judge says after its reasoning, without fences, emphasis, invisible characters and the end tokens
    that some servers leave in.

    Raises:
        Unreadable: Nothing is left, or the reasoning never ended.
    """
    _, said = split_reasoning(reply, ("<think>", "</think>"))
    said = _INVISIBLE.sub("", _END_TOKENS.sub("", said)).translate(_FOLDED)
    said = _MARKUP.sub("", _FENCE.sub("", said)).strip()
    if not said:
        raise Unreadable("the reply is empty, or ended inside its reasoning")
    return said


def whole_word(text: str, words: Mapping[str, str]) -> str | None:
    """Return what the one verdict word that a text starts with stands for; None if it starts with none.

    A text that goes on with another verdict word ("yes/no", "yes or no") is a template, not a verdict.

    Example:
        >>> words = {"correct": "correct", "incorrect": "incorrect"}
        >>> whole_word("[INCORRECT]", words), whole_word("correctly", words), whole_word("correct | incorrect", words)
        ('incorrect', None, None)
        >>> whole_word("incorrect (a lenient reader might say correct)", words)
        'incorrect'
    """
    pattern = _alternatives(words)
    bare = text.strip(_WRAPPING)
    found = pattern.match(bare)
    if found is None:
        return None
    joined = _JOINED.match(bare, found.end())
    if joined is not None and pattern.match(bare, joined.end()):
        return None
    return words[found[0].lower()]


def only_word(text: str, words: Mapping[str, str]) -> str | None:
    """Return what a text that is a verdict word and nothing else stands for.

    Example:
        >>> only_word("【Yes】.", {"yes": "correct"}), only_word("yes, but", {"yes": "correct"})
        ('correct', None)
    """
    return words.get(" ".join(text.strip(_WRAPPING).lower().split()))


def _alternatives(words: Mapping[str, str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    parts = [
        rf"(?<![a-z0-9_]){re.escape(word)}(?![a-z0-9_])" if word.isascii() else re.escape(word)
        for word in longest_first
    ]
    return re.compile("|".join(parts), re.IGNORECASE)


def line_fields(text: str, name: str) -> list[tuple[int, str]]:
    """Return position and value of every line ``name: value``, in order; an empty value is the next line.

    The name must be the first word of its line, after a bullet at most: "incorrect: yes" and a quoted
    "> correct: yes" are no fields called "correct".
    """
    spelled = re.escape(name).replace("_", r"[_ \t]?").replace(r"\ ", r"[_ \t]?")
    pattern = re.compile(
        rf"^{_BULLET}[\"'\[]?{spelled}[\"'\]]?[ \t]*[:=][ \t]*(?:(\S[^\n]*)|\n+[ \t]*(\S[^\n]*))?$",
        re.IGNORECASE | re.MULTILINE,
    )
    return [(found.start(), (found[1] or found[2] or "").strip()) for found in pattern.finditer(text)]


def last_field(text: str, name: str) -> str | None:
    """Return the value of the last line ``name: value`` that has one."""
    return next((value for _, value in reversed(line_fields(text, name)) if value), None)


def json_objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a text, wherever they stand; one whose closing brace is missing counts."""
    found: list[dict[str, Any]] = []
    end = 0
    decoder = json.JSONDecoder()
    for opening in re.finditer(r"\{", text):
        if opening.start() < end:
            continue
        for candidate in (text, text + "}"):
            try:
                value, end = decoder.raw_decode(candidate, opening.start())
            except (json.JSONDecodeError, RecursionError):
                continue
            if isinstance(value, dict):
                found.append(value)
            break
    return found


def json_value(found: Mapping[str, Any], name: str) -> Any:
    """Return the value of a key, however it is spelled: case, blanks and underscores do not matter."""
    wanted = _bare(name)
    return next((value for key, value in found.items() if _bare(str(key)) == wanted), None)


def _bare(key: str) -> str:
    return re.sub(r"[\s_]", "", key).lower()


def read_verdict(text: str, name: str, words: Mapping[str, str], *, explanation: str = "reasoning") -> str:
    """Return the verdict that a reply states: in JSON, in a line ``name: value``, or as the whole reply.

    The last line counts; but where a verdict was given before its explanation, another one inside the explanation may
    be a quotation, and then none counts.

    Args:
        text: As :func:`own_words` returns it.
        name: The field.
        words: Verdict words in lower case, and what they stand for.

    Raises:
        Unreadable: No verdict, or verdicts that contradict each other.
    """
    in_json = [verdict for found in json_objects(text) if (verdict := _in_json(found, name, words))]
    in_lines = [
        (at, verdict) for at, value in line_fields(text, name) if (verdict := whole_word(value, words))
    ]
    if len(set(in_json)) > 1 or (in_json and any(verdict != in_json[0] for _, verdict in in_lines)):
        raise Unreadable(f"several different verdicts for `{name}`")
    if in_json:
        return in_json[0]
    if in_lines:
        last_at, last = in_lines[-1]
        explained = [at for at, _ in line_fields(text, explanation)]
        for at, verdict in in_lines[:-1]:
            if verdict != last and any(at < place < last_at for place in explained):
                raise Unreadable(f"several different verdicts for `{name}`, one inside the explanation")
        return last
    verdict = only_word(text, words)
    if verdict is None:
        raise Unreadable(f"no line `{name}:` with {' or '.join(words)}")
    return verdict


def _in_json(found: Mapping[str, Any], name: str, words: Mapping[str, str]) -> str | None:
    value = json_value(found, name)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return only_word(value, words) if isinstance(value, str) else None


def read_grade(text: str, letters: Mapping[str, str], words: Mapping[str, str]) -> str:
    """Return the grade of a reply that is to be a letter, a word, or both ("B: INCORRECT") on a line of its own.

    Raises:
        Unreadable: No such line, letter and word that disagree, or lines that disagree.
    """
    found = {grade for line in _grade_lines(text) if (grade := _grade_of(line, letters, words))}
    if len(found) != 1:
        raise Unreadable("several different grades" if found else "no line that is a grade")
    return found.pop()


_LABEL = re.compile(
    r"(?:(?:the\s+)?(?:final\s+)?(?:grade|verdict|judge?ment|answer|result|evaluation|结论|判断|评分))\s*(?:is|:|=|为|是)\s*",
    re.IGNORECASE,
)


def _grade_lines(text: str) -> Iterator[str]:
    for line in _OPENING_BOX.sub("", text).splitlines():
        bare = line.strip(_WRAPPING + "$#-").strip()
        label = _LABEL.match(bare)
        yield bare[label.end() :].strip(_WRAPPING + "$") if label else bare


def _grade_of(line: str, letters: Mapping[str, str], words: Mapping[str, str]) -> str | None:
    if line in letters:
        return letters[line]
    word = only_word(line, words)
    if word is not None:
        return word
    both = re.fullmatch(r"([A-Z])\s*[.):\-–=|]+\s*(.+)", line)
    if both is None or both[1] not in letters:
        return None
    grade, word = letters[both[1]], only_word(both[2], words)
    if word is not None and word != grade:
        raise Unreadable(f"{both[1]} is not {both[2]}")
    return word


def last_box(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{...}``."""
    opened = list(_OPENING_BOX.finditer(text))
    if not opened:
        return None
    inside, closed, _ = text[opened[-1].end() :].partition("}")
    return inside if closed else None
