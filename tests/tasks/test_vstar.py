"""V* Bench: the table, the hub's rows and the original folders."""

from __future__ import annotations

import doctest
import json
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError

FOLDER = Path(__file__).parents[2] / "tasks" / "vstar"
CLOSING = "Answer with the option's letter from the given choices directly."


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Callable[[Path], list[dict[str, Any]]]:
    """Return a function that runs process.py on a file or folder and returns the rows it wrote."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "vstar.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        return load_annotations([tmp_path / "made" / "test" / "data.json"])

    return run


def table_row(index: int, image: bytes, answer: str, *options: str) -> dict[str, Any]:
    cells = dict(zip("ABCD", [*options, "", "", "", ""], strict=False))
    category = "relative_position" if len(options) == 2 else "direct_attributes"
    return {
        "index": index,
        "image": image,
        "question": f"What is it, {index}?",
        **cells,
        "answer": answer,
        "category": category,
    }


@pytest.fixture
def write_original(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the original layout: ``{"category/name": (record, picture or None)}``."""

    def write(files: dict[str, tuple[Any, bytes | None]]) -> Path:
        folder = tmp_path / "vstar_bench"
        for name, (record, picture) in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".json").write_text(json.dumps(record), encoding="utf-8")
            if picture is not None:
                path.with_suffix(".jpg").write_bytes(picture)
        return folder

    return write


def record(*options: str) -> dict[str, Any]:
    return {
        "target_object": ["glove"],
        "bbox": [[10, 20, 30, 40]],
        "question": "What is the material of the glove?",
        "options": list(options),
    }


def test_a_row_of_the_table_has_the_options_that_are_there(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(0, png(0), "D", "red", "blue", "green", "None"),
        table_row(115, png(1, kind="JPEG"), "b", "left", "right"),
    ]
    assert processed(write_tsv("VStarBench.tsv", rows)) == [
        {
            "question_id": "0",
            "img_path": "img/0.png",
            "question": "What is it, 0?",
            "question_type": "multiple-choice",
            "options": ["red", "blue", "green", "None"],
            "answer": "D",
            "category": "direct_attributes",
        },
        {
            "question_id": "115",
            "img_path": "img/115.jpg",
            "question": "What is it, 115?",
            "question_type": "multiple-choice",
            "options": ["left", "right"],
            "answer": "B",
            "category": "relative_position",
        },
    ]


