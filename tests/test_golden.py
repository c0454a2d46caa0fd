"""Golden cases and `flagharness check`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.cli import main
from flagharness.errors import DataError
from flagharness.evaluator import BaseEvaluator
from flagharness.golden import GoldenCase, GoldenSample, check_golden, load_golden, prediction_of

COUNT = {"question_type": "count", "answer": 7}


def _case(reply: str | None, **verdict: Any) -> GoldenCase:
    return GoldenCase(
        "c", [GoldenSample({"question_id": "1", **COUNT}, prediction_of("1", reply))], verdict, None
    )


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ("7", {"outcome": "correct", "answer": 7, "correct": 1.0}),
        ("<think>It is 9.</think>7", {"answer": 7}),
        ("<think>It is 7.", {"outcome": "no_response", "correct": 0.0}),
        ("", {"outcome": "no_response"}),
        (None, {"outcome": "request_error", "answer": None}),
        ("7", {"extraction": {"rule": "last_number"}}),
    ],
)
def test_a_case_that_comes_out_has_no_problem(reply: str | None, verdict: dict[str, Any]) -> None:
    assert check_golden(BaseEvaluator(), _case(reply, **verdict)) == []


def test_a_case_may_say_that_its_reply_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    record = {"case": "c", "annotation": COUNT, "reply": "<think>One, two", "verdict": {"correct": 0.0}}
    path.write_text(json.dumps({**record, "truncated": True}) + "\n" + json.dumps(record) + "\n")
    for case, outcome in zip(load_golden(path), ("unfinished_reasoning", "no_response"), strict=True):
        assert check_golden(BaseEvaluator(), case) == []
        assert (
            BaseEvaluator().verdict_on(case.samples[0].row, [case.samples[0].prediction]).outcome == outcome
        )


def test_what_differs_is_named_with_both_values() -> None:
    problems = check_golden(BaseEvaluator(), _case("8", outcome="correct", answer=7))
    assert problems == ["outcome: expected 'correct', got 'wrong'", "answer: expected 7, got 8"]


def test_a_field_that_no_verdict_has_is_a_problem() -> None:
    problems = check_golden(BaseEvaluator(), _case("7", outcom="correct"))
    assert problems == ["outcom: there is no such field. Did you mean 'outcome'?"]


def test_null_may_stand_for_a_field_that_is_not_there_but_not_for_a_misspelt_one() -> None:
    assert check_golden(BaseEvaluator(), _case("7", partial=None)) == []
    assert "Did you mean 'answer'?" in check_golden(BaseEvaluator(), _case("x", anwser=None))[0]


def test_numbers_are_compared_closely_and_true_is_no_number() -> None:
    assert check_golden(BaseEvaluator(), _case("7", correct=1.00005)) == []
    assert check_golden(BaseEvaluator(), _case("7", correct=1.001)) != []


def test_metrics_of_several_samples_are_compared_also_nested_ones() -> None:
    samples = [
        GoldenSample({"question_id": str(n), "group": "a", **COUNT}, prediction_of(n, str(n))) for n in (7, 8)
    ]
    evaluator = BaseEvaluator(detailed_keys=["group"])
    metrics = {"accuracy": 50.0, "n": 2, "detailed.group.a.accuracy": 50.0}
    assert check_golden(evaluator, GoldenCase("c", samples, None, metrics)) == []
    assert check_golden(evaluator, GoldenCase("c", samples, None, {"accuracy": 51.0})) == [
        "accuracy: expected 51.0, got 50.0"
    ]


def test_an_annotation_that_cannot_be_scored_is_a_problem() -> None:
    few = {"question_id": "1", "question_type": "count", "answer": "few"}
    case = GoldenCase("c", [GoldenSample(few, prediction_of("1", "7"))], {}, None)
    assert "'few' is not a whole number" in check_golden(BaseEvaluator(), case)[0]


def test_a_scorer_that_fails_is_a_problem_and_no_traceback() -> None:
    def get_result(annotations: Any, predictions: Any) -> dict[str, Any]:
        raise KeyError("x")

    case = GoldenCase(
        "c", [GoldenSample({"question_id": "1", **COUNT}, prediction_of(1, "7"))], None, {"accuracy": 1.0}
    )
    assert check_golden(BaseEvaluator(eval_func=get_result), case) == ["BaseEvaluator failed: KeyError: 'x'"]


@pytest.mark.parametrize(
    "line",
    [
        '{"case": "x"}',
        '{"case": "x", "samples": [], "metrics": {"n": 0}}',
        '{"case": "x", "samples": [1], "metrics": {"n": 1}}',
        '{"case": "x", "annotation": {}, "reply": "7", "verdict": {}}',
        '{"case": "x", "annotation": {}, "reply": "7", "verdict": "correct"}',
        '{"case": "x", "annotation": {}, "reply": 7, "verdict": {"correct": 1}}',
        '{"case": "x", "annotation": [], "reply": "7", "verdict": {"correct": 1}}',
        '{"case": "x", "samples": [{"annotation": {}, "reply": "7"}], "metrics": null}',
    ],
)
def test_a_line_that_is_no_case_is_refused_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(DataError, match="case 1 is none: "):
        load_golden(path)


# --- flagharness check ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole task folder in ./tasks."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tasks" / "whole"
    path.mkdir(parents=True)
    keys = "aliases=[], rows=1, modality='image', metric='accuracy', license='MIT', needs_judge=False, published=[]"
    (path / "whole.py").write_text(
        f"dataset = dict(type='VqaBaseDataset', name='whole', data_root='.')\n"
        f"evaluator = dict(type='BaseEvaluator')\nmeta = dict({keys})\n"
    )
    (path / "README.md").write_text("# Whole\n")
    _write_cases(path, {"outcome": "correct"})
    return path


def _write_cases(folder: Path, verdict: dict[str, Any]) -> None:
    case = {"case": "right", "annotation": COUNT, "reply": "7", "verdict": verdict}
    (folder / "golden.jsonl").write_text(json.dumps(case) + "\n")


def test_a_whole_task_folder_is_ok(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "whole"]) == 0
    assert capsys.readouterr().out == "ok      whole  (1 golden cases)\n"


def _without_readme(folder: Path) -> None:
    (folder / "README.md").unlink()


def _wrong_case(folder: Path) -> None:
    _write_cases(folder, {"answer": 8})


def _no_cases(folder: Path) -> None:
    (folder / "golden.jsonl").write_text("")


def _meta_lacks_rows(folder: Path) -> None:
    config = folder / "whole.py"
    config.write_text(config.read_text().replace("rows=1, ", ""))


def _odd_meta(folder: Path) -> None:
    config = folder / "whole.py"
    config.write_text(config.read_text().replace("rows=1", "rows='1'"))


def _unknown_evaluator(folder: Path) -> None:
    config = folder / "whole.py"
    config.write_text(config.read_text().replace("BaseEvaluator", "BaseEvalator"))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_without_readme, "the folder has no README.md"),
        (_wrong_case, "golden case 'right': answer: expected 8, got 7"),
        (_no_cases, "golden.jsonl holds no case"),
        (_meta_lacks_rows, "meta lacks rows"),
        (_odd_meta, "meta.rows must be a whole number above 0, or None"),
        (_unknown_evaluator, "Did you mean 'BaseEvaluator'?"),
    ],
)
def test_what_a_folder_lacks_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path], None], said: str
) -> None:
    spoil(folder)
    assert main(["check", "whole"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("FAILED  whole")
    assert said in shown


def test_a_private_task_without_meta_needs_no_more_than_to_load(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("README.md", "golden.jsonl"):
        (folder / name).unlink()
    config = folder / "whole.py"
    config.write_text(config.read_text().partition("meta =")[0])
    assert main(["check", "whole"]) == 0


def test_check_wants_tasks_or_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check"]) == 2
    assert main(["check", "--all", "whole"]) == 2
    assert "name tasks, or give --all" in capsys.readouterr().err


def test_every_shipped_task_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    status = main(["check", "--all"])
    assert status == 0, capsys.readouterr().out


def test_list_as_json_holds_all_that_the_configs_say(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", "--json"]) == 0
    tasks = {task["name"]: task for task in json.loads(capsys.readouterr().out)}
    assert tasks["whole"]["rows"] == 1
    assert tasks["whole"]["license"] == "MIT"
    assert tasks["countqa"]["published"][0]["model"] == "Qwen3-VL-8B"


def test_list_says_which_config_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "whole.py").write_text("dataset = dict()\nevaluator = None\nmeta = dict(rows=print)\n")
    assert main(["list", "--json"]) == 0
    tasks = {task["name"]: task for task in json.loads(capsys.readouterr().out)}
    assert "plain values" in tasks["whole"]["error"]
