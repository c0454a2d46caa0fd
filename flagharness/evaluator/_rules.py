"""Scoring one answer by rule, per question type: what the truth may look like, and how a reply is compared."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flagharness.extract import (
    Extraction,
    extract_choice,
    extract_choices,
    extract_count,
    extract_number,
    extract_short_answer,
    extract_yes_no,
)
from flagharness.metric import answers_match
from flagharness.prompt import option_labels

ALPHABET = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LISTED_OPTION = re.compile(r"^\s*[(\[]?([A-Z])[.):\]]\s", re.MULTILINE)
_LIST_SEPARATOR = re.compile(r"\s*(?:[,;/&+、，；和]|\band\b|\s)\s*(?:and\b\s*)?", re.IGNORECASE)
_YES = {"yes", "true", "1", "y", "是", "对", "正确"}
_NO = {"no", "false", "0", "n", "否", "不", "错", "错误", "不是"}


@dataclass(frozen=True)
class Rule:
    """How one question type is scored.

    Attributes:
        truth: Reads the annotation's answer into the form that is compared and stored as the label. Raises
            ValueError with a reason when the answer cannot be a truth of this type.
        read: Extracts the answer from a reply.
        same: Compares the two.
    """

    truth: Callable[[Mapping[str, Any]], Any]
    read: Callable[[str, Mapping[str, Any], str], Extraction[Any]]
    same: Callable[[Any, Any], bool]


def question_type_of(annotation: Mapping[str, Any]) -> str:
    """Return the row's question type; a row without one is a choice if it has options, else a short answer."""
    given = annotation.get("question_type")
    return given if given else "multiple-choice" if annotation.get("options") else "short-answer"


def labels_of(annotation: Mapping[str, Any]) -> Sequence[str]:
    """Return the labels that count for this row: from its options, else those its question lists, else A to Z."""
    options = annotation.get("options")
    if options:
        return option_labels(len(options))
    listed = _LISTED_OPTION.findall(str(annotation.get("question") or ""))
    if len(listed) >= 2 and listed == list(ALPHABET[: len(listed)]):
        return listed
    return ALPHABET


def _choice_truth(annotation: Mapping[str, Any]) -> str:
    answer = annotation["answer"]
    if isinstance(answer, (list, tuple)) and len(answer) == 1:
        answer = answer[0]
    text = str(answer).strip()
    labels = labels_of(annotation)
    bare = text.strip("().[]: ").upper()
    if bare in labels:
        return bare
    options = [str(option).strip() for option in annotation.get("options") or []]
    if options.count(text) == 1:
        return labels[options.index(text)]
    raise ValueError(
        f"answer {answer!r} is neither one of the labels {labels[0]}-{labels[-1]} nor one option's text"
    )


def _choices_truth(annotation: Mapping[str, Any]) -> str:
    answer = annotation["answer"]
    labels = labels_of(annotation)
    given = answer if isinstance(answer, (list, tuple, set)) else _listed(str(answer), labels)
    parts = [str(part).strip().upper() for part in given]
    if not parts or any(part not in labels for part in parts):
        raise ValueError(f"answer {answer!r} is not a set of the labels {labels[0]}-{labels[-1]}")
    return "".join(sorted(set(parts)))


def _listed(text: str, labels: Sequence[str]) -> Sequence[str]:
    """Return the labels of a plain list: "A, C", "A and C", or "AC". A word is none, though made of letters."""
    text = text.strip("()[]{}., ")
    parts = _LIST_SEPARATOR.split(text)
    if len(parts) > 1 or text.upper() in labels:
        return [part.strip("()[]'\"") for part in parts]
    known = labels is not ALPHABET  # without labels of its own a row's "AC" must look like one
    return list(text) if known or (text.isupper() and list(text) == sorted(set(text))) else []


def _yes_no_truth(annotation: Mapping[str, Any]) -> str:
    word = str(annotation["answer"]).strip().strip(".。").lower()
    if word in _YES:
        return "yes"
    if word in _NO:
        return "no"
    raise ValueError(f"answer {annotation['answer']!r} is neither yes nor no")


def _count_truth(annotation: Mapping[str, Any]) -> int:
    answer = annotation["answer"]
    text = str(answer).strip()
    if isinstance(answer, bool) or not re.fullmatch(r"[0-9]{1,18}(\.0*)?", text):
        raise ValueError(f"answer {answer!r} is not a whole number of at least 0")
    return int(text.partition(".")[0])


def _number_truth(annotation: Mapping[str, Any]) -> float | int:
    answer = annotation["answer"]
    try:
        if isinstance(answer, bool):
            raise ValueError
        value = float(str(answer).replace(",", ""))
        if not math.isfinite(value):
            raise ValueError
    except ValueError:
        raise ValueError(f"answer {answer!r} is not a number") from None
    return int(value) if value.is_integer() else value


def _text_truth(annotation: Mapping[str, Any]) -> Any:
    answer = annotation["answer"]
    answers = answer if isinstance(answer, (list, tuple)) else [answer]
    if not answers or any(isinstance(a, (dict, list)) or str(a).strip() == "" for a in answers):
        raise ValueError(f"answer {answer!r} is no text, number or list of them")
    return answer


def _read_choice(text: str, annotation: Mapping[str, Any], tag: str) -> Extraction[str]:
    return extract_choice(text, labels_of(annotation), annotation.get("options"), answer_tag=tag)


def _read_choices(text: str, annotation: Mapping[str, Any], tag: str) -> Extraction[str]:
    return extract_choices(text, labels_of(annotation), annotation.get("options"), answer_tag=tag)


def _same_number(answer: float, label: float) -> bool:
    return abs(answer - label) <= 1e-9 * max(1.0, abs(label))


def _same_text(answer: str, label: Any) -> bool:
    return answers_match(answer, list(label) if isinstance(label, (list, tuple)) else label)


_TEXT = Rule(_text_truth, lambda text, _, tag: extract_short_answer(text, answer_tag=tag), _same_text)
RULES: dict[str, Rule] = {
    "multiple-choice": Rule(_choice_truth, _read_choice, str.__eq__),
    "multiple-response": Rule(_choices_truth, _read_choices, str.__eq__),
    "yes-no": Rule(_yes_no_truth, lambda text, _, tag: extract_yes_no(text, answer_tag=tag), str.__eq__),
    "count": Rule(_count_truth, lambda text, _row, _tag: extract_count(text), int.__eq__),
    "number": Rule(_number_truth, lambda text, _, tag: extract_number(text, answer_tag=tag), _same_number),
    "fill-in-the-blank": _TEXT,
    "fill-blank": _TEXT,
    "cloze": _TEXT,
    "short-answer": _TEXT,
}
