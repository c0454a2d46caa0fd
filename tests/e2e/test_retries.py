"""Failed attempts: which are tried again, which stop the run, what is kept of them."""

from __future__ import annotations

import time
from typing import Any

import pytest

FAKE_KEY = "sk-test-FAKE123"


def test_every_passing_fault_is_tried_again_and_each_attempt_is_recorded(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    faults = {
        0: endpoint.fails(500, "out of memory"),
        1: endpoint.cuts(),
        2: endpoint.sends({"error": {"message": "upstream failed"}}),
        3: endpoint.says(None),
        4: endpoint.sends(b"<html>bad gateway</html>"),
        5: endpoint.sends({"choices": []}),
        6: endpoint.fails(408),
        7: endpoint.fails(409),
        8: endpoint.fails(425),
    }
    scripts = {row: endpoint.in_turn(fault, str(row)) for row, fault in faults.items()}
    endpoint.script = lambda call: scripts[call.asked](call) if call.asked in scripts else str(call.asked)

    ran = run_here("--tasks", make_task(10).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    assert endpoint.rows_asked() == sorted([*range(10), *range(9)])
    files = files_of()
    assert files.result["accuracy"] == 100.0
    assert files.summary["requests"]["retries"] == 9
    attempts = {row["question_id"]: row.get("attempts", []) for row in files.predictions}
    kinds = {
        question_id: (one[0]["type"], one[0]["http_status"]) for question_id, one in attempts.items() if one
    }
    assert kinds == {
        "0": ("server_error", 500),
        "1": ("connection", None),
        "2": ("bad_response", 200),
        "3": ("empty_response", 200),
        "4": ("bad_response", 200),
        "5": ("bad_response", 200),
        "6": ("rejected", 408),
        "7": ("rejected", 409),
        "8": ("rejected", 425),
    }
    assert "out of memory" in attempts["0"][0]["message"]


def test_the_wait_a_server_asks_for_is_kept(
    hard_case: Any, endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    case = hard_case("BL-102")
    seconds = str(case["input"]["retry_after_s"])
    endpoint.script = endpoint.in_turn(
        endpoint.fails(case["input"]["status"], "slow down", Retry_After=seconds), "0"
    )

    ran = run_here("--tasks", make_task(1).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    first, second = endpoint.calls
    assert second.at - first.at >= case["expected"]["least_gap_s"]
    assert files_of().predictions[0]["status"] == case["expected"]["status"]
    assert files_of().predictions[0]["attempts"][0]["type"] == "rate_limited"


def test_a_fault_that_stays_is_an_error_of_that_row_alone_and_the_next_run_asks_it(
    hard_case: Any, endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    case = hard_case("BL-125")
    busy = endpoint.sends(case["input"]["body"], case["input"]["status"])
    endpoint.script = lambda call: busy if call.asked == 1 else "B"
    choice = {"question_type": "multiple-choice", "options": ["cat", "dog"], "answer": "B"}
    task = make_task([{"question_id": i, "question": f"Picture {i}?", **choice} for i in range(4)])
    command = ("--tasks", task.config, "--cfg", make_model(max_retries=1), "--output-dir", out)

    ran = run_here(*command)

    assert ran.returncode == case["expected"]["first_exit"]
    assert endpoint.rows_asked() == [0, 1, 1, 2, 3]
    files = files_of()
    failed = files.predictions[1]
    assert (failed["status"], failed["answer"]) == ("error", "")
    assert failed["error"] == {"type": "server_error", "message": "busy", "http_status": 503, "attempts": 2}
    assert files.evaluated[1]["outcome"] == "request_error"
    assert files.counts == {"total": 4, "answered": 3, "request_errors": 1}
    result = files.result
    assert (result["accuracy"], result["accuracy_answered"], result["range"]) == (75.0, 100.0, [75.0, 100.0])
    assert "1 of 4 samples have no answer and count as wrong" in ran.stdout

    endpoint.forget()
    endpoint.script = lambda call: case["input"]["then"]
    ran = run_here(*command)

    assert ran.returncode == case["expected"]["exit"]
    assert endpoint.rows_asked() == [1]
    assert files.answers()["1"] == case["expected"]["answer"]
    assert files.counts == {"total": 4, "answered": 4}
    assert files.summary["requests"] == {"asked": 1, "kept": 3, "retries": 0}


@pytest.mark.parametrize("place", ["config", "environment", "command line"])
def test_a_wrong_key_stops_the_run_at_once_and_is_written_nowhere(
    place: str,
    hard_case: Any,
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    files_of: Any,
    out: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = hard_case("BL-101")
    endpoint.script = lambda call: endpoint.fails(
        case["input"]["status"], f"Incorrect API key provided: {FAKE_KEY}."
    )
    monkeypatch.setenv("TOY_KEY", FAKE_KEY)
    keys = {"config": FAKE_KEY, "environment": "${TOY_KEY}", "command line": None}
    model = make_model(
        num_workers=case["input"]["workers"], api_key=keys[place], extra_headers={"X-Team": "team-FAKE456"}
    )
    on_the_line = ("--api-key", FAKE_KEY) if place == "command line" else ()
    task = make_task(case["input"]["rows"])
    started = time.monotonic()

    ran = run_here("--tasks", task.config, "--cfg", model, "--output-dir", out, "--debug", *on_the_line)

    assert time.monotonic() - started < case["expected"]["most_seconds"]
    assert ran.returncode == case["expected"]["exit"]
    assert 1 <= len(endpoint.calls) <= case["expected"]["most_calls"]
    assert endpoint.calls[0].headers["Authorization"] == f"Bearer {FAKE_KEY}"
    assert endpoint.calls[0].headers["X-Team"] == "team-FAKE456"
    assert "HTTP 401: Incorrect API key provided: ***." in ran.stderr
    files = files_of()
    assert len(files.journal) == len(endpoint.calls)
    assert {row["error"]["http_status"] for row in files.journal} == {401}
    assert files.summary["status"] == "stopped"
    for secret in (FAKE_KEY, "team-FAKE456"):
        assert secret not in ran.output
        assert [
            path for path in out.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()
        ] == []


def test_an_unknown_model_stops_the_run_and_the_message_names_the_url(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, out: Any
) -> None:
    endpoint.script = lambda call: endpoint.fails(404, "The model `m` does not exist.")

    ran = run_here("--tasks", make_task(8).config, "--cfg", make_model(num_workers=1), "--output-dir", out)

    assert ran.returncode == 1
    assert len(endpoint.calls) == 1
    assert "The model `m` does not exist." in ran.stderr
    assert f"{endpoint.url}/chat/completions" in ran.stderr


def test_an_endpoint_where_nothing_listens_ends_the_run_within_seconds(
    dead_url: str, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    model = make_model(url=dead_url, retry_wait_max=None)
    started = time.monotonic()

    ran = run_here("--tasks", make_task(32).config, "--cfg", model, "--output-dir", out)

    assert time.monotonic() - started < 10
    assert ran.returncode == 1
    assert f"cannot connect to {dead_url}/chat/completions" in ran.stderr
    assert "goes on from there" in ran.stderr
    assert files_of().summary["status"] == "stopped"


def test_ten_failures_in_a_row_stop_the_run_and_the_rest_is_asked_by_the_same_command(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    endpoint.script = lambda call: str(call.asked) if call.number < 5 else endpoint.fails(500, "worker died")
    command = ("--tasks", make_task(64).config, "--output-dir", out)
    settings = ("--cfg", make_model(max_retries=0, num_workers=1))

    ran = run_here(*command, *settings)

    assert ran.returncode == 1
    assert len(endpoint.calls) == 15
    assert "10 requests failed in a row, the last with HTTP 500: worker died" in ran.stderr
    answered = {call.asked for call in endpoint.calls[:5]}

    endpoint.forget()
    endpoint.script = lambda call: str(call.asked)
    assert run_here(*command, *settings).returncode == 0
    assert endpoint.rows_asked() == sorted(set(range(64)) - answered)
    assert files_of().result["accuracy"] == 100.0


def test_a_rejected_row_does_not_stop_a_run_that_gets_answers(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    too_long = endpoint.fails(400, "This prompt is longer than the context.")
    endpoint.script = lambda call: too_long if call.asked == 2 else str(call.asked)

    ran = run_here("--tasks", make_task(6).config, "--cfg", make_model(num_workers=1), "--output-dir", out)

    assert ran.returncode == 3
    assert endpoint.rows_asked() == list(range(6))
    assert files_of().predictions[2]["error"]["type"] == "rejected"


def test_a_stream_that_is_cut_is_a_failed_attempt_and_never_a_short_answer(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    begun = 'data: {"choices": [{"delta": {"content": "1"}}]}'
    whole = 'data: {"choices": [{"delta": {"content": "17"}, "finish_reason": "stop"}]}'
    scripts = [
        endpoint.in_turn(endpoint.streams(begun, "", cut=True), endpoint.streams(whole, "")),
        endpoint.in_turn(endpoint.streams(begun, ""), endpoint.streams(whole, "")),
        endpoint.in_turn(
            endpoint.streams('data: {"error": {"message": "died"}}', ""), endpoint.streams(whole, "")
        ),
    ]
    endpoint.script = lambda call: scripts[call.asked](call)

    ran = run_here("--tasks", make_task(3).config, "--cfg", make_model(stream=True), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    assert endpoint.rows_asked() == [0, 0, 1, 1, 2, 2]
    rows = files_of().predictions
    assert [row["answer"] for row in rows] == ["17", "17", "17"]
    assert [row["attempts"][0]["type"] for row in rows] == ["connection", "bad_response", "bad_response"]
    assert rows[1]["attempts"][0]["partial"] == "1"


def test_a_reply_that_does_not_come_in_time_is_a_failed_attempt(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    never = endpoint.gate()
    endpoint.script = endpoint.in_turn(endpoint.says("1").held_by(never), "0")

    ran = run_here("--tasks", make_task(1).config, "--cfg", make_model(timeout=1), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    first = files_of().predictions[0]["attempts"][0]
    assert (first["type"], first["message"]) == ("timeout", "no reply within 1 s")
    assert first["seconds"] >= 1
    assert files_of().answers() == {"0": "0"}
