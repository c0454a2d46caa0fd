"""--retry-parse-failures: what was answered unreadably is asked again, and nothing of what was paid for is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

AGAIN = "--retry-parse-failures"


@pytest.fixture
def command(make_task: Any, make_model: Any, run_here: Any, out: Any) -> Callable[..., Any]:
    """Return a function that runs two counting questions, 0 and 1, with further options and model settings."""
    task = make_task(2)

    def run(*options: str, **model: Any) -> Any:
        settings = {"num_workers": 1, "max_retries": 3, **model}
        return run_here(
            "--tasks", task.config, "--cfg", make_model(**settings), "--output-dir", out, *options
        )

    return run


def second_row_in_turn(endpoint: Any, *replies: Any) -> Callable[[Any], Any]:
    """Return a script: question 0 is answered rightly, question 1 with each reply in turn; the last one stays."""
    turn = endpoint.in_turn(*replies)
    return lambda call: "0" if call.asked == 0 else turn(call)


def of_row_1(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["question_id"] == "1")


def test_without_it_an_unreadable_answer_is_kept_on_resume(
    command: Any, endpoint: Any, files_of: Any
) -> None:
    endpoint.script = second_row_in_turn(endpoint, "many", "1")
    assert command().returncode == 0
    endpoint.forget()

    assert command().returncode == 0

    assert endpoint.calls == []
    assert files_of().answers() == {"0": "0", "1": "many"}
    assert files_of().counts == {"total": 2, "answered": 2, "parse_failures": 1}
    assert files_of().result["accuracy"] == 50.0
    assert "attempts" not in of_row_1(files_of().predictions)
    assert "asked_again_when_unreadable" not in files_of().result


def test_with_it_a_resumed_run_asks_again_only_what_could_not_be_read(
    command: Any, endpoint: Any, files_of: Any
) -> None:
    endpoint.script = second_row_in_turn(endpoint, endpoint.says("many", reasoning_content="a lot"), "1")
    command()
    endpoint.forget()

    ran = command(AGAIN)

    assert ran.returncode == 0
    assert endpoint.rows_asked() == [1]
    assert files_of().answers() == {"0": "0", "1": "1"}
    assert files_of().result["accuracy"] == 100.0
    assert files_of().counts == {"total": 2, "answered": 2}
    assert of_row_1(files_of().predictions)["attempts"] == [
        {
            "type": "unreadable_answer",
            "answer": "many",
            "reason": "a lot",
            "finish_reason": "stop",
            "response_id": "reply-1",
            "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
        }
    ]
    assert files_of().summary["requests"] == {"asked": 1, "kept": 1, "retries": 0}


def test_with_it_a_first_run_asks_again_at_once(command: Any, endpoint: Any, files_of: Any) -> None:
    endpoint.script = second_row_in_turn(endpoint, "many", "some", "1")

    assert command(AGAIN).returncode == 0

    assert endpoint.rows_asked() == [0, 1, 1, 1]
    assert files_of().result["accuracy"] == 100.0
    assert [attempt["answer"] for attempt in of_row_1(files_of().predictions)["attempts"]] == ["many", "some"]


def test_the_retries_of_the_model_config_bound_it_and_the_last_answer_stands(
    command: Any, endpoint: Any, files_of: Any
) -> None:
    endpoint.script = second_row_in_turn(endpoint, "one", "two", "three", "four", "1")

    assert command(AGAIN, max_retries=2).returncode == 0

    assert endpoint.rows_asked() == [0, 1, 1, 1]  # once, and twice again
    row = of_row_1(files_of().predictions)
    assert (row["answer"], [attempt["answer"] for attempt in row["attempts"]]) == ("three", ["one", "two"])
    assert files_of().counts == {"total": 2, "answered": 2, "parse_failures": 1}
    assert files_of().result["asked_again_when_unreadable"] == 1

    # The next run goes on from there, and what was said before stays in the record.
    endpoint.forget()
    assert command(AGAIN, max_retries=2).returncode == 0
    row = of_row_1(files_of().predictions)
    assert (row["answer"], [attempt["answer"] for attempt in row["attempts"]]) == (
        "1",
        ["one", "two", "three", "four"],
    )
    assert endpoint.rows_asked() == [1, 1]


def test_no_retries_in_the_model_config_means_one_question_a_run(
    command: Any, endpoint: Any, files_of: Any
) -> None:
    endpoint.script = second_row_in_turn(endpoint, "many", "1")
    assert command(AGAIN, max_retries=0).returncode == 0
    assert endpoint.rows_asked() == [0, 1]
    assert files_of().answers()["1"] == "many"


def test_every_attempt_stands_in_the_journal_as_it_arrived(
    command: Any, endpoint: Any, files_of: Any
) -> None:
    endpoint.script = second_row_in_turn(
        endpoint,
        endpoint.says("many", reasoning_content="first thought"),
        endpoint.says("some", reasoning_content="second thought"),
        "1",
    )
    command(AGAIN)
    lines = [line for line in files_of().journal if line["question_id"] == "1"]
    assert [(line["answer"], line["reason"]) for line in lines] == [
        ("many", "first thought"),
        ("some", "second thought"),
        ("1", ""),
    ]
    assert [attempt["reason"] for attempt in lines[-1]["attempts"]] == ["first thought", "second thought"]
    assert len({line["request_hash"] for line in lines}) == 1

    # A later run without the switch keeps the answer and its history, and asks nothing.
    endpoint.forget()
    before = files_of().without_times()
    assert command().returncode == 0
    assert endpoint.calls == []
    assert files_of().without_times() == before
    assert len(of_row_1(files_of().predictions)["attempts"]) == 2


def test_the_tokens_of_all_attempts_are_counted_and_the_result_says_so(
    command: Any, endpoint: Any, files_of: Any, run_here: Any, make_model: Any, out: Any
) -> None:
    endpoint.script = second_row_in_turn(endpoint, "many", "some", "1")
    ran = command(AGAIN)
    result = files_of().result
    assert result["tokens"] == {"prompt": 40, "completion": 8}  # four replies of 10 and 2
    assert result["asked_again_when_unreadable"] == 1
    assert "1 samples were asked again because no answer could be read" in result["note"]
    assert "asked again because no answer could be read" in ran.stdout

    # Scoring again tells the same.
    ran = command("--without-infer")
    assert ran.returncode == 0
    assert files_of().result == result


def test_a_request_that_fails_when_asked_again_costs_no_answer(
    command: Any, endpoint: Any, files_of: Any
) -> None:
    endpoint.script = second_row_in_turn(
        endpoint, endpoint.says("many", reasoning_content="a lot"), endpoint.fails(400)
    )
    command()
    endpoint.forget()

    ran = command(AGAIN)

    assert ran.returncode == 0
    assert endpoint.rows_asked() == [1]
    row = of_row_1(files_of().predictions)
    assert (row["status"], row["answer"], row["reason"]) == ("ok", "many", "a lot")
    assert [attempt["http_status"] for attempt in row["attempts"]] == [400]
    assert files_of().counts == {"total": 2, "answered": 2, "parse_failures": 1}
    assert files_of().result["accuracy"] == 50.0

    # It stays eligible.
    endpoint.script = second_row_in_turn(endpoint, "1")
    assert command(AGAIN).returncode == 0
    row = of_row_1(files_of().predictions)
    assert row["answer"] == "1"
    assert [attempt["type"] for attempt in row["attempts"]] == ["rejected", "unreadable_answer"]
    assert row["attempts"][1]["answer"] == "many"


def test_the_same_within_one_run(command: Any, endpoint: Any, files_of: Any) -> None:
    endpoint.script = second_row_in_turn(endpoint, "many", "some", endpoint.fails(400))
    assert command(AGAIN).returncode == 0
    row = of_row_1(files_of().predictions)
    assert (row["status"], row["answer"]) == ("ok", "some")
    assert [attempt.get("answer") for attempt in row["attempts"]] == ["many", None]
    assert files_of().result["tokens"] == {"prompt": 30, "completion": 6}


def test_a_wrong_answer_that_can_be_read_is_never_asked_again(
    command: Any, endpoint: Any, files_of: Any
) -> None:
    endpoint.script = second_row_in_turn(endpoint, "5", "1")
    command(AGAIN)
    command(AGAIN)
    assert endpoint.rows_asked() == [0, 1]
    assert files_of().answers()["1"] == "5"


def test_each_inference_is_asked_again_by_itself(command: Any, endpoint: Any, files_of: Any) -> None:
    # Question 1, first inference: unreadable, then right; second inference: right at once.
    endpoint.script = second_row_in_turn(endpoint, "many", "1")
    assert command(AGAIN, num_infers=2).returncode == 0
    assert len(endpoint.calls) == 5
    assert files_of().result["accuracy"] == 100.0
    assert files_of().result["tokens"] == {"prompt": 50, "completion": 10}


def test_it_cannot_be_combined_with_scoring_again(command: Any) -> None:
    ran = command(AGAIN, "--without-infer")
    assert ran.returncode == 2
    assert "--without-infer and --retry-parse-failures exclude each other" in ran.stderr


def test_rows_that_a_tasks_own_code_scores_are_left_alone(
    make_task: Any, make_model: Any, run_here: Any, endpoint: Any, out: Any
) -> None:
    """Only the task's own function knows what it could not read."""
    own = "def get_result(annotations, predictions):\n    return {'accuracy': 0.0}\n"
    task = make_task(1, evaluator={"type": "BaseEvaluator", "eval_func": "own.py"}, files={"own.py": own})
    endpoint.script = lambda call: "many"
    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out, AGAIN)
    assert ran.returncode == 0
    assert len(endpoint.calls) == 1
