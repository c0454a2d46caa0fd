"""OCRBench's own rules: formulas are compared without spaces, and hits are added up to a score out of 1,000."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.evaluator import ManifestEvaluator, Verdict

FORMULA_SOURCE = "HME100k"
TEXT_RECOGNITION = {
    "Regular Text Recognition": 50,
    "Irregular Text Recognition": 50,
    "Artistic Text Recognition": 50,
    "Handwriting Recognition": 50,
    "Digit String Recognition": 50,
    "Non-Semantic Text Recognition": 50,
}
CATEGORIES = {
    **TEXT_RECOGNITION,
    "Scene Text-centric VQA": 200,
    "Doc-oriented VQA": 200,
    "Key Information Extraction": 200,
    "Handwritten Mathematical Expression Recognition": 100,
}
"""Rows of each category in the full benchmark."""
CATEGORY_KEY = "source_question_type"
ALL_ROWS = sum(CATEGORIES.values())


class OCRBenchEvaluator(ManifestEvaluator):
    """Containment of any answer, as the official scorer has it (Yuliang-Liu/MultimodalOCR, OCRBench).

    The headline of all 1,000 rows is ``final_score``, the number of hits. Fewer rows have no final score; their
    headline is ``projected_per_1000``, beside ``hits`` and ``n``.
    """

    def normalised(self, text: str, annotation: Mapping[str, Any]) -> str:
        """Keep case and drop all spaces where the text is a formula, else do as manifests do."""
        if annotation.get("source_dataset") == FORMULA_SOURCE:
            return text.strip().replace("\n", " ").replace(" ", "")
        return super().normalised(text, annotation)

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the score, the hits of each category, and the accuracy block."""
        groups: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            groups.setdefault(str(annotations[verdict.question_id].get(CATEGORY_KEY)), []).append(verdict)
        sizes = {name: len(group) for name, group in groups.items()}
        absent = [name for name in CATEGORIES if name not in groups]
        hits = _hits(verdicts)
        if sizes == CATEGORIES:
            score: dict[str, Any] = {"headline": "final_score", "final_score": hits, "out_of": ALL_ROWS}
        else:
            per_1000 = round(1000 * hits / len(verdicts), 1) if verdicts else None
            score = {"headline": "projected_per_1000", "projected_per_1000": per_1000, "partial": True}
            if absent:
                score["absent_categories"] = absent
        names = [*(name for name in CATEGORIES if name in groups), *sorted(groups.keys() - CATEGORIES.keys())]
        recognition = [verdict for name in TEXT_RECOGNITION for verdict in groups.get(name, [])]
        return {
            **score,
            "hits": hits,
            **super().aggregate(verdicts, annotations),
            "categories": {name: _line(groups[name]) for name in names},
            "text_recognition": _line(recognition),
        }


def _line(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    return {"hits": _hits(verdicts), "n": len(verdicts)}


def _hits(verdicts: Sequence[Verdict]) -> int | float:
    """Return the number of hits; with several inferences a sample counts as its share of hits."""
    total = round(sum((float(verdict.correct) for verdict in verdicts), 0.0), 4)
    return int(total) if total.is_integer() else total
