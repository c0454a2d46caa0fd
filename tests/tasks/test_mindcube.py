"""MindCube: finished prompts of the table, the authors' questions, and pictures at marks or first."""

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

FOLDER = Path(__file__).parents[2] / "tasks" / "mindcube"

Processed = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Processed:
    """Return a function that runs process.py on a file or folder and returns the rows it wrote, by id."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "mindcube.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        rows = load_annotations([tmp_path / "made" / "tiny" / "data.json"])
        return sorted(rows, key=lambda row: str(row["question_id"]))

    return run


INSTRUCTION = """[Task]
Your task is to analyze the spatial arrangement of objects in the scene by examining the provided images, \
which show the scene from different viewpoints.
[Answer Instruction]
You only need to provide *ONE* correct answer selecting from the options listed below. For example, if you \
think the correct answer is 'A. Above' from 'A. Above B. Under C. Front D. Behind', your response should \
**only** be '<answer>A. Above</answer>'.

[Question]
"""
LISTED = "A. Sofa B. Wall lamp C. Door"


def encoded(*pictures: bytes) -> str:
    return json.dumps([base64.b64encode(picture).decode() for picture in pictures])


def table_row(index: int, pictures: str, marks: str = "", answer: str = "B", **more: Any) -> dict[str, Any]:
    return {
        "index": index,
        "image": pictures,
        "input_prompt": f"{marks}{INSTRUCTION}What is behind me, {index}? {LISTED}",
        "answer": answer,
        "category": ("around", "among", "rotation")[index % 3],
        **more,
    }


@pytest.fixture
def write_original(tmp_path: Path, png: Callable[..., bytes]) -> Callable[..., Path]:
    """Return a function that writes the authors' unpacked archive and returns its folder."""

    def write(*records: dict[str, Any]) -> Path:
        folder = tmp_path / "data"
        for record in records:
            for picture in record.get("images", []):
                (folder / picture).parent.mkdir(parents=True, exist_ok=True)
                (folder / picture).write_bytes(png(len(picture), kind="JPEG"))
        (folder / "raw").mkdir(parents=True)
        lines = "\n".join(map(json.dumps, records))
        (folder / "raw" / "MindCube_tinybench.jsonl").write_text(lines, encoding="utf-8")
        return folder

    return write


def original(name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "category": ["perspective"],
        "type": "x",
        "question": f"What is behind me, {len(name)}? A. Sofa B. Wall lamp C. Door D. Window E. Nothing",
        "gt_answer": "E",
        "images": [f"other_all_image/{name}/front.jpg", f"other_all_image/{name}/left_view.jpg"],
        **more,
    }


def test_a_prompt_of_the_table_is_kept(
    processed: Processed, write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(0, encoded(png(0), png(1))),
        table_row(1, encoded(png(2), png(3)), "<image>\n<image>\n", "c"),
        table_row(2, encoded(png(4), png(5), png(6)), "<image><image>"),
    ]
    assert processed(write_tsv("MindCubeBench_tiny_raw_qa.tsv", rows)) == [
        {
            "question_id": "0",
            "img_path": ["img/0_1.png", "img/0_2.png"],
            "question": f"{INSTRUCTION}What is behind me, 0? {LISTED}",
            "question_type": "multiple-choice",
            "options": ["Sofa", "Wall lamp", "Door"],
            "answer": "B",
            "category": "around",
        },
        {
            "question_id": "1",
            "img_path": ["img/1_1.png", "img/1_2.png"],
            "question": f"<image>\n<image>\n{INSTRUCTION}What is behind me, 1? {LISTED}",
            "question_type": "multiple-choice",
            "options": ["Sofa", "Wall lamp", "Door"],
            "answer": "C",
            "category": "among",
        },
        {
            "question_id": "2",
            "img_path": ["img/2_1.png", "img/2_2.png", "img/2_3.png"],
            "question": f"{INSTRUCTION}What is behind me, 2? {LISTED}",
            "question_type": "multiple-choice",
            "options": ["Sofa", "Wall lamp", "Door"],
            "answer": "B",
            "category": "rotation",
        },
    ]


def test_a_table_in_the_unpacked_folder_names_its_pictures(
    processed: Processed,
    write_original: Callable[..., Path],
    write_tsv: Callable[..., Path],
) -> None:
    record = original("around_1")
    write_original(record)
    row = {**table_row(0, ""), "image_path": str(record["images"])}
    made = processed(write_tsv("data/MindCubeBench_tiny_raw_qa.tsv", [row]))
    assert made[0]["img_path"] == [
        "img/other_all_image_around_1_front.jpg",
        "img/other_all_image_around_1_left_view.jpg",
    ]


