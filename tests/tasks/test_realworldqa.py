"""RealWorldQA: the table of choices, and the hub's rows with letters and short answers."""

from __future__ import annotations

import doctest
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError

FOLDER = Path(__file__).parents[2] / "tasks" / "realworldqa"
LETTER = "Please answer directly with only the letter of the correct option and nothing else."
WORD = "Please answer directly with a single word or number."


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Callable[[Path], list[dict[str, Any]]]:
    """Return a function that runs process.py on a file and returns the rows it wrote."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "realworldqa.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        return load_annotations([tmp_path / "made" / "test" / "data.json"])

    return run


def table_row(index: int, image: bytes | str, answer: str, **options: str) -> dict[str, Any]:
    options = options or {"A": "Left", "B": "Right", "C": "Straight on", "D": ""}
    return {"index": index, "image": image, "question": f"Where to, {index}?", **options, "answer": answer}


def hub_row(image: bytes, question: str, answer: str) -> dict[str, Any]:
    return {
        "image": {"bytes": image, "path": None},
        "image_path": "0.webp",
        "question": question,
        "answer": answer,
    }


def test_a_row_of_the_table_becomes_a_choice(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(0, png(0, kind="WEBP"), "C"),
        {**table_row(7, "0", "b", A="Yes", B="No", C="", D=""), "hint": "Look at the light."},
        table_row(9, png(2), "D", A="1", B="NA", C="None", D="007"),
    ]
    assert processed(write_tsv("RealWorldQA.tsv", rows)) == [
        {
            "question_id": "0",
            "img_path": "img/0.webp",
            "question": "Where to, 0?",
            "question_type": "multiple-choice",
            "options": ["Left", "Right", "Straight on"],
            "answer": "C",
        },
        {
            "question_id": "7",
            "img_path": "img/0.webp",
            "question": "Where to, 7?",
            "question_type": "multiple-choice",
            "options": ["Yes", "No"],
            "answer": "B",
            "hint": "Look at the light.",
        },
        {
            "question_id": "9",
            "img_path": "img/9.png",
            "question": "Where to, 9?",
            "question_type": "multiple-choice",
            "options": ["1", "NA", "None", "007"],
            "answer": "D",
        },
    ]


def test_pictures_keep_their_bytes(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes], tmp_path: Path
) -> None:
    processed(write_tsv("RealWorldQA.tsv", [table_row(0, png(5, kind="JPEG"), "A")]))
    assert (tmp_path / "made" / "test" / "img" / "0.jpg").read_bytes() == png(5, kind="JPEG")


def test_all_bad_rows_of_the_table_are_told_at_once(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(0, png(0), "D"),
        table_row(1, png(1), "3"),
        table_row(2, png(2), "A", A="only", B="", C="", D=""),
        table_row(3, png(3), "A", A="a", B="", C="c", D=""),
        {**table_row(4, png(4), "A"), "question": " "},
        table_row(5, png(5), "A"),
    ]
    with pytest.raises(DataError) as caught:
        processed(write_tsv("RealWorldQA.tsv", rows))
    for problem in (
        "row 1 (index '0'): answer 'D' is none of the letters A to C",
        "row 2 (index '1'): answer '3' is none of the letters A to C",
        "row 3 (index '2'): 1 options in the columns",
        "row 4 (index '3'): option B is empty",
        "row 5 (index '4'): the question is empty",
    ):
        assert problem in str(caught.value)
    assert "row 6" not in str(caught.value)


def test_hub_rows_are_choices_where_the_question_lists_the_letter(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    choice = f"Which way?\n\nA. Left\nB. Right\n{LETTER}"
    rows = [
        hub_row(png(0, kind="WEBP"), choice, "B"),
        hub_row(png(1, kind="WEBP"), f"How many cars?\n{WORD}", "2"),
        hub_row(png(2, kind="WEBP"), f"Which letter is on the sign?\n{WORD}", "B"),
    ]
    assert processed(write_parquet("data/test-00000-of-00001.parquet", rows)) == [
        {
            "question_id": "0",
            "img_path": "img/0.webp",
            "question": choice,
            "question_type": "multiple-choice",
            "answer": "B",
        },
        {
            "question_id": "1",
            "img_path": "img/1.webp",
            "question": f"How many cars?\n{WORD}",
            "question_type": "short-answer",
            "answer": "2",
        },
        {
            "question_id": "2",
            "img_path": "img/2.webp",
            "question": f"Which letter is on the sign?\n{WORD}",
            "question_type": "short-answer",
            "answer": "B",
        },
    ]


def test_a_folder_of_the_hub_form_is_read_as_a_file_of_it(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    file = write_parquet("hub/data/test-00000-of-00001.parquet", [hub_row(png(0), f"How many?\n{WORD}", "2")])
    assert [row["answer"] for row in processed(file.parents[1])] == ["2"]


def test_a_hub_row_without_an_answer_is_told(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    with pytest.raises(DataError, match=r"row 1 \(index '0'\): the answer is empty"):
        processed(write_parquet("hub.parquet", [hub_row(png(0), "How many?", " ")]))


def run_table(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes], reply: Any
) -> SimpleNamespace:
    rows = [table_row(n, png(n), "B") for n in range(7)]
    rows[6] = table_row(6, png(6), "A", A="Yes", B="No", C="", D="")
    ran = run_benchmark("RealWorldQA", write_tsv("RealWorldQA.tsv", rows), reply, name="realworldqa")
    assert isinstance(ran, SimpleNamespace)
    return ran


def test_a_run_is_scored_over_all_rows(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    replies = ["B", "The answer is (B).", "A", "I cannot say.", "", None, "Yes"]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_table(run_benchmark, write_tsv, png, reply)
    # right: rows 0, 1 and 6 of 7; wrong: 2; unreadable: 3; an empty reply (4) and a refused request (5) are no answer
    assert run.ran.returncode == 3
    assert run.files.result["accuracy"] == 42.86
    assert run.files.result["accuracy_answered"] == 60.0
    assert run.files.result["range"] == [42.86, 71.43]
    assert run.files.counts == {"total": 7, "answered": 5, "request_errors": 2, "parse_failures": 1}
    assert run.files.result["note"] == "the data holds 7 rows, the benchmark 765"
    asked = {call.asked: call for call in run.calls}
    golden_requests("realworldqa", [asked[0], asked[6]])
    prompt = asked[6].body["messages"][0]["content"][1]["text"]
    assert prompt == (
        "Question: Where to, 6?\nOptions:\nA. Yes\nB. No\n"
        "Please select the correct answer from the options above. \n"
    )


def test_hub_questions_are_asked_to_the_letter(
    run_benchmark: Callable[..., Any],
    write_parquet: Callable[..., Path],
    png: Callable[..., bytes],
) -> None:
    questions = [f"Which way, 0?\n\nA. Left\nB. Right\n{LETTER}", f" How many cars, 1?\n{WORD} "]
    rows = [hub_row(png(0), questions[0], "B"), hub_row(png(1), questions[1], "Two")]
    replies = ["B", "two."]
    run = run_benchmark(
        "realworldqa", write_parquet("hub.parquet", rows), lambda call: replies[call.asked], "--quiet"
    )
    assert [call.text for call in run.calls] == questions
    assert (run.ran.returncode, run.files.result["accuracy"]) == (0, 100.0)


def test_the_config_says_what_it_reads() -> None:
    loaded = load_task_config(FOLDER / "realworldqa.py")
    assert loaded.request.verbatim
    assert (loaded.dataset["config"]["table"], loaded.dataset["config"]["md5"]) == ("RealWorldQA", "4de008f5")
    assert json.dumps(loaded.meta["aliases"]) == '["RealWorldQA"]'


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 2)
