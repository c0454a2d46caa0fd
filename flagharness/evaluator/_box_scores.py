"""Scores of an external detector laid over the boxes of a reply (``score_mode="original"``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flagharness.errors import ScoringError
from flagharness.evaluator._box_rows import Xywh, is_number
from flagharness.metric import box_iou

OVERLAP = 0.5
"""The least IoU at which a box of the reply takes over score and box of a detection."""
UNMATCHED_SCORE = 0.5
"""The score of a box that no detection overlaps that much."""


class Detected(NamedTuple):
    """One detection of the external detector."""

    bbox: Xywh
    score: float


def read_detections(folder: Path, question_id: str) -> list[Detected]:
    """Return the detections on a row, from ``folder/<question_id>.json``.

    The file holds a list of ``{"bbox": [x1, y1, x2, y2], "score": number}`` in pixels of the original file.

    Raises:
        ScoringError: If the file is missing, is no such list, or lies outside the folder.
    """
    path = folder / f"{question_id}.json"
    if not path.resolve().is_relative_to(folder.resolve()):
        raise ScoringError(f"{path} lies outside the folder of the detections")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScoringError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ScoringError(f"{path}: not JSON ({error})") from error
    if not isinstance(found, list):
        raise ScoringError(f"{path}: expected a list of detections, got {type(found).__name__}")
    return [_detected(entry, f"{path}, entry {number}") for number, entry in enumerate(found, start=1)]


def _detected(entry: Any, where: str) -> Detected:
    bbox, score = (entry.get("bbox"), entry.get("score")) if isinstance(entry, dict) else (None, None)
    if not isinstance(bbox, list) or len(bbox) != 4 or not all(map(is_number, [*bbox, score])):
        raise ScoringError(
            f"{where}: expected {{'bbox': [x1, y1, x2, y2], 'score': number}}, got {entry!r:.80}"
        )
    x1, y1, x2, y2 = map(float, bbox)
    if x2 < x1 or y2 < y1:
        raise ScoringError(f"{where}: bbox {bbox} must be [x1, y1, x2, y2] with x1 <= x2 and y1 <= y2")
    return Detected((x1, y1, x2 - x1, y2 - y1), float(score))  # type: ignore[arg-type]


def take_over_scores(boxes: Sequence[Xywh], detected: Sequence[Detected]) -> list[Detected]:
    """Give each box the box and score of the detection that overlaps it most, if that is an IoU of 0.5 or more.

    Two boxes may take the same detection. Of detections that overlap a box equally well it takes the one with the
    higher score.
    """
    if not boxes or not detected:
        return [Detected(box, UNMATCHED_SCORE) for box in boxes]
    overlaps = box_iou([list(box) for box in boxes], [list(one.bbox) for one in detected]).tolist()
    found = []
    for box, row in zip(boxes, overlaps, strict=True):
        best = max(range(len(detected)), key=lambda j: (row[j], detected[j].score))
        found.append(detected[best] if row[best] >= OVERLAP else Detected(box, UNMATCHED_SCORE))
    return found
