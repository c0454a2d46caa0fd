"""MMSI-Bench: the table of choices, and the hub's questions that hold their options."""

from __future__ import annotations

import base64
import doctest
import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError

FOLDER = Path(__file__).parents[2] / "tasks" / "mmsi_bench"

Processed = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Processed:
    """Return a function that runs process.py on a file or folder and returns the rows it wrote, by id."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "mmsi_bench.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        rows = load_annotations([tmp_path / "made" / "test" / "data.json"])
        return sorted(rows, key=lambda row: str(row["question_id"]))

    return run


SELECT = (
    "Answer with the option's letter from the given choices directly. Enclose the option's letter within ``."
)
FOUR = {"A": "left", "B": "right, then left", "C": "None", "D": "007"}


def encoded(*pictures: bytes) -> str:
    return str([base64.b64encode(picture).decode() for picture in pictures])


def with_alpha() -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGBA", (20, 10), (10, 20, 30, 40)).save(file, "PNG")
    return file.getvalue()


def table_row(index: int, pictures: str, answer: str, **more: str) -> dict[str, Any]:
    return {
        "index": index,
        "image": pictures,
        "question": f"Where is it, {index}?",
        **FOUR,
        "answer": answer,
        "category": "Motion\u2013Cam" if index % 2 else "MSR",
        **more,
    }


def hub_row(number: int, pictures: list[bytes], answer: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "images": pictures,
        "question_type": "Positional Relationship (Cam.\u2013Obj.)",
        "question": f"Where is it, {number}?\nOptions: A: left, B: right, then left, C: up, D: down",
        "answer": answer,
        "thought": "It is on the left.",
        **more,
    }


def test_a_row_of_the_table_becomes_a_choice_of_several_pictures(
    processed: Processed, write_tsv: Callable[..., Path], png: Callable[..., bytes], tmp_path: Path
) -> None:
    alpha = with_alpha()
    rows = [
        table_row(0, encoded(png(0), alpha), "C"),
        table_row(7, encoded(png(2, kind="JPEG"), png(3), png(4)), "b", hint="Count.\nTwice."),
    ]
    assert processed(write_tsv("MMSIBench_wo_circular.tsv", rows)) == [
        {
            "question_id": "0",
            "img_path": ["img/0_1.png", "img/0_2.png"],
            "question": "Where is it, 0?",
            "question_type": "multiple-choice",
            "options": ["left", "right, then left", "None", "007"],
            "answer": "C",
            "category": "MSR",
        },
        {
            "question_id": "7",
            "img_path": ["img/7_1.jpg", "img/7_2.png", "img/7_3.png"],
            "question": "Where is it, 7?",
            "question_type": "multiple-choice",
            "options": ["left", "right, then left", "None", "007"],
            "answer": "B",
            "category": "Motion-Cam",
            "hint": "Count.\nTwice.",
        },
    ]
    assert (tmp_path / "made" / "test" / "img" / "0_2.png").read_bytes() == alpha


def test_a_table_may_name_its_pictures_by_path(
    processed: Processed, write_tsv: Callable[..., Path], png: Callable[..., bytes], tmp_path: Path
) -> None:
    (tmp_path / "p").mkdir()
    for name in "ab":
        (tmp_path / "p" / f"{name}.png").write_bytes(png(ord(name)))
    row = {**table_row(0, "", "A"), "image_path": "['p/a.png', 'p/b.png']"}
    assert processed(write_tsv("MMSIBench_wo_circular.tsv", [row]))[0]["img_path"] == [
        "img/p_a.png",
        "img/p_b.png",
    ]


def test_a_hub_row_keeps_its_question_and_gets_the_options_for_scoring(
    processed: Processed, write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        hub_row(3, [png(0), png(1)], "A"),
        hub_row(4, [png(2), png(3)], "D", question_type="Positional Relationship (Cam.-Obj.)"),
    ]
    made = processed(write_parquet("mmsi.parquet", rows))
    assert made[0] == {
        "question_id": "3",
        "img_path": ["img/0_1.png", "img/0_2.png"],
        "question": "Where is it, 3?\nOptions: A: left, B: right, then left, C: up, D: down",
        "question_type": "multiple-choice",
        "options": ["left", "right, then left", "up", "down"],
        "answer": "A",
        "category": "Positional Relationship (Cam.-Obj.)",
    }
    assert made[1]["category"] == made[0]["category"]


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"answer": "E"}, "none of the letters A to D"),
        ({"question": "Where is it?"}, r"lists the options \[\]"),
        ({"question": "Where?\nOptions: A: x, C: y"}, r"lists the options \['A', 'C'\]"),
        ({"question": " "}, "the question is empty"),
    ],
)
def test_a_row_that_cannot_be_scored_is_told(
    processed: Processed,
    write_parquet: Callable[..., Path],
    png: Callable[..., bytes],
    more: dict[str, Any],
    problem: str,
) -> None:
    rows = [hub_row(0, [png(0), png(1)], "A"), {**hub_row(1, [png(2), png(3)], "A"), **more}]
    with pytest.raises(DataError, match=rf"1 rows are not as expected:\n.*row 2 .*{problem}"):
        processed(write_parquet("mmsi.parquet", rows))


def test_a_run_is_scored_over_all_rows_and_per_category(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    alpha = with_alpha()
    rows = [table_row(n, encoded(png(2 * n), alpha if n == 0 else png(2 * n + 1)), "B") for n in range(7)]
    rows[1]["hint"] = "Look twice."
    replies = ["``B``", "{B}", "A", "no idea", None, "right, then left", ""]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("MMSIBench_wo_circular", write_tsv("mmsi.tsv", rows), reply, name="mmsi_bench")
    # right: 0, 1 and 5 (an option's text). 2 is wrong, 3 unread; 4 (refused) and 6 (empty) have no answer: 3 of 7.
    # MSR has 0, 2, 4, 6 (1 right), Motion-Cam 1, 3, 5 (2 right).
    assert run.ran.returncode == 3
    assert run.files.result["accuracy"] == 42.86
    by_category = run.files.result["detailed"]["category"]
    assert {name: (block["accuracy"], block["n"]) for name, block in by_category.items()} == {
        "MSR": (25.0, 4),
        "Motion-Cam": (66.67, 3),
    }
    assert run.files.counts == {"total": 7, "answered": 5, "request_errors": 2, "parse_failures": 1}
    assert run.files.result["note"] == "the data holds 7 rows, the benchmark 1,000"
    asked = {call.asked: call for call in run.calls}
    assert asked[0].text == (
        f"Where is it, 0?\nOptions: A: left, B: right, then left, C: None, D: 007, \n{SELECT}"
    )
    assert [data for _, data in asked[0].images] == [png(0), alpha]  # with its alpha channel, byte for byte
    golden_requests("mmsi_bench", [asked[0], asked[1]])


@pytest.mark.parametrize("form", ["hub", "table"])
def test_options_that_are_in_the_question_are_not_added_again(
    run_benchmark: Callable[..., Any],
    write_parquet: Callable[..., Path],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    form: str,
) -> None:
    row = hub_row(5, [png(0), png(1)], "B")
    if form == "hub":
        file = write_parquet("hub.parquet", [row])
    else:
        file = write_tsv("t.tsv", [table_row(5, encoded(png(0), png(1)), "B", question=row["question"])])
    run = run_benchmark("mmsi_bench", file, lambda call: "``B``")
    assert [call.text for call in run.calls] == [f"{row['question']}\n{SELECT}"]
    assert [len(call.images) for call in run.calls] == [2]
    assert (run.ran.returncode, run.files.result["accuracy"]) == (0, 100.0)


def test_nothing_of_a_question_is_read_as_a_mark_or_trimmed(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = table_row(1, encoded(png(0), png(1)), "A", question="  <image> 1 or <image 2>\t\n", D="")
    run = run_benchmark("mmsi_bench", write_tsv("t.tsv", [row]), lambda call: "A")
    assert [call.text for call in run.calls] == [
        f"  <image> 1 or <image 2>\t\n\nOptions: A: left, B: right, then left, C: None, \n{SELECT}"
    ]


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 2)
