"""True boxes of grounding sets, and files in the form of COCO."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.data import read_coco
from flagharness.data._box_table import boxes_in_pixels, category_of, parse_boxes
from flagharness.errors import DataError


@pytest.mark.parametrize(
    ("box", "box_format", "pixels"),
    [
        ([10, 20, 30, 60], "pixel_xyxy", [10, 20, 20, 40]),
        ([10, 20, 30, 60], "pixel_xywh", [10, 20, 30, 60]),
        ([50, 200, 150, 600], "norm1000_xyxy", [10, 20, 20, 40]),
        ([0, 0, 201, 100], "pixel_xyxy", [0, 0, 201, 100]),
        ([5, 5, 5, 5], "pixel_xyxy", [5, 5, 0, 0]),
    ],
)
def test_true_boxes_become_pixels(box: list[int], box_format: str, pixels: list[int]) -> None:
    assert boxes_in_pixels([box], box_format, 200, 100) == [pytest.approx(pixels)]


@pytest.mark.parametrize(
    ("box", "box_format", "said"),
    [
        ([30, 20, 10, 60], "pixel_xyxy", "its second corner comes before its first"),
        ([150, 20, 60, 10], "pixel_xywh", "lies outside of the image"),
        ([10, 20, 203, 60], "pixel_xyxy", r"lies outside of the image \(200 x 100\)"),
        ([-3, 20, 30, 60], "pixel_xyxy", "lies outside"),
        ([50, 200, 1500, 600], "norm1000_xyxy", "lies outside"),
    ],
)
def test_a_box_that_cannot_be_what_the_format_says_is_refused(
    box: list[int], box_format: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        boxes_in_pixels([box], box_format, 200, 100)


@given(st.tuples(*[st.floats(0, 100)] * 4))
def test_corners_and_sizes_of_one_box_are_one_box(values: tuple[float, float, float, float]) -> None:
    x1, x2 = sorted(values[:2])
    y1, y2 = sorted(values[2:])
    by_corners = boxes_in_pixels([[x1, y1, x2, y2]], "pixel_xyxy", 100, 100)
    by_size = boxes_in_pixels([[x1, y1, x2 - x1, y2 - y1]], "pixel_xywh", 100, 100)
    assert by_size[0] == pytest.approx(by_corners[0], abs=1e-9)


@pytest.mark.parametrize(
    ("cell", "boxes"),
    [
        ("[[1, 2, 3, 4], [5, 6, 7, 8]]", [[1, 2, 3, 4], [5, 6, 7, 8]]),
        ("[(1, 2, 3, 4)]", [[1, 2, 3, 4]]),
        (" [1.5, 2, 3, 4] ", [[1.5, 2, 3, 4]]),
        ("[]", []),
        ([[1, 2, 3, 4]], [[1, 2, 3, 4]]),
    ],
)
def test_boxes_in_a_cell(cell: Any, boxes: list[list[float]]) -> None:
    assert parse_boxes(cell) == boxes


@pytest.mark.parametrize(
    "cell", ["", "none", "[[1, 2, 3]]", "[['a', 2, 3, 4]]", "{'a': 1}", None, [[1, 2, 3, None]]]
)
def test_a_cell_without_boxes_is_refused(cell: Any) -> None:
    with pytest.raises(ValueError, match=r"no list of boxes|not four numbers"):
        parse_boxes(cell)


def test_the_category_has_a_column_or_stands_in_quotes() -> None:
    assert category_of({"class": " dog ", "question": "Locate all instances of 'cat'"}) == "dog"
    assert category_of({"category": "", "question": "Locate all instances of 'hot dog' in"}) == "hot dog"
    with pytest.raises(ValueError, match="Columns: index, question"):
        category_of({"index": "1", "question": "Where is it?"})


# --- COCO files ---

COCO: dict[str, Any] = {
    "images": [{"id": 0, "file_name": "a.jpg"}, {"id": 5, "file_name": "b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 5, "category_id": 7, "bbox": [1, 2, 3, 4], "area": 9.5, "iscrowd": 1,
         "segmentation": [[1, 2, 3]]},
        {"id": 2, "image_id": 5, "category_id": 0, "bbox": [1, 2, 3, 4]},
    ],
    "categories": [{"id": 7, "name": "dog"}, {"id": 0, "name": "cat"}],
}  # fmt: skip


def test_a_coco_file_is_read_by_id_without_its_polygons(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps(COCO))
    content = read_coco(tmp_path / "x.json")
    assert list(content.images) == [0, 5]
    assert content.boxes == {
        0: [],
        5: [
            {"bbox": [1, 2, 3, 4], "label": "dog", "area": 9.5, "iscrowd": 1},
            {"bbox": [1, 2, 3, 4], "label": "cat"},
        ],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "no COCO file: images, annotations, categories missing"),
        (json.dumps({**COCO, "images": [{"file_name": "a.jpg"}]}), "lacks 'id'"),
        (json.dumps({**COCO, "categories": []}), "lacks 7, or names one that is not there"),
        (json.dumps({**COCO, "annotations": [{"image_id": 9, "category_id": 7, "bbox": []}]}), "lacks 9"),
    ],
)
def test_what_is_no_coco_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(DataError, match=said):
        read_coco(tmp_path / "x.json")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.json: cannot be read"):
        read_coco(tmp_path / "none.json")


def test_an_apostrophe_is_no_quotation_mark() -> None:
    assert category_of({"question": "Don't miss any 'dog' here"}) == "dog"
