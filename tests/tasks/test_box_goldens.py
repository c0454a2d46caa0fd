"""The golden replies of the box tasks that ship their photographs, scored as their configs say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import load_task_config
from flagharness.evaluator import BoxEvaluator
from flagharness.run import Prediction

TASKS = Path(__file__).parents[2] / "tasks"


def goldens(kind: str) -> list[Any]:
    """The golden lines of both tasks that have the key ``kind``."""
    return [
        pytest.param(task, golden, id=f"{task}: {golden['case']}")
        for task in ("bccd_bbox", "raccoon_bbox")
        for line in (TASKS / task / "golden.jsonl").read_text(encoding="utf-8").splitlines()
        if kind in (golden := json.loads(line))
    ]


def evaluator(task: str) -> BoxEvaluator:
    options = load_task_config(TASKS / task / f"{task}.py").evaluator or {}
    return BoxEvaluator(**{key: value for key, value in options.items() if key != "type"})


def predict(annotation: dict[str, Any], reply: str | None) -> Prediction:
    name = str(annotation["question_id"])
    if reply is None:
        return Prediction(name, status="error", error={"type": "timeout", "message": "no reply"})
    return Prediction(name, answer=reply)


@pytest.mark.parametrize(("task", "golden"), goldens("verdict"))
def test_a_golden_reply_gets_its_verdict(task: str, golden: dict[str, Any]) -> None:
    scorer = evaluator(task)
    assert scorer.problems([golden["annotation"]]) == []
    verdict = scorer.verdict_on(
        golden["annotation"], [predict(golden["annotation"], golden["reply"])]
    ).to_json()
    expected = dict(golden["verdict"])
    assert verdict.pop("correct") == pytest.approx(expected.pop("correct"))
    assert {name: verdict[name] for name in expected} == expected


@pytest.mark.parametrize(("task", "golden"), goldens("samples"))
def test_a_golden_set_gets_its_metrics(task: str, golden: dict[str, Any]) -> None:
    scorer = evaluator(task)
    annotations = {sample["annotation"]["question_id"]: sample["annotation"] for sample in golden["samples"]}
    verdicts = [
        scorer.verdict_on(sample["annotation"], [predict(sample["annotation"], sample["reply"])])
        for sample in golden["samples"]
    ]
    result = scorer.aggregate(verdicts, annotations)
    for name, value in golden["metrics"].items():
        assert result[name] == (pytest.approx(value, abs=1e-4) if isinstance(value, float) else value), name
