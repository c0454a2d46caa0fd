"""SPAR-Bench: the table, or the hub's rows; the task of a row says how it is asked and scored."""

from __future__ import annotations

import math
import re
from typing import Any

from flagharness.data import letter_of, process_table
from flagharness.errors import did_you_mean

CHOICE, NUMBER, VIEW_CHANGE = "multiple-choice", "number", "view-change"
KINDS = {
    "obj_spatial_relation_oo": CHOICE,
    "obj_spatial_relation_oc_mv": CHOICE,
    "obj_spatial_relation_oo_mv": CHOICE,
    "spatial_imagination_oc": CHOICE,
    "spatial_imagination_oo": CHOICE,
    "spatial_imagination_oc_mv": CHOICE,
    "spatial_imagination_oo_mv": CHOICE,
    "position_matching": CHOICE,
    "camera_motion_infer": CHOICE,
    "distance_infer_center_oo": CHOICE,
    "distance_infer_center_oo_mv": CHOICE,
    "depth_prediction_oc": NUMBER,
    "depth_prediction_oo": NUMBER,
    "depth_prediction_oc_mv": NUMBER,
    "depth_prediction_oo_mv": NUMBER,
    "distance_prediction_oc": NUMBER,
    "distance_prediction_oo": NUMBER,
    "distance_prediction_oc_mv": NUMBER,
    "distance_prediction_oo_mv": NUMBER,
    "view_change_infer": VIEW_CHANGE,
}
"""The question type of each of the 20 tasks."""


def process(cfg: Any) -> None:
    """Write data.json and the pictures, in an order drawn once and for all: the source is sorted by task.

    Raises:
        DataError: Naming every row of an unknown task, or without a truth that can be scored.
    """
    process_table(cfg, row_of, required=["question", "answer", "task"], shuffle=True)


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row."""
    task = str(row["task"]).strip()
    if task not in KINDS:
        raise ValueError(f"task {task!r} is none of the 20.{did_you_mean(task, KINDS)}")
    if not str(row["question"]).strip():
        raise ValueError("the question is empty")
    return {
        "question": row["question"],
        "question_type": KINDS[task],
        "answer": truth_of(row["answer"], KINDS[task]),
        "task": task,
        **{
            name: row[key]
            for key, name in (("id", "source_id"), ("img_type", "img_type"))
            if row.get(key) not in (None, "")
        },
    }


def truth_of(answer: Any, kind: str) -> str | float:
    """Return a truth as the evaluator wants it: a letter, a number, or the text of a movement.

    Raises:
        ValueError: It is none.

    Example:
        >>> truth_of("B", "multiple-choice"), truth_of("1.5", "number"), truth_of("move_up:0.1", "view-change")
        ('B', 1.5, 'move_up:0.1')
    """
    if kind == CHOICE:
        return letter_of(answer, 26)
    text = str(answer).strip()
    if kind == VIEW_CHANGE:
        if not re.search(r"(?:move|rotate)_[a-z]+\s*:\s*-?[0-9.]", text):
            raise ValueError(f"answer {answer!r} names no movement, such as `move_right:0.4`")
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"answer {answer!r} is no number")
    return value
