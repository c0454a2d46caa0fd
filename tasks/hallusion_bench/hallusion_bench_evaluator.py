"""HallusionBench: right answers, figures and questions of which all answers are right, and the mean of the three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.evaluator import BaseEvaluator, Verdict, accuracy_block, headline_block

Rows = Mapping[str, Mapping[str, Any]]

FIGURE = ("category", "subcategory", "set_id", "figure_id")
QUESTION = ("category", "subcategory", "set_id", "question_number")


class HallusionBenchEvaluator(BaseEvaluator):
    """``aAcc`` is the share of rows that are right, ``fAcc`` that of figures all of whose rows are, ``qAcc`` that of
    questions all of whose rows (one a figure) are; ``mean_acc``, the headline, is their mean. All in percent.

    A row without an answer is wrong, and so are its figure and its question. Of a group that a run saw in part, that
    part counts; then the result is partial and ``incomplete`` names the groups. The same numbers are given per value
    of each of ``detailed_keys``. With several inferences each counts by itself, and the mean of them is shown.
    """

    def aggregate(self, verdicts: Sequence[Verdict], annotations: Rows) -> dict[str, Any]:
        block = headline_block(verdicts)
        incomplete = {
            "figures": _incomplete(verdicts, annotations, FIGURE, "figure_rows"),
            "questions": _incomplete(verdicts, annotations, QUESTION, "question_rows"),
        }
        result = {
            "headline": "mean_acc",
            **_three_accuracies(verdicts, annotations),
            **block,
            # It is the interval of the rows; there is none of the mean.
            "ci95": None,
            "aAcc_ci95": block["ci95"],
            "detailed": {key: self._per_value(key, verdicts, annotations) for key in self.detailed_keys},
        }
        if any(incomplete.values()):
            result.update(partial=True, incomplete=incomplete)
        return result

    def _per_value(self, key: str, verdicts: Sequence[Verdict], annotations: Rows) -> dict[str, Any]:
        members: dict[str, list[Verdict]] = {}
        for verdict in verdicts:
            members.setdefault(str(annotations[verdict.question_id].get(key)), []).append(verdict)
        return {
            value: {**accuracy_block(part), **_three_accuracies(part, annotations)}
            for value, part in sorted(members.items())
        }


def _three_accuracies(verdicts: Sequence[Verdict], annotations: Rows) -> dict[str, Any]:
    if not verdicts:
        return dict.fromkeys(("mean_acc", "aAcc", "fAcc", "qAcc"))
    figures = _groups(verdicts, annotations, FIGURE)
    questions = _groups(verdicts, annotations, QUESTION)
    shares = {
        "aAcc": sum(float(verdict.correct) for verdict in verdicts) / len(verdicts),
        "fAcc": _all_right(figures.values()),
        "qAcc": _all_right(questions.values()),
    }
    return {
        "mean_acc": round(100 * sum(shares.values()) / 3, 4),
        **{name: round(100 * share, 4) for name, share in shares.items()},
        "n_figures": len(figures),
        "n_questions": len(questions),
    }


def _groups(
    verdicts: Sequence[Verdict], annotations: Rows, keys: Sequence[str]
) -> dict[tuple[str, ...], list[Verdict]]:
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for verdict in verdicts:
        row = annotations[verdict.question_id]
        groups.setdefault(tuple(str(row.get(key)) for key in keys), []).append(verdict)
    return groups


def _all_right(groups: Any) -> float:
    """Return the share of groups all of whose rows are right, each inference by itself."""
    shares = [_share_all_right(members) for members in groups]
    return sum(shares) / len(shares)


def _share_all_right(members: Sequence[Verdict]) -> float:
    each = [verdict.inferences or [verdict] for verdict in members]
    runs = [all(float(verdict.correct) == 1 for verdict in run) for run in zip(*each, strict=True)]
    return sum(runs) / len(runs)


def _incomplete(verdicts: Sequence[Verdict], annotations: Rows, keys: Sequence[str], size: str) -> list[str]:
    """Name the groups of which the run holds fewer rows than the data."""
    return [
        f"{'/'.join(key)} ({len(members)} of {whole})"
        for key, members in _groups(verdicts, annotations, keys).items()
        if (whole := annotations[members[0].question_id].get(size, 0)) > len(members)
    ]
