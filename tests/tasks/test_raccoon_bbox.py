"""Raccoons on the shipped photographs."""

from __future__ import annotations

import csv
import doctest
import importlib.util
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mmengine.config import ConfigDict
from PIL import Image

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError
from flagharness.evaluator import BoxEvaluator
from flagharness.run import Prediction

FOLDER = Path(__file__).parents[2] / "tasks" / "raccoon_bbox"
CONFIG = FOLDER / "raccoon_bbox.py"


def load(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("raccoon_process", folder / "process.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows_of(folder: Path, tmp_path: Path) -> dict[str, dict[str, Any]]:
    config = load_task_config(folder / "raccoon_bbox.py").dataset["config"]
    load(folder).process(ConfigDict({**config, "processed_dataset_path": str(tmp_path / "out")}))
    rows = load_annotations([tmp_path / "out" / "test" / "data.json"])
    return {row["question_id"]: row for row in rows}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "elsewhere" / "raccoon_bbox"))


def test_each_photograph_becomes_a_row_with_its_boxes(tmp_path: Path) -> None:
    rows = rows_of(FOLDER, tmp_path)
    assert len(rows) == 33
    assert sum(len(row["answer"]) for row in rows.values()) == 35
    assert {name for name, row in rows.items() if len(row["answer"]) > 1} == {"raccoon-72", "raccoon-168"}
    assert {key: value for key, value in rows["raccoon-72"].items() if key != "question"} == {
        "question_id": "raccoon-72",
        "question_type": "bbox",
        "answer": [{"bbox": [219, 195, 227, 180]}, {"bbox": [98, 34, 186, 302]}],
        "img_path": "img/raccoon-72.jpg",
        "width": 560,
        "height": 420,
        "category": "raccoon",
    }
    assert BoxEvaluator().problems(list(rows.values())) == []


def test_the_boxes_are_the_corners_of_the_labels(tmp_path: Path) -> None:
    rows = rows_of(FOLDER, tmp_path)
    found = {
        (name, x, y, x + width, y + height)
        for name, row in rows.items()
        for box in row["answer"]
        for x, y, width, height in [box["bbox"]]
    }
    with (FOLDER / "labels.csv").open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    assert found == {(line[0].removesuffix(".jpg"), *map(int, line[4:])) for line in lines}
    assert len(found) == 35


def test_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    for name, row in rows_of(FOLDER, tmp_path).items():
        with Image.open(FOLDER / "photos" / f"{name}.jpg") as image:
            assert (row["width"], row["height"]) == image.size


def test_the_photographs_are_the_shipped_bytes(tmp_path: Path) -> None:
    rows_of(FOLDER, tmp_path)
    for photo in (FOLDER / "photos").iterdir():
        assert (tmp_path / "out" / "test" / "img" / photo.name).read_bytes() == photo.read_bytes()


def test_the_question_is_the_whole_prompt(tmp_path: Path) -> None:
    [question] = {row["question"] for row in rows_of(FOLDER, tmp_path).values()}
    assert question == (
        "Locate all instances of 'raccoon' in this image. For each instance, output a bounding box as "
        "[x1, y1, x2, y2] where coordinates are normalised on a 0-1000 scale (with (0,0) as the top-left corner and "
        "(1000,1000) as the bottom-right corner). Your answer should be a list of lists. If there are no instances "
        "of 'raccoon' in the image, output an empty list [] as your answer."
    )
    assert load_task_config(CONFIG).dataset["prompt_template"]["post_prompt"] == ""


def test_the_folder_works_wherever_it_is_installed(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work" / "photos").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    assert len(rows_of(copy, tmp_path)) == 33


def test_a_photograph_without_label_or_a_label_without_photograph_is_told(copy: Path, tmp_path: Path) -> None:
    (copy / "photos" / "raccoon-72.jpg").rename(copy / "photos" / "other.jpg")
    with pytest.raises(DataError, match=r"(?s)other\.jpg.*raccoon-72\.jpg"):
        rows_of(copy, tmp_path)


def test_a_photograph_of_another_size_is_told(copy: Path, tmp_path: Path) -> None:
    Image.new("RGB", (20, 10)).save(copy / "photos" / "raccoon-72.jpg")
    with pytest.raises(DataError, match=r"raccoon-72\.jpg: \(20, 10\), labels \(560, 420\)"):
        rows_of(copy, tmp_path)


def test_the_folder_holds_what_its_description_says() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 1_500_000
    assert "MIT License" in (FOLDER / "LICENSE.upstream").read_text()
    assert load_task_config(CONFIG).meta["rows"] == len(list((FOLDER / "photos").iterdir())) == 33


def test_the_examples_in_process_py_hold() -> None:
    assert doctest.testmod(load(FOLDER)) == (0, 1)


@pytest.mark.parametrize("reply", ["[[0, 0, 1000, 1000]]", "[[100, 100, 900, 900]]"])
def test_simple_answers_score_what_the_description_says(reply: str, tmp_path: Path) -> None:
    options = load_task_config(CONFIG).evaluator or {}
    scorer = BoxEvaluator(**{key: value for key, value in options.items() if key != "type"})
    rows = rows_of(FOLDER, tmp_path)
    verdicts = [
        scorer.verdict_on(row, [Prediction(row["question_id"], answer=reply)]) for row in rows.values()
    ]
    result = scorer.aggregate(verdicts, rows)
    [line] = [line for line in (FOLDER / "README.md").read_text().splitlines() if f"`{reply}`" in line]
    assert line.endswith(f"| {result['AP']:.2f} | {result['AP50']:.2f} |")
