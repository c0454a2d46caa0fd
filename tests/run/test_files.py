"""Whole files are replaced, never half-written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flagharness.run import replacing, write_json, write_json_list


def test_a_new_file_and_its_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x.json"
    write_json(path, {"b": 1, "a": float("nan")})
    assert path.read_text(encoding="utf-8") == '{\n  "b": 1,\n  "a": null\n}\n'


def test_a_list_is_written_one_record_a_line_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert write_json_list(path, ({"n": n} for n in range(3))) == 3
    assert path.read_text(encoding="utf-8") == '[\n{"n":0},\n{"n":1},\n{"n":2}\n]\n'


def test_an_empty_list_is_an_empty_json_list(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    assert write_json_list(path, []) == 0
    assert json.loads(path.read_text(encoding="utf-8")) == []


def test_an_exception_inside_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, "old")
    with pytest.raises(ValueError, match="negative"), replacing(path) as file:
        file.writelines([b"half", bytes(-1)])
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
    assert json.loads(path.read_text(encoding="utf-8")) == "old"


def test_a_record_that_cannot_be_made_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json_list(path, [1])

    def records() -> object:
        yield 2
        raise ValueError("third record")

    with pytest.raises(ValueError, match="third record"):
        write_json_list(path, records())  # type: ignore[arg-type]
    assert [p.name for p in tmp_path.iterdir()] == ["x.json"]
    assert json.loads(path.read_text(encoding="utf-8")) == [1]


def test_the_new_content_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, "old")
    with replacing(path) as file:
        file.write(b'"new"')
        file.flush()
        assert json.loads(path.read_text(encoding="utf-8")) == "old"
    assert json.loads(path.read_text(encoding="utf-8")) == "new"
