"""What a task's protocol says of its requests: the `request` block, released bytes, and further report files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ODD = "  <image 3> How many?\n\n\tsay <image>  \n"


def _rows(question: str = ODD) -> list[dict[str, Any]]:
    return [
        {"question_id": 1, "question": question, "question_type": "count", "answer": 1, "img_path": "1.png"}
    ]


def test_verbatim_sends_the_pictures_and_then_the_text_to_the_letter(
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    run_here: Callable[..., Any],
    endpoint: Any,
    out: Path,
) -> None:
    endpoint.script = lambda call: "1"
    task = make_task(_rows(), prompt_template=None, top="request = dict(verbatim=True)")
    assert run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out).returncode == 0
    (call,) = endpoint.calls
    assert [part["type"] for part in call.parts] == ["image_url", "text"]
    assert call.text == ODD
    assert call.images == [("image/png", task.image("1.png"))]


def test_without_it_a_mark_that_has_no_picture_is_refused(
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    run_here: Callable[..., Any],
    endpoint: Any,
    out: Path,
) -> None:
    task = make_task(_rows(), prompt_template=None)
    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    assert (ran.returncode, endpoint.calls) == (1, [])
    assert "<image 3>" in ran.stderr


def test_prescribed_sampling_is_sent_and_the_model_config_wins(
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    run_here: Callable[..., Any],
    endpoint: Any,
    out: Path,
) -> None:
    top = "request = dict(sampling=dict(temperature=1, top_p=0.95, max_tokens=9))"
    task = make_task(1, top=top)
    model = make_model(temperature=0.5, extra_body={"max_completion_tokens": 3})
    run_here("--tasks", task.config, "--cfg", model, "--output-dir", out)
    (call,) = endpoint.calls
    sent = {
        key: call.body.get(key) for key in ("temperature", "top_p", "max_tokens", "max_completion_tokens")
    }
    assert sent == {"temperature": 0.5, "top_p": 0.95, "max_tokens": None, "max_completion_tokens": 3}


def test_two_tasks_of_one_run_each_keep_to_their_own_rules(
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    run_here: Callable[..., Any],
    endpoint: Any,
    out: Path,
) -> None:
    strict = make_task(1, "strict", top="request = dict(sampling=dict(top_p=0.5), system_prompt=False)")
    plain = make_task(1, "plain")
    model = make_model(system_prompt="Be brief.", num_workers=1)
    ran = run_here("--tasks", strict.config, plain.config, "--cfg", model, "--output-dir", out)
    assert ran.returncode == 0
    # Either task's request may be the first to be ready.
    sent = sorted((call.body["messages"][0]["role"], call.body.get("top_p")) for call in endpoint.calls)
    assert sent == [("system", None), ("user", 0.5)]
    assert "strict: its protocol allows no system_prompt; not used." in ran.stderr
    endpoint.forget()
    run_here("--tasks", strict.config, plain.config, "--cfg", model, "--output-dir", out)
    assert endpoint.calls == []


def test_original_media_are_not_touched_by_the_limits_of_the_model_config(
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    run_here: Callable[..., Any],
    endpoint: Any,
    out: Path,
) -> None:
    task = make_task(1, top="request = dict(original_media=True)")
    ran = run_here("--tasks", task.config, "--cfg", make_model(max_long_side=8), "--output-dir", out)
    assert endpoint.calls[0].images == [("image/png", task.image("0.png"))]
    assert "its protocol allows no max_long_side" in ran.stderr


@pytest.fixture
def released(make_task: Callable[..., Any]) -> Any:
    """A task with two rows whose pictures were released with their digests, the second under a wrong one."""
    task = make_task(2)
    rows = [
        {"question_id": n, "question": f"How many in {n}?", "question_type": "count", "answer": n,
         "img_path": f"{n}.png", "img_sha256": hashlib.sha256(task.image(f"{n}.png")).hexdigest()}
        for n in range(2)
    ]  # fmt: skip
    rows[1]["img_sha256"] = "0" * 64
    task.write_rows(rows)
    return task


def test_a_picture_that_is_not_the_released_one_stops_the_run_before_it_asks(
    released: Any, make_model: Callable[..., Path], run_here: Callable[..., Any], endpoint: Any, out: Path
) -> None:
    ran = run_here("--tasks", released.config, "--cfg", make_model(), "--output-dir", out)
    assert (ran.returncode, endpoint.calls) == (1, [])
    assert "row 2 (question_id '1')" in ran.stderr
    assert "1.png: not the file that was released (SHA-256)" in ran.stderr


def test_skipped_it_is_a_data_error_and_counts_as_wrong(
    released: Any, make_model: Callable[..., Path], run_here: Callable[..., Any], endpoint: Any,
    files_of: Callable[..., Any], out: Path,
) -> None:  # fmt: skip
    ran = run_here("--tasks", released.config, "--cfg", make_model(), "--output-dir", out, "--skip-bad-rows")
    assert ran.returncode == 3
    assert endpoint.rows_asked() == [0]
    assert files_of().counts == {"total": 2, "answered": 1, "data_errors": 1}
    assert files_of().result["accuracy"] == 50.0


REPORTING = """
from flagharness.evaluator import BaseEvaluator

