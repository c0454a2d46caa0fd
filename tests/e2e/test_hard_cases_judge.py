"""Faults that people met in the judges of other tools, as runs: tests/data/hard_cases/judge.json."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CASES = json.loads(
    (Path(__file__).parents[1] / "data" / "hard_cases" / "judge.json").read_text(encoding="utf-8")
)
READABLE = {"judge_vdr": "correct: yes", "binary": "verdict: correct"}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_reply_and_what_it_counts_as(
    case: dict[str, Any],
    run_here: Callable[..., Any],
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    make_judge: Callable[..., Path],
    endpoint: Any,
    judge_endpoint: Any,
    files_of: Callable[..., Any],
    out: Path,
) -> None:
    family, reply = case["input"]["family"], case["input"]["reply"]
    expected = case["expected"]
    row = {"question_id": 0, "question": "Where?", "question_type": "open", "answer": "Paris"}
    task = make_task([row], evaluator={"type": "JudgedEvaluator", "judge": family})
    endpoint.script = lambda call: "In Rome."
    judge_endpoint.script = lambda call: READABLE[family] if call.is_probe else reply
    ran = run_here(
        "--tasks", task.config, "--cfg", make_model(), "--output-dir", out, "--judge", make_judge()
    )
    result = files_of().result
    (evaluated,) = files_of().evaluated
    assert evaluated["judge"]["status"] == expected["status"]
    assert evaluated["judge"]["reply"] == reply  # also where it could not be read
    assert evaluated["raw_answer"] == "In Rome."
    assert len(judge_endpoint.calls) == 1 + expected["calls"]  # the question before the run, then these
    is_open = expected["status"] == "judge_unparsed"
    assert ran.returncode == (3 if is_open else 0)
    assert result["counts"]["judge_failures"] == is_open
    assert result["range"] == ([0.0, 100.0] if is_open else [0.0, 0.0])
    assert evaluated["outcome"] != "wrong" or not is_open
