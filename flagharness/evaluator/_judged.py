"""Answers that only a judge can score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.evaluator._base import BaseEvaluator
from flagharness.evaluator._tally import accuracy_block, headline_block
from flagharness.evaluator._verdict import NOT_JUDGED, Verdict, combine
from flagharness.metric import answers_match
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction


@EVALUATORS.register_module()
class JudgedEvaluator(BaseEvaluator):
    """Scores free answers by a judge, never by a rule in its place.

    Without a judge there is no score: ``accuracy`` is null, every answered sample counts as a judge failure, and
    ``exact_match`` is shown as a diagnostic, which is a lower bound and no substitute.

    Args:
        judge: Name of the judge family whose prompt and verdicts the benchmark uses.
    """

    needs_judge = True

    def __init__(self, judge: str, **options: Any) -> None:
        super().__init__(**options)
        self.judge = judge

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        return [
            f"row {number} (question_id {row.get('question_id')!r}): no `answer` for the judge to compare with"
            for number, row in enumerate(annotations, start=1)
            if row.get("answer") in (None, "", [])
        ]

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        """Return a verdict that is open, or wrong where there is nothing to judge."""
        text = prediction.answer.strip()
        return Verdict(
            question_id=prediction.question_id,
            outcome=NOT_JUDGED if text else "no_response",
            answer=text or None,
            raw_answer=prediction.answer,
            label=annotation["answer"],
            question_type=annotation.get("question_type") or "open",
            truncated=prediction.truncated,
            refused=prediction.refused,
            extra={"exact_match": answers_match(text, annotation["answer"])},
        )

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        block = headline_block(verdicts)
        unjudged = sum(verdict.outcome == NOT_JUDGED for verdict in verdicts)
        if not unjudged:
            return block
        exact = [_as_exact_match(verdict) for verdict in verdicts]
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


def _as_exact_match(verdict: Verdict) -> Verdict:
    """Return the same verdict scored by plain comparison with the truth."""
    if verdict.inferences:
        return combine([_as_exact_match(each) for each in verdict.inferences])
    matches = bool(verdict.extra.get("exact_match"))
    return Verdict(verdict.question_id, "correct" if matches else verdict.outcome, correct=matches)
