"""FlagEvalMM's OpenEvaluator: by each row's ``answer_type`` a rule or a judge."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flagharness.evaluator._judged import JudgedEvaluator
from flagharness.evaluator._verdict import Verdict
from flagharness.extract import Extraction, extract_number, extract_numbers, extract_short_answer
from flagharness.judge import JudgeQuestion
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction

OPEN_ENDED = "open_ended"
RULED = ("integer", "float", "true_false", "text match")
"""The values of ``answer_type`` that a rule scores."""
_EXACT = 1e-3
_TRUTHS = re.compile(r"(?<!\w)(true|false)(?!\w)", re.IGNORECASE)


@EVALUATORS.register_module()
class OpenEvaluator(JudgedEvaluator):
    """Scores by ``answer_type``, as flageval-baai/FlagEvalMM's ``flagevalmm/evaluator/open_evaluator.py``.

    "integer" and "float": the number, within 0.001 or (strictly) a tenth of the truth; of a list every number in its
    order, within 0.001, or 8 % of a truth that is no whole number. "true_false": every true and false in its order.
    "text match": one of the true texts in the answer, in any case, at word boundaries. "open_ended": a judge
    (family ``open_judgement``). Unlike there, a judge that fails leaves the answer open, an exact number is right
    where the truth is 0, and a text inside another word ("no" in "notice") is none.

    Args:
        tracker_type: Annotation key to break the accuracy down by.
        tracker_subtype: A second one.
    """

    def __init__(
        self, tracker_type: str | None = None, tracker_subtype: str | None = None, **options: Any
    ) -> None:
        keys = options.pop("detailed_keys", None) or []
        keys = [keys] if isinstance(keys, str) else list(keys)
        tracked = [key for key in (tracker_type, tracker_subtype) if key]
        options.pop(
            "aggregation_fields", None
        )  # what FlagEvalMM copies into its files; ours hold every field
        super().__init__(
            judge="open_judgement", detailed_keys=list(dict.fromkeys([*keys, *tracked])), **options
        )

    @property
    def needs_judge(self) -> bool:
        return bool(self._judge_keys.get("use_llm_evaluator"))

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        found = []
        for number, row in enumerate(annotations, start=1):
            place = f"row {number} (question_id {row.get('question_id')!r})"
            kind = row.get("answer_type")
            if kind not in (*RULED, OPEN_ENDED):
                found.append(f"{place}: answer_type {kind!r} is none of {', '.join((*RULED, OPEN_ENDED))}")
                continue
            try:
                _truths(row)
            except (TypeError, ValueError) as error:
                found.append(f"{place}: answer {row.get('answer')!r:.80} is no truth of {kind!r}: {error}")
        return found

    def judge_question(self, annotation: Mapping[str, Any], answer: str) -> JudgeQuestion | None:
        """Return what a judge is asked; None where a rule scores."""
        if annotation["answer_type"] != OPEN_ENDED:
            return None
        return super().judge_question(annotation, answer)

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        """Return the verdict of the row's rule; an open-ended answer without a judge stays open."""
        kind = annotation["answer_type"]
        if kind == OPEN_ENDED:
            return super().score(annotation, prediction)
        truths = _truths(annotation)
        found, right = _SCORERS[kind](prediction.answer, truths, annotation["answer"], self.answer_tag)
        return Verdict(
            question_id=prediction.question_id,
            outcome=found.rule if found.value is None else "correct" if right else "wrong",
            correct=found.value is not None and right,
            answer=found.value,
            raw_answer=prediction.answer,
            label=annotation["answer"],
            question_type=str(kind),
            extraction={"rule": found.rule, "span": list(found.span) if found.span else None},
            truncated=prediction.truncated,
            refused=prediction.refused,
        )

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        block = super().aggregate(verdicts, annotations)
        score = sum(float(verdict.correct) for verdict in verdicts)
        return {**block, "final_score": [round(score, 4), len(verdicts)]}


def _truths(row: Mapping[str, Any]) -> list[Any]:
    answer, kind = row.get("answer"), row["answer_type"]
    several: list[Any] = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    if not several or any(value is None or str(value).strip() == "" for value in several):
        raise ValueError("it is empty")
    if kind in ("integer", "float"):
        numbers = [float(value) for value in several]
        if not all(map(math.isfinite, numbers)) or (
            kind == "integer" and not all(n.is_integer() for n in numbers)
        ):
            raise ValueError("no such number")
        return numbers
    if kind == "true_false":
        words = [str(value).strip().lower() for value in several]
        if not set(words) <= {"true", "false"}:
            raise ValueError("neither true nor false")
        return words
    return several


def _numeric(reply: str, truths: list[float], answer: Any, answer_tag: str) -> tuple[Extraction[Any], bool]:
    if not isinstance(answer, (list, tuple)):
        found = extract_number(reply, answer_tag=answer_tag)
        return found, found.value is not None and abs(found.value - truths[0]) < _EXACT
    several = extract_numbers(reply, answer_tag=answer_tag)
    values = several.value or ()
    right = len(values) == len(truths) and all(
        abs(value - truth) < (_EXACT if truth.is_integer() else 0.08 * abs(truth))
        for value, truth in zip(values, truths, strict=True)
    )
    return several, right


def _approximate(
    reply: str, truths: list[float], answer: Any, answer_tag: str
) -> tuple[Extraction[Any], bool]:
    found, right = _numeric(reply, truths, answer, answer_tag)
    if isinstance(answer, (list, tuple)) or found.value is None:
        return found, right
    return found, found.value == truths[0] or abs(found.value - truths[0]) < 0.1 * abs(truths[0])


def _true_false(reply: str, truths: list[str], answer: Any, answer_tag: str) -> tuple[Extraction[Any], bool]:
    found = extract_short_answer(reply, answer_tag=answer_tag)
    words = [word.lower() for word in _TRUTHS.findall(found.value or "")]
    if found.value is not None and not words:
        return Extraction(None, "unparsed"), False
    return found, words == truths


def _text(reply: str, truths: list[Any], answer: Any, answer_tag: str) -> tuple[Extraction[Any], bool]:
    found = extract_short_answer(reply, answer_tag=answer_tag)
    return found, any(contains(found.value or "", str(truth)) for truth in truths)


def contains(text: str, wanted: str) -> bool:
    """Whether a text holds another, in any case, not as a part of a longer word of letters and digits.

    Example:
        >>> contains("It says STOP.", "stop"), contains("a notice", "no"), contains("北京市", "北京")
        (True, False, True)
    """
    wanted = wanted.strip().casefold()
    before = r"(?<![a-z0-9])" if wanted[:1].isascii() and wanted[:1].isalnum() else ""
    after = r"(?![a-z0-9])" if wanted[-1:].isascii() and wanted[-1:].isalnum() else ""
    return bool(wanted) and re.search(before + re.escape(wanted) + after, text.casefold()) is not None


_SCORERS: dict[str, Callable[[str, Any, Any, str], tuple[Extraction[Any], bool]]] = {
    "integer": _numeric,
    "float": _approximate,
    "true_false": _true_false,
    "text match": _text,
}
