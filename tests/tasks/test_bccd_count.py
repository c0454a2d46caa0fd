"""Red blood cells on the shipped photographs."""

from __future__ import annotations

import csv
import doctest
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

FOLDER = Path(__file__).parents[2] / "tasks" / "bccd_count"

COUNTED_BY_HAND = {
    "BloodImage_00007": 17,
    "BloodImage_00018": 21,
    "BloodImage_00031": 18,
    "BloodImage_00041": 17,
    "BloodImage_00065": 5,
    "BloodImage_00157": 3,
    "BloodImage_00249": 0,
    "BloodImage_00303": 0,
    "BloodImage_00327": 0,
}
"""RBC objects in the annotation files of the origin."""


def load(folder: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bccd_process", folder / "process.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settings(tmp_path: Path, folder: Path) -> ConfigDict:
    config = load_task_config(folder / "bccd_count.py").dataset["config"]
    return ConfigDict(
        {
            **config,
            "processed_dataset_path": str(tmp_path / "out"),
            "processor": str(folder / "process.py"),
        }
    )


def test_each_photograph_becomes_a_row_with_its_number_of_boxes(tmp_path: Path) -> None:
    load(FOLDER).process(settings(tmp_path, FOLDER))
    rows = {row["question_id"]: row for row in load_annotations([tmp_path / "out" / "test" / "data.json"])}
    assert len(rows) == 72
    assert {name: rows[name]["answer"] for name in COUNTED_BY_HAND} == COUNTED_BY_HAND
    assert sum(row["answer"] for row in rows.values()) == 805
    assert rows["BloodImage_00157"] == {
        "question_id": "BloodImage_00157",
        "question": "How many red blood cells (RBC) are there in this microscope picture of a blood smear? "
        "White blood cells and platelets do not count.",
        "question_type": "count",
        "answer": 3,
        "img_path": "img/BloodImage_00157.jpg",
        "sub_task": "0-5",
    }
    assert Counter(row["sub_task"] for row in rows.values()) == {
        "0-5": 7,
        "6-10": 23,
        "11-15": 32,
        "16 and more": 10,
    }


def test_the_photographs_are_the_shipped_bytes(tmp_path: Path) -> None:
    load(FOLDER).process(settings(tmp_path, FOLDER))
    for photo in (FOLDER / "photos").iterdir():
        assert (tmp_path / "out" / "test" / "img" / photo.name).read_bytes() == photo.read_bytes()


def test_the_folder_works_wherever_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "site-packages" / "tasks" / "bccd_count"
    shutil.copytree(FOLDER, elsewhere)
    (tmp_path / "work" / "photos").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    load(elsewhere).process(settings(tmp_path, elsewhere))
    assert len(load_annotations([tmp_path / "out" / "test" / "data.json"])) == 72


def test_a_photograph_that_is_missing_is_told(tmp_path: Path) -> None:
    copy = tmp_path / "bccd_count"
    shutil.copytree(FOLDER, copy)
    (copy / "photos" / "BloodImage_00157.jpg").unlink()
    with pytest.raises(DataError, match="BloodImage_00157"):
        load(copy).process(settings(tmp_path, copy))


def test_a_box_without_area_and_other_cells_are_not_counted(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "photo,label,xmin,ymin,xmax,ymax\na,RBC,1,1,5,5\na,RBC,3,3,3,3\na,WBC,1,1,9,9\nb,Platelets,1,1,2,2\n"
    )
    assert load(FOLDER).count_boxes(tmp_path / "labels.csv") == {"a": 1, "b": 0}


def test_the_folder_holds_what_its_description_says() -> None:
    with (FOLDER / "labels.csv").open(newline="") as file:
        labels = Counter(row["label"] for row in csv.DictReader(file))
    assert labels == {"RBC": 805, "WBC": 71, "Platelets": 69}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.*")) < 2_000_000
    assert "MIT License" in (FOLDER / "LICENSE.upstream").read_text()
    assert load_task_config(FOLDER / "bccd_count.py").meta["rows"] == 72


def test_the_examples_in_process_py_hold() -> None:
    assert doctest.testmod(load(FOLDER)) == (0, 1)


def test_a_run_on_the_shipped_photographs(run_benchmark: Any, golden_requests: Any) -> None:
    run = run_benchmark("bccd_count", None, lambda call: "11", "--limit", "10")
    truths = [row["label"] for row in run.files.evaluated]
    assert run.ran.returncode == 0
    assert run.files.result["accuracy"] == 10.0 * truths.count(11)
    assert run.files.result["mae"] == pytest.approx(sum(abs(11 - truth) for truth in truths) / 10)
    assert run.files.result["partial"] is True
    assert "note" not in run.files.result
    first = (FOLDER / "photos" / f"{run.files.evaluated[0]['question_id']}.jpg").read_bytes()
    golden_requests("bccd_count", [call for call in run.calls if call.images == [("image/jpeg", first)]])
