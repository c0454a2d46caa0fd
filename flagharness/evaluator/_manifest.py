"""Scoring as benchmark manifests describe it: a reply against a list of acceptable texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.errors import ConfigError, did_you_mean
from flagharness.evaluator._base import BaseEvaluator
from flagharness.evaluator._rules import question_type_of
from flagharness.evaluator._verdict import Verdict
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction

STAGES = ("exact-match", "rule-match")
MATCHES = ("contains", "equals")


@EVALUATORS.register_module()
class ManifestEvaluator(BaseEvaluator):
    """Right if any of the row's answers is the reply, or (with ``contains``) stands in it.

    Both sides are lower-cased, stripped and freed of newlines (each becomes a space); nothing else is folded and
    nothing is extracted. A reply is right as soon as one stage of the pipeline says so; the verdict names the stage.
    Containment rewards long replies; where a benchmark's own scorer does it, so do we.

    Args:
        score_pipeline: Of the manifest: "exact-match", "rule-match", or both.
        string_match: Of the manifest's score_params, needed by "rule-match": "contains" or "equals".
    """

    def __init__(
        self, score_pipeline: Sequence[str], string_match: str | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self.score_pipeline = [score_pipeline] if isinstance(score_pipeline, str) else list(score_pipeline)
        self.string_match = string_match
        for stage in self.score_pipeline:
            _check_word("score_pipeline", stage, STAGES)
        if not self.score_pipeline:
            raise ConfigError(f"score_pipeline is empty; it takes {', '.join(STAGES)}.")
        if string_match is not None or "rule-match" in self.score_pipeline:
            _check_word("string_match", string_match, MATCHES)

    def normalised(self, text: str, annotation: Mapping[str, Any]) -> str:
        """Return a reply or an answer as it is compared; what a subclass overrides for rows of another rule."""
        return text.lower().strip().replace("\n", " ")

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        """Name the rows without an answer; an empty one would stand in every reply."""
        if not any(row.get("answer") is not None for row in annotations):
            return []
        return [
            f"row {number} (question_id {row.get('question_id')!r}): answer {row.get('answer')!r} is no text or "
            f"number, and no list of such"
            for number, row in enumerate(annotations, start=1)
            if not self._is_truth(row)
        ]

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        reply = self.normalised(prediction.answer, annotation)
        rule = self._rule(reply, annotation) if reply else None
        return Verdict(
            question_id=prediction.question_id,
            outcome="correct" if rule else "wrong" if reply else "no_response",
            correct=rule is not None,
            answer=prediction.answer.strip() or None,
            raw_answer=prediction.answer,
            label=annotation["answer"],
            question_type=question_type_of(annotation),
            extraction={"rule": rule, "span": None},
            truncated=prediction.truncated,
            refused=prediction.refused,
        )

    def _rule(self, reply: str, annotation: Mapping[str, Any]) -> str | None:
        """Return the stage that finds an answer in a reply, None if none does."""
        answers = [self.normalised(text, annotation) for text in _texts(annotation["answer"])]
        for stage in self.score_pipeline:
            if stage == "rule-match" and self.string_match == "contains":
                if any(answer in reply for answer in answers):
                    return "rule-match: contains"
            elif reply in answers:
                return stage if stage == "exact-match" else "rule-match: equals"
        return None

    def _is_truth(self, row: Mapping[str, Any]) -> bool:
        answer = row.get("answer")
        values = answer if isinstance(answer, (list, tuple)) else [answer]
        plain = all(isinstance(value, (str, int, float)) for value in values)
        return plain and bool(values) and all(self.normalised(text, row) for text in _texts(values))


def _texts(answer: Any) -> list[str]:
    return [str(value) for value in (answer if isinstance(answer, (list, tuple)) else [answer])]


def _check_word(option: str, word: Any, known: Sequence[str]) -> None:
    if word not in known:
        near = did_you_mean(word, known) if isinstance(word, str) else ""
        raise ConfigError(f"{option}: got {word!r}; it takes {', '.join(known)}.{near}")
