"""OpenEvaluator's rules: each case with the verdict that its type demands."""

from __future__ import annotations

from typing import Any

import pytest

from flagharness.evaluator import OpenEvaluator
from flagharness.run import Prediction


@pytest.mark.parametrize(
    ("kind", "answer", "reply", "right"),
    [
        ("integer", 12, "I count 12.", True),
        ("integer", "12", r"\boxed{12}", True),
        ("integer", 12, "Of 12 birds 3 fly. The answer is 12 birds.", True),
        ("integer", 12, "12.5", False),
        ("integer", 1200, "1,200", True),
        ("integer", 0, "Answer: 0", True),
        ("integer", [3, -4], "Answer: (3, -4)", True),
        ("integer", [3, -4], "Answer: (-4, 3)", False),
        ("integer", [3, -4], "Answer: 3", False),
        ("float", 2.0, "about 2.19", True),
        ("float", 2.0, "about 2.21", False),
        ("float", 2.0, r"1.2 \times 10^3", False),
        ("float", 1250.0, r"\boxed{1.2 \times 10^{3}}", True),
        ("float", 0.0, "0.0", True),
        ("float", 0.0, "0.1", False),
        ("float", [0.5, 7], "Answer: 0.53, 7", True),
        ("float", [0.5, 7], "Answer: 0.55, 7", False),
        ("float", [0.5, 7], "Answer: 0.5, 7.3", False),
        ("true_false", ["True", False], "True, False", True),
        ("true_false", ["True", False], "False, True", False),
        ("true_false", [True], "It is true that it rains. Answer: False", False),
        ("true_false", True, "true", True),
        ("text match", "Stop", "The sign says STOP.", True),
        ("text match", ["halt", "stop"], "It says stop", True),
        ("text match", "no", "It is a notice.", False),
        ("text match", "北京", "这是北京市", True),
        ("text match", "C++", "written in c++.", True),
    ],
)
def test_a_rule_scores(kind: str, answer: Any, reply: str, right: bool) -> None:
    evaluator = OpenEvaluator()
    row = {"question_id": "0", "question": "?", "answer": answer, "answer_type": kind}
    assert evaluator.problems([row]) == []
    verdict = evaluator.verdict_on(row, [Prediction("0", answer=reply)])
    assert (verdict.correct, verdict.outcome) == (right, "correct" if right else "wrong")
    assert evaluator.judge_question(row, reply) is None


@pytest.mark.parametrize(
    ("kind", "answer", "reply", "outcome"),
    [
        ("integer", 12, "no idea", "unparsed"),
        ("integer", [1, 2], "no idea", "unparsed"),
        ("true_false", [True], "I cannot tell.", "unparsed"),
        ("text match", "stop", "", "no_response"),
        ("float", 1.0, "<think>1", "unfinished_reasoning"),
    ],
)
def test_what_cannot_be_read_is_told_apart(kind: str, answer: Any, reply: str, outcome: str) -> None:
    row = {"question_id": "0", "question": "?", "answer": answer, "answer_type": kind}
    verdict = OpenEvaluator().verdict_on(row, [Prediction("0", answer=reply)])
    assert (verdict.outcome, verdict.correct, verdict.answer) == (outcome, False, None)


def test_an_open_answer_without_a_judge_stays_open() -> None:
    evaluator = OpenEvaluator(tracker_type="kind")
    rows = {
        "0": {"question_id": "0", "question": "?", "answer": 1, "answer_type": "integer", "kind": "a"},
        "1": {"question_id": "1", "question": "?", "answer": "x", "answer_type": "open_ended", "kind": "a"},
    }
    verdicts = [evaluator.verdict_on(row, [Prediction(key, answer="1")]) for key, row in rows.items()]
    assert [verdict.outcome for verdict in verdicts] == ["correct", "not_judged"]
    result = evaluator.aggregate(verdicts, rows)
    assert (result["accuracy"], result["range"]) == (None, [50.0, 100.0])
