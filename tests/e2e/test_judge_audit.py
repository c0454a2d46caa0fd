"""Verdicts of a real run held against labels of people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.fixture
def run(
    run_here: Callable[..., Any],
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    make_judge: Callable[..., Path],
    endpoint: Any,
    judge_endpoint: Any,
    out: Path,
    tmp_path: Path,
) -> SimpleNamespace:
    """A run over 10 rows: 0 is exactly right; the judge finds 1 to 5 right, 6 to 8 wrong, and says nothing of 9."""
    rows = [
        {"question_id": n, "question": f"Question {n}: where?", "question_type": "open", "answer": "Paris"}
        for n in range(10)
    ]
    task = make_task(rows, evaluator={"type": "JudgedEvaluator", "judge": "judge_vdr"})
    endpoint.script = lambda call: "Paris" if call.asked == 0 else f"Town {call.asked}"

    def says(right: range) -> Callable[[Any], str]:
        def say(call: Any) -> str:
            if call.is_probe:
                return "correct: yes"
            number = call.question_number
            return "hm" if number == 9 else f"correct: {'yes' if number in right else 'no'}"

        return say

    judge_endpoint.script = says(range(1, 6))
    ran = run_here(
        "--tasks", task.config, "--cfg", make_model(), "--output-dir", out, "--judge", make_judge()
    )
    assert ran.returncode == 3, ran.output  # row 9 has no verdict

    def audit(labels: str, *options: Any, file: str = "labels.csv") -> Any:
        path = tmp_path / file
        path.write_text(labels, encoding="utf-8")
        return run_here("judge-audit", out, "--labels", path, *options)

    def again(right: range, **keys: Any) -> Any:
        judge_endpoint.script = says(right)
        judge = make_judge("other.yaml", **keys)
        return run_here("--tasks", task.config, "-wi", "--output-dir", out, "--judge", judge)

    return SimpleNamespace(audit=audit, again=again, out=out)


# people: 0 to 4 right, 5 to 8 wrong, 9 right; so the judge is wrong about 5 alone
LABELS = "question_id,verdict\n" + "".join(
    f"{n},{'correct' if n < 5 or n == 9 else 'incorrect'}\n" for n in range(10)
)


def test_agreement_kappa_and_confusion(run: Any) -> None:
    ran = run.audit(LABELS, "--json")
    assert ran.returncode == 0, ran.output
    rule, judge = sorted(json.loads(ran.stdout), key=lambda audit: audit["rater"], reverse=True)
    assert (rule["rater"], rule["labelled"], rule["agreement"]) == ("rule", 1, 100.0)
    # 8 verdicts: people 4 right, 4 wrong; judge 5 right, 3 wrong; agreed on 7. By chance 4*5 + 4*3 = 32 of 64,
    # so kappa is (7/8 - 1/2) / (1 - 1/2) = 0.75
    assert judge == {
        "task": "toy",
        "file": "toy_evaluated.json",
        "rater": "gpt-4o-2024-05-13",
        "labelled": 9,
        "with_verdict": 8,
        "agreement": 87.5,
        "cohen_kappa": 0.75,
        "human_accuracy": 50.0,
        "rater_accuracy": 62.5,
        "confusion": {
            "correct": {"correct": 4, "no verdict": 1},
            "incorrect": {"correct": 1, "incorrect": 3},
        },
        "differing": ["5"],
    }


def test_the_table_is_readable(run: Any) -> None:
    ran = run.audit(LABELS, "--judge", "gpt-4o-2024-05-13")
    lines = ran.stdout.splitlines()
    assert lines[0].split() == [
        *("task", "rater", "labelled", "with", "verdict", "agreement", "kappa", "people", "rater's", "file")
    ]
    assert lines[2].split()[:8] == ["toy", "gpt-4o-2024-05-13", "9", "8", "87.50", "0.7500", "50.00", "62.50"]
    assert "people: incorrect  1        3          0" in ran.stdout
    assert "differ on: 5" in lines


def test_two_judges_stand_beside_each_other(run: Any) -> None:
    assert run.again(range(1, 5), model_name="another").returncode == 3
    found = json.loads(run.audit(LABELS, "--json").stdout)
    by_rater = {audit["rater"]: audit for audit in found if audit["rater"] != "rule"}
    assert {rater: audit["agreement"] for rater, audit in by_rater.items()} == {
        "gpt-4o-2024-05-13": 87.5,
        "another": 100.0,
    }
    assert by_rater["another"]["file"] == "toy_evaluated.another.judge_vdr.json"


@pytest.mark.parametrize(
    ("labels", "file"),
    [
        ('{"question_id": 1, "verdict": true}\n{"question_id": "6", "verdict": "No"}\n', "labels.jsonl"),
        ('[{"question_id": 1, "verdict": 1}, {"question_id": 6, "verdict": "wrong"}]', "labels.json"),
        ("question_id\tverdict\ttask\n1\tyes\ttoy\n6\tfalse\ttoy\n6\tyes\tother\n", "labels.tsv"),
    ],
)
def test_labels_may_be_written_in_several_ways(run: Any, labels: str, file: str) -> None:
    (judge,) = json.loads(run.audit(labels, "--json", file=file).stdout)
    assert (judge["agreement"], judge["with_verdict"]) == (100.0, 2)


@pytest.mark.parametrize(
    ("labels", "options", "said"),
    [
        ("question_id,verdict\n1,maybe\n", [], "row 1: verdict 'maybe' is none of correct, incorrect"),
        ("question_id,verdit\n1,yes\n", [], "row 1: no `verdict`. Did you mean 'verdit'?"),
        ("question_id,verdict\n1,yes\n1,no\n", [], "row 2: question_id '1' has another label"),
        (
            "question_id,verdict,inference\n1,yes,first\n",
            [],
            "row 1: inference 'first' is no number of an answer",
        ),
        ("question_id,verdict\n77,yes\n", [], "none of its ids is that of a judged answer"),
        (LABELS, ["--judge", "gpt-4"], "no judge 'gpt-4'"),
        (LABELS, ["--task", "toi"], "no task 'toi' was scored there. Did you mean 'toy'?"),
    ],
)
def test_what_cannot_be_compared_is_told(run: Any, labels: str, options: list[str], said: str) -> None:
    ran = run.audit(labels, *options)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert ran.stdout == ""


def test_labels_that_no_answer_has_are_told(run: Any) -> None:
    ran = run.audit("question_id,verdict,task\n1,yes,\n77,no,\n2,yes,tyo\n", "--json")
    (judge,) = json.loads(ran.stdout)
    assert (ran.returncode, judge["labelled"]) == (0, 1)
    assert "2 of 3 labels are for no judged answer of" in ran.stderr
    assert "count nowhere: 77, 2" in ran.stderr


def test_a_run_without_verdicts_is_told(run_here: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("question_id,verdict\n1,yes\n", encoding="utf-8")
    for folder, said in ((tmp_path / "none", "no such run directory"), (tmp_path, "no verdict of a judge")):
        ran = run_here("judge-audit", folder, "--labels", tmp_path / "labels.csv")
        assert (ran.returncode, said in ran.stderr) == (2, True)
