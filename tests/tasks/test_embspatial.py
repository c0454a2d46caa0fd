"""EmbSpatial-Bench: the table, the authors' records, and the hub's columns."""

from __future__ import annotations

import base64
import doctest
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError

FOLDER = Path(__file__).parents[2] / "tasks" / "embspatial"

Processed = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Processed:
    """Return a function that runs process.py on a file or folder and returns the rows it wrote, by id."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "embspatial.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        rows = load_annotations([tmp_path / "made" / "test" / "data.json"])
        return sorted(rows, key=lambda row: str(row["question_id"]))

    return run


OPTIONS = ["sofa", "the cook's hat", "lamp", "None"]


def table_row(index: int, image: Any, answer: str, **more: str) -> dict[str, Any]:
    return {
        "index": index,
        "image": image,
        "question": f"Which is left, {index}?",
        "options": json.dumps(OPTIONS),
        "answer": answer,
        "data_source": "mp3d" if index % 2 else "scannet",
        **more,
    }


def record(number: int, answer: Any, **picture: Any) -> dict[str, Any]:
    return {
        "data_source": "ai2thor",
        "scene_id": "FloorPlan1",
        "question_id": f"ai2thor_{number}",
        "question": f"Which is left, {number}?",
        "relation": "left",
        **picture,
        "answer_options": OPTIONS,
        "answer": answer,
        "objects": [{"name": "sofa", "bbox": [0, 0, 5, 5]}],
    }


ROW_3 = {
    "question_id": "ai2thor_3",
    "img_path": "img/0.jpg",
    "question": "Which is left, 3?",
    "question_type": "multiple-choice",
    "options": OPTIONS,
    "answer": "C",
    "data_source": "ai2thor",
    "relation": "left",
    "scene_id": "FloorPlan1",
    "objects": [{"name": "sofa", "bbox": [0, 0, 5, 5]}],
}


def test_a_row_of_the_table_has_its_options_in_one_cell(
    processed: Processed, write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(0, png(0, kind="JPEG"), "D"),
        table_row(1, "0", "b", options=str(OPTIONS), relation="left"),
    ]
    assert processed(write_tsv("EmbSpatialBench.tsv", rows)) == [
        {
            "question_id": "0",
            "img_path": "img/0.jpg",
            "question": "Which is left, 0?",
            "question_type": "multiple-choice",
            "options": OPTIONS,
            "answer": "D",
            "data_source": "scannet",
        },
        {
            "question_id": "1",
            "img_path": "img/0.jpg",
            "question": "Which is left, 1?",
            "question_type": "multiple-choice",
            "options": OPTIONS,
            "answer": "B",
            "data_source": "mp3d",
            "relation": "left",
        },
    ]


@pytest.mark.parametrize("column", ["image", "image_base64"])
def test_the_authors_records_have_numbers_for_truths(
    processed: Processed, png: Callable[..., bytes], tmp_path: Path, column: str
) -> None:
    picture = base64.b64encode(png(3, kind="JPEG")).decode()
    file = tmp_path / "embspatial_bench.json"
    records = [record(3, 2, **{column: picture}), record(4, 0, **{column: picture})]
    file.write_text(json.dumps(records), encoding="utf-8")
    made = processed(file)
    assert made[0] == ROW_3
    assert made[1]["answer"] == "A"


def test_the_hub_has_the_picture_as_a_file(
    processed: Processed, write_parquet: Callable[..., Path], png: Callable[..., bytes], tmp_path: Path
) -> None:
    picture = png(3, kind="JPEG")
    file = write_parquet("hub.parquet", [record(3, 2, image={"bytes": picture, "path": None})])
    assert processed(file) == [ROW_3]
    assert (tmp_path / "made" / "test" / "img" / "0.jpg").read_bytes() == picture


def test_options_in_columns_are_read_too(
    processed: Processed, write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = table_row(0, png(0), "1", options="", A="x", B="y", C="", D="")
    made = processed(write_tsv("t.tsv", [row]))[0]
    assert (made["options"], made["answer"]) == (["x", "y"], "B")


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"answer": "4"}, "none of the numbers 0 to 3"),
        ({"answer": "E"}, "none of the letters A to D"),
        ({"answer": ""}, "none of the letters A to D"),
        ({"options": "sofa, lamp"}, "no list of at least two"),
        ({"options": "['sofa']"}, "no list of at least two"),
        ({"options": ""}, "0 options in the columns"),
        ({"question": " "}, "the question is empty"),
    ],
)
def test_a_row_that_cannot_be_scored_is_told(
    processed: Processed,
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    more: dict[str, str],
    problem: str,
) -> None:
    rows = [table_row(0, png(0), "A"), {**table_row(1, png(1), "A"), **more}]
    with pytest.raises(DataError, match=rf"1 rows are not as expected:\n.*row 2 .*{problem}"):
        processed(write_tsv("t.tsv", rows))


def test_a_run_is_scored_over_all_rows_per_source_and_relation(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    rows = [table_row(n, png(n, kind="JPEG"), "B", relation="close" if n < 3 else "far") for n in range(7)]
    replies = ["B", "It is the cook's hat.", "C", "1", None, "b", ""]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("EmbSpatialBench", write_tsv("t.tsv", rows), reply, name="embspatial")
    # right: 0, 1 and 5. 2 is wrong, 3 (a number) is unread, 4 (refused) and 6 (empty) have no answer: 3 of 7.
    # scannet has 0, 2, 4, 6 (1 right), mp3d 1, 3, 5 (2 right); close 0, 1, 2 (2 right), far 3 to 6 (1 right).
    assert run.ran.returncode == 3
    assert run.files.result["accuracy"] == 42.86
    detailed = run.files.result["detailed"]
    assert {
        key: {name: (block["accuracy"], block["n"]) for name, block in groups.items()}
        for key, groups in detailed.items()
    } == {
        "data_source": {"mp3d": (66.67, 3), "scannet": (25.0, 4)},
        "relation": {"close": (66.67, 3), "far": (25.0, 4)},
    }
    assert run.files.counts == {"total": 7, "answered": 5, "request_errors": 2, "parse_failures": 1}
    assert run.files.result["note"] == "the data holds 7 rows, the benchmark 3,640"
    asked = {call.asked: call for call in run.calls}
    assert asked[0].text == (
        "Question: Which is left, 0?\nOptions:\nA: sofa\nB: the cook's hat\nC: lamp\nD: None\n"
        "Give me the answer letter directly. The best answer is:"
    )
    golden_requests("embspatial", [asked[0], asked[5]])


def test_an_empty_reply_is_not_right_where_the_truth_is_a_number(
    run_benchmark: Callable[..., Any], png: Callable[..., bytes], endpoint: Any, tmp_path: Path
) -> None:
    picture = base64.b64encode(png(0)).decode()
    file = tmp_path / "embspatial_bench.json"
    file.write_text(
        json.dumps([record(n, n, image=picture) for n in range(3)]), encoding="utf-8"
    )  # truths A, B and C
    replies = ["", "B", "2"]
    run = run_benchmark("embspatial", file, lambda call: endpoint.says(replies[call.asked]))
    assert run.files.result["accuracy"] == 33.33
    outcomes = {row["question_id"]: row["outcome"] for row in run.files.evaluated}
    assert outcomes == {"ai2thor_0": "request_error", "ai2thor_1": "correct", "ai2thor_2": "unparsed"}


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 2)
