"""Several answers to one question."""

from __future__ import annotations

from itertools import count
from typing import Any


def test_each_inference_keeps_its_own_answer_and_the_score_is_their_mean(
    hard_case: Any,
    endpoint: Any,
    make_rows: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    files_of: Any,
    out: Any,
) -> None:
    case = hard_case("BL-119")
    numbers = count()
    endpoint.script = lambda call: str(next(numbers))
    row = {**make_rows(1)[0], "answer": 2}
    command = ("--tasks", make_task([row]).config, "--cfg", make_model(**case["input"]), "--output-dir", out)

    ran = run_here(*command)

    assert ran.returncode == 0, ran.stderr
    files = files_of()
    answers = files.predictions[0]["answer"]
    assert sorted(answers) == ["inference_0", "inference_1", "inference_2", "inference_3"]
    assert sorted(answers.values()) == case["expected"]["answers"]
    assert [len(files.predictions[0][key]) for key in ("reason", "usage", "request_hash")] == [4, 4, 4]
    verdict = files.evaluated[0]
    assert verdict["raw_answer"] == answers
    assert verdict["answer"] == {name: int(text) for name, text in answers.items()}
    assert sorted(verdict["inference_scores"]) == [0.0, 0.0, 0.0, 1.0]
    assert (verdict["correct"], verdict["num_inferences"], verdict["outcome"]) == (0.25, 4, "graded")
    assert files.result["accuracy"] == 25.0
    assert files.result["obtained_by"]["reducer"] == "mean"
    assert files.result["tokens"] == {"prompt": 40, "completion": 8}
    assert files.counts == {"total": 1, "answered": 1}

    endpoint.forget()
    assert run_here(*command).returncode == 0
    assert len(endpoint.calls) == case["expected"]["calls_again"]
    assert files.predictions[0]["answer"] == answers

    # Fewer or more of them: what is there is kept.
    assert run_here(*command, "--num-infers", "1").returncode == 0
    assert files.predictions[0]["answer"] == answers["inference_0"]
    assert run_here(*command, "--num-infers", "5").returncode == 0
    assert len(endpoint.calls) == 1
    assert files.predictions[0]["answer"] == {**answers, "inference_4": "4"}


def test_one_failed_inference_is_named_and_asked_again_alone(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    second_fails = endpoint.in_turn("1", endpoint.fails(500))
    endpoint.script = lambda call: second_fails(call) if call.asked == 1 else str(call.asked)
    model = make_model(num_infers=2, max_retries=0)
    command = ("--tasks", make_task(3).config, "--cfg", model, "--output-dir", out)

    ran = run_here(*command)

    assert ran.returncode == 3
    files = files_of()
    assert files.predictions[1]["status"] == "error"
    assert sorted(files.predictions[1]["answer"].values()) == ["", "1"]
    assert sorted(files.evaluated[1]["outcomes"]) == ["correct", "request_error"]
    assert files.counts == {"total": 3, "answered": 2, "request_errors": 1}
    assert (files.result["accuracy"], files.result["range"]) == (83.33, [83.33, 100.0])

    endpoint.forget()
    endpoint.script = lambda call: str(call.asked)
    assert run_here(*command).returncode == 0
    assert endpoint.rows_asked() == [1]
    assert files.result["accuracy"] == 100.0
