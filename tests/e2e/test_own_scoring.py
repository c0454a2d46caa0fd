"""Tasks that bring their own scoring, and tasks without any."""

from __future__ import annotations

from typing import Any

import pytest

GET_RESULT = """
def get_result(annotations, predictions):
    right = 0
    for prediction in predictions:
        annotation = annotations[str(prediction["question_id"])]
        prediction["correct"] = prediction["answer"] == str(annotation["answer"])
        prediction["label"] = annotation["answer"]
        right += prediction["correct"]
    return {"accuracy": round(100 * right / len(predictions), 2), "rows": len(annotations)}
"""

CAL_ACCURACY = """
from flagharness.evaluator import BaseEvaluator
from flagharness.registry import EVALUATORS


@EVALUATORS.register_module()
class OwnEvaluator(BaseEvaluator):
    def __init__(self, bonus, **kwargs):
        super().__init__(**kwargs)
        self.bonus = bonus

    def cal_accuracy(self, annotations, predictions, *args, **kwargs):
        for prediction in predictions:
            annotation = annotations[str(prediction["question_id"])]
            prediction["correct"] = prediction["answer"] == str(annotation["answer"])
        return {"own_score": self.bonus + sum(prediction["correct"] for prediction in predictions)}
"""

SCORE = """
import dataclasses

from flagharness.evaluator import BaseEvaluator
from flagharness.registry import EVALUATORS


@EVALUATORS.register_module()
class HalfMarks(BaseEvaluator):
    def score(self, annotation, prediction):
        verdict = super().score(annotation, prediction)
        return dataclasses.replace(verdict, correct=0.5 * verdict.correct, extra={"seen": prediction.answer})
"""


@pytest.fixture
def with_one_failure(endpoint: Any) -> None:
    """Row 0 fails, row 1 is wrong, the others are right."""
    replies = {0: endpoint.fails(400, "too long"), 1: "7"}
    endpoint.script = lambda call: replies.get(call.asked, str(call.asked))


@pytest.mark.usefixtures("with_one_failure")
def test_get_result_sees_every_row_and_the_failed_one_with_an_empty_answer(
    make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py"}
    task = make_task(4, evaluator=evaluator, files={"evaluate.py": GET_RESULT})

    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 3, ran.stderr
    files = files_of()
    result = files.result
    assert (result["accuracy"], result["rows"], result["n"]) == (50.0, 4, 4)
    assert (result["accuracy_answered"], result["range"]) == (66.67, [50.0, 75.0])
    assert files.counts == {"total": 4, "answered": 3, "request_errors": 1}
    assert result["counts"]["parse_failures"] is None
    assert result["obtained_by"]["evaluator_source_sha256"]
    assert [(row["answer"], row["correct"]) for row in files.evaluated] == [
        ("", False),
        ("7", False),
        ("2", True),
        ("3", True),
    ]


@pytest.mark.usefixtures("with_one_failure")
def test_cal_accuracy_of_a_subclass_gives_the_metrics(
    make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    task = make_task(
        4,
        evaluator={"type": "OwnEvaluator", "bonus": 10},
        top='register_evaluator = {"own.py": "OwnEvaluator"}',
        files={"own.py": CAL_ACCURACY},
    )

    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 3, ran.stderr
    files = files_of()
    assert files.result["own_score"] == 12
    assert files.result["accuracy"] == 50.0
    assert files.counts == {"total": 4, "answered": 3, "request_errors": 1}
    assert [row["correct"] for row in files.evaluated] == [False, False, True, True]
    assert [row["raw_answer"] for row in files.evaluated] == ["", "7", "2", "3"]


@pytest.mark.usefixtures("with_one_failure")
def test_a_subclass_may_give_graded_scores(
    make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    task = make_task(
        4,
        evaluator={"type": "HalfMarks"},
        top='register_evaluator = {"half.py": "HalfMarks"}',
        files={"half.py": SCORE},
    )

    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 3, ran.stderr
    files = files_of()
    assert [row["correct"] for row in files.evaluated] == [False, 0.0, 0.5, 0.5]
    assert [row.get("seen") for row in files.evaluated] == [None, "7", "2", "3"]
    assert files.result["accuracy"] == 25.0


def test_hidden_answers_give_a_file_to_submit_and_no_score(
    endpoint: Any, make_rows: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    rows = make_rows(3)
    for row in rows:
        del row["answer"]

    ran = run_here("--tasks", make_task(rows).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    files = files_of()
    assert files.answers() == {"0": "0", "1": "1", "2": "2"}
    assert files.result["accuracy"] is None
    assert "toy.json is what can be submitted" in files.result["note"]
    assert files.counts == {"total": 3, "answered": 3}


def test_a_task_without_evaluator_is_asked_and_not_scored(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    ran = run_here("--tasks", make_task(2, evaluator=None).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    assert files_of().answers() == {"0": "0", "1": "1"}
    assert files_of().summary["status"] == "answered"
