"""MindCube: accuracy over all rows, and over those that the authors count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.evaluator import BaseEvaluator, Verdict, accuracy_block

NOT_COUNTED = "translation"
"""The category that the authors' overall accuracy leaves out (mll-lab-nu/MindCube); the tiny set has none of it."""


class MindCubeEvaluator(BaseEvaluator):
    """Adds ``official``: accuracy without the category ``translation``."""

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        counted = [v for v in verdicts if annotations[v.question_id].get("category") != NOT_COUNTED]
        return {**super().aggregate(verdicts, annotations), "official": accuracy_block(counted)}
