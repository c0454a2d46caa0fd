"""Answers that only a judge can score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.errors import ConfigError, did_you_mean
from flagharness.evaluator._base import BaseEvaluator
from flagharness.evaluator._judgement import attempts_block, calibration_block, checklist_block
from flagharness.evaluator._tally import accuracy_block, breakdown, headline_block
from flagharness.evaluator._verdict import NOT_JUDGED, Verdict, combine
from flagharness.judge import FAMILIES, JudgeQuestion, accepted_texts, reference_text
from flagharness.metric import answers_match
from flagharness.prompt import option_labels
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction

_OWN_METRICS = {
    "hle": calibration_block,
    "mmbrowsecomp": checklist_block,
    "simpleqa": attempts_block,
    "simplevqa": attempts_block,
}
"""What a family's verdicts give beside the accuracy."""


@EVALUATORS.register_module()
class JudgedEvaluator(BaseEvaluator):
    """Scores free answers by a judge, never by a rule in its place.

    A row has ``answer``, or ``answers`` with ``answer_mode``: "any" (each is right alone; one that is a list
    itself is a list of required parts) or "all" (every one is required). ``judge_question`` is what the judge is told
    in place of ``question``; ``checklist`` a list of items for the families that ask for it.

    Without a judge there is no score: ``accuracy`` is null, every answered sample counts as a judge failure, and
    ``exact_match`` is shown as a diagnostic, which is a lower bound and no substitute.

    Args:
        judge: Name of the judge family whose prompt and verdicts the benchmark uses.
        allowed: Families that ``judge_prompt`` may name instead. Without any, the benchmark's own is fixed.
    """

    def __init__(self, judge: str, allowed: Sequence[str] = (), **options: Any) -> None:
        super().__init__(**options)
        self.judge = judge
        self._families = tuple(dict.fromkeys((judge, *allowed)))
        for name in self._families:
            if name not in FAMILIES:
                near = did_you_mean(name, FAMILIES)
                raise ConfigError(
                    f"there is no judge family {name!r}.{near} There are {', '.join(FAMILIES)}."
                )

    @property
    def judge_families(self) -> Sequence[str]:
        return self._families

    @property
    def needs_judge(self) -> bool:
        return True

    def use_family(self, name: str) -> None:
        self.judge = name

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        found = []
        for number, row in enumerate(annotations, start=1):
            place = f"row {number} (question_id {row.get('question_id')!r})"
            answers, mode = row.get("answers"), row.get("answer_mode", "any")
            if _answers(row) is None:
                found.append(f"{place}: no `answer` for the judge to compare with")
            elif answers is not None and not isinstance(answers, list):
                found.append(f"{place}: `answers` must be a list, got {answers!r:.80}")
            if mode not in ("any", "all"):
                found.append(f"{place}: answer_mode {mode!r} is neither 'any' nor 'all'")
        return found

    def judge_question(self, annotation: Mapping[str, Any], answer: str) -> JudgeQuestion | None:
        answers, mode = _answers(annotation) or [""], annotation.get("answer_mode", "any")
        items = annotation.get("checklist") or []
        options = annotation.get("options") or []
        listed = "".join(
            f"\n{label}. {text}" for label, text in zip(option_labels(len(options)), options, strict=True)
        )
        return JudgeQuestion(
            question=str(annotation.get("judge_question") or annotation.get("question") or "") + listed,
            reference=reference_text(answers, mode),
            answer=answer,
            accepted=accepted_texts(answers, mode),
            fields={"checklist": "\n".join(f"{i}. {item}" for i, item in enumerate(items, start=1))},
        )

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        """Return the verdict where no judge is configured: open, or wrong where there is nothing to judge."""
        text = prediction.answer.strip()
        answers = _answers(annotation) or []
        return Verdict(
            question_id=prediction.question_id,
            outcome=NOT_JUDGED if text else "no_response",
            answer=text or None,
            raw_answer=prediction.answer,
            label=annotation.get("answer"),
            question_type=annotation.get("question_type") or "open",
            truncated=prediction.truncated,
            refused=prediction.refused,
            extra={
                "exact_match": answers_match(
                    text, accepted_texts(answers, annotation.get("answer_mode", "any"))
                )
            },
        )

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        block = headline_block(verdicts)
        if self.detailed_keys:
            block["detailed"] = breakdown(verdicts, annotations, self.detailed_keys)
        unjudged = sum(verdict.outcome == NOT_JUDGED for verdict in verdicts)
        if not unjudged:
            own = _OWN_METRICS.get(self.judge)
            return {**block, **own(verdicts)} if own else block
        exact = [_as_exact_match(verdict) for verdict in verdicts]
        block.pop("detailed", None)
        return {
            **block,
            "accuracy": None,
            "ci95": None,
            "accuracy_answered": None,
            "accuracy_finished": None,
            "exact_match": accuracy_block(exact)["accuracy"],
            "note": f"no score: it takes a judge ({self.judge}), and none is configured; {unjudged} of "
            f"{len(verdicts)} samples are not judged. exact_match is a diagnostic, not the metric",
        }


def _answers(annotation: Mapping[str, Any]) -> list[Any] | None:
    """Return the true answers of a row, None if it has none."""
    answers = annotation.get("answers") or annotation.get("answer")
    if answers in (None, "", []):
        return None
    return list(answers) if isinstance(answers, (list, tuple)) else [answers]


def _as_exact_match(verdict: Verdict) -> Verdict:
    """Return the same verdict scored by plain comparison with the truth."""
    if verdict.inferences:
        return combine([_as_exact_match(each) for each in verdict.inferences])
    matches = bool(verdict.extra.get("exact_match"))
    return Verdict(verdict.question_id, "correct" if matches else verdict.outcome, correct=matches)