def test_a_truth_that_is_no_option_is_told(
    processed: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [table_row(0, png(0), "C", "left", "right"), table_row(1, png(1), "A", "left", "right")]
    with pytest.raises(DataError, match=r"1 rows are not as expected:\n.*row 1 .*none of the letters A to B"):
        processed(write_tsv("VStarBench.tsv", rows))


def test_a_hub_row_is_asked_as_it_is(
    processed: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    four = f"What is the material of the glove?\n(A) rubber\n(B) cotton\n(C) kevlar\n(D) leather\n{CLOSING}"
    two = f"Where is the dog?\n(A) left (of the car)\n(B) right\n{CLOSING}"
    rows = [
        {
            "image": {"bytes": png(0, kind="JPEG"), "path": "a.jpg"},
            "text": four,
            "label": "A",
            "category": "direct_attributes",
            "question_id": "0",
        },
        {
            "image": {"bytes": png(1, kind="JPEG"), "path": "b.jpg"},
            "text": two,
            "label": "B",
            "category": "relative_position",
            "question_id": "0",
        },
    ]
    assert processed(write_parquet("data/test-00000-of-00001.parquet", rows)) == [
        {
            "question_id": "direct_attributes_0",
            "img_path": "img/0.jpg",
            "question": four,
            "question_type": "multiple-choice",
            "answer": "A",
            "category": "direct_attributes",
        },
        {
            "question_id": "relative_position_0",
            "img_path": "img/1.jpg",
            "question": two,
            "question_type": "multiple-choice",
            "answer": "B",
            "category": "relative_position",
        },
    ]


@pytest.mark.parametrize(
    ("text", "label", "problem"),
    [
        ("Which?\n(A) x\n(B) y", "C", "none of the letters A to B"),
        ("Which?\n(A) x\n(C) y", "A", r"the text lists the options \['A', 'C'\]"),
        ("Which?", "A", r"the text lists the options \[\]"),
    ],
)
def test_a_hub_row_whose_letters_do_not_fit_is_told(
    processed: Callable[..., Any],
    write_parquet: Callable[..., Path],
    png: Callable[..., bytes],
    text: str,
    label: str,
    problem: str,
) -> None:
    row = {
        "image": {"bytes": png(0), "path": None},
        "text": text,
        "label": label,
        "category": "x",
        "question_id": "0",
    }
    with pytest.raises(DataError, match=problem):
        processed(write_parquet("hub.parquet", [row]))


def test_the_original_has_its_first_option_somewhere_else(
    processed: Callable[..., Any],
    write_original: Callable[..., Path],
    png: Callable[..., bytes],
    tmp_path: Path,
) -> None:
    folder = write_original(
        {
            "direct_attributes/sa_4": (
                record("rubber", "cotton", "kevlar", "leather"),
                png(1, (200, 100), "JPEG"),
            ),
            "relative_position/sa_1": (record("left", "right"), png(2, kind="JPEG")),
            "OCR/sa_9": (record("x", "y"), png(3)),  # not part of the 191
        }
    )
    rows = processed(folder)
    assert [row["question_id"] for row in rows] == ["direct_attributes/sa_4", "relative_position/sa_1"]
    # what random.Random("direct_attributes/sa_4").sample draws, here and on every machine
    assert rows[0] == {
        "question_id": "direct_attributes/sa_4",
        "img_path": "img/direct_attributes_sa_4.jpg",
        "question": "What is the material of the glove?",
        "question_type": "multiple-choice",
        "options": ["kevlar", "rubber", "cotton", "leather"],
        "answer": "B",
        "category": "direct_attributes",
        "target_object": ["glove"],
        "bbox": [[10, 20, 30, 40]],
    }
    assert sorted(rows[1]["options"]) == ["left", "right"]
    assert rows[1]["options"]["AB".index(rows[1]["answer"])] == "left"
    assert (tmp_path / "made" / "test" / rows[0]["img_path"]).read_bytes() == png(1, (200, 100), "JPEG")


def test_the_true_letters_of_the_original_are_spread(task: ModuleType) -> None:
    four = [
        task.original_row(f"direct_attributes/{n}", record("true", "x", "y", "z"))["answer"]
        for n in range(300)
    ]
    two = [task.original_row(f"relative_position/{n}", record("true", "x"))["answer"] for n in range(300)]
    # means 75 and 150 with standard deviations of 7.5 and 8.7: four of them
    assert all(45 <= count <= 105 for count in Counter(four).values()), Counter(four)
    assert all(115 <= count <= 185 for count in Counter(two).values()), Counter(two)
    assert (len(set(four)), len(set(two))) == (4, 2)


def test_all_original_files_that_are_not_as_expected_are_told(
    processed: Callable[..., Any], write_original: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    folder = write_original(
        {
            "direct_attributes/a": (record("x", "y"), None),
            "direct_attributes/b": (record("x"), png(1)),
            "direct_attributes/c": ({"question": "?"}, png(2)),
            "direct_attributes/d": (record("x", "x"), png(3)),
            "direct_attributes/e": ([], png(4)),
            "direct_attributes/f": (record("x", "y"), b"no picture"),
            "direct_attributes/g": (record("x", "y"), png(5)),
        }
    )
    (folder / "direct_attributes" / "h.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        processed(folder)
    for problem in (
        "a.json: no picture of this name lies beside it",
        "b.json: ['x'] are no options of a choice",
        "c.json: expected an object with a question and its options",
        "d.json: ['x', 'x'] are no options",
        "e.json: expected an object",
        "f.json: Medium 'direct_attributes/f' is none",
        "h.json: Expecting property name",
    ):
        assert problem in str(caught.value)
    assert "g.json" not in str(caught.value)


def test_a_run_is_scored_over_all_rows_and_per_category(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    four = ("red", "blue", "green", "grey")
    rows = [table_row(n, png(n), "B", *four) for n in range(5)]
    rows += [table_row(n, png(n), "A", "left", "right") for n in (5, 6, 7)]
    replies = ["B", "It is blue.", "red", "no idea", None, "A", "C", ""]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("VStarBench", write_tsv("VStarBench.tsv", rows), reply, name="vstar")
    # right: 0 and 1 of the first five, 5 of the last three. 2 is wrong, 3 unread, 6 names an option that two-option
    # rows do not have, 4 (refused) and 7 (empty) have no answer.
    assert run.ran.returncode == 3
    assert run.files.result["accuracy"] == 37.5
    by_category = run.files.result["detailed"]["category"]
    assert {name: (block["accuracy"], block["n"]) for name, block in by_category.items()} == {
        "direct_attributes": (40.0, 5),
        "relative_position": (33.33, 3),
    }
    assert run.files.counts == {"total": 8, "answered": 6, "request_errors": 2, "parse_failures": 2}
    assert run.files.result["note"] == "the data holds 8 rows, the benchmark 191"
    asked = {call.asked: call for call in run.calls}
    golden_requests("vstar", [asked[0], asked[5]])


def test_a_hub_text_reaches_the_endpoint_to_the_letter(
    run_benchmark: Callable[..., Any], write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    text = f"What is the material of glove 0?\n(A) rubber\n(B) <image>\n{CLOSING}\n"
    row = {
        "image": {"bytes": png(0), "path": None},
        "text": text,
        "label": "A",
        "category": "x",
        "question_id": "0",
    }
    run = run_benchmark("vstar", write_parquet("hub.parquet", [row]), lambda call: "(A)")
    assert [call.text for call in run.calls] == [text]
    assert (run.ran.returncode, run.files.result["accuracy"]) == (0, 100.0)


def test_another_copy_of_the_table_is_used_and_said(
    processed: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        processed(write_tsv("VStarBench.tsv", [table_row(0, png(0), "A", "left", "right")]))
    assert any("begins with b18854d7" in message for message in caplog.messages)


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 4)
