"""Several tasks in one run: one pool of requests, and nothing else in common."""

from __future__ import annotations

from typing import Any

OWN_EVALUATOR = """
from flagharness.evaluator import BaseEvaluator
from flagharness.registry import EVALUATORS


@EVALUATORS.register_module()
class ToyEvaluator(BaseEvaluator):
    def aggregate(self, verdicts, annotations):
        return {**super().aggregate(verdicts, annotations), "scored_by": NAME}
"""


def test_two_tasks_share_the_pool_and_the_slow_end_of_one_does_not_hold_up_the_next(
    endpoint: Any, make_rows: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    second_has_begun = endpoint.gate()

    def script(call: Any) -> Any:
        reply = endpoint.says(str(call.asked))
        if call.asked >= 100:
            return reply.opening(second_has_begun)
        return reply.held_by(second_has_begun) if call.asked == 5 else reply

    endpoint.script = script
    one = make_task(6, "one")
    two = make_task(
        [{**row, "question": f"Picture {100 + i}?", "answer": 100 + i} for i, row in enumerate(make_rows(6))],
        "two",
    )
    model = make_model(num_workers=3, timeout=20, max_retries=0)

    ran = run_here("--tasks", one.config, two.config, "--cfg", model, "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    assert len(endpoint.calls) == 12
    assert endpoint.max_in_flight <= 3
    assert files_of("one").result["accuracy"] == files_of("two").result["accuracy"] == 100.0
    assert [line.split()[0] for line in ran.stdout.splitlines()[2:4]] == ["one", "two"]


def test_two_tasks_may_each_bring_an_evaluator_of_the_same_name(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    tasks = [
        make_task(
            2,
            name,
            evaluator={"type": "ToyEvaluator"},
            top='register_evaluator = {"toy_evaluator.py": "ToyEvaluator"}',
            files={"toy_evaluator.py": f"NAME = {name!r}\n{OWN_EVALUATOR}"},
        ).config
        for name in ("one", "two")
    ]

    ran = run_here("--tasks", *tasks, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    one, two = files_of("one").result, files_of("two").result
    assert (one["scored_by"], two["scored_by"]) == ("one", "two")
    assert one["obtained_by"]["evaluator"] == two["obtained_by"]["evaluator"] == "ToyEvaluator"
    # The class is the same text in both files; what it reads from its file is not.
    digests = [result["obtained_by"]["evaluator_source_sha256"] for result in (one, two)]
    assert digests[0] != digests[1]


def test_two_tasks_that_would_write_into_one_folder_are_refused(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, out: Any
) -> None:
    one, two = make_task(2, "one"), make_task(2, "two")
    two.config.write_text(two.config.read_text(encoding="utf-8").replace("'name': 'two'", "'name': 'one'"))

    ran = run_here("--tasks", one.config, two.config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 2
    assert endpoint.calls == []
    assert str(one.config) in ran.stderr
    assert str(two.config) in ran.stderr
    assert not out.exists()


def test_a_task_with_broken_data_does_not_stop_the_others(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    bad, good = make_task(2, "bad", missing=["0.png"]), make_task(2, "good")

    ran = run_here("--tasks", bad.config, good.config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 1
    assert len(endpoint.calls) == 2
    assert files_of("good").summary["score"] == 100.0
    assert files_of("bad").summary["status"] == "failed"
    assert "bad: failed" in ran.stdout


def test_runs_of_single_tasks_add_up_in_one_summary(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, out: Any, read_json: Any
) -> None:
    model = make_model()
    for name in ("one", "two"):
        assert (
            run_here("--tasks", make_task(2, name).config, "--cfg", model, "--output-dir", out).returncode
            == 0
        )

    assert set(read_json(out / "summary.json")["tasks"]) == {"one", "two"}
