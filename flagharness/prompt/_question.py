"""A question and its options as one text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from string import ascii_uppercase
from typing import Any


def option_labels(count: int) -> list[str]:
    """Labels of ``count`` options: A to Z, then AA, AB and so on, as spreadsheet columns are named.

    Example:
        >>> option_labels(28)[-3:]
        ['Z', 'AA', 'AB']
    """
    return list(_labels(count))


def build_question(annotation: Mapping[str, Any]) -> str:
    """The question, then each option on a line of its own as ``A. text``.

    No image mark is added: the message builder puts pictures without a mark first.

    Args:
        annotation: ``question`` and ``options`` (a list of texts) are read; both may be absent, empty or None.

    Example:
        >>> print(build_question({"question": "Which animal?", "options": ["cat", "dog"]}))
        Which animal?
        A. cat
        B. dog
    """
    question = annotation.get("question")
    return "\n".join([*([] if question in (None, "") else [str(question)]), *_option_lines(annotation)])


def question_without_options(annotation: Mapping[str, Any]) -> str:
    """Undo :func:`build_question` for an annotation whose ``question`` holds its options already."""
    question = str(annotation.get("question") or "")
    return question.removesuffix("\n".join(_option_lines(annotation))).rstrip("\n")


def _option_lines(annotation: Mapping[str, Any]) -> list[str]:
    options = annotation.get("options") or []
    return [f"{label}. {option}" for label, option in zip(option_labels(len(options)), options, strict=True)]


@lru_cache(maxsize=64)
def _labels(count: int) -> tuple[str, ...]:
    return tuple(map(_label, range(count)))


def _label(position: int) -> str:
    label = ""
    while position >= 0:
        position, letter = divmod(position, len(ascii_uppercase))
        label = ascii_uppercase[letter] + label
        position -= 1
    return label
