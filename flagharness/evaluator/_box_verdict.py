"""From one reply to boxes in pixels, matched with the truth of its row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from flagharness.evaluator._box_rows import Row, TrueBox, Xywh, category_for, true_boxes
from flagharness.evaluator._verdict import Verdict
from flagharness.extract import Box, boxes_to_pixels
from flagharness.metric import box_iou, match_boxes

MATCH_IOU = 0.5


class Detection(NamedTuple):
    """One predicted box: [x, y, width, height] in pixels of the original file, unrounded."""

    category: str
    bbox: Xywh
    score: float


COUNTED = ("swapped", "clipped", "dropped_labels", "space_suspicion")
"""What the result counts over all rows; the rest of ``extra`` can be worked out again."""


@dataclass
class BoxVerdict(Verdict):
    """A verdict that keeps its boxes in full precision; ``answer`` has them rounded, for the file."""

    detections: list[Detection] = field(default_factory=list)

    def forget_texts(self) -> None:
        super().forget_texts()
        self.answer = self.label = None  # the same boxes again
        self.extra = {key: self.extra[key] for key in COUNTED if self.extra.get(key)}


class Match(NamedTuple):
    """How predicted boxes and truth pair off at IoU 0.5."""

    tp: int
    fp: int
    fn: int
    iou_sum: float

    @property
    def f1(self) -> float:
        """2 tp / (2 tp + fp + fn); 1 when there was nothing to find and nothing was found."""
        total = 2 * self.tp + self.fp + self.fn
        return 2 * self.tp / total if total else 1.0

    @property
    def mean_iou(self) -> float | None:
        return self.iou_sum / self.tp if self.tp else None


class PixelReply(NamedTuple):
    """The boxes of a reply that count, by category, in the order of the reply."""

    boxes: list[tuple[str, Xywh]]
    swapped: int
    clipped: int
    dropped_labels: int


def place_boxes(boxes: Sequence[Box], row: Row, space: str) -> PixelReply:
    """Keep the boxes whose label is asked for, and put them into pixels of the row's image."""
    named = [(category_for(box.label, row), box) for box in boxes]
    kept = [(name, box) for name, box in named if name is not None]
    placed = boxes_to_pixels([box for _, box in kept], space, row["width"], row["height"])
    return PixelReply(
        [(name, _xywh(box)) for (name, _), box in zip(kept, placed.boxes, strict=True)],
        placed.swapped,
        placed.clipped,
        len(named) - len(kept),
    )


def _xywh(box: Box) -> Xywh:
    x1, y1, x2, y2 = box.xyxy
    return x1, y1, x2 - x1, y2 - y1


def match_row(row: Row, detections: Sequence[Detection]) -> dict[str, Match]:
    """Pair the boxes of a row with its truth, for each category that has any of either."""
    truth = true_boxes(row)
    names = dict.fromkeys([box.category for box in truth] + [found.category for found in detections])
    return {
        name: _match(
            [found.bbox for found in detections if found.category == name],
            [box for box in truth if box.category == name],
        )
        for name in names
    }


def _match(predicted: Sequence[Xywh], truth: Sequence[TrueBox]) -> Match:
    wanted = [list(box.bbox) for box in truth if box.counts]
    found = [list(box) for box in _without_ignored(predicted, truth)]
    match = match_boxes(found, wanted, MATCH_IOU)
    tp = match.true_positives
    return Match(
        tp, match.false_positives, match.false_negatives, (match.mean_iou or 0.0) * tp if tp else 0.0
    )


def _without_ignored(predicted: Sequence[Xywh], truth: Sequence[TrueBox]) -> list[Xywh]:
    """Set aside the boxes whose best overlap is with a crowd or an ignored box: they are no mistake."""
    if not predicted or all(box.counts for box in truth):
        return list(predicted)
    boxes, crowd = [list(box.bbox) for box in truth], [box.iscrowd for box in truth]
    overlaps = box_iou([list(box) for box in predicted], boxes, crowd).tolist()
    kept = []
    for box, row in zip(predicted, overlaps, strict=True):
        best = max(range(len(truth)), key=row.__getitem__)
        if truth[best].counts or row[best] < MATCH_IOU:
            kept.append(box)
    return kept


def total(matches: Mapping[str, Match]) -> Match:
    """Sum up the categories of a row."""
    return Match(
        sum(match.tp for match in matches.values()),
        sum(match.fp for match in matches.values()),
        sum(match.fn for match in matches.values()),
        sum(match.iou_sum for match in matches.values()),
    )


def label_of(row: Row) -> list[dict[str, Any]]:
    """Return the truth of a row as it is written beside the answer."""
    return [{"bbox": list(box.bbox), "label": box.category} for box in true_boxes(row)]
