"""What is counted beside AP: boxes, what was done to them, and the errors of their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from flagharness.evaluator._box_ap import Pair, detections_of, mean_numbers
from flagharness.evaluator._box_rows import Row, true_boxes
from flagharness.metric import (
    mean_absolute_error,
    normalized_absolute_error,
    root_mean_squared_error,
    share_within,
)

NOTABLE_SHARE = 0.1
"""From this share of the replies with boxes on, coordinates that look like another space are a warning."""


def box_counts(inferences: Sequence[Sequence[Pair]], beyond_max_dets: int) -> dict[str, int]:
    """Count boxes: true ones once, predicted ones over all inferences."""
    verdicts = [verdict for pairs in inferences for _, verdict in pairs]
    detections = [found for verdict in verdicts for found in detections_of(verdict)]
    return {
        "n_truth": sum(map(_n_truth, (row for row, _ in inferences[0]))),
        "n_predicted": len(detections),
        **{
            name: sum(verdict.extra.get(name, 0) for verdict in verdicts)
            for name in ("swapped", "clipped", "dropped_labels")
        },
        "beyond_max_dets": beyond_max_dets,
        "zero_size": sum(found.bbox[2] == 0 or found.bbox[3] == 0 for found in detections),
        "space_suspicions": sum(verdict.extra.get("space_suspicion") is not None for verdict in verdicts),
    }


def _n_truth(row: Row) -> int:
    return sum(box.counts for box in true_boxes(row))


def space_warning(pairs: Sequence[Pair], bbox_space: str) -> str | None:
    """Say that replies look like another coordinate space. The boxes stay what the setting makes of them."""
    with_boxes = [
        verdict.extra for _, verdict in pairs if detections_of(verdict) or verdict.extra.get("dropped_labels")
    ]
    reasons = Counter(str(extra["space_suspicion"]) for extra in with_boxes if extra.get("space_suspicion"))
    suspicious = sum(reasons.values())
    if not with_boxes or suspicious < NOTABLE_SHARE * len(with_boxes) or not suspicious:
        return None
    why = ", ".join(f"{reason}: {number}" for reason, number in reasons.most_common())
    return (
        f"{suspicious} of {len(with_boxes)} replies with boxes do not look like coordinates in {bbox_space} ({why}); "
        f"they were read as {bbox_space} all the same. If the model answers in another space, set `bbox_space` in "
        f"the model config"
    )


def count_errors(inferences: Sequence[Sequence[Pair]]) -> dict[str, Any]:
    """Return the errors of the number of boxes, as FSCD reports them: shares in percent, the rest in boxes.

    The number is that of the reply, before any cut to ``max_dets``; a row without a readable answer has none.
    """
    tables = [
        errors_of_counts(
            [len(detections_of(verdict)) for _, verdict in pairs], [_n_truth(row) for row, _ in pairs]
        )
        for pairs in inferences
    ]
    means = {key: None if value is None else round(value, 4) for key, value in mean_numbers(tables).items()}
    return {**means, "nae_left_out": tables[0]["nae_left_out"]}


def errors_of_counts(predicted: Sequence[int], truth: Sequence[int]) -> dict[str, Any]:
    """Compare numbers of boxes: MAE and RMSE in boxes, NAE as a ratio, shares in percent.

    A row whose true number is 0 is left out of NAE and counted; there only 0 is "within 5 %".

    Example:
        >>> errors = errors_of_counts([10, 9, 19, 0], [10, 10, 20, 5])
        >>> errors["mae"], round(errors["rmse"], 4), errors["nae"], errors["exact"], errors["within_5"]
        (1.75, 2.5981, 0.2875, 25.0, 50.0)
    """
    if not truth:
        return {**dict.fromkeys(("mae", "rmse", "nae", "exact", "within_5", "within_10")), "nae_left_out": 0}
    nae = normalized_absolute_error(predicted, truth)
    return {
        "mae": mean_absolute_error(predicted, truth),
        "rmse": root_mean_squared_error(predicted, truth),
        "nae": nae.value,
        "nae_left_out": nae.left_out,
        "exact": 100 * share_within(predicted, truth, 0),
        "within_5": 100 * share_within(predicted, truth, 5),
        "within_10": 100 * share_within(predicted, truth, 10),
    }
