"""FREAK, choices: the table, and the hub's rows whose true option always stands first."""

from __future__ import annotations

import doctest
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError
from flagharness.run import Prediction
from flagharness.task import Task

FOLDER = Path(__file__).parents[2] / "tasks" / "freak_mcq"


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Callable[[Path], list[dict[str, Any]]]:
    """Return a function that runs process.py on a file and returns the rows it wrote."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "freak_mcq.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        return load_annotations([tmp_path / "made" / "test" / "data.json"])

    return run


def hub_row(number: int, image: bytes, **other: Any) -> dict[str, Any]:
    return {
        "id": number,
        "question": f"How many legs, {number}?",
        "image": {"bytes": image, "path": None},
        "type": "mcq",
        "options": ["5", "4", "6", "Not listed"],
        "ground_truth": "5",
        "hallu_answer": "4",
        "item": "dog",
        "category": ["counting"],
        **other,
    }


def table_row(index: int, image: bytes, **other: Any) -> dict[str, Any]:
    return {
        "index": index,
        "image": image,
        "question": f"How many legs, {index}?",
        "A": "4",
        "B": "5",
        "C": "6",
        "D": "Not listed",
        "answer": "B",
        **other,
    }


def test_the_table_keeps_its_order(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(3, png(0), hallu_answer="4", category="counting"),
        table_row(4, png(1), hallu_answer="four", category="['shape', 'color']"),
    ]
    assert processed(write_tsv("FREAK_MCQ.tsv", rows)) == [
        {
            "question_id": "3",
            "img_path": "img/3.png",
            "question": "How many legs, 3?",
            "question_type": "multiple-choice",
            "options": ["4", "5", "6", "Not listed"],
            "answer": "B",
            "hallucinated": "A",
            "category": ["counting"],
        },
        {
            "question_id": "4",
            "img_path": "img/4.png",
            "question": "How many legs, 4?",
            "question_type": "multiple-choice",
            "options": ["4", "5", "6", "Not listed"],
            "answer": "B",
            "hallucinated": None,
            "category": ["shape", "color"],
        },
    ]


def test_a_table_need_not_say_more_than_question_options_and_answer(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    [row] = processed(write_tsv("FREAK_MCQ.tsv", [table_row(0, png(0), hint="Count them.")]))
    assert (row["hallucinated"], row["category"], row["hint"]) == (None, [], "Count them.")


def test_the_hub_s_choices_are_taken_and_put_in_another_order(
    processed: Callable[..., Any],
    write_parquet: Callable[..., Path],
    png: Callable[..., bytes],
    tmp_path: Path,
) -> None:
    rows = [
        hub_row(0, png(0), type="fib", options=None, category=["ocr"]),
        hub_row(5, png(1, kind="JPEG")),
        hub_row(17, png(2)),
    ]
    made = processed(write_parquet("data/test-00000-of-00005.parquet", rows))
    # what random.Random("5").sample draws of the first three places, here and on every machine
    assert made == [
        {
            "question_id": "5",
            "img_path": "img/1.jpg",
            "question": "How many legs, 5?",
            "question_type": "multiple-choice",
            "options": ["4", "6", "5", "Not listed"],
            "answer": "C",
            "hallucinated": "A",
            "category": ["counting"],
            "item": "dog",
        },
        {
            "question_id": "17",
            "img_path": "img/2.png",
            "question": "How many legs, 17?",
            "question_type": "multiple-choice",
            "options": ["6", "5", "4", "Not listed"],
            "answer": "B",
            "hallucinated": "C",
            "category": ["counting"],
            "item": "dog",
        },
    ]
    assert (tmp_path / "made" / "test" / "img" / "1.jpg").read_bytes() == png(1, kind="JPEG")


def test_true_letters_and_typical_errors_are_spread_over_a_to_c(task: ModuleType) -> None:
    made = [task.row_of(hub_row(number, b"", index=str(number))) for number in range(300)]
    # means of 100 with standard deviations of 8.2: four of them
    for key in ("answer", "hallucinated"):
        counts = Counter(row[key] for row in made)
        assert set(counts) == {"A", "B", "C"}
        assert all(67 <= count <= 133 for count in counts.values()), counts
    assert {row["options"][3] for row in made} == {"Not listed"}
    assert {row["options"]["ABCD".index(row["answer"])] for row in made} == {"5"}
    assert {row["options"]["ABCD".index(row["hallucinated"])] for row in made} == {"4"}
    assert len({tuple(row["options"]) for row in made}) == 6


def test_always_the_same_letter_is_no_better_than_chance(task: ModuleType) -> None:
    made = [task.row_of(hub_row(number, b"")) for number in range(300)]
    evaluator = Task(FOLDER / "freak_mcq.py").evaluator
    assert evaluator is not None
    annotations = {row["question_id"]: row for row in made}
    verdicts = [evaluator.verdict_on(row, [Prediction(key, answer="A")]) for key, row in annotations.items()]
    assert evaluator.aggregate(verdicts, annotations)["accuracy"] < 45


@given(options=st.integers(1, 8), question_id=st.text(max_size=8))
def test_an_order_moves_all_but_the_last_and_is_always_the_same(
    task: ModuleType, options: int, question_id: str
) -> None:
    order = task.drawn_order(options, question_id)
    assert sorted(order) == list(range(options))
    assert order[-1] == options - 1
    assert task.drawn_order(options, question_id) == order


def test_hub_rows_that_are_not_as_expected_are_told(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        hub_row(0, png(0), ground_truth="4"),
        hub_row(1, png(1), options=["5", "4"]),
        hub_row(2, png(2), options=None),
        hub_row(3, png(3), ground_truth="five"),  # said otherwise, so the place decides
        hub_row(4, png(4)),
    ]
    with pytest.raises(DataError) as caught:
        processed(write_parquet("hub.parquet", rows))
    for problem in (
        "row 1 (index '0'): ground_truth '4' is not the first of the options",
        "row 2 (index '1'): 2 options",
        "row 3 (index '2'): 0 options",
    ):
        assert problem in str(caught.value)
    assert "3 rows are not as expected" in str(caught.value)


def test_a_run_gives_accuracy_hallucinations_and_categories(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    rows = [table_row(n, png(n), hallu_answer="4", category="counting") for n in range(5)]
    rows += [table_row(n, png(n), hallu_answer="", category="['ocr', 'logic']") for n in (5, 6, 7)]
    replies = ["B", "The answer is A.", "A", "C", "who knows", "5", None, ""]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("FREAK_MCQ", write_tsv("FREAK_MCQ.tsv", rows), reply, name="freak_mcq")
    # right: 0, and 5 by its text. The typical error: 1 and 2 of the five rows that name it. 4 is unread, 6 and 7
    # have no answer.
    result = run.files.result
    assert run.ran.returncode == 3
    assert (result["accuracy"], result["hallucination_rate"], result["hallucination_n"]) == (25.0, 40.0, 5)
    by_category = result["detailed"]["category"]
    assert {name: (block["accuracy"], block["n"]) for name, block in by_category.items()} == {
        "counting": (20.0, 5),
        "logic": (33.33, 3),
        "ocr": (33.33, 3),
    }
    assert run.files.counts == {"total": 8, "answered": 6, "request_errors": 2, "parse_failures": 1}
    assert result["note"] == "the data holds 8 rows, the benchmark 994"
    assert result["obtained_by"]["evaluator"] == "FreakChoiceEvaluator"
    asked = {call.asked: call for call in run.calls}
    golden_requests("freak_mcq", [asked[0], asked[5]])


def test_several_answers_a_question_share_the_hallucination_rate(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
) -> None:
    rows = [table_row(n, png(n), hallu_answer="4") for n in range(2)]
    script = endpoint.in_turn("A", "B")
    run = run_benchmark(
        "freak_mcq",
        write_tsv("FREAK_MCQ.tsv", rows),
        lambda call: "B" if call.asked else script(call),
        "--num-infers",
        2,
    )
    # row 0: once the typical error, once right; row 1: twice right
    assert (run.files.result["accuracy"], run.files.result["hallucination_rate"]) == (75.0, 25.0)


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 2)
