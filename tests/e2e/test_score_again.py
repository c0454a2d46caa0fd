"""--without-infer: what lies in the run directory is scored, and no model is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

MEAN_ERROR = """
from flagharness.evaluator import BaseEvaluator
from flagharness.registry import EVALUATORS


@EVALUATORS.register_module()
class WithMeanError(BaseEvaluator):
    def aggregate(self, verdicts, annotations):
        errors = [abs(verdict.answer - verdict.label) for verdict in verdicts]
        return {**super().aggregate(verdicts, annotations), "mean_error": sum(errors) / len(errors)}
"""


def test_answers_on_disk_are_scored_with_the_endpoint_down_and_a_changed_config_is_named(
    hard_case: Any,
    endpoint: Any,
    dead_url: str,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    files_of: Any,
    out: Any,
) -> None:
    case = hard_case("BL-114")
    old, new = case["input"]["max_tokens"]
    command = ("--tasks", make_task(case["input"]["rows"]).config, "--output-dir", out)
    assert run_here(*command, "--cfg", make_model(max_tokens=old)).returncode == 0
    files = files_of()
    before = files.without_times()
    endpoint.forget()

    ran = run_here(*command, "--cfg", make_model(max_tokens=new, url=dead_url), "--without-infer")

    assert ran.returncode == case["expected"]["exit"]
    assert len(endpoint.calls) == case["expected"]["calls"]
    assert f"the stored run used other settings: {case['expected']['message']}" in ran.stderr
    assert files.without_times() == before
    assert files.config["model"]["max_tokens"] == old
    assert files.summary["score"] == 100.0

    # No model has to be named at all.
    assert run_here(*command, "-wi").returncode == 0
    assert files.without_times() == before
    assert "--output-dir" in run_here("--tasks", command[1], "-wi").stderr


def test_missing_predictions_are_in_the_denominator(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    command = ("--tasks", make_task(32).config, "--output-dir", out)
    assert run_here(*command, "--cfg", make_model()).returncode == 0
    files = files_of()
    lines = files.journal_file.read_bytes().splitlines(keepends=True)
    files.journal_file.write_bytes(b"".join(lines[:20]))
    endpoint.forget()

    ran = run_here(*command, "--without-infer")

    assert ran.returncode == 3
    assert endpoint.calls == []
    assert files.counts == {"total": 32, "answered": 20, "missing": 12}
    assert (files.result["accuracy"], files.result["accuracy_answered"]) == (62.5, 100.0)
    assert files.result["range"] == [62.5, 100.0]
    assert sum(row["outcome"] == "missing" for row in files.evaluated) == 12
    assert "12 of 32 samples have no answer" in ran.stdout


def test_a_limited_run_that_is_scored_again_stays_partial(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    command = ("--tasks", make_task(5).config, "--output-dir", out)
    assert run_here(*command, "--cfg", make_model(), "--limit", "3").returncode == 0

    ran = run_here(*command, "--without-infer")

    assert ran.returncode == 0, ran.stderr
    assert (files_of().result["n"], files_of().result["partial"]) == (3, True)
    assert "3 (partial)" in ran.stdout
    # Asked for more than there is, what is not there is missing.
    assert run_here(*command, "--without-infer", "--limit", "5").returncode == 3
    assert files_of().counts == {"total": 5, "answered": 3, "missing": 2}


def test_a_metric_that_was_added_later_is_computed_from_the_answers(
    hard_case: Any, endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    case = hard_case("BL-113")
    rows = case["input"]["rows"]
    endpoint.script = lambda call: "2"
    first = make_task(rows)
    assert run_here("--tasks", first.config, "--cfg", make_model(), "--output-dir", out).returncode == 0
    before = files_of().result
    assert [name for name in case["input"]["then"] if name in before] == case["input"]["first"]
    endpoint.forget()
    then = make_task(
        rows,
        evaluator={"type": "WithMeanError"},
        top='register_evaluator = {"mean_error.py": "WithMeanError"}',
        files={"mean_error.py": MEAN_ERROR},
    )

    ran = run_here("--tasks", then.config, "--output-dir", out, "--without-infer")

    assert ran.returncode == 0, ran.stderr
    assert len(endpoint.calls) == case["expected"]["calls"]
    after = files_of().result
    assert [name for name in case["input"]["then"] if name in after] == case["input"]["then"]
    assert (before["accuracy"], after["accuracy"], after["mean_error"]) == (25.0, 25.0, 1.0)


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def _row(question_id: Any, answer: Any, **further: Any) -> dict[str, Any]:
    return {
        "question_id": question_id,
        "question": "How many?",
        "answer": answer,
        "reason": "",
        "usage": {},
        **further,
    }


def test_a_prediction_file_of_another_tool_is_scored_and_stays_what_it_is(
    make_task: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    rows = [
        _row(0, "0"),
        _row("1", "1", usage={"prompt_tokens": 5, "completion_tokens": 1}),
        _row("2", "Error code: 500 - {'error': {'message': 'it took 2 s'}}"),
        _row("4", "5"),
    ]
    file = out / "toy" / "toy.json"
    _write(file, rows)
    before = file.read_bytes()

    ran = run_here("--tasks", make_task(5).config, "--output-dir", out, "--without-infer")

    assert ran.returncode == 3
    files = files_of()
    assert files.counts == {"total": 5, "answered": 3, "request_errors": 1, "missing": 1}
    assert [row["outcome"] for row in files.evaluated] == [
        "correct",
        "correct",
        "request_error",
        "missing",
        "wrong",
    ]
    assert (files.result["accuracy"], files.result["range"]) == (40.0, [40.0, 80.0])
    assert files.result["tokens"] == {"prompt": 5, "completion": 1}
    assert file.read_bytes() == before


def test_prediction_files_by_item_and_with_several_inferences_are_scored(
    make_task: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    items = out / "toy" / "items"
    _write(items / "0.json", _row("0", {"inference_0": "0", "inference_1": "7"}, reason=["a", "b"]))
    _write(items / "1.json", _row("1", {"inference_0": "1", "inference_1": "Error code: 429"}))

    ran = run_here("--tasks", make_task(2).config, "--output-dir", out, "--without-infer")

    assert ran.returncode == 3
    files = files_of()
    assert files.counts == {"total": 2, "answered": 1, "request_errors": 1}
    assert [row["inference_scores"] for row in files.evaluated] == [[1.0, 0.0], [1.0, 0.0]]
    assert files.evaluated[0]["raw_answer"] == {"inference_0": "0", "inference_1": "7"}
    assert files.evaluated[0]["reason"] == ["a", "b"]
    assert files.evaluated[1]["outcomes"] == ["correct", "request_error"]
    assert files.result["accuracy"] == 50.0
    assert files.result["obtained_by"]["num_infers"] == 2


def test_there_must_be_something_to_score(make_task: Any, run_here: Any, files_of: Any, out: Any) -> None:
    command = ("--tasks", make_task(2).config, "--output-dir", out, "--without-infer")

    ran = run_here(*command)
    assert ran.returncode == 1
    assert f"nothing to score: {out / 'toy'} does not exist" in ran.stderr

    _write(out / "toy" / "toy.json", [_row(0, "0"), _row("0", "1")])
    ran = run_here(*command)
    assert ran.returncode == 1
    assert "question_id '0' occurs twice" in ran.stderr


def test_a_scorer_that_fails_loses_no_answer(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    broken = {"evaluate.py": "def get_result(annotations, predictions):\n    return 1 / 0\n"}
    repaired = {"evaluate.py": "def get_result(annotations, predictions):\n    return {'accuracy': 50.0}\n"}
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py"}
    task = make_task(3, evaluator=evaluator, files=broken)
    command = ("--tasks", task.config, "--output-dir", out)

    ran = run_here(*command, "--cfg", make_model())
    assert ran.returncode == 1
    assert "ZeroDivisionError" in ran.stderr
    assert "--without-infer" in ran.stderr
    assert files_of().answers() == {"0": "0", "1": "1", "2": "2"}
    assert files_of().summary["status"] == "failed"

    endpoint.forget()
    make_task(3, evaluator=evaluator, files=repaired)
    assert run_here(*command, "--without-infer").returncode == 0
    assert endpoint.calls == []
    assert files_of().summary["score"] == 50.0
