"""Blood cells on the photographs that the counting task ships."""

from __future__ import annotations

import csv
import importlib.util
import shutil
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError
from flagharness.evaluator import BoxEvaluator

TASKS = Path(__file__).parents[2] / "tasks"
FOLDER = TASKS / "bccd_bbox"
CONFIG = FOLDER / "bccd_bbox.py"


def load(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bccd_bbox_process", folder / "process.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(folder: Path, tmp_path: Path) -> dict[str, dict[str, Any]]:
    config = load_task_config(folder / "bccd_bbox.py").dataset["config"]
    load(folder).process(ConfigDict({**config, "processed_dataset_path": str(tmp_path / "out")}))
    rows = load_annotations([tmp_path / "out" / "test" / "data.json"])
    return {row["question_id"]: row for row in rows}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("bccd_bbox", "bccd_count"):
        shutil.copytree(TASKS / name, tmp_path / "tasks" / name)
    return tmp_path / "tasks" / "bccd_bbox"


def test_each_photograph_becomes_a_row_with_its_labelled_boxes(tmp_path: Path) -> None:
    rows = rows_of(FOLDER, tmp_path)
    assert len(rows) == 72
    labels = Counter(box["label"] for row in rows.values() for box in row["answer"])
    assert labels == {"RBC": 805, "WBC": 71, "Platelets": 69}
    assert {key: value for key, value in rows["BloodImage_00157"].items() if key != "question"} == {
        "question_id": "BloodImage_00157",
        "question_type": "bbox",
        "answer": [
            {"bbox": [108, 147, 109, 101], "label": "RBC"},
            {"bbox": [523, 128, 109, 101], "label": "RBC"},
            {"bbox": [365, 355, 130, 101], "label": "RBC"},
            {"bbox": [202, 183, 175, 162], "label": "WBC"},
        ],
        "img_path": "img/BloodImage_00157.jpg",
        "width": 640,
        "height": 480,
        "categories": ["RBC", "WBC", "Platelets"],
    }
    assert BoxEvaluator().problems(list(rows.values())) == []


def test_the_boxes_are_the_corners_of_the_labels(tmp_path: Path) -> None:
    found = Counter(
        (name, box["label"], x, y, x + width, y + height)
        for name, row in rows_of(FOLDER, tmp_path).items()
        for box in row["answer"]
        for x, y, width, height in [box["bbox"]]
    )
    with (TASKS / "bccd_count" / "labels.csv").open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    assert found == Counter((line[0], line[1], *map(int, line[2:])) for line in lines)


def test_the_photographs_are_those_of_the_counting_task(tmp_path: Path) -> None:
    rows_of(FOLDER, tmp_path)
    photos = list((TASKS / "bccd_count" / "photos").iterdir())
    assert len(photos) == 72
    for photo in photos:
        assert (tmp_path / "out" / "test" / "img" / photo.name).read_bytes() == photo.read_bytes()


def test_the_question_is_the_whole_prompt(tmp_path: Path) -> None:
    [question] = {row["question"] for row in rows_of(FOLDER, tmp_path).values()}
    assert question == (
        "Locate every instance that belongs to the following categories: 'RBC, WBC, Platelets'. Report the bounding "
        "boxes in JSON format as a list of objects, one object per detected instance, where each object has a "
        '"bbox_2d" key with [x1, y1, x2, y2] and a "label" key with the category name exactly as written above. '
        "Coordinates must be normalised on a 0-1000 scale, with (0,0) as the top-left corner and (1000,1000) as "
        'the bottom-right corner of the image. For example: [{"bbox_2d": [x1, y1, x2, y2], "label": "RBC"}, '
        '{"bbox_2d": [x1, y1, x2, y2], "label": "WBC"}]. If none of the listed categories is present, output an '
        "empty list []."
    )
    assert load_task_config(CONFIG).dataset["prompt_template"]["post_prompt"] == ""


def test_the_folders_work_wherever_they_are_installed(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(rows_of(copy, tmp_path)) == 72


def test_a_photograph_that_is_missing_is_told(copy: Path, tmp_path: Path) -> None:
    (copy.parent / "bccd_count" / "photos" / "BloodImage_00157.jpg").unlink()
    with pytest.raises(DataError, match="BloodImage_00157"):
        rows_of(copy, tmp_path)


def test_a_box_without_area_is_passed_over_and_its_photograph_kept(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "photo,label,xmin,ymin,xmax,ymax\na,RBC,1,1,5,5\na,RBC,3,3,3,3\nb,Platelets,2,2,2,9\n"
    )
    assert load(FOLDER).labelled_boxes(tmp_path / "labels.csv") == {
        "a": [{"bbox": [1, 1, 4, 4], "label": "RBC"}],
        "b": [],
    }


def test_the_folder_holds_what_its_description_says() -> None:
    assert "MIT License" in (FOLDER / "LICENSE.upstream").read_text()
    assert load_task_config(CONFIG).meta["rows"] == 72
