"""FREAK, free answers: scored by a judge; asked and kept, but not scored, without one."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError

FOLDER = Path(__file__).parents[2] / "tasks" / "freak_vqa"


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Callable[[Path], list[dict[str, Any]]]:
    """Return a function that runs process.py on a file and returns the rows it wrote."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "freak_vqa.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        return load_annotations([tmp_path / "made" / "test" / "data.json"])

    return run


def hub_row(number: int, image: bytes, **other: Any) -> dict[str, Any]:
    return {
        "id": number,
        "question": f"How many legs, {number}?",
        "image": {"bytes": image, "path": None},
        "type": "fib",
        "options": None,
        "ground_truth": "5",
        "hallu_answer": "4",
        "item": "dog",
        "category": ["counting"],
        **other,
    }


def table_row(index: int, image: bytes, answer: str = "5", **other: Any) -> dict[str, Any]:
    return {
        "index": index,
        "image": image,
        "question": f"How many legs, {index}?",
        "answer": answer,
        **other,
    }


def test_a_row_of_the_table_keeps_what_a_judge_may_be_told(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(2, png(0), "None", hallu_answer="4", category="ocr"),
        table_row(3, png(1, kind="WEBP"), "5 legs"),
    ]
    assert processed(write_tsv("FREAK_VQA.tsv", rows)) == [
        {
            "question_id": "2",
            "img_path": "img/2.png",
            "question": "How many legs, 2?",
            "question_type": "open",
            "answer": "None",
            "ground_truth": "None",
            "hallu_answer": "4",
            "category": ["ocr"],
        },
        {
            "question_id": "3",
            "img_path": "img/3.webp",
            "question": "How many legs, 3?",
            "question_type": "open",
            "answer": "5 legs",
            "ground_truth": "5 legs",
            "hallu_answer": None,
            "category": [],
        },
    ]


def test_the_hub_s_questions_without_options_are_taken(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        hub_row(0, png(0), type="mcq", options=["5", "4", "6", "Not listed"]),
        hub_row(5, png(1)),
        hub_row(9, png(2), hallu_answer=None, ground_truth="0", category=["shape", "color"]),
    ]
    assert processed(write_parquet("data/test-00000-of-00005.parquet", rows)) == [
        {
            "question_id": "5",
            "img_path": "img/1.png",
            "question": "How many legs, 5?",
            "question_type": "open",
            "answer": "5",
            "ground_truth": "5",
            "hallu_answer": "4",
            "category": ["counting"],
        },
        {
            "question_id": "9",
            "img_path": "img/2.png",
            "question": "How many legs, 9?",
            "question_type": "open",
            "answer": "0",
            "ground_truth": "0",
            "hallu_answer": None,
            "category": ["shape", "color"],
        },
    ]


def test_rows_without_question_or_truth_are_told(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        hub_row(0, png(0), ground_truth=" "),
        hub_row(1, png(1), ground_truth=None),
        hub_row(2, png(2), question=""),
        hub_row(3, png(3)),
    ]
    with pytest.raises(DataError) as caught:
        processed(write_parquet("hub.parquet", rows))
    for problem in (
        "row 1 (index '0'): no true answer",
        "row 2 (index '1'): no true answer",
        "row 3 (index '2'): the question is empty",
    ):
        assert problem in str(caught.value)
    assert "3 rows are not as expected" in str(caught.value)


def test_a_run_is_asked_but_not_scored(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    replies = ["5", "Five legs, I think.", "4", "5.", "", None]
    rows = [table_row(n, png(n), hallu_answer="4") for n in range(6)]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("FREAK_VQA", write_tsv("FREAK_VQA.tsv", rows), reply, name="freak_vqa")
    result = run.files.result
    assert run.ran.returncode == 3
    assert "freak_vqa: takes a judge: it is asked, but not scored." in run.ran.stderr
    assert [result[key] for key in ("accuracy", "ci95", "accuracy_answered")] == [None, None, None]
    # "5" and "5." of six rows; what any judge could make of it: 4 answered, and the 2 without an answer
    assert result["exact_match"] == 33.33
    assert result["range"] == [0.0, 100.0]
    assert run.files.counts == {"total": 6, "answered": 4, "request_errors": 2, "judge_failures": 4}
    assert "no score: it takes a judge (freak)" in result["note"]
    assert "4 of 6 samples are not judged" in result["note"]
    assert "the data holds 6 rows, the benchmark 799" in result["note"]
    assert run.files.summary["score"] is None
    golden_requests("freak_vqa", [next(call for call in run.calls if call.asked == n) for n in (0, 3)])


def test_answers_are_kept_and_verdicts_stay_open(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [table_row(n, png(n)) for n in range(2)]
    run = run_benchmark(
        "freak_vqa", write_tsv("FREAK_VQA.tsv", rows), lambda call: ["5", " <think>?</think> 4"][call.asked]
    )
    assert run.ran.returncode == 3  # answered, and yet not scored
    assert [(row["outcome"], row["answer"], row["correct"]) for row in run.files.evaluated] == [
        ("not_judged", "5", False),
        ("not_judged", "4", False),
    ]
    assert [row["exact_match"] for row in run.files.evaluated] == [True, False]
    assert run.files.counts == {"total": 2, "answered": 2, "judge_failures": 2}


def test_the_config_says_that_it_takes_a_judge() -> None:
    meta = load_task_config(FOLDER / "freak_vqa.py").meta
    assert (meta["needs_judge"], meta["rows"], meta["aliases"]) == (True, 799, ["FREAK_VQA"])


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 1)
