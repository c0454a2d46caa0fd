"""What a judge is asked about one answer, and how candidate text is kept apart from the instructions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_ANSWER_CHARS = 25_000
"""Longer answers are cut to their last so many characters before a judge sees them; the verdict says so."""
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class JudgeQuestion:
    """One answer of a model, with what it is to be compared with.

    Attributes:
        question: The question as the benchmark states it.
        reference: The true answer as it is shown to the judge; see :func:`reference_text`.
        answer: What the model answered, without its reasoning.
        accepted: Texts of which each alone is the whole true answer.
        fields: What else a family's prompt shows, such as ``options`` or ``checklist``.
    """

    question: str
    reference: str
    answer: str
    accepted: Sequence[str] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cut(self) -> bool:
        """Whether the judge sees only the end of the answer."""
        return len(self.answer) > MOST_ANSWER_CHARS


def reference_text(answers: Sequence[Any], mode: str = "any") -> str:
    """Return the true answers as a judge is told them: which of them are needed is said, never implied.

    Args:
        answers: The answers; one that is a list itself is a list of parts, all of which are required.
        mode: "any": each answer alone is right; "all": all of them are required.

    Example:
        >>> reference_text(["Paris"])
        'Paris'
        >>> print(reference_text(["NYC", "New York"]))
        Any one of these is accepted:
        - NYC
        - New York
        >>> print(reference_text(["red", "blue"], "all"))
        All of these parts are required:
        - red
        - blue
        >>> print(reference_text([["red", "blue"], ["green"]]))
        Any one of these is accepted:
        - all of these parts: red; blue
        - green
    """
    lines = [_one(answer) for answer in answers]
    if len(lines) == 1:
        return lines[0]
    head = "All of these parts are required:" if mode == "all" else "Any one of these is accepted:"
    return "\n".join([head, *(f"- {line}" for line in lines)])


def accepted_texts(answers: Sequence[Any], mode: str = "any") -> list[str]:
    """Return the texts of which each alone is the whole true answer.

    Example:
        >>> accepted_texts(["NYC", "New York"]), accepted_texts(["red", "blue"], "all")
        (['NYC', 'New York'], [])
        >>> accepted_texts([["a"], ["b", "c"]])
        ['a']
    """
    if mode == "all" and len(answers) > 1:
        return []
    singles = [
        answer[0] if isinstance(answer, (list, tuple)) and len(answer) == 1 else answer for answer in answers
    ]
    return [str(answer) for answer in singles if not isinstance(answer, (list, tuple))]


def _one(answer: Any) -> str:
    if not isinstance(answer, (list, tuple)):
        return str(answer)
    parts = "; ".join(map(str, answer))
    return parts if len(answer) == 1 else f"all of these parts: {parts}"


def render(template: str, question: JudgeQuestion) -> str:
    """Return a prompt: ``{{question}}``, ``{{reference}}``, ``{{answer}}`` and further fields put in, once each.

    What comes from a data set or a model stands between markers that follow from the text itself, so that no text can
    hold its own end marker; marks inside it are not filled.
    """
    answer = question.answer[-MOST_ANSWER_CHARS:]
    values = {
        **question.fields,
        "question": question.question,
        "reference": question.reference,
        "answer": answer,
    }
    nonce = hashlib.sha256("\0".join(f"{key}={values[key]}" for key in sorted(values)).encode()).hexdigest()[
        :12
    ]

    def fenced(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            return match[0]
        return f"<<<{name.upper()} {nonce}>>>\n{values[name]}\n<<<END {name.upper()} {nonce}>>>"

    return _PLACE.sub(fenced, template)


def places_of(template: str) -> set[str]:
    """Return the names that a prompt text has places for."""
    return set(_PLACE.findall(template))
