"""Box AP that does not depend on the order of boxes of equal score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flagharness.metric._box_scene import Entry, Pair, Scene, best_of_each_image
from flagharness.metric._boxes import box_iou
from flagharness.metric._coco import AREAS, mean_of
from flagharness.metric._lvis import FREQUENCIES, of_group

AREA_LIMITS = ((0, 1e10), (0, 32**2), (32**2, 96**2), (96**2, 1e10))
"""Square pixels: all, small, medium, large; both ends belong to a range."""


def order_free_ap(
    truth: Mapping[str, Any], detections: Sequence[Entry], *, max_dets: int = 100, federated: bool = False
) -> dict[str, Any]:
    """Average precision over IoU 0.50 to 0.95 in which boxes of equal score have no order.

    Where all scores differ this is `coco_ap` (or, federated, `lvis_ap`). The official codes rank equal scores by
    image id and by place in the reply. Here all boxes of a category with one score enter the ranking at once: its
    precision/recall curve has one point per distinct score. That is the lowest value that any order of equal boxes
    can give, and what precision means at a threshold. Inside an image, boxes of equal score take their true box in
    descending order of their best overlap, then by coordinates. Of more than ``max_dets`` boxes the best scores
    count, among equal ones the first by coordinates: per image and category, or federated per image.

    Args:
        truth, detections: See `Scene`.

    Returns:
        AP, AP50, AP75, APs, APm, APl (federated also APr, APc, APf) in [0, 1], None where there is no true box;
        ``lowest`` and ``highest``, the ends of what any order of equal boxes can make of AP (the same boxes matched);
        ``per_category``: ``{category id: AP}``.

    Raises:
        ValueError: An unknown or repeated image or category.
    """
    import numpy as np

    if federated:
        detections = best_of_each_image(detections, max_dets, _rank)
    scene = Scene(truth, detections, federated=federated)
    shape = (10, 101, len(scene.categories), len(AREAS))
    precision, best = -np.ones(shape), -np.ones(shape[:3])
    for k, category in enumerate(scene.categories):
        ranking = _Ranking()
        for image, pair in scene.pairs(category).items():
            lenient = federated and scene.is_not_exhaustive(category, image)
            ranking.add(_match(pair, len(pair.detections) if federated else max_dets, lenient))
        if ranking.images:
            precision[:, :, k], best[:, :, k] = ranking.curves()
    numbers: dict[str, Any] = {
        "AP": mean_of(precision[:, :, :, 0]),
        "AP50": mean_of(precision[0, :, :, 0]),
        "AP75": mean_of(precision[5, :, :, 0]),
    }
    numbers |= {f"AP{AREAS[a]}": mean_of(precision[:, :, :, a]) for a in (1, 2, 3)}
    if federated:
        numbers |= {
            f"AP{group}": mean_of(precision[:, :, of_group(scene, group), 0]) for group in FREQUENCIES
        }
    per_category = {category: mean_of(precision[:, :, k, 0]) for k, category in enumerate(scene.categories)}
    return {**numbers, "lowest": numbers["AP"], "highest": mean_of(best), "per_category": per_category}


def _rank(box: Entry) -> tuple[Any, ...]:
    """Sort by score, then by coordinates: the order of boxes plays no part in which of them count."""
    return -box["score"], tuple(box["bbox"]), box["category_id"]


class _Matched(NamedTuple):
    """What became of the boxes of one image and category, for every area range and IoU threshold."""

    scores: Any
    """[D]"""
    hits: Any
    """[area, IoU, D]: matched a true box that counts."""
    misses: Any
    """[area, IoU, D]: matched nothing, and counts."""
    truth: Any
    """[area]: true boxes that count."""


def _match(pair: Pair, max_dets: int, lenient: bool) -> _Matched:
    """Match greedily, as the official codes do, in the order-free order.

    Args:
        lenient: Whether a box that matches nothing is ignored.
    """
    import numpy as np

    truth = sorted(pair.truth, key=lambda box: tuple(box["bbox"]))
    found = sorted(pair.detections, key=lambda box: (-box["score"], tuple(box["bbox"])))[:max_dets]
    limits = np.array(AREA_LIMITS)
    areas = np.array([box["area"] for box in truth], dtype=np.float64)
    outside = (areas < limits[:, :1]) | (areas > limits[:, 1:])
    ignored = outside | np.array([bool(box["ignore"]) for box in truth], dtype=bool)  # [area, G]
    counted = (~ignored).sum(axis=1)
    scores = np.array([box["score"] for box in found], dtype=np.float64)
    shape = (len(AREA_LIMITS), 10, len(found))
    hits, absorbed = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    if truth and found:
        crowd = np.array([bool(box["iscrowd"]) for box in truth])
        overlaps = box_iou([box["bbox"] for box in found], [box["bbox"] for box in truth], crowd.tolist())
        # Sorted by score and coordinates already, and lexsort is stable.
        order = np.lexsort((-overlaps.max(axis=1), -scores))
        found, scores, overlaps = [found[i] for i in order], scores[order], overlaps[order]
        _take(overlaps, ignored, crowd, hits, absorbed)
    sizes = np.array([box["area"] for box in found], dtype=np.float64)
    away = (sizes < limits[:, :1]) | (sizes > limits[:, 1:])  # [area, D]
    misses = ~hits & ~absorbed & ~(away[:, None, :] | lenient)
    return _Matched(scores, hits, misses, counted)


def _take(overlaps: Any, ignored: Any, crowd: Any, hits: Any, absorbed: Any) -> None:
    """Let every box, one after the other, take the free true box that it overlaps most: one that counts if there is
    one, else an ignored one, which makes the box ignored as well. Fills ``hits`` and ``absorbed``."""
    import numpy as np

    thresholds = np.linspace(0.5, 0.95, 10)
    free = np.ones((len(ignored), 10, overlaps.shape[1]), dtype=bool)  # [area, IoU, G]
    wanted = np.broadcast_to(~ignored[:, None, :], free.shape)
    for d in (overlaps.max(axis=1) >= thresholds[0]).nonzero()[0]:
        row = overlaps[d]
        near = free & (row >= thresholds[:, None])
        for kind, taken in ((near & wanted, hits), (near & ~wanted, absorbed)):
            some = kind.any(axis=2)
            if taken is absorbed:
                some &= ~hits[:, :, d]
            if not some.any():
                continue
            # The last of equal overlaps, as in the official codes.
            choice = kind.shape[2] - 1 - np.argmax(np.where(kind, row, -1.0)[:, :, ::-1], axis=2)
            area, level = some.nonzero()
            chosen = choice[area, level]
            taken[area, level, d] = True
            once = ~crowd[chosen]
            free[area[once], level[once], chosen[once]] = False


class _Ranking:
    """The boxes of one category over all images."""

    def __init__(self) -> None:
        self.images: list[_Matched] = []

    def add(self, matched: _Matched) -> None:
        self.images.append(matched)

    def curves(self) -> tuple[Any, Any]:
        """Return precision at the 101 recall levels [IoU, recall, area], -1 without truth, and that of all areas with
        true positives first among equal scores [IoU, recall]."""
        import numpy as np

        scores = np.concatenate([matched.scores for matched in self.images])
        order = np.argsort(-scores, kind="stable")
        scores = scores[order]
        hits = np.concatenate([matched.hits for matched in self.images], axis=2)[:, :, order]
        misses = np.concatenate([matched.misses for matched in self.images], axis=2)[:, :, order]
        totals = sum(matched.truth for matched in self.images)
        ends = (
            np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
            if len(scores)
            else np.array([], dtype=int)
        )
        right, wrong = hits.cumsum(axis=2), misses.cumsum(axis=2)
        precision = -np.ones((10, 101, len(AREA_LIMITS)))
        best = -np.ones((10, 101))
        for area in range(len(AREA_LIMITS)):
            if totals[area]:
                for level in range(10):
                    curve = (right[area, level, ends], wrong[area, level, ends])
                    precision[level, :, area] = _interpolated(*curve, totals[area])
        if totals[0]:
            for level in range(10):
                first = np.lexsort((~hits[0, level], -scores))
                curve = (hits[0, level, first].cumsum(), misses[0, level, first].cumsum())
                best[level] = _interpolated(*curve, totals[0])
        return precision, best


def _interpolated(right: Any, wrong: Any, total: int) -> Any:
    """Return precision at recall 0.00, 0.01, ... 1.00: the best at that recall or a higher one, 0 beyond the last.

    Args:
        right, wrong: True and false positives up to each point of the ranking.
        total: True boxes.
    """
    import numpy as np

    curve = np.zeros(101)
    if not len(right):
        return curve
    right = right.astype(np.float64)
    precision = right / (wrong + right + np.spacing(1))
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(right / total, np.linspace(0.0, 1.0, 101), side="left")
    reached = places < len(precision)
    curve[reached] = precision[places[reached]]
    return curve
