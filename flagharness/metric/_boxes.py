"""Overlap of boxes, and which of them belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

Xywh = Sequence[float]
"""x, y, width, height; x and y are those of the top left corner."""


class BoxMatch(NamedTuple):
    """How the predicted boxes of one image and category fit its true ones."""

    true_positives: int
    false_positives: int
    false_negatives: int
    mean_iou: float | None
    """Over the matched pairs; None without any."""
    f1: float
    """2 TP / (2 TP + FP + FN); 1 where there is nothing to find and nothing was found."""


def box_iou(predicted: Sequence[Xywh], truth: Sequence[Xywh], iscrowd: Sequence[int] | None = None) -> Any:
    """Intersection over union, by pycocotools.

    Args:
        iscrowd: 1 for a true box that stands for many: the overlap is then relative to the predicted box alone.

    Returns:
        A numpy array [predicted, true].

    Example:
        >>> box_iou([[0, 0, 2, 2]], [[1, 0, 2, 2], [5, 5, 1, 1]]).round(4).tolist()
        [[0.3333, 0.0]]
    """
    import numpy as np
    from pycocotools import mask

    if not len(predicted) or not len(truth):
        return np.zeros((len(predicted), len(truth)))
    flags = [0] * len(truth) if iscrowd is None else [int(flag) for flag in iscrowd]
    boxes = [np.asarray(side, dtype=np.float64) for side in (predicted, truth)]
    return mask.iou(boxes[0], boxes[1], flags)


def match_boxes(predicted: Sequence[Xywh], truth: Sequence[Xywh], iou: float = 0.5) -> BoxMatch:
    """Pair the boxes of one image and category, the best overlaps first; their order plays no part.

    Args:
        iou: The least overlap of a pair.

    Example:
        >>> match_boxes([[0, 0, 2, 2], [9, 9, 1, 1]], [[0, 0, 2, 2]])
        BoxMatch(true_positives=1, false_positives=1, false_negatives=0, mean_iou=1.0, f1=0.6666666666666666)
    """
    overlaps = box_iou(predicted, truth)
    pairs = sorted(
        (-float(overlaps[p, t]), tuple(predicted[p]), tuple(truth[t]), p, t)
        for p, t in zip(*(overlaps >= iou).nonzero(), strict=True)
    )
    free_predicted, free_truth = set(range(len(predicted))), set(range(len(truth)))
    matched = []
    for negative, _, _, p, t in pairs:
        if p in free_predicted and t in free_truth:
            free_predicted.remove(p)
            free_truth.remove(t)
            matched.append(-negative)
    tp, fp, fn = len(matched), len(free_predicted), len(free_truth)
    f1 = 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 1.0
    return BoxMatch(tp, fp, fn, sum(matched) / tp if tp else None, f1)
