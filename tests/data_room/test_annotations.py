"""Rows of data.json: what is wrong with them, and how the files are read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.data import QUESTION_TYPES, check_rows, load_annotations, read_json_rows
from flagharness.errors import DataError


@pytest.mark.parametrize(
    "row",
    [
        {"question_id": 0},
        {"question_id": "a/b", "question": ""},
        {"question_id": "q", "question_type": None, "options": None, "img_path": None, "answer": None},
        {"question_id": "q", "question_type": "multiple-choice", "options": ["a"], "answer": "A"},
        {"question_id": "q", "question_type": "yes-no", "options": []},
        {"question_id": "q", "question_type": "a type of the task's own evaluator"},
        {"question_id": "q", "img_path": "img/a.png", "video_path": ["v/1.mp4", "v/2.mp4"], "audio_path": []},
        {"question_id": "q", "img_path": "/data/elsewhere/a.png"},
        {"question_id": "q", "img_path": "a/../b..png"},
        {"question_id": "q", "evaluator_kwargs": {"interval": [1.5, 2]}, "masks": [[0, 1]]},
    ],
)
def test_a_row_as_the_contract_allows_it_has_no_problem(row: dict[str, Any]) -> None:
    assert check_rows([row]) == []


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("text", "row 1: expected an object, got str 'text'"),
        (None, "row 1: expected an object, got null"),
        ({}, "row 1 (question_id None): question_id is missing"),
        (
            {"question_id": True},
            "row 1 (question_id True): question_id must be a text or an integer, got bool True",
        ),
        (
            {"question_id": 1.0},
            "row 1 (question_id 1.0): question_id must be a text or an integer, got float 1.0",
        ),
        (
            {"question_id": ""},
            "row 1 (question_id ''): question_id must be a text or an integer, got an empty text",
        ),
        (
            {"question_id": None},
            "row 1 (question_id None): question_id must be a text or an integer, got null",
        ),
        ({"question_id": 7, "question": 5}, "row 1 (question_id 7): question must be a text, got int 5"),
        (
            {"question_id": 7, "question_type": ["open"]},
            "row 1 (question_id 7): question_type must be a text, got list ['open']",
        ),
        (
            {"question_id": 7, "options": {"A": "cat"}},
            "row 1 (question_id 7): options must be a list of texts, got dict {'A': 'cat'}",
        ),
        (
            {"question_id": 7, "options": ["1", 2]},
            "row 1 (question_id 7): options must be a list of texts, got list ['1', 2]",
        ),
        (
            {"question_id": 7, "question_type": "multiple-choice", "options": []},
            "row 1 (question_id 7): options is empty, but the question is multiple-choice",
        ),
        (
            {"question_id": 7, "img_path": 3},
            "row 1 (question_id 7): img_path must be a path or a list of paths, got int 3",
        ),
        (
            {"question_id": 7, "img_path": ""},
            "row 1 (question_id 7): img_path must be a path or a list of paths, got an empty text",
        ),
        (
            {"question_id": 7, "video_path": ["a.mp4", None]},
            "row 1 (question_id 7): video_path must be a path or a list of paths, got list ['a.mp4', None]",
        ),
        (
            {"question_id": 7, "audio_path": "../a.wav"},
            "row 1 (question_id 7): audio_path '../a.wav' leads out of the data folder",
        ),
        (
            {"question_id": 7, "img_path": ["a.png", "img/../../../etc/b.png"]},
            "row 1 (question_id 7): img_path 'img/../../../etc/b.png' leads out of the data folder",
        ),
    ],
)
def test_each_fault_of_a_row_is_told_with_its_place(row: Any, problem: str) -> None:
    assert check_rows([row]) == [problem]


def test_one_row_can_have_several_problems_and_all_are_told() -> None:
    problems = check_rows(
        [{"question_id": 1}, {"question_id": "1", "question": None, "img_path": "../x.png"}]
    )
    assert problems == [
        "row 2 (question_id '1'): question_id is that of row 1 too",
        "row 2 (question_id '1'): question must be a text, got null",
        "row 2 (question_id '1'): img_path '../x.png' leads out of the data folder",
    ]


def test_ids_that_differ_only_in_type_collide() -> None:
    assert check_rows([{"question_id": 1}, {"question_id": "01"}, {"question_id": "1"}]) == [
        "row 3 (question_id '1'): question_id is that of row 1 too"
    ]


@given(st.lists(st.integers() | st.text(min_size=1)))
def test_there_is_one_problem_for_every_id_that_came_before(ids: list[int | str]) -> None:
    problems = check_rows([{"question_id": question_id} for question_id in ids])
    assert len(problems) == len(ids) - len({str(question_id) for question_id in ids})


def test_long_values_are_cut_in_messages() -> None:
    [problem] = check_rows([{"question_id": 1, "question": ["x" * 1000]}])
    assert len(problem) < 120


def test_two_hundred_thousand_rows_are_checked_in_seconds() -> None:
    row = {
        "question": "?",
        "question_type": "multiple-choice",
        "options": ["a", "b"],
        "img_path": "img/1.png",
    }
    rows = [{"question_id": number, **row} for number in range(200_000)]
    start = time.process_time()
    assert check_rows(rows) == []
    assert time.process_time() - start < 10


def test_the_question_types_are_those_of_the_contract() -> None:
    assert {"count", "number", "bbox", "fill-blank", "fill-in-the-blank"} <= set(QUESTION_TYPES)
    assert len(QUESTION_TYPES) == len(set(QUESTION_TYPES)) == 11


def test_several_files_become_one_list_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"question_id": "猫🐱"}]', encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('\ufeff{"question_id": 1}\n\n{"question_id": 2}', encoding="utf-8")
    rows = load_annotations([tmp_path / "b.jsonl", str(tmp_path / "a.json")])
    assert [row["question_id"] for row in rows] == [1, 2, "猫🐱"]


def test_an_empty_jsonl_file_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("")
    assert load_annotations([tmp_path / "a.jsonl"]) == []


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '[\n {"question_id": 1},\n {"question_id" 2}\n]', "line 3, column 17: not JSON"),
        (
            "a.json",
            '{"question_id": 1}\n{"question_id": 2}',
            "One object a line belongs into a file named .jsonl",
        ),
        ("a.json", '{"rows": []}', "expected a list of objects, got dict"),
        ("a.json", '[{}, 5, "x"]', "row 2: int 5\n  row 3: str 'x'"),
        ("a.json", "", "line 1, column 1"),
        ("a.jsonl", '{"question_id": 1}\n{"question_id": 2', "line 2, column 18: not JSON"),
        ("a.jsonl", '{"question_id": 1}\n[1]', "line 2: expected an object, got list [1]"),
    ],
)
def test_a_file_that_holds_no_rows_is_told_with_the_place(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_annotations([path])
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_a_missing_file_and_other_encodings_are_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.json: cannot be read"):
        load_annotations([tmp_path / "none.json"])
    (tmp_path / "latin.json").write_bytes('[{"question": "é"}]'.encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.json: not UTF-8"):
        load_annotations([tmp_path / "latin.json"])


def test_json_lines_come_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"n": 1}\nbroken\n', encoding="utf-8")
    rows = read_json_rows(path)
    assert next(rows) == {"n": 1}
    with pytest.raises(DataError, match="line 2"):
        next(rows)
