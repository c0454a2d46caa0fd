"""What is made of a reply: the answer, the reasoning beside it, and whose answer it is."""

from __future__ import annotations

from typing import Any


def test_reasoning_is_kept_beside_the_answer_and_never_in_it(
    endpoint: Any, make_rows: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    replies = [
        endpoint.says("0", reasoning_content="8 dots?"),
        endpoint.says("1", reasoning="8 dots?"),
        endpoint.says("<think>8 dots?</think>\n\n2"),
        endpoint.says("8 dots?</think>3"),
        endpoint.says("<think>8 dots?", finish_reason="length"),
        endpoint.says("<think>8 dots?</think>5", reasoning_content="first"),
        endpoint.says("6"),
    ]
    endpoint.script = lambda call: replies[call.asked]

    ran = run_here("--tasks", make_task(7).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    assert len(endpoint.calls) == 7
    files = files_of()
    assert [row["answer"] for row in files.predictions] == ["0", "1", "2", "3", "", "5", "6"]
    assert [row["reason"] for row in files.predictions] == [*["8 dots?"] * 5, "first\n8 dots?", ""]
    assert [row["raw_answer"] for row in files.evaluated] == ["0", "1", "2", "3", "", "5", "6"]
    assert [row["correct"] for row in files.evaluated] == [True, True, True, True, False, True, True]
    assert files.counts == {"total": 7, "answered": 7, "truncated": 1, "parse_failures": 1}
    assert (files.result["accuracy"], files.result["accuracy_finished"]) == (85.71, 100.0)
    assert "1 of 7 answers were cut off by the token limit" in ran.stdout


def test_a_refusal_is_an_answer_that_is_counted_apart(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    replies = [
        "0",
        endpoint.says(None, refusal="I cannot help with that."),
        endpoint.says(None, finish_reason="content_filter"),
    ]
    endpoint.script = lambda call: replies[call.asked]

    ran = run_here("--tasks", make_task(3).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    assert len(endpoint.calls) == 3
    files = files_of()
    assert [row["answer"] for row in files.predictions] == ["0", "I cannot help with that.", ""]
    assert files.counts == {"total": 3, "answered": 3, "refused": 2, "parse_failures": 2}


def test_answers_that_come_in_another_order_stay_with_their_rows(
    hard_case: Any, endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    case = hard_case("BL-095")
    rows, workers = case["input"]["rows"], case["input"]["workers"]
    gates = [endpoint.gate() for _ in range(rows)]

    def last_of_a_group_first(call: Any) -> Any:
        reply = endpoint.says(str(call.asked))
        if call.number % workers > 0:
            reply = reply.opening(gates[call.number - 1])
        last_of_group = call.number % workers == workers - 1 or call.number == rows - 1
        return reply if last_of_group else reply.held_by(gates[call.number])

    endpoint.script = last_of_a_group_first
    model = make_model(num_workers=workers, timeout=20)

    ran = run_here("--tasks", make_task(rows).config, "--cfg", model, "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    files = files_of()
    finished = [int(row["question_id"]) for row in files.journal]
    assert finished != sorted(finished)
    assert files.answers() == {str(row): str(row) for row in range(rows)}
    assert list(files.answers()) == [str(row) for row in range(rows)]
    assert files.result["accuracy"] == case["expected"]["accuracy"]