@pytest.mark.parametrize("place", [".", "..", "raw/MindCube_tinybench.jsonl"])
def test_the_authors_records_get_the_instruction(
    processed: Processed, write_original: Callable[..., Path], place: str
) -> None:
    folder = write_original(
        original("among_group7_q1_5_2"),
        original("linear_rotation_3", question="What? <image> A. x B. y", gt_answer="C"),
    )
    assert processed(folder / place) == [
        {
            "question_id": "among_group7_q1_5_2",
            "img_path": [
                "img/other_all_image_among_group7_q1_5_2_front.jpg",
                "img/other_all_image_among_group7_q1_5_2_left_view.jpg",
            ],
            "question": (
                f"{INSTRUCTION}What is behind me, 19? A. Sofa B. Wall lamp C. Door D. Window E. Nothing"
            ),
            "question_type": "multiple-choice",
            "options": ["Sofa", "Wall lamp", "Door", "Window", "Nothing"],
            "answer": "E",
            "category": "among",
        },
        {
            "question_id": "linear_rotation_3",
            "img_path": [
                "img/other_all_image_linear_rotation_3_front.jpg",
                "img/other_all_image_linear_rotation_3_left_view.jpg",
            ],
            "question": f"{INSTRUCTION}What?  A. x B. y",  # two pictures, one mark
            "question_type": "multiple-choice",
            "answer": "C",  # which the options that can be read do not have: any letter is accepted
            "category": "rotation",
        },
    ]


@pytest.mark.parametrize(
    ("question_id", "category"),
    [
        ("around_1", "around"),
        ("among_around_1", "around"),
        ("rotation_translation", "rotation"),
        ("translation_among", "translation"),
        ("Among_7", "among"),
        ("7", "other"),
    ],
)
def test_the_category_is_the_first_that_the_id_holds(
    task: ModuleType, question_id: str, category: str
) -> None:
    assert task.category_of(None, question_id) == category


def test_original_records_that_are_not_as_expected_are_all_told(
    processed: Processed, write_original: Callable[..., Path]
) -> None:
    folder = write_original(
        original("a", gt_answer="F"),
        original("b", question=" "),
        original("c", images=[]),
        original("d"),
    )
    with pytest.raises(DataError) as caught:
        processed(folder)
    assert "3 rows are not as expected" in str(caught.value)
    for problem in (
        "id 'a': answer 'F' is none of the letters A to E",
        "id 'b': neither input_prompt nor question holds a text",
        "id 'c': the row has neither image nor image_path",
    ):
        assert problem in str(caught.value)


def test_pictures_that_cannot_be_found_are_told(processed: Processed, write_tsv: Callable[..., Path]) -> None:
    row = {**table_row(0, ""), "image_path": "['other_all_image/x.jpg', 'other_all_image/y.jpg']"}
    with pytest.raises(DataError, match="no row has a picture that can be used"):
        processed(write_tsv("MindCubeBench_tiny_raw_qa.tsv", [row]))


def test_a_run_shows_all_pictures_of_each_row_and_scores_all_rows(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    pictures = {n: [png(10 * n + k) for k in range(2 + n % 3)] for n in range(7)}
    marks = ["", "<image>\n<image>\n<image>\n", "<image> ", "<image> and <image>: ", "", "", ""]
    rows = [table_row(n, encoded(*pictures[n]), marks[n]) for n in range(7)]
    rows[6]["category"] = "translation"
    replies = ["<answer>B. Wall lamp</answer>", "B", "E", None, "I cannot tell.", "", "A"]

    def row_asked(call: Any) -> int:
        return int(call.text.partition("behind me, ")[2][0])

    def reply(call: Any) -> Any:
        text = replies[row_asked(call)]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("MindCubeBench_tiny_raw_qa", write_tsv("t.tsv", rows), reply, name="mindcube")
    # right: 0 and 1. 2 names an option that is not there, 4 is unread, 6 is wrong; 3 (refused) and 5 (empty) have no
    # answer: 2 of 7, and 2 of 6 without translation. around has 0 and 3, among 1 and 4, rotation 2 and 5.
    assert run.ran.returncode == 3
    result = run.files.result
    assert (result["accuracy"], result["official"]["accuracy"], result["official"]["n"]) == (28.57, 33.33, 6)
    assert {
        name: (block["accuracy"], block["n"]) for name, block in result["detailed"]["category"].items()
    } == {"around": (50.0, 2), "among": (50.0, 2), "rotation": (0.0, 2), "translation": (0.0, 1)}
    assert run.files.counts == {"total": 7, "answered": 5, "request_errors": 2, "parse_failures": 2}
    assert result["note"] == "the data holds 7 rows, the benchmark 1,040"
    asked = {row_asked(call): call for call in run.calls}
    assert {n: [data for _, data in call.images] for n, call in asked.items()} == pictures
    assert all("<image" not in call.text for call in run.calls)
    shown = iter(pictures[3])
    assert [part["text"] if part["type"] == "text" else next(shown) for part in asked[3].parts] == [
        pictures[3][0], " and ", pictures[3][1], f": {INSTRUCTION}What is behind me, 3? {LISTED}",
    ]  # fmt: skip
    assert asked[0].text == f"{INSTRUCTION}What is behind me, 0? {LISTED}"
    golden_requests("mindcube", [asked[0], asked[1], asked[3]])


def test_the_authors_records_can_be_run(
    run_benchmark: Callable[..., Any], write_original: Callable[..., Path]
) -> None:
    folder = write_original(original("around_1"), original("among_12"))
    run = run_benchmark("mindcube", folder, lambda call: "<answer>E. Nothing</answer>")
    assert (run.ran.returncode, run.files.result["accuracy"]) == (0, 100.0)
    assert [len(call.images) for call in run.calls] == [2, 2]
    assert all(call.text.startswith(INSTRUCTION + "What is behind me, ") for call in run.calls)


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 4)
