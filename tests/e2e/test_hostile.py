"""Things a hostile or careless world does to a run, each once seen to go wrong."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest


def _model_file(folder: Path, body: str, **settings: Any) -> Path:
    (folder / "mine.py").write_text(f"from flagharness.model import Response\n\n\n{body}\n", encoding="utf-8")
    config = folder / "mine.json"
    config.write_text(json.dumps({"model_name": "mine", "model_type": "mine.py:Mine", **settings}))
    return config


CHECKPOINTS = """
class Mine:
    def __init__(self, checkpoint):
        self.checkpoint = checkpoint

    def generate(self, request):
        number = "".join(character for character in request.text if character.isdigit())
        return Response(number if self.checkpoint == "good" else "999")
"""


def test_another_checkpoint_is_another_model(
    make_task: Any, run_here: Any, files_of: Any, out: Path, tmp_path: Path
) -> None:
    task = make_task(3)
    for checkpoint, accuracy in (("good", 100.0), ("bad", 0.0)):
        model = _model_file(tmp_path, CHECKPOINTS, model_args={"checkpoint": checkpoint})
        assert run_here("--tasks", task.config, "--cfg", model, "--output-dir", out).returncode == 0
        assert files_of().result["accuracy"] == accuracy


def test_scoring_again_uses_the_answers_of_the_last_run_and_no_others(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    task = make_task(6)
    endpoint.script = lambda call: (
        endpoint.fails(400, "bad row") if call.body["model"] == "b" and call.asked >= 2 else str(call.asked)
    )
    run_here("--tasks", task.config, "--cfg", make_model(model_name="a"), "--output-dir", out)
    assert files_of().result["accuracy"] == 100.0
    ran = run_here("--tasks", task.config, "--cfg", make_model(model_name="b"), "--output-dir", out)
    assert (ran.returncode, files_of().counts["answered"]) == (3, 2)
    assert "HTTP 400: bad row" in ran.stdout

    ran = run_here("--tasks", task.config, "--without-infer", "--output-dir", out)

    assert ran.returncode == 3
    assert (files_of().counts["answered"], files_of().counts["request_errors"]) == (2, 4)
    assert files_of().result["obtained_by"]["model"] == "b"


def test_rows_that_always_fail_do_not_keep_a_run_from_the_others(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    endpoint.script = lambda call: endpoint.fails(400, "too long") if call.asked < 14 else str(call.asked)
    arguments = ("--tasks", make_task(20).config, "--cfg", make_model(num_workers=1), "--output-dir", out)
    assert run_here(*arguments).returncode == 1  # nothing but refusals so far: it stops
    assert run_here(*arguments).returncode == 3
    assert files_of().counts["answered"] == 6


@pytest.mark.parametrize(
    ("place", "status"), [("evaluate.py", 1), ("config", 2), ("process.py", 1), ("model", 3)]
)
def test_sys_exit_in_foreign_code_is_a_failure(
    place: str,
    status: int,
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    out: Path,
    tmp_path: Path,
) -> None:
    model = make_model()
    task = make_task(2)
    if place == "evaluate.py":
        task = make_task(
            2,
            evaluator={"type": "BaseEvaluator", "eval_func": "evaluate.py"},
            files={"evaluate.py": "import sys\n\n\ndef get_result(a, p):\n    sys.exit(0)\n"},
        )
    elif place == "config":
        task.config.write_text("import sys\nsys.exit(0)\n")
    elif place == "process.py":
        (task.config.parent / "process.py").write_text("import sys\n\n\ndef process(cfg):\n    sys.exit(0)\n")
        task.config.write_text(
            "config = dict(processed_dataset_path='gone', split='test', processor='process.py')\n"
            "dataset = dict(type='VqaBaseDataset', config=config, name='toy')\n"
        )
    else:
        model = _model_file(
            tmp_path, "class Mine:\n    def generate(self, request):\n        raise SystemExit(0)"
        )
    endpoint.script = lambda call: str(call.asked)
    ran = run_here("--tasks", task.config, "--cfg", model, "--output-dir", out)
    assert ran.returncode == status
    assert "SystemExit" in ran.output


def test_an_evaluator_may_sort_its_rows_but_not_pass_one_without_an_answer(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    endpoint.script = lambda call: endpoint.fails(400, "no") if call.asked == 1 else str(call.asked)
    own = (
        "def get_result(annotations, predictions):\n"
        "    predictions.sort(key=lambda row: row['answer'], reverse=True)\n"
        "    for row in predictions:\n"
        "        row['correct'] = True\n"
        "    return {'accuracy': 100.0}\n"
    )
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py"}
    task = make_task(4, evaluator=evaluator, files={"evaluate.py": own})
    run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    result = files_of().result
    assert (result["accuracy"], result["accuracy_by_task_code"], result["range"]) == (
        75.0,
        100.0,
        [75.0, 100.0],
    )
    assert "marked correct by the task's own code" in result["note"]
    rows = {row["question_id"]: row for row in files_of().evaluated}
    assert [rows[str(n)]["raw_answer"] for n in (0, 2, 3)] == ["0", "2", "3"]
    assert rows["1"]["correct"] is False


def test_a_reply_that_drips_for_ever_is_a_time_out(
    make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    import socket
    import threading

    server = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def drip() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
            )
            while not stop.wait(0.05):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    started = time.monotonic()
    run_here(
        "--tasks",
        make_task(1).config,
        "--cfg",
        make_model(url=url, timeout=0.5, max_retries=0),
        "--output-dir",
        out,
    )
    stop.set()
    server.close()
    thread.join()
    assert time.monotonic() - started < 30
    assert files_of().predictions[0]["error"]["type"] == "timeout"


def test_an_endpoint_without_the_model_is_left_out_and_named(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    endpoint.script = lambda call: (
        endpoint.fails(404, "no such model") if call.path.startswith("/empty") else str(call.asked)
    )
    urls = [endpoint.url.replace("/v1", "/empty/v1"), endpoint.url]
    ran = run_here(
        "--tasks", make_task(6).config, "--cfg", make_model(url=urls, num_workers=1), "--output-dir", out
    )
    assert (ran.returncode, files_of().counts["answered"]) == (0, 6)
    assert sum(call.path.startswith("/empty") for call in endpoint.calls) == 1
    assert "/empty/v1/chat/completions refuses every request and is left out: no such model" in ran.stderr


def test_odd_line_ends_and_error_objects_in_a_stream(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    def event(**chunk: Any) -> str:
        return "data: " + json.dumps(chunk, ensure_ascii=False)

    good = event(choices=[{"delta": {"content": "It is\u2028\u0085 0"}, "finish_reason": "stop"}])
    cut = event(choices=[{"delta": {"content": "There are 1"}}])
    broken = event(object="error", message="engine died", code=500)
    endpoint.script = lambda call: (
        endpoint.streams(good, "data: [DONE]")
        if call.asked == 0
        else endpoint.streams(cut, broken, "data: [DONE]")
    )
    model = make_model(stream=True, max_retries=0)
    run_here("--tasks", make_task(2).config, "--cfg", model, "--output-dir", out)
    first, second = files_of().predictions
    assert (first["status"], first["answer"]) == ("ok", "It is\u2028\u0085 0")
    assert (second["status"], second["error"]["type"]) == ("error", "bad_response")


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_every_spelling_of_a_cut_off_reply_counts_as_truncated(
    reason: str, endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    endpoint.script = lambda call: endpoint.says(str(call.asked), finish_reason=reason)
    run_here("--tasks", make_task(2).config, "--cfg", make_model(), "--output-dir", out)
    assert files_of().counts["truncated"] == 2


def test_values_that_json_cannot_hold_cost_no_answer(
    make_task: Any, run_here: Any, files_of: Any, out: Path, tmp_path: Path
) -> None:
    body = (
        "class Mine:\n"
        "    def generate(self, request):\n"
        "        return Response('0 \\ud800', usage={'completion_tokens': 10**30})\n"
    )
    ran = run_here("--tasks", make_task(2).config, "--cfg", _model_file(tmp_path, body), "--output-dir", out)
    assert ran.returncode == 0
    assert files_of().predictions[0]["answer"] == "0 ?"


def test_misspelt_and_missing_things_are_told_before_anything_is_asked(
    endpoint: Any, make_task: Any, make_model: Any, make_rows: Any, run_here: Any, out: Path
) -> None:
    rows = [
        {"anwser" if key == "answer" else key: value for key, value in row.items()} for row in make_rows(3)
    ]
    ran = run_here("--tasks", make_task(rows).config, "--cfg", make_model(), "--output-dir", out)
    assert (ran.returncode, len(endpoint.calls)) == (1, 0)
    assert "no row has `answer`, but all have `anwser`" in ran.stderr
    ran = run_here("--tasks", make_task([], "empty").config, "--cfg", make_model(), "--output-dir", out)
    assert (ran.returncode, len(endpoint.calls)) == (1, 0)
    assert "the data holds no row" in ran.stderr


def test_a_metric_that_is_no_number_is_null_and_said_so(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    endpoint.script = lambda call: str(call.asked)
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py"}
    own = "def get_result(annotations, predictions):\n    return {'accuracy': float('nan')}\n"
    task = make_task(2, evaluator=evaluator, files={"evaluate.py": own})
    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    assert files_of().result["accuracy"] is None
    assert "accuracy came out as no number" in ran.stdout


def test_a_secret_is_cut_out_before_a_reply_is_cut_short(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, out: Path
) -> None:
    key = "sk-test-FAKE123-" + "0123456789" * 4
    endpoint.script = lambda call: endpoint.sends(
        b"x" * 180 + call.headers["Authorization"].encode(), status=500
    )
    model = make_model(api_key=key, max_retries=0)
    ran = run_here("--tasks", make_task(2).config, "--cfg", model, "--output-dir", out)
    written = b"".join(path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert b"sk-test" not in written
    assert "sk-test" not in ran.output


def test_reasoning_tags_named_later_apply_to_the_answers_that_are_kept(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    endpoint.script = lambda call: f"<reflect>9</reflect> {call.asked} <reflect>or 7"
    task = make_task(3)
    run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    assert files_of().result["accuracy"] == 0.0
    endpoint.script = lambda call: f"<reflect>9</reflect> {call.asked}"
    run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out, "--overwrite")
    asked = len(endpoint.calls)
    model = make_model(reasoning_tags=["<reflect>", "</reflect>"])
    run_here("--tasks", task.config, "--cfg", model, "--output-dir", out)
    run_here("--tasks", task.config, "--without-infer", "--output-dir", out)
    assert len(endpoint.calls) == asked
    assert (files_of().result["accuracy"], files_of().counts["answered"]) == (100.0, 3)
    assert [row["reason"] for row in files_of().evaluated] == ["9", "9", "9"]


def test_an_answer_kept_under_new_limits_is_scored_again_as_well(
    endpoint: Any, make_task: Any, make_model: Any, make_rows: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    endpoint.script = lambda call: str(call.asked)
    text_only = [{key: value for key, value in row.items() if key != "img_path"} for row in make_rows(3)]
    task = make_task(text_only)
    run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    run_here("--tasks", task.config, "--cfg", make_model(max_long_side=64), "--output-dir", out)
    assert len(endpoint.calls) == 3
    assert run_here("--tasks", task.config, "--without-infer", "--output-dir", out).returncode == 0
    assert files_of().counts["answered"] == 3
