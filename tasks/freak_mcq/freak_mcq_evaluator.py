"""FREAK, choices: accuracy, and how often the typical error is chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.evaluator import BaseEvaluator, Verdict


class FreakChoiceEvaluator(BaseEvaluator):
    """Adds ``hallucination_rate``: the share of the rows whose reply chooses the option that models typically see
    where it is not, in percent of all rows that name it (``hallucinated``, a letter); None where no row does."""

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        named = [verdict for verdict in verdicts if annotations[verdict.question_id].get("hallucinated")]
        chosen = sum(
            _share_of(verdict, str(annotations[verdict.question_id]["hallucinated"])) for verdict in named
        )
        return {
            **super().aggregate(verdicts, annotations),
            "hallucination_rate": round(100 * chosen / len(named), 2) if named else None,
            "hallucination_n": len(named),
        }


def _share_of(verdict: Verdict, letter: str) -> float:
    """Return the share of a sample's inferences that chose a letter."""
    inferences = verdict.inferences or [verdict]
    return sum(bool(each.answer == letter) for each in inferences) / len(inferences)
