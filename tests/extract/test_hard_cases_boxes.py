"""Replies with boxes that other readers got wrong, from the text to pixels of the image and to AP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flagharness.extract import Box, boxes_to_pixels, extract_boxes, space_suspicion
from flagharness.metric import coco_ap

_FILE = Path(__file__).parents[1] / "data" / "hard_cases" / "parse-box.json"
_CASES = json.loads(_FILE.read_text(encoding="utf-8"))


def _ap(truth: list[float], boxes: tuple[Box, ...], width: int, height: int) -> float | None:
    corners = [box.xyxy for box in boxes]
    scene = {
        "images": [{"id": 1, "width": width, "height": height}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": truth}],
        "categories": [{"id": 1, "name": "thing"}],
    }
    detections = [
        {"image_id": 1, "category_id": 1, "bbox": [x1, y1, x2 - x1, y2 - y1], "score": 1.0}
        for x1, y1, x2, y2 in corners
    ]
    return coco_ap(scene, detections)["AP"]


@pytest.mark.parametrize("case", _CASES, ids=[f"{case['id']}-{n}" for n, case in enumerate(_CASES)])
def test_boxes_are_read_and_placed_as_their_writer_meant_them(case: dict[str, Any]) -> None:
    row, expected = case["input"], case["expected"]

    found = extract_boxes(row["reply"])

    assert found.rule == expected["rule"]
    if found.value is None:
        assert expected.keys() == {"rule"}
        return
    assert space_suspicion(found.value, row["space"], *row["size"]) == expected["suspicion"]
    placed = boxes_to_pixels(found.value, row["space"], *row["size"])
    if "pixels" in expected:
        assert [list(box.xyxy) for box in placed.boxes] == expected["pixels"]
        assert placed.clipped == expected["clipped"]
    if "AP" in expected:
        assert _ap(row["truth_xywh"], placed.boxes, *row["size"]) == pytest.approx(expected["AP"])
