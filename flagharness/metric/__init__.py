"""Metric arithmetic: pure functions from values to numbers."""

from flagharness.metric._agreement import agreement, cohen_kappa
from flagharness.metric._attempts import attempt_shares, calibration_error
from flagharness.metric._boxes import BoxMatch, box_iou, match_boxes
from flagharness.metric._coco import coco_ap
from flagharness.metric._counting import (
    RelativeError,
    mean_absolute_error,
    normalized_absolute_error,
    root_mean_squared_error,
    share_within,
)
from flagharness.metric._interval import Interval, wilson_interval
from flagharness.metric._lvis import lvis_ap
from flagharness.metric._matching import answers_match, normalize_answer
from flagharness.metric._order_free import order_free_ap
from flagharness.metric._relative_accuracy import mean_relative_accuracy
from flagharness.metric._repeats import pass_at_k

__all__ = [
    "BoxMatch",
    "Interval",
    "RelativeError",
    "agreement",
    "answers_match",
    "attempt_shares",
    "box_iou",
    "calibration_error",
    "coco_ap",
    "cohen_kappa",
    "lvis_ap",
    "match_boxes",
    "mean_absolute_error",
    "mean_relative_accuracy",
    "normalize_answer",
    "normalized_absolute_error",
    "order_free_ap",
    "pass_at_k",
    "root_mean_squared_error",
    "share_within",
    "wilson_interval",
]
