"""A run with a model and a judge, both scripted: verdicts, gaps, resume, what the files say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROWS = [
    {"question_id": n, "question": f"Question {n}: which city?", "question_type": "open", "answer": "Paris"}
    for n in range(8)
]
JUDGED = {"type": "JudgedEvaluator", "judge": "judge_vdr", "allowed": ["judge_rs", "hle"]}


@pytest.fixture
def run(
    run_here: Callable[..., Any],
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    make_judge: Callable[..., Path],
    out: Path,
) -> Callable[..., Any]:
    """Return a function that runs the eight rows with a judge; the task is written once."""
    task = make_task(ROWS, evaluator=JUDGED)

    def run(*options: Any, judge: Path | None = None, cfg: bool = True, **model: Any) -> Any:
        given = ["--cfg", make_model(**model)] if cfg else []
        judge = judge if judge is not None else make_judge()
        return run_here("--tasks", task.config, *given, "--output-dir", out, "--judge", judge, *options)

    return run


def test_verdicts_become_the_score(
    run: Callable[..., Any], endpoint: Any, judge_endpoint: Any, files_of: Callable[..., Any]
) -> None:
    endpoint.script = lambda call: "Paris" if call.asked < 2 else f"It is Rome {call.asked}"
    judge_endpoint.script = lambda call: "correct: yes" if "Rome 5" in call.text else "correct: no"
    ran = run()
    assert ran.returncode == 0, ran.output
    files = files_of()
    assert files.result["accuracy"] == 37.5
    print(files.result)
    print(ran.output)
    assert 0
