"""What a run writes down about itself: which settings matter, and whether a run was finished before."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import load_model_config
from flagharness.engine import TaskRun
from flagharness.engine._records import differences, is_finished, model_record
from flagharness.run import TaskFolder, write_json


def _model(**values: Any) -> dict[str, Any]:
    return model_record(load_model_config(json.dumps({"model_name": "toy", "url": "http://h/v1", **values})))


def test_the_record_of_a_model_holds_what_is_sent_and_no_secret() -> None:
    values = {"api_key": "sk-FAKE", "temperature": 0, "extra_body": {"top_k": 1, "auth_token": "sk-FAKE"}}
    record = _model(**values)
    assert record["sampling_sent"] == {"temperature": 0, "top_k": 1, "auth_token": "***"}
    assert "sk-FAKE" not in json.dumps(record)


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        ({}, []),
        ({"url": "http://other/v1", "api_key": "x", "num_workers": 3, "max_retries": 0, "timeout": 5}, []),
        ({"output_dir": "x", "retry_wait_max": 1}, []),
        ({"model_name": "new"}, ["model_name 'toy' -> 'new'"]),
        (
            {"temperature": 0.5},
            ["sampling_sent {} -> {'temperature': 0.5}", "temperature None -> 0.5"],
        ),
    ],
)
def test_only_settings_that_matter_for_an_answer_are_differences(
    change: dict[str, Any], lines: list[str]
) -> None:
    assert differences(_model(), _model(**change)) == lines


def test_a_run_without_a_record_of_its_model_has_no_differences() -> None:
    assert differences({}, _model()) == []


# --- finished before ------------------------------------------------------------------------------------------

_RECORD = {
    "task": {"name": "toy", "evaluator": {"type": "BaseEvaluator"}},
    "model": _model(),
    "data": {"digest": "d", "rows": 3},
    "run": {"num_infers": 2, "limit": None},
}
_RESULT = {"partial": False, "counts": {"total": 3, "answered": 3}}


@pytest.fixture
def run(tmp_path: Path) -> TaskRun:
    """A run of three rows whose folder holds the finished run of ``_RECORD``."""
    run = TaskRun(task=None, folder=TaskFolder(tmp_path, "toy"), ids=["1", "2", "3"], num_infers=2)  # type: ignore[arg-type]
    write_json(run.folder.config, _RECORD)
    write_json(run.folder.result, _RESULT)
    return run


def test_a_full_answered_run_of_exactly_this_is_finished(run: TaskRun) -> None:
    assert is_finished(run, copy.deepcopy(_RECORD))


@pytest.mark.parametrize(
    "result",
    [
        {**_RESULT, "partial": True},
        {"counts": _RESULT["counts"]},
        {**_RESULT, "counts": {"total": 3, "answered": 2}},
        {**_RESULT, "counts": {"total": 4, "answered": 4}},
        {**_RESULT, "counts": {"total": 2, "answered": 2}},
        {**_RESULT, "counts": None},
        {},
    ],
)
def test_a_run_with_rows_left_is_not(run: TaskRun, result: dict[str, Any]) -> None:
    write_json(run.folder.result, result)
    assert not is_finished(run, _RECORD)


@pytest.mark.parametrize(
    "stored",
    [
        {**_RECORD, "task": {"name": "toy", "evaluator": None}},
        {**_RECORD, "data": {"digest": "other"}},
        {**_RECORD, "data": None},
        {**_RECORD, "run": {"num_infers": 1}},
        {**_RECORD, "run": None},
        {**_RECORD, "model": _model(temperature=1)},
        {**_RECORD, "model": _model(model_name="other")},
        {**_RECORD, "model": None},
        {},
    ],
)
def test_a_run_of_something_else_is_not(run: TaskRun, stored: dict[str, Any]) -> None:
    write_json(run.folder.config, stored)
    assert not is_finished(run, _RECORD)


def test_where_the_model_was_asked_does_not_matter(run: TaskRun) -> None:
    assert is_finished(run, {**_RECORD, "model": _model(url="http://other/v1", num_workers=1)})


@pytest.mark.parametrize("name", ["config", "result"])
def test_a_missing_file_is_no_finished_run(run: TaskRun, name: str) -> None:
    getattr(run.folder, name).unlink()
    assert not is_finished(run, _RECORD)
