"""Replies that other readers got wrong, scored as a run scores them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flagharness.evaluator import BaseEvaluator
from flagharness.run import Prediction

_FOLDER = Path(__file__).parents[1] / "data" / "hard_cases"
_CASES = [
    case
    for area in ("parse-mcq", "parse-yesno", "parse-count")
    for case in json.loads((_FOLDER / f"{area}.json").read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("case", _CASES, ids=[f"{case['id']}-{n}" for n, case in enumerate(_CASES)])
def test_a_reply_is_read_as_its_writer_meant_it(case: dict[str, Any]) -> None:
    given = dict(case["input"])
    reply = given.pop("reply")
    annotation = {"question_id": "1", "question": "Which?", **given}
    evaluator = BaseEvaluator()
    assert evaluator.problems([annotation]) == []
    for _ in range(20):  # the same verdict every time: nothing is drawn
        verdict = evaluator.verdict_on(annotation, [Prediction(question_id="1", answer=reply)])
        assert (verdict.answer, verdict.outcome) == (case["expected"]["answer"], case["expected"]["outcome"])
        assert bool(verdict.correct) == (case["expected"]["outcome"] == "correct")


def test_a_type_that_nobody_scores_is_refused_before_the_first_request() -> None:
    problems = BaseEvaluator().problems([{"question_id": "1", "question_type": "yesno", "answer": "yes"}])
    assert len(problems) == 1
    assert "cannot score question_type 'yesno'" in problems[0]
    assert "Did you mean 'yes-no'?" in problems[0]
