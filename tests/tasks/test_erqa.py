"""ERQA: pictures inside the question, at the offsets that the data gives."""

from __future__ import annotations

import base64
import doctest
import importlib.util
import json
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
from flagharness.prompt import split_marks

FOLDER = Path(__file__).parents[2] / "tasks" / "erqa"


def _split(text: str, images: int) -> list[str | int]:
    return [piece if isinstance(piece, str) else piece[1] for piece in split_marks(text, {"image": images})]


Processed = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Processed:
    """Return a function that runs process.py on a file or folder and returns the rows it wrote, by id."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "erqa.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        rows = load_annotations([tmp_path / "made" / "test" / "data.json"])
        return sorted(rows, key=lambda row: str(row["question_id"]))

    return run


CLOSING = "Please answer directly with only the letter of the correct option and nothing else."


def encoded(*pictures: bytes) -> str:
    return json.dumps([base64.b64encode(picture).decode() for picture in pictures])


def question(number: int, *choices: str) -> str:
    listed = " ".join(f"{letter}. {text}" for letter, text in zip("ABCD", choices, strict=False))
    return f"What is next, {number}? Choices: {listed} {CLOSING}"


def table_row(index: int, pictures: str, text: str, indices: str, answer: str) -> dict[str, Any]:
    return {
        "index": index,
        "image": pictures,
        "question": text,
        "visual_indices": indices,
        "question_type": "Pointing" if index % 2 else "Other",
        "answer": answer,
    }


def hub_row(name: str, pictures: list[bytes], text: str, indices: list[int], answer: str) -> dict[str, Any]:
    return {
        "question_id": name,
        "question": text,
        "question_type": "Other",
        "images": [{"bytes": picture, "path": None} for picture in pictures],
        "visual_indices": indices,
        "answer": answer,
    }


@pytest.mark.parametrize(
    ("text", "offsets", "shown"),
    [
        # P and Q are pictures 0 and 1
        ("ab", [1, 0], [1, "a", 0, "b"]),
        ("ab", [0, 0], [0, 1, "ab"]),
        ("ab", [9, 1], ["a", 1, "b", 0]),
        ("ab", [2, 2], ["ab", 0, 1]),
        ("ab", [7, 9], ["ab", 0, 1]),
        ("ab", [1, 1], ["a", 0, 1, "b"]),
        ("ab", [1], [0, 1, "ab"]),
        ("ab", [], [0, 1, "ab"]),
        ("ab", [0, 1, 2], [0, 1, "ab"]),
        (
            "First: x < y > z\n Second:\n\n Which?",
            [7, 25],
            ["First: ", 0, "x < y > z\n Second:", 1, "\n\n Which?"],
        ),
        ("<a> <b>", [3, 4], ["<a>", 0, 1, "<b>"]),  # the space between two pictures is not sent
        ("ünïcödé 日本", [8, 9], ["ünïcödé ", 0, "日", 1, "本"]),
    ],
)
def test_a_picture_stands_at_its_offset(
    task: ModuleType, text: str, offsets: list[int], shown: list[str | int]
) -> None:
    assert _split(task.with_marks(text, offsets, 2), 2) == shown


def test_one_picture_at_an_offset_and_one_at_the_start(task: ModuleType) -> None:
    assert _split(task.with_marks("ab", [1], 1), 1) == ["a", 0, "b"]
    assert _split(task.with_marks("ab", [0], 1), 1) == [0, "ab"]


@given(
    text=st.text(st.characters(exclude_characters="<", exclude_categories=("Cs", "Z", "C")), max_size=20),
    offsets=st.lists(st.integers(0, 25), max_size=5),
)
def test_text_and_pictures_are_all_there_each_at_its_place(text: str, offsets: list[int]) -> None:
    spec = importlib.util.spec_from_file_location("erqa_process", FOLDER / "process.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shown = _split(module.with_marks(text, offsets, len(offsets)), len(offsets))
    assert "".join(piece for piece in shown if isinstance(piece, str)) == text
    assert sorted(piece for piece in shown if isinstance(piece, int)) == list(range(len(offsets)))
    for place, piece in enumerate(shown):
        if isinstance(piece, int):
            before = sum(len(part) for part in shown[:place] if isinstance(part, str))
            assert before == min(offsets[piece], len(text))


@pytest.mark.parametrize("text", ["Is <image> a tag?", "See <image 2>.", "<image1>"])
def test_a_text_that_looks_like_a_mark_is_refused(task: ModuleType, text: str) -> None:
    with pytest.raises(ValueError, match="holds <image"):
        task.with_marks(text, [0], 1)


@pytest.mark.parametrize("cell", ["zero", "[0, 'a']", "[-1]", ["x"], "{0: 1}", "[1.5]"])
def test_offsets_that_are_none_are_refused(task: ModuleType, cell: Any) -> None:
    with pytest.raises(ValueError, match="no list of character offsets"):
        task.offsets_of(cell)


def test_table_and_hub_give_the_same_rows(
    processed: Processed,
    write_tsv: Callable[..., Path],
    write_parquet: Callable[..., Path],
    png: Callable[..., bytes],
) -> None:
    first, second = question(0, "Up.", "Down.", "Left.", "Right."), question(1, "Yes.", "No.")
    made = processed(
        write_tsv(
            "ERQA.tsv",
            [
                table_row(0, encoded(png(0)), first, "[0]", "d"),
                table_row(1, encoded(png(1, kind="JPEG"), png(2)), second, "[13, 4]", "B"),
            ],
        )
    )
    assert made == [
        {
            "question_id": "0",
            "img_path": "img/0.png",
            "question": first,
            "question_type": "multiple-choice",
            "options": ["Up.", "Down.", "Left.", "Right."],
            "answer": "D",
            "category": "Other",
        },
        {
            "question_id": "1",
            "img_path": ["img/1_1.jpg", "img/1_2.png"],
            "question": f"What<image 2> is next,<image 1> 1? Choices: A. Yes. B. No. {CLOSING}",
            "question_type": "multiple-choice",
            "options": ["Yes.", "No."],
            "answer": "B",
            "category": "Pointing",
        },
    ]
    hub = processed(
        write_parquet(
            "hub.parquet",
            [
                hub_row("ERQA_1", [png(0)], first, [0], "D"),
                hub_row("ERQA_2", [png(1, kind="JPEG"), png(2)], second, [13, 4], "B"),
            ],
        )
    )
    same = ("question", "question_type", "options", "answer", "img_path")
    assert [[row[key] for key in same] for row in hub] == [[row[key] for key in same] for row in made]
    assert [row["question_id"] for row in hub] == ["ERQA_1", "ERQA_2"]


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (question(0, "Up.", "Down.", "Left.", "Right."), ["Up.", "Down.", "Left.", "Right."]),
        (question(0, "A.", "B.", "C.", "D."), ["A.", "B.", "C.", "D."]),
        ("Point A. Point B. Choices: A. 1 m. B. 2 m.", ["1 m.", "2 m."]),
        ("Which?\nChoices:\nA. x\nB. y\nC. z\nPlease answer", ["x", "y", "z"]),
        ("Which? A. x B. y", []),
        ("Which? Choices: B. y", []),
        ("Which? Choices: A. B. B. A.", []),
    ],
)
def test_the_options_are_read_from_the_question(task: ModuleType, text: str, options: list[str]) -> None:
    assert task.listed_options(text) == options


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (table_row(0, "", "Which <image>?", "[0]", "A"), "holds <image> as text"),
        (table_row(0, "", "Which?", "[0]", "E"), "none of the letters A to D"),
        (table_row(0, "", "Which?", "soon", "A"), "no list of character offsets"),
        (table_row(0, "", " ", "[0]", "A"), "the question is empty"),
    ],
)
def test_a_row_that_cannot_be_asked_or_scored_is_told(
    processed: Processed,
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    row: dict[str, Any],
    problem: str,
) -> None:
    with pytest.raises(DataError, match=problem):
        processed(write_tsv("ERQA.tsv", [{**row, "image": encoded(png(0))}]))


def test_a_run_interleaves_and_is_scored_over_all_rows(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    texts = [question(n, "It < lifts.", "It opens.", "It stays.", "It turns.") for n in range(6)]
    texts[5] = question(5, "Yes.", "No.")
    rows = [table_row(n, encoded(png(n)), texts[n], "[0]", "B") for n in range(6)]
    rows[1] = table_row(1, encoded(png(1), png(11), png(21)), texts[1], "[4, 0, 999]", "B")
    rows[2] = table_row(2, encoded(png(2), png(12)), texts[2], "[0, 0]", "B")
    replies = ["B", "It opens.", "A", None, "", "C"]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("ERQA", write_tsv("ERQA.tsv", rows), reply, name="erqa")
    # right: 0 and 1. 2 is wrong; 5 names an option that the row does not have; 3 (refused) and 4 (empty) have no
    # answer: 2 of 6. Other has 0, 2, 4 (1 right), Pointing 1, 3, 5 (1 right).
    assert run.ran.returncode == 3
    assert run.files.result["accuracy"] == 33.33
    by_category = run.files.result["detailed"]["category"]
    assert {name: (block["accuracy"], block["n"]) for name, block in by_category.items()} == {
        "Other": (33.33, 3),
        "Pointing": (33.33, 3),
    }
    assert run.files.counts == {"total": 6, "answered": 4, "request_errors": 2, "parse_failures": 1}
    assert run.files.result["note"] == "the data holds 6 rows, the benchmark 400"
    asked = {call.asked: call for call in run.calls}
    assert {number: call.text for number, call in asked.items()} == dict(enumerate(texts))
    shown = iter(data for _, data in asked[1].images)
    assert [part["text"] if part["type"] == "text" else next(shown) for part in asked[1].parts] == [
        png(11), "What", png(1), texts[1][4:], png(21),
    ]  # fmt: skip
    golden_requests("erqa", [asked[0], asked[1], asked[2]])


def test_the_examples_in_process_py_hold(task: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 5)