class Reporting(BaseEvaluator):
    def aggregate(self, verdicts, annotations):
        return {"AP": 12.5, "accuracy": 3.0, "headline": "AP", "partial": True}

    def reports(self, verdicts, annotations, result):
        assert list(annotations) == [verdict.question_id for verdict in verdicts]
        return {"notes.md": f"# {result['counts']['total']} samples\\n"}
"""


def test_an_evaluator_may_name_its_headline_say_partial_and_write_further_files(
    make_task: Callable[..., Any], make_model: Callable[..., Path], run_here: Callable[..., Any],
    files_of: Callable[..., Any], out: Path,
) -> None:  # fmt: skip
    task = make_task(2, evaluator={"type": "Reporting"}, files={"mine.py": REPORTING},
                     top='register_evaluator = {"mine.py": "Reporting"}')  # fmt: skip
    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    assert ran.returncode == 0
    assert (out / "toy" / "toy_notes.md").read_text() == "# 2 samples\n"
    summary = files_of().summary
    assert (summary["metric"], summary["score"], summary["partial"]) == ("AP", 12.5, True)
    assert files_of().result["partial"] is True
    assert "12.50" in ran.stdout


def test_data_of_another_size_than_the_benchmark_is_said_in_the_result_and_before(
    make_task: Callable[..., Any], make_model: Callable[..., Path], run_here: Callable[..., Any],
    files_of: Callable[..., Any], out: Path,
) -> None:  # fmt: skip
    task = make_task(2, top="meta = dict(rows=1286)")
    said = "the data holds 2 rows, the benchmark 1,286"
    assert said in run_here("--tasks", task.config, "--cfg", make_model(), "--dry-run").stdout
    assert said in run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out).stdout
    assert said in files_of().result["note"]


def test_answers_that_wait_for_a_judge_are_no_wrong_answers(
    make_task: Callable[..., Any], make_model: Callable[..., Path], run_here: Callable[..., Any],
    files_of: Callable[..., Any], endpoint: Any, out: Path,
) -> None:  # fmt: skip
    rows = [
        {
            "question_id": n,
            "question": f"What is {n}?",
            "question_type": "open",
            "answer": str(n),
            "img_path": "a.png",
        }
        for n in range(3)
    ]
    endpoint.script = lambda call: ["0", "three", ""][call.asked]
    task = make_task(rows, evaluator={"type": "JudgedEvaluator", "judge": "binary"})
    ran = run_here("--tasks", task.config, "--cfg", make_model(max_retries=0), "--output-dir", out)
    assert ran.returncode == 3
    assert "takes a judge" in ran.stderr
    result = files_of().result
    assert (result["accuracy"], result["exact_match"]) == (None, 33.33)
    assert files_of().counts["judge_failures"] == 2
    assert "no score: it takes a judge (binary)" in result["note"]
    assert files_of().summary["score"] is None
