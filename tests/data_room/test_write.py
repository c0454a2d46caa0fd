"""The data folder and the files that process.py leaves in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.data import load_annotations, split_folder, write_annotations, write_json
from flagharness.errors import DataError


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    rows = [
        {"question_id": "图1", "question": '多少只🐱?\n"q"', "answer": 3},
        {"question_id": 2, "answer": [0.5]},
    ]
    assert write_annotations(tmp_path / "new" / "test", iter(rows)) == 2
    path = tmp_path / "new" / "test" / "data.json"
    assert load_annotations([path]) == rows
    text = path.read_text(encoding="utf-8")
    assert "多少只🐱" in text
    assert text.startswith('[\n{"question_id": "图1"')
    assert text.endswith("}\n]\n")
    assert len(text.splitlines()) == 4


def test_all_bad_rows_are_told_at_once_and_nothing_is_written(tmp_path: Path) -> None:
    rows = [{"question_id": 1}, {"question_id": 1}, {"question_id": 3, "img_path": "../a"}, {}]
    with pytest.raises(DataError) as caught:
        write_annotations(tmp_path, rows)
    message = str(caught.value)
    assert "3 problems in 4 rows" in message
    for row in ("row 2", "row 3", "row 4"):
        assert row in message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), b"bytes", {1, 2}, Path("a"), "\ud800"])
def test_what_json_cannot_hold_is_told_with_its_row(tmp_path: Path, value: Any) -> None:
    with pytest.raises(DataError, match=r"row 2 \(question_id 'b'\)"):
        write_annotations(tmp_path, [{"question_id": "a"}, {"question_id": "b", "answer": value}])
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    write_annotations(tmp_path, [{"question_id": 1}])
    with pytest.raises(DataError):
        write_annotations(tmp_path, [{"question_id": float("nan")}])
    assert load_annotations([tmp_path / "data.json"]) == [{"question_id": 1}]


def test_no_rows_at_all_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no row to write"):
        write_annotations(tmp_path, [])


def test_the_split_folder_is_made_below_the_processed_path(tmp_path: Path) -> None:
    cfg = ConfigDict(processed_dataset_path=str(tmp_path / "Set"), split="val")
    assert split_folder(cfg) == tmp_path / "Set" / "val"
    assert split_folder(cfg).is_dir()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"split": ""}, "Set"),
        ({}, "Set"),
        ({"split": "test", "dataset_name": "hard"}, "Set/hard/test"),
        ({"split": "test", "dataset_name": None}, "Set/test"),
    ],
)
def test_the_subset_stands_between_and_an_empty_split_adds_nothing(
    tmp_path: Path, settings: dict[str, Any], expected: str
) -> None:
    cfg = ConfigDict(processed_dataset_path=str(tmp_path / "Set"), **settings)
    assert split_folder(cfg) == tmp_path / expected


def test_plain_json_is_readable_and_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    write_json(tmp_path / "skipped.json", [{"index": "7", "reason": "图"}])
    text = (tmp_path / "skipped.json").read_text(encoding="utf-8")
    assert "图" in text
    assert json.loads(text) == [{"index": "7", "reason": "图"}]
    with pytest.raises(DataError, match=r"x\.json"):
        write_json(tmp_path / "x.json", {"a": float("nan")})
    assert [path.name for path in tmp_path.iterdir()] == ["skipped.json"]
