"""The table of a box task in which each row shows what was found and what was missed."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.evaluator._box_ap import detections_of
from flagharness.evaluator._box_rows import Row, categories_of
from flagharness.evaluator._box_verdict import Match, match_row
from flagharness.evaluator._verdict import NO_ANSWER, PARSE_FAILURES, Verdict

COLUMNS = (
    "question_id",
    "image",
    "category",
    "tp",
    "fp",
    "fn",
    "mean_iou",
    "f1",
    "n_truth",
    "n_predicted",
    "outcome",
)
_UNREAD = NO_ANSWER | PARSE_FAILURES


def per_row_csv(inferences: Sequence[Sequence[Verdict]], annotations: Mapping[str, Row]) -> str:
    """Return a line for each row and category that has true or predicted boxes, the worst F1 first.

    A row with neither has one line, named after what it asks. With several inferences each has its own lines, and
    the column ``inference`` says which.
    """
    lines = [
        {**line, "inference": k}
        for k, verdicts in enumerate(inferences)
        for verdict in verdicts
        for line in _lines(annotations[verdict.question_id], verdict)
    ]
    lines.sort(key=lambda line: float(line["f1"]))
    columns = COLUMNS if len(inferences) == 1 else (*COLUMNS, "inference")
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for line in lines:
        writer.writerow({**line, "mean_iou": _rounded(line["mean_iou"]), "f1": _rounded(line["f1"])})
    return text.getvalue()


def _lines(row: Row, verdict: Verdict) -> list[dict[str, Any]]:
    matches = match_row(row, detections_of(verdict))
    matches = matches or {", ".join(categories_of(row)): Match(0, 0, 0, 0.0)}
    image = row.get("img_path") or row.get("image_id") or ""
    return [
        {
            "question_id": verdict.question_id,
            "image": " ".join(image) if isinstance(image, list) else image,
            "category": category,
            "tp": match.tp,
            "fp": match.fp,
            "fn": match.fn,
            "mean_iou": match.mean_iou,
            "f1": 0.0 if verdict.outcome in _UNREAD else match.f1,
            "n_truth": match.tp + match.fn,
            "n_predicted": match.tp + match.fp,
            "outcome": verdict.outcome if verdict.outcome in _UNREAD else _outcome(match),
        }
        for category, match in matches.items()
    ]


def _outcome(match: Match) -> str:
    return "correct" if match.f1 == 1 else "wrong" if match.f1 == 0 else "graded"


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
