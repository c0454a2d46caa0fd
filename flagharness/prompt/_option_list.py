"""The prompt of choice questions that many benchmarks share: hint, question, options, and a request to select."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flagharness.prompt._question import option_labels

_SELECT = "Please select the correct answer from the options above. \n"
"""The blank and the new line at its end belong to it."""


def option_list_prompt(annotation: Mapping[str, Any]) -> str:
    r"""The prompt that VLMEvalKit gives a choice question (``vlmeval/dataset/image_mcq.py``), to the character.

    It ends in a blank and a new line; nothing on the way to the endpoint trims it. For a ``prompt_func``.

    Args:
        annotation: ``question`` (with or without its options at the end, as ``build_question`` puts them),
            ``options`` and ``hint`` are read. A row without options has its question returned as it is.

    Example:
        >>> row = {"question": "Which is red?", "options": ["cup", "plate"], "hint": "Look left."}
        >>> option_list_prompt(row).splitlines(keepends=True)[:3]
        ['Hint: Look left.\n', 'Question: Which is red?\n', 'Options:\n']
        >>> option_list_prompt(row).splitlines(keepends=True)[3:]
        ['A. cup\n', 'B. plate\n', 'Please select the correct answer from the options above. \n']
        >>> option_list_prompt({"question": "Which is red? (A) cup (B) plate"})
        'Which is red? (A) cup (B) plate'
    """
    question = str(annotation.get("question") or "")
    options = annotation.get("options") or []
    if not options:
        return question
    lines = [f"{label}. {option}" for label, option in zip(option_labels(len(options)), options, strict=True)]
    listed = "\n".join(lines)
    if question.endswith(listed):
        question = question.removesuffix(listed).removesuffix("\n")
    hint = f"Hint: {annotation['hint']}\n" if annotation.get("hint") else ""
    return f"{hint}Question: {question}\nOptions:\n{listed}\n{_SELECT}"
