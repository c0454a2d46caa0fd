"""The same command again: no answer is lost, none is asked twice, what changed is asked again and said so."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from typing import Any

import pytest


def test_a_killed_run_goes_on_where_it_was_and_ends_like_an_unbroken_one(
    hard_case: Any,
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    start_cli: Any,
    run_here: Any,
    files_of: Any,
    tmp_path: Any,
) -> None:
    case = hard_case("BL-110")
    answered, workers = case["input"]["answered"], case["input"]["workers"]
    never = endpoint.gate()
    endpoint.script = lambda call: (
        str(call.asked) if call.number < answered else endpoint.says("99").held_by(never)
    )
    task = make_task(case["input"]["rows"])
    broken, unbroken = tmp_path / "broken", tmp_path / "unbroken"
    command = ("--tasks", task.config, "--cfg", make_model(num_workers=workers), "--output-dir")

    running = start_cli(*command, broken)
    # A request starts when an answer before it is in the journal.
    endpoint.wait_for_calls(answered + workers)
    running.kill()

    kept = {int(row["question_id"]) for row in files_of("toy", broken).journal}
    assert len(kept) == answered
    endpoint.forget()
    endpoint.script = lambda call: str(call.asked)

    ran = run_here(*command, broken)

    assert ran.returncode == 0, ran.stderr
    assert case["expected"]["least_calls"] <= len(endpoint.calls) <= case["expected"]["most_calls"]
    assert endpoint.rows_asked() == sorted(set(range(case["input"]["rows"])) - kept)
    assert files_of("toy", broken).summary["requests"]["kept"] == answered

    assert run_here(*command, unbroken).returncode == 0
    assert files_of("toy", broken).without_times() == files_of("toy", unbroken).without_times()


def test_a_journal_line_cut_short_costs_only_that_line(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    command = ("--tasks", make_task(6).config, "--cfg", make_model(), "--output-dir", out)
    assert run_here(*command).returncode == 0
    journal, last = files_of().journal_file, files_of().journal[-1]
    journal.write_bytes(journal.read_bytes()[:-30])
    endpoint.forget()

    ran = run_here(*command)

    assert ran.returncode == 0
    assert endpoint.rows_asked() == [int(last["question_id"])]
    assert "1 line(s) that hold no prediction (cut short by a crash?) were dropped" in ran.stderr
    assert files_of().result["accuracy"] == 100.0
    # The new answer stands on a line of its own, so a third run asks nothing.
    endpoint.forget()
    assert run_here(*command).returncode == 0
    assert endpoint.calls == []


@pytest.mark.parametrize("name", ["BL-118", "BL-120", "BL-124"])
def test_another_model_or_temperature_is_asked_again_and_said_and_nothing_else_is(
    name: str,
    hard_case: Any,
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    files_of: Any,
    out: Any,
) -> None:
    case = hard_case(name)
    rows = case["input"]["rows"]
    command = ("--tasks", make_task(rows).config, "--output-dir", out, "--cfg")
    assert run_here(*command, make_model(**case["input"]["first"])).returncode == 0
    endpoint.forget()
    endpoint.script = lambda call: "0"

    ran = run_here(*command, make_model(**case["input"]["then"]))

    assert ran.returncode == 0
    asked = case["expected"]["calls"]
    assert len(endpoint.calls) == asked
    assert case["expected"]["message"] in ran.stderr
    assert ("asked again" in ran.stderr) == (asked > 0)
    assert files_of().summary["requests"] == {"asked": asked, "kept": rows - asked, "retries": 0}
    assert files_of().result["accuracy"] == (25.0 if asked else 100.0)


def test_a_changed_prompt_or_picture_is_asked_again_and_a_moved_endpoint_is_not(
    endpoint: Any, make_rows: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    rows = make_rows(4)
    task = make_task(rows)
    command = ("--tasks", task.config, "--output-dir", out, "--cfg")
    assert run_here(*command, make_model()).returncode == 0

    rows[2]["question"] += " Count again."
    task.write_rows(rows)
    endpoint.forget()
    ran = run_here(*command, make_model())
    assert ran.returncode == 0
    assert endpoint.rows_asked() == [2]
    assert "1 answered samples were asked again" in ran.stderr
    assert "Count again." in files_of().predictions[2]["question"]

    task.data.joinpath("1.png").write_bytes(task.image("3.png"))
    endpoint.forget()
    ran = run_here(*command, make_model())
    assert ran.returncode == 0
    assert endpoint.rows_asked() == [1]
    assert "1 answered samples were asked again" in ran.stderr

    task.config.write_text(
        task.config.read_text(encoding="utf-8").replace(
            "'type': 'PromptTemplate'", "'type': 'PromptTemplate', 'pre_prompt': 'Look. '"
        ),
        encoding="utf-8",
    )
    endpoint.forget()
    ran = run_here(*command, make_model())
    assert endpoint.rows_asked() == [0, 1, 2, 3]
    assert "4 answered samples were asked again" in ran.stderr

    # What has no part in the answer is no reason to ask, and the old prompt's answers are still there.
    endpoint.forget()
    moved = make_model(
        url=f"http://localhost:{endpoint.port}/v1", num_workers=1, timeout=9, api_key="sk-other"
    )
    ran = run_here(*command, moved)
    assert ran.returncode == 0
    assert endpoint.calls == []
    assert "since the last run" not in ran.stderr


def test_two_rows_that_ask_the_same_are_two_questions(
    endpoint: Any, make_rows: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    row = make_rows(1)[0]
    task = make_task([{**row, "question_id": name, "answer": truth} for name, truth in (("a", 0), ("b", 5))])
    command = ("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    assert run_here(*command, "--limit", "1").returncode == 0
    endpoint.script = lambda call: "5"

    assert run_here(*command).returncode == 0

    assert len(endpoint.calls) == 2
    assert files_of().answers() == {"a": "0", "b": "5"}


def test_a_try_run_is_partial_and_the_full_run_keeps_its_answers(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    command = ("--tasks", make_task(40).config, "--cfg", make_model(num_workers=8), "--output-dir", out)

    ran = run_here(*command, "--try-run")
    assert ran.returncode == 0
    assert endpoint.rows_asked() == list(range(32))
    files = files_of()
    assert (files.result["partial"], files.result["n"], files.result["rows_in_data"]) == (True, 32, 40)
    assert files.result["accuracy"] == 100.0
    assert "32 (partial)" in ran.stdout

    # --skip does not take it for a finished one, not even for its own repetition.
    endpoint.forget()
    assert run_here(*command, "--try-run", "--skip").returncode == 0
    assert endpoint.calls == []
    assert files.summary["status"] == "scored"
    assert run_here(*command, "--skip").returncode == 0
    assert endpoint.rows_asked() == list(range(32, 40))
    assert (files.result["partial"], files.result["n"]) == (False, 40)
    assert files.summary["requests"] == {"asked": 8, "kept": 32, "retries": 0}

    endpoint.forget()
    ran = run_here(*command, "--skip")
    assert ran.returncode == 0
    assert endpoint.calls == []
    assert files.summary["status"] == "skipped"
    assert "finished before; skipped" in ran.stderr
    assert "100.00" in ran.stdout

    # The smaller of two limits counts.
    ran = run_here(*command, "--try-run", "--limit", "3")
    assert endpoint.calls == []
    assert (files.result["partial"], files.result["n"]) == (True, 3)


def test_overwrite_puts_the_old_run_aside_and_asks_everything(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    command = ("--tasks", make_task(3).config, "--cfg", make_model(), "--output-dir", out)
    assert run_here(*command).returncode == 0
    before = files_of().journal_file.read_bytes()
    endpoint.forget()
    endpoint.script = lambda call: "0"

    ran = run_here(*command, "--overwrite")

    assert ran.returncode == 0
    assert len(endpoint.calls) == 3
    assert str(out / "toy.old-1") in ran.stderr
    assert out.joinpath("toy.old-1", "items", "journal.jsonl").read_bytes() == before
    assert files_of().answers() == {"0": "0", "1": "0", "2": "0"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_keeps_what_is_on_its_way_and_the_same_command_finishes(
    number: signal.Signals,
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    start_cli: Any,
    run_here: Any,
    files_of: Any,
    out: Any,
) -> None:
    gate = endpoint.gate()
    endpoint.script = lambda call: (
        str(call.asked) if call.number < 3 else endpoint.says(str(call.asked)).held_by(gate)
    )
    command = ("--tasks", make_task(12).config, "--cfg", make_model(num_workers=2), "--output-dir", out)
    running = start_cli(*command)
    endpoint.wait_for_calls(5)

    running.signal(number)
    running.read_error_line_with("Stopping.")
    gate.open()
    ran = running.wait()

    assert ran.returncode == 130
    assert "The same command goes on from there." in ran.stderr
    assert f"5 predictions are safe in {out}" in ran.stderr
    assert files_of().summary["status"] == "stopped"
    assert len(endpoint.calls) == len(files_of().journal) == 5
    asked = endpoint.rows_asked()

    endpoint.forget()
    assert run_here(*command).returncode == 0
    assert sorted(asked + endpoint.rows_asked()) == list(range(12))
    assert files_of().result["accuracy"] == 100.0


def test_a_second_ctrl_c_does_not_wait_for_an_endpoint_that_hangs(
    endpoint: Any, make_task: Any, make_model: Any, start_cli: Any, files_of: Any, out: Any
) -> None:
    never = endpoint.gate()
    endpoint.script = lambda call: "0" if call.number == 0 else endpoint.says("0").held_by(never)
    running = start_cli(
        "--tasks", make_task(12).config, "--cfg", make_model(num_workers=1), "--output-dir", out
    )
    endpoint.wait_for_calls(2)

    running.signal(signal.SIGINT)
    running.read_error_line_with("Stopping.")
    running.signal(signal.SIGINT)
    ran = running.wait()

    assert ran.returncode == 130
    assert "1 predictions are safe" in ran.stderr
    assert len(files_of().journal) == 1


def test_a_second_process_on_the_same_task_is_refused(
    endpoint: Any, make_task: Any, make_model: Any, start_cli: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    gate = endpoint.gate()
    endpoint.script = lambda call: endpoint.says(str(call.asked)).held_by(gate)
    model, task, other = make_model(), make_task(2), make_task(2, "other")
    first = start_cli("--tasks", task.config, "--cfg", model, "--output-dir", out)
    endpoint.wait_for_calls(2)

    ran = run_here("--tasks", task.config, "--cfg", model, "--output-dir", out)
    assert ran.returncode == 2
    assert f"{out / 'toy'}: another flagharness is writing this task" in ran.stderr
    assert len(endpoint.calls) == 2

    # Another task of the same run directory may go on beside it.
    endpoint.script = lambda call: str(call.asked)
    assert run_here("--tasks", other.config, "--cfg", model, "--output-dir", out).returncode == 0
    gate.open()
    assert first.wait().returncode == 0
    assert files_of("toy").summary["score"] == files_of("other").summary["score"] == 100.0


def test_a_full_disk_stops_the_run_and_costs_no_answer_that_was_written(
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    environment: dict[str, str],
    files_of: Any,
    out: Any,
) -> None:
    command = ("--tasks", make_task(100).config, "--cfg", make_model(), "--output-dir", out)

    ran = subprocess.run(
        [sys.executable, "-m", "flagharness", *map(str, command)],
        env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16_000, 16_000)),
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 1
    assert "the journal cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr
    files = files_of()
    whole = [line for line in files.journal_file.read_bytes().splitlines(True) if line.endswith(b"\n")]
    assert len(whole) > 10
    endpoint.forget()

    assert run_here(*command).returncode == 0
    assert files.summary["requests"] == {"asked": 100 - len(whole), "kept": len(whole), "retries": 0}
    assert files.result["accuracy"] == 100.0
