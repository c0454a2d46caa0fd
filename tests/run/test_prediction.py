"""Predictions as records, ours and those of FlagEvalMM."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from flagharness.errors import DataError
from flagharness.run import Prediction, dump_line, dump_pretty


def test_a_record_has_the_fields_of_the_contract_and_the_rest_only_where_set() -> None:
    record = Prediction(question_id="1").to_json()
    assert list(record) == [
        "question_id",
        "question",
        "answer",
        "reason",
        "usage",
        "status",
        "error",
        "finish_reason",
        "latency_s",
        "response_id",
        "request_hash",
    ]
    full = Prediction("1", inference=1, model="m", refused=True, attempts=[{}]).to_json()
    assert list(full)[-4:] == ["inference", "model", "refused", "attempts"]


def test_only_a_reply_that_the_token_limit_cut_is_truncated() -> None:
    assert Prediction("1", finish_reason="length").truncated
    assert not Prediction("1", finish_reason="stop").truncated
    assert not Prediction("1").truncated


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"question_id": 7, "answer": "A"}, Prediction("7", answer="A")),
        ({"question_id": "7", "answer": "A", "prompt": "q?"}, Prediction("7", question="q?", answer="A")),
        (
            {"question_id": "7", "question": "q?", "answer": "A", "reason": "r"},
            Prediction("7", "q?", "A", "r"),
        ),
        ({"question_id": "7", "answer": None, "reason": None, "usage": None}, Prediction("7")),
        ({"question_id": "7", "answer": 3}, Prediction("7", answer="3")),
        ({"question_id": "7", "answer": "A", "reason": ["a"]}, Prediction("7", answer="A")),
        ({"question_id": "7", "answer": "A", "label": "B", "correct": True}, Prediction("7", answer="A")),
        (
            {"question_id": "7", "answer": "A", "usage": {"total_tokens": 3}},
            Prediction("7", answer="A", usage={"total_tokens": 3}),
        ),
    ],
)
def test_a_foreign_record_is_read(record: dict[str, Any], expected: Prediction) -> None:
    assert Prediction.from_json(record, "file") == expected


@pytest.mark.parametrize(
    "text",
    [
        "Error code: 401 - {'error': ...}",
        "Error: timed out",
        "RetryError[<Future at 0x7f state=finished raised BadRequestError>]",
        "Invalid response: ...",
    ],
)
def test_a_failure_written_into_the_answer_is_a_failure(text: str) -> None:
    prediction = Prediction.from_json({"question_id": 1, "answer": text}, "file")
    assert not prediction.ok
    assert prediction.answer == ""
    assert prediction.error == {"type": "imported", "message": text}


@pytest.mark.parametrize("text", ["error code 5 is shown", "Errors: none", "An Error: x", "", "B"])
def test_an_answer_that_speaks_of_errors_is_an_answer(text: str) -> None:
    prediction = Prediction.from_json({"question_id": 1, "answer": text}, "file")
    assert (prediction.ok, prediction.answer) == (True, text)


def test_our_own_records_are_not_searched_for_error_texts() -> None:
    own = Prediction("1", answer="Error: is what the sign says")
    assert Prediction.from_json(own.to_json(), "file") == own


@pytest.mark.parametrize("record", [None, 3, "text", [], {}, {"answer": "A"}])
def test_what_is_no_prediction_is_refused_with_its_place(record: Any) -> None:
    with pytest.raises(
        DataError, match=r"items/1\.json: not a prediction: expected an object with `question_id`"
    ):
        Prediction.from_json(record, "items/1.json")


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), None),
        (float("inf"), None),
        ({"b", "a"}, ["a", "b"]),
        (Path("/a"), "/a"),
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.array([1, 2]), [1, 2]),
        ({1: 2}, {"1": 2}),
        ("é\u2028", "é\u2028"),
    ],
)
def test_what_evaluators_put_into_results_can_be_written(value: Any, written: Any) -> None:
    assert json.loads(dump_line({"x": value})) == {"x": written}
    assert json.loads(dump_pretty({"x": value})) == {"x": written}


def test_a_line_is_one_line_and_letters_stay_readable() -> None:
    assert dump_line({"a": "图\n"}) == '{"a":"图\\n"}\n'.encode()
    assert dump_pretty({"a": 1}) == b'{\n  "a": 1\n}\n'
