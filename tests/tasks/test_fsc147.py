"""FSC-147: the table, and the authors' own files."""

from __future__ import annotations

import doctest
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.data import load_annotations

FOLDER = Path(__file__).parents[2] / "tasks" / "fsc147"
ASK = "How many {} are there in the image? Your final answer should be a single integer."


def _question(noun: str) -> str:
    return ASK.format(noun)


def _table(png: Callable[..., bytes]) -> list[dict[str, Any]]:
    nouns = ["pill", "bird", "grape", "book", "chair", "kiwi"]
    counts = [12, 55, 8, 300, 21, 9]
    rows = [
        {"index": n, "image": png(n), "question": _question(noun), "answer": count}
        for n, (noun, count) in enumerate(zip(nouns, counts, strict=True))
    ]
    rows[5]["image"] = "0"  # the picture of row 0
    return rows


def test_the_table_is_run_scored_and_asked_as_it_stands(
    run_benchmark: Callable[..., Any],
    golden_requests: Callable[..., None],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    tmp_path: Path,
) -> None:
    replies = {
        "pill": "12",
        "bird": "I count 55 birds.",
        "grape": "\\boxed{7}",
        "book": "three hundred",
        "kiwi": "There are 9 of 10.",
    }

    def reply(call: Any) -> Any:
        noun = call.text.split()[2]
        return replies.get(noun) or endpoint.fails(400)

    run = run_benchmark("FSC147_val", write_tsv("FSC147_val.tsv", _table(png)), reply, name="fsc147")
    # Right: pill and bird. Errors 0, 0, 1, 300 (a number word), 21 (refused), 1 (the last number is 10).
    result = run.files.result
    assert run.ran.returncode == 3
    assert (result["accuracy"], result["n"]) == (33.33, 6)
    assert (result["mae"], result["within_5_percent"]) == (round(323 / 6, 4), 33.3333)
    assert result["rmse"] == round(((1 + 90000 + 441 + 1) / 6) ** 0.5, 4)
    assert run.files.counts == {"total": 6, "answered": 5, "request_errors": 1, "parse_failures": 1}
    assert result["note"] == "the data holds 6 rows, the benchmark 1,286"
    assert result["detailed"]["sub_task"]["101 and more"] == {"accuracy": 0.0, "n": 1, "ci95": [0.0, 79.35]}
    golden_requests("fsc147", [run.calls[0], run.calls[1]])
    rows = load_annotations([tmp_path / "cache" / "FSC147" / "val" / "data.json"])
    assert rows[0] == {
        "question_id": "0", "img_path": "img/0.png", "question": _question("pill"), "question_type": "count",
        "answer": 12, "sub_task": "8-20",
    }  # fmt: skip
    assert rows[5]["img_path"] == "img/0.png"


def test_a_truth_that_is_no_count_is_named(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
) -> None:
    rows = [{"index": 7, "image": png(), "question": "?", "answer": "many"}]
    run = run_benchmark("fsc147", write_tsv("x.tsv", rows), lambda call: "1")
    assert run.ran.returncode == 1
    assert "row 1 (index '7'): answer 'many' is no whole number" in run.ran.stderr
    assert endpoint.calls == []


KINDS = {
    "ants": "ant", "birds": "bird", "books": "book", "bottle caps": "bottle cap", "bullets": "bullet",
    "camels": "camel", "chairs": "chair", "chicken wings": "chicken wing", "donuts tray": "donuts tray",
    "flamingos": "flamingo", "flower pots": "flower pot", "flowers": "flower", "fresh cut": "fresh cut",
    "grapes": "grape", "horses": "horse", "kiwis": "kiwi", "milk cartons": "milk carton",
    "oyster shells": "oyster shell", "oysters": "oyster", "peaches": "peach", "pills": "pill",
    "polka dots": "polka dot", "prawn crackers": "prawn cracker", "sausages": "sausage", "seagulls": "seagull",
    "shallots": "shallot", "shirts": "shirt", "skateboard": "skateboard",
    "toilet paper rolls": "toilet paper roll",
}  # fmt: skip
"""The 29 kinds of the validation split, as ImageClasses_FSC147.txt has them, and their singular."""


def test_every_kind_of_the_validation_split_has_its_singular() -> None:
    spec = importlib.util.spec_from_file_location("fsc147_process", FOLDER / "process.py")
    assert spec is not None
    assert spec.loader is not None
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    assert {kind: task.singular(kind) for kind in KINDS} == KINDS
    assert doctest.testmod(task) == (0, 3)


@pytest.fixture
def original(tmp_path: Path, png: Callable[..., bytes]) -> Path:
    """The authors' layout with lines of their files: real names, splits and classes; the points are made up."""
    folder = tmp_path / "FSC147"
    (folder / "images_384_VarV2").mkdir(parents=True)
    names = {"767.jpg": "books", "194.jpg": "peaches", "7.jpg": "peppers"}
    points = {
        name: {"points": [[1, 2]] * (8 + n), "box_examples_coordinates": []} for n, name in enumerate(names)
    }
    (folder / "annotation_FSC147_384.json").write_text(json.dumps(points))
    splits = {"train": ["7.jpg"], "val": ["767.jpg", "194.jpg"], "test": []}
    (folder / "Train_Test_Val_FSC_147.json").write_text(json.dumps(splits))
    classes = "".join(f"{name}\t{kind}\n" for name, kind in names.items())
    (folder / "ImageClasses_FSC147.txt").write_text(classes)
    for n, name in enumerate(names):
        (folder / "images_384_VarV2" / name).write_bytes(png(n, kind="JPEG"))
    return folder


def test_the_authors_files_give_the_split_with_questions_of_the_same_form(
    run_benchmark: Callable[..., Any], original: Path, tmp_path: Path
) -> None:
    run = run_benchmark("fsc147", original, lambda call: "9")
    assert run.ran.returncode == 0
    assert run.files.result["accuracy"] == 50.0
    rows = load_annotations([tmp_path / "cache" / "FSC147" / "val" / "data.json"])
    assert rows == [
        {"question_id": "767", "question": _question("book"), "question_type": "count", "answer": 8,
         "img_path": "img/767.jpg", "sub_task": "8-20", "class": "books"},
        {"question_id": "194", "question": _question("peach"), "question_type": "count", "answer": 9,
         "img_path": "img/194.jpg", "sub_task": "8-20", "class": "peaches"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "ImageClasses_FSC147.txt").unlink(), "not ImageClasses_FSC147.txt"),
        (
            lambda folder: (folder / "images_384_VarV2" / "767.jpg").unlink(),
            "767.jpg: no such file in images_384",
        ),
        (
            lambda folder: (folder / "annotation_FSC147_384.json").write_text("{}"),
            "767.jpg: no points in annotation",
        ),
        (
            lambda folder: (folder / "ImageClasses_FSC147.txt").write_text(""),
            "194.jpg: no class in ImageClasses",
        ),
        (lambda folder: (folder / "Train_Test_Val_FSC_147.json").write_text("{}"), "there is no split 'val'"),
    ],
)
def test_what_the_authors_files_lack_is_said(
    run_benchmark: Callable[..., Any], original: Path, spoil: Callable[[Path], Any], said: str
) -> None:
    spoil(original)
    run = run_benchmark("fsc147", original, lambda call: "9")
    assert run.ran.returncode == 1
    assert said in run.ran.stderr
