"""ODinW-13: the original folders, a table with GLIP's annotation files, and the hub's rows."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from flagharness.data import load_annotations
from flagharness.prompt import locate_categories

FOLDER = Path(__file__).parents[2] / "tasks" / "odinw13"
SIZE = (200, 100)
BOX, FOUND = [20, 10, 40, 40], [100, 100, 300, 500]
"""A true box in pixels, and the same as a reply states it."""


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def write_domain(task: ModuleType, tmp_path: Path, png: Callable[..., bytes]) -> Callable[..., Path]:
    """Return a function that writes a domain's annotation file and pictures below a root.

    Args: the domain, and per picture the names of its boxes; category ids are given against the order of the names.
    """

    def write(domain: str, *pictures: list[str], root: str = "odinw", names: list[str] | None = None) -> Path:
        file = tmp_path / root / task.annotation_file(domain)
        file.parent.mkdir(parents=True, exist_ok=True)
        names = names or task.DOMAINS[domain][1]
        ids = {name: len(names) - n for n, name in enumerate(names)}
        content: dict[str, Any] = {
            "images": [], "annotations": [], "categories": [{"id": ids[n], "name": n} for n in names],
        }  # fmt: skip
        for number, labels in enumerate(pictures, start=1):
            (file.parent / f"{number}.jpg").write_bytes(png(number, SIZE, "JPEG"))
            content["images"].append(
                {"id": number, "file_name": f"{number}.jpg", "width": 200, "height": 100}
            )
            for label in labels:
                content["annotations"].append(
                    {"id": len(content["annotations"]), "image_id": number, "category_id": ids[label], "bbox": BOX,
                     "area": 1600, "iscrowd": 0}
                )  # fmt: skip
        file.write_text(json.dumps(content))
        return tmp_path / root

    return write


def _found(*labels: str) -> str:
    return json.dumps([{"bbox_2d": FOUND, "label": label} for label in labels])


def test_a_run_on_some_domains_is_the_mean_of_those_and_partial(
    run_benchmark: Callable[..., Any],
    golden_requests: Callable[..., None],
    write_domain: Callable[..., Path],
    endpoint: Any,
    tmp_path: Path,
    task: ModuleType,
) -> None:
    write_domain("thermalDogsAndPeople", ["dog"], ["person"])
    write_domain("pistols", ["pistol"])
    write_domain("EgoHands", ["hand"], ["hand"], ["hand"])
    root = write_domain("Packages", ["package"])
    answers = iter([_found("hand"), "[]", "a hand"])

    def reply(call: Any) -> Any:
        if "'hand'" in call.text:
            return next(answers)
        if "'package'" in call.text:
            return endpoint.fails(400)
        return _found(" Pistol ") if "'pistol'" in call.text else _found("dog")

    run = run_benchmark("ODinW13_bbox_val_qwen3", root, reply, "config.some_domains=true", name="odinw13")
    result = run.files.result
    # EgoHands: one of three found, precision 1 up to recall 1/3, 34 of 101 levels. Packages: the request failed, 0.
    # pistols: 1. thermal: dog found once and once wrongly on the other picture, precision 1/2; person never: 1/4.
    hands = 34 / 101
    assert run.ran.returncode == 3
    assert result["AP"] == pytest.approx(100 * (hands + 0 + 1 + 0.25) / 4, abs=1e-4)
    assert result["groups"]["thermalDogsAndPeople"]["AP"] == 25.0
    assert result["groups"]["EgoHands"]["AP"] == pytest.approx(100 * hands, abs=1e-4)
    # The official order has the right dog first: 1 for dog.
    assert result["groups"]["thermalDogsAndPeople"]["AP_as_emitted"] == 50.0
    assert result["partial"] is True
    assert result["groups_absent"] == [
        name
        for name in task.DOMAINS
        if name not in ("thermalDogsAndPeople", "pistols", "EgoHands", "Packages")
    ]
    assert result["never_predicted"] == ["Packages: package", "thermalDogsAndPeople: person"]
    assert result["range"][1] == pytest.approx(100 * (hands + 1 + 1 + 0.25) / 4, abs=1e-4)
    assert "the data holds 7 rows, the benchmark 4,938" in result["note"]
    golden_requests(
        "odinw13", [call for call in run.calls if "'hand'" not in call.text and "dog" not in call.text]
    )
    rows = load_annotations([tmp_path / "cache" / "ODinW13" / "val" / "data.json"])
    assert [row["question_id"] for row in rows] == [
        "EgoHands_1", "Packages_1", "pistols_1", "thermalDogsAndPeople_1", "EgoHands_2", "thermalDogsAndPeople_2",
        "EgoHands_3",
    ]  # fmt: skip
    assert rows[3] == {
        "question_id": "thermalDogsAndPeople_1", "img_path": "img/thermalDogsAndPeople_1.jpg",
        "question": locate_categories(["dog", "person"]), "question_type": "bbox",
        "answer": [{"bbox": BOX, "label": "dog", "area": 1600, "iscrowd": 0}], "width": 200, "height": 100,
        "categories": ["dog", "person"], "domain": "thermalDogsAndPeople", "image_id": "thermalDogsAndPeople:1",
    }  # fmt: skip


def test_missing_domains_are_named_unless_some_will_do(
    run_benchmark: Callable[..., Any], write_domain: Callable[..., Path]
) -> None:
    run = run_benchmark("odinw13", write_domain("EgoHands", ["hand"]), lambda call: "[]")
    assert run.ran.returncode == 1
    assert "no annotation file of AerialMaritimeDrone, Aquarium" in run.ran.stderr
    assert "config.some_domains=true" in run.ran.stderr


def test_categories_that_are_not_those_of_the_domain_are_refused(
    run_benchmark: Callable[..., Any], write_domain: Callable[..., Path]
) -> None:
    root = write_domain("EgoHands", ["glove"], names=["hand", "glove"])
    run = run_benchmark("odinw13", root, lambda call: "[]", "config.some_domains=true")
    assert run.ran.returncode == 1
    assert "categories that are not those of EgoHands (hand): glove" in run.ran.stderr


def test_a_missing_picture_is_named(
    run_benchmark: Callable[..., Any], write_domain: Callable[..., Path]
) -> None:
    root = write_domain("EgoHands", ["hand"], ["hand"])
    (root / "EgoHands/generic/valid/2.jpg").unlink()
    run = run_benchmark("odinw13", root, lambda call: "[]", "config.some_domains=true")
    assert run.ran.returncode == 1
    assert "1 pictures are not there" in run.ran.stderr
    assert "EgoHands/generic/valid/2.jpg" in run.ran.stderr


def test_a_picture_of_another_size_than_its_boxes_were_drawn_on_is_refused(
    run_benchmark: Callable[..., Any],
    write_domain: Callable[..., Path],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
) -> None:
    root = write_domain("EgoHands", ["hand"], ["hand"])
    table = write_tsv("t.tsv", _table(png, image=png(1, (100, 50))))
    run = run_benchmark("odinw13", table, lambda call: "[]", f"config.annotations_root={root}")
    assert run.ran.returncode == 1
    assert "its picture is 100 x 50, its boxes were drawn on 200 x 100" in run.ran.stderr
    (root / "EgoHands/generic/valid/2.jpg").write_bytes(png(2, (400, 200), "JPEG"))
    run = run_benchmark("odinw13", root, lambda call: "[]", "config.some_domains=true")
    assert run.ran.returncode == 1
    assert "1 pictures are not those of the boxes" in run.ran.stderr
    assert "EgoHands/generic/valid/2.jpg is 400 x 200, its boxes were drawn on 200 x 100" in run.ran.stderr
    assert endpoint.calls == []


def test_the_first_rows_of_a_table_show_every_domain_and_the_score_stays(
    run_benchmark: Callable[..., Any],
    write_domain: Callable[..., Path],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
) -> None:
    write_domain("EgoHands", ["hand"], ["hand"])
    root = write_domain("pothole", ["pothole"])
    table = [
        {"index": n, "image": png(n, SIZE), "question": locate_categories([name]), "domain": domain,
         "image_id": number}
        for n, (domain, name, number) in enumerate(
            [("EgoHands", "hand", 1), ("EgoHands", "hand", 2), ("pothole", "pothole", 1)]
        )
    ]  # fmt: skip
    source, option = write_tsv("t.tsv", table), f"config.annotations_root={root}"
    stray = json.dumps([{"bbox_2d": [900, 900, 990, 990], "label": "hand"}])
    answers = iter([stray, _found("hand")])

    def reply(call: Any) -> str:
        return next(answers) if "'hand'" in call.text else _found("pothole")

    result = run_benchmark("odinw13", source, reply, option).files.result
    # Hands: one of two found, and a stray box that came before it: precision 1/2 up to recall 1/2, 51 of 101 levels.
    hands = 51 / 101 / 2
    assert result["groups"]["EgoHands"]["AP_as_emitted"] == pytest.approx(100 * hands, abs=1e-4)
    assert result["AP"] == result["AP_as_emitted"] == pytest.approx(100 * (hands + 1) / 2, abs=1e-4)
    answers = iter([_found("hand")])
    result = run_benchmark("odinw13", source, reply, option, "--limit", "2", "--overwrite").files.result
    assert list(result["groups"]) == ["EgoHands", "pothole"]


def _table(png: Callable[..., bytes], **cells: Any) -> list[dict[str, Any]]:
    row = {"index": 0, "image": png(1, SIZE), "question": locate_categories(["hand"]), "domain": "egohands",
           "image_id": 1}  # fmt: skip
    return [{key: value for key, value in {**row, **cells}.items() if value is not None}]


@pytest.mark.parametrize("place", ["config", "LMUData"])
def test_a_table_takes_its_truth_from_the_annotation_files(
    run_benchmark: Callable[..., Any], write_domain: Callable[..., Path], write_tsv: Callable[..., Path],
    png: Callable[..., bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str],
    place: str,
) -> None:  # fmt: skip
    root = write_domain("EgoHands", ["hand"], root="GLIP")
    options = [f"config.annotations_root={root}"] if place == "config" else []
    if place == "LMUData":
        environment["LMUData"] = str(tmp_path)
        monkeypatch.setenv("LMUData", str(tmp_path))
    run = run_benchmark("odinw13", write_tsv("t.tsv", _table(png)), lambda call: _found("hand"), *options)
    assert run.files.result["AP"] == 100.0
    (row,) = load_annotations([tmp_path / "cache" / "ODinW13" / "val" / "data.json"])
    assert (row["question_id"], row["domain"], row["image_id"]) == ("0", "EgoHands", "EgoHands:1")


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (
            {"domain": None},
            "no domain: none of domain, dataset_name, dataset, subset. Columns: index, question",
        ),
        ({"domain": "Aquariun"}, "domain 'Aquariun' is none of the 13. Did you mean 'Aquarium'?"),
        ({"image_id": None}, "no image id: none of image_id"),
        ({"image_id": 7}, "has no image 7"),
        (
            {"domain": "pothole"},
            "no annotations of pothole: pothole/valid/annotations_without_background.json",
        ),
    ],
)
def test_a_table_whose_truth_cannot_be_found_is_refused(
    run_benchmark: Callable[..., Any], write_domain: Callable[..., Path], write_tsv: Callable[..., Path],
    png: Callable[..., bytes], endpoint: Any, cells: dict[str, Any], said: str,
) -> None:  # fmt: skip
    root = write_domain("EgoHands", ["hand"], root="GLIP")
    source = write_tsv("t.tsv", _table(png, **cells))
    run = run_benchmark("odinw13", source, lambda call: "[]", f"config.annotations_root={root}")
    assert run.ran.returncode == 1
    assert said.replace("7", "'7'") in run.ran.stderr
    assert endpoint.calls == []


def test_the_hubs_rows_hold_their_boxes(
    run_benchmark: Callable[..., Any],
    write_parquet: Callable[..., Path],
    png: Callable[..., bytes],
    tmp_path: Path,
) -> None:
    row = {"image": {"bytes": png(1, SIZE), "path": None}, "categories": ["dog", "person"],
           "bboxes": [[20.0, 10.0, 60.0, 50.0]], "labels": ["dog"],
           "dataset_name": "thermalDogsAndPeople"}  # fmt: skip
    write_parquet("hub/data/test-00000-of-00001.parquet", [row])
    run = run_benchmark(
        "odinw13", tmp_path / "hub", lambda call: _found("dog"), "config.table=null", "config.split=test"
    )
    assert run.files.result["AP"] == 100.0
    (made,) = load_annotations([tmp_path / "cache" / "ODinW13" / "test" / "data.json"])
    assert made["answer"] == [{"bbox": [20.0, 10.0, 40.0, 40.0], "label": "dog"}]


@pytest.mark.parametrize(
    ("change", "said"),
    [({"labels": ["cat"]}, "label 'cat' is none of the names"), ({"labels": []}, "1 boxes but 0 labels")],
)
def test_hub_rows_that_contradict_themselves_are_refused(
    run_benchmark: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes],
    change: dict[str, Any], said: str,
) -> None:  # fmt: skip
    row = {"image": {"bytes": png(1, SIZE), "path": None}, "bboxes": [[20.0, 10.0, 60.0, 50.0]], "labels": ["dog"],
           "dataset_name": "thermalDogsAndPeople", **change}  # fmt: skip
    run = run_benchmark("odinw13", write_parquet("o.parquet", [row]), lambda call: "[]", "config.table=null")
    assert run.ran.returncode == 1
    assert said in run.ran.stderr


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 3)


def test_the_domains_are_those_of_the_config(task: ModuleType) -> None:
    from flagharness.config import load_task_config

    config = load_task_config(FOLDER / "odinw13.py")
    assert config.evaluator is not None
    assert config.evaluator["groups"] == list(task.DOMAINS)
    assert len(task.DOMAINS["PascalVOC"][1]) == 20
