"""CountQA: records with several questions become one row per question."""

from __future__ import annotations

import doctest
import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import datasets
import pytest
from mmengine.config import ConfigDict
from PIL import Image

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError

FOLDER = Path(__file__).parents[2] / "tasks" / "countqa"


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


def picture(colour: int, file_format: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 6), (colour, 0, 0)).save(buffer, file_format)
    return buffer.getvalue()


def record(colour: int, questions: list[str], answers: list[Any], **other: Any) -> dict[str, Any]:
    return {
        "image": {"bytes": picture(colour, "JPEG" if colour % 2 else "PNG"), "path": None},
        "questions": questions,
        "answers": answers,
        "is_focused": True,
        "categories": ["Kitchenware"],
        **other,
    }


RECORDS = [
    record(0, ["How many cups?", "How many forks?"], ["3", "0"]),
    record(
        1, ["How many 瓶子 are there?"], ["400"], is_focused=False, categories=["Food", "Outdoor, Vehicles"]
    ),
    record(2, [], []),
    record(3, ["a?", "b?", "c?"], [" 7", "08", "1"], categories=[]),
]


def source(
    tmp_path: Path, records: list[dict[str, Any]], answer_type: str = "string", columns: int = 5
) -> Path:
    """Write the records as the hub's parquet files hold them."""
    features = datasets.Features(
        {
            "image": datasets.Image(),
            "questions": datasets.List(datasets.Value("string")),
            "answers": datasets.List(datasets.Value(answer_type)),
            "is_focused": datasets.Value("bool"),
            "categories": datasets.List(datasets.Value("string")),
        }
    )
    folder = tmp_path / "CountQA"
    (folder / "data").mkdir(parents=True)
    table = datasets.Dataset.from_list(records, features=features)
    table = table.select_columns(table.column_names[:columns])
    half = len(records) // 2
    table.select(range(half)).to_parquet(folder / "data" / "test-00000-of-00002.parquet")
    table.select(range(half, len(records))).to_parquet(folder / "data" / "test-00001-of-00002.parquet")
    return folder


def settings(tmp_path: Path, dataset_path: Path) -> ConfigDict:
    return ConfigDict(
        dataset_path=str(dataset_path),
        split="test",
        processed_dataset_path=str(tmp_path / "out"),
        processor=str(FOLDER / "process.py"),
    )


def test_each_question_becomes_a_row(task: ModuleType, tmp_path: Path) -> None:
    task.process(settings(tmp_path, source(tmp_path, RECORDS)))
    rows = load_annotations([tmp_path / "out" / "test" / "data.json"])
    assert [(row["question_id"], row["question"], row["answer"]) for row in rows] == [
        ("0_0", "How many cups?", 3),
        ("0_1", "How many forks?", 0),
        ("1_0", "How many 瓶子 are there?", 400),
        ("3_0", "a?", 7),
        ("3_1", "b?", 8),
        ("3_2", "c?", 1),
    ]
    assert {row["question_type"] for row in rows} == {"count"}
    assert rows[2] == {
        "question_id": "1_0",
        "question": "How many 瓶子 are there?",
        "question_type": "count",
        "answer": 400,
        "img_path": "img/1.jpg",
        "sub_task": "not focused",
        "is_focused": False,
        "categories": ["Food", "Outdoor, Vehicles"],
    }
    assert rows[0]["sub_task"] == "focused"


def test_each_picture_is_stored_once_as_the_source_holds_it(task: ModuleType, tmp_path: Path) -> None:
    task.process(settings(tmp_path, source(tmp_path, RECORDS)))
    out = tmp_path / "out" / "test"
    rows = load_annotations([out / "data.json"])
    assert [row["img_path"] for row in rows] == [
        "img/0.png",
        "img/0.png",
        "img/1.jpg",
        "img/3.jpg",
        "img/3.jpg",
        "img/3.jpg",
    ]
    for number, entry in enumerate(RECORDS):
        [stored] = (out / "img").glob(f"{number}.*")
        assert stored.read_bytes() == entry["image"]["bytes"]


def test_answers_may_be_numbers(task: ModuleType, tmp_path: Path) -> None:
    records = [record(0, ["a?", "b?"], [5, 0])]
    task.process(settings(tmp_path, source(tmp_path, [*records, record(1, ["c?"], [12])], "int64")))
    rows = load_annotations([tmp_path / "out" / "test" / "data.json"])
    assert [row["answer"] for row in rows] == [5, 0, 12]


def test_all_records_that_are_not_as_expected_are_told(task: ModuleType, tmp_path: Path) -> None:
    records = [
        RECORDS[0],
        record(1, ["a?", "b?"], ["1"]),
        record(2, ["a?", "b?"], ["many", "2.5"]),
        record(3, ["a?"], ["-1"], image=None),
    ]
    with pytest.raises(DataError) as caught:
        task.process(settings(tmp_path, source(tmp_path, records)))
    for problem in (
        "record 1: 2 questions but 1 answers",
        "record 2: answer 'many' is no whole number",
        "record 2: answer '2.5' is no whole number",
        "record 3: it has no picture",
        "record 3: answer '-1' is no whole number",
    ):
        assert problem in str(caught.value)
    assert "record 0" not in str(caught.value)
    assert not (tmp_path / "out" / "test" / "data.json").exists()


def test_a_source_without_a_column_or_split_is_told(task: ModuleType, tmp_path: Path) -> None:
    folder = source(tmp_path, RECORDS, columns=4)
    with pytest.raises(DataError, match="column 'categories' is missing"):
        task.process(settings(tmp_path, folder))
    cfg = settings(tmp_path, folder)
    cfg.split = "validation"
    with pytest.raises(DataError, match="no split 'validation'"):
        task.process(cfg)


def test_the_config_names_the_source_and_asks_for_one_integer() -> None:
    loaded = load_task_config(FOLDER / "countqa.py")
    assert loaded.name == "countqa"
    assert loaded.dataset["config"]["dataset_path"] == "Jayant-Sravan/CountQA"
    assert loaded.dataset["prompt_template"]["post_prompt"] == "Your final answer should be a single integer."
    assert loaded.meta["rows"] == 1528


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 1)


def test_a_run_scores_exact_counts_over_all_questions(
    run_benchmark: Any, golden_requests: Any, endpoint: Any, tmp_path: Path
) -> None:
    folder = source(tmp_path, RECORDS)
    replies = {"cups": "3", "forks": "none", "瓶子": "about 390", "a?": "7 or 8", "b?": endpoint.fails(400)}

    def reply(call: Any) -> Any:
        return next((said for word, said in replies.items() if word in call.text), "1")

    run = run_benchmark("CountQA", folder, reply, name="countqa")
    # Rows: cups 3, forks 0, bottles 400, a 7, b 8, c 1. Right: cups and c.
    # Errors: 0, 0 (unread, so it is not within 5 percent, though the truth is 0), 10 (2.5 percent), 1, 8, 0.
    result = run.files.result
    assert (run.ran.returncode, result["accuracy"], result["n"]) == (3, 33.33, 6)
    assert (result["mae"], result["within_5_percent"]) == (round(19 / 6, 4), 50.0)
    assert run.files.counts == {"total": 6, "answered": 5, "request_errors": 1, "parse_failures": 1}
    assert result["note"] == "the data holds 6 rows, the benchmark 1,528"
    golden_requests("countqa", [run.calls[0], run.calls[2]])
