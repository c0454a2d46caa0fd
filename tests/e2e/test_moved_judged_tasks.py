"""Tasks of FlagEvalMM that ask a judge: their own scoring code, ExtractEvaluator, OpenEvaluator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

KEY = "sk-of-the-moved-task-4711"
GET_RESULT = """\
from flagharness.models import GPT


def get_result(annotations, predictions, llm: GPT):
    right = 0
    for prediction in predictions:
        annotation = annotations[str(prediction["question_id"])]
        prediction["label"] = annotation["answer"]
        message = llm.build_message(query=f"Is {prediction['answer']} the same as {annotation['answer']}?")
        try:
            said = llm.infer(chat_messages=message, temperature=0, top_p=1, seed=42)
        except Exception:
            prediction["correct"] = 0
            continue
        prediction["correct"] = int(said.content.strip() == "yes")
        prediction["judge_tokens"] = said.usage.total_tokens
        right += prediction["correct"]
    return {"accuracy": round(100 * right / len(predictions), 2)}
"""


def row(number: int, **other: Any) -> dict[str, Any]:
    question = f"Question {number}: which city?"
    return {"question_id": number, "question": question, "question_type": "open", "answer": "Paris", **other}


@pytest.fixture
def moved(
    run_here: Callable[..., Any],
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    judge_endpoint: Any,
    files_of: Callable[..., Any],
    out: Path,
) -> SimpleNamespace:
    """``run(rows, evaluator, *options, files=...)`` runs a task; ``judge`` holds FlagEvalMM's keys for a judge."""

    def run(rows: Any, evaluator: dict[str, Any], *options: Any, files: Any = (), **model: Any) -> Any:
        task = make_task(rows, evaluator=evaluator, files=dict(files))
        return run_here("--tasks", task.config, "--cfg", make_model(**model), "--output-dir", out, *options)

    judge = {
        "use_llm_evaluator": True,
        "use_cache": True,
        "chat_name": "toy_eval",
        "base_url": judge_endpoint.url,  # the base alone; the full URL is as good
        "api_key": KEY,
        "eval_model_name": "a-judge",
    }
    return SimpleNamespace(run=run, judge=judge, files=files_of(), out=out)


def test_own_code_is_given_the_judge_and_pays_for_no_answer_twice(
    moved: Any, endpoint: Any, judge_endpoint: Any, make_task: Any, run_here: Any
) -> None:
    endpoint.script = lambda call: ["Paris", "Rome", "Lutetia"][call.asked]
    judge_endpoint.script = lambda call: "yes" if "Is Rome" not in call.text else "no"
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py", **moved.judge}
    files = {"evaluate.py": GET_RESULT}
    ran = moved.run([row(n) for n in range(3)], evaluator, files=files)
    assert ran.returncode == 0, ran.output
    assert moved.files.result["accuracy"] == 66.67
    assert [each["correct"] for each in moved.files.evaluated] == [1, 0, 1]
    asked = [call for call in judge_endpoint.calls if call.text.startswith("Is ")]
    assert len(asked) == 3
    assert {call.headers["Authorization"] for call in judge_endpoint.calls} == {f"Bearer {KEY}"}
    assert asked[0].body["model"] == "a-judge"
    assert (asked[0].body["temperature"], asked[0].body["seed"]) == (0, 42)
    assert moved.files.result["judge_tokens"]["a-judge"]["prompt"] > 0

    judge_endpoint.forget()
    again = moved.run([row(n) for n in range(3)], evaluator, "--without-infer", files=files)
    assert again.returncode == 0, again.output
    assert moved.files.result["accuracy"] == 66.67
    assert judge_endpoint.calls == []
    texts = [file.read_text(encoding="utf-8") for file in moved.out.rglob("*") if file.is_file()]
    assert KEY not in "".join(texts) + ran.output + again.output


def test_a_judge_that_own_code_could_not_reach_is_counted_whatever_that_code_makes_of_it(
    moved: Any, endpoint: Any, judge_endpoint: Any
) -> None:
    endpoint.script = lambda call: f"Town {call.asked}"
    judge_endpoint.script = lambda call: judge_endpoint.fails(400) if "Town 1" in call.text else "yes"
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py", **moved.judge}
    ran = moved.run([row(n) for n in range(3)], evaluator, files={"evaluate.py": GET_RESULT})
    assert ran.returncode == 3
    assert moved.files.counts["judge_failures"] == 1
    assert (
        "1 judge calls failed; what they count as, the task's own code decided" in moved.files.result["note"]
    )


def test_own_code_without_a_judge_is_refused_before_the_model_is_asked(moved: Any, endpoint: Any) -> None:
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py", **moved.judge, "base_url": None}
    ran = moved.run([row(0)], evaluator, files={"evaluate.py": GET_RESULT})
    assert ran.returncode == 2
    assert "its own scoring code asks a judge, and none is configured" in ran.stderr
    assert endpoint.calls == []


def test_a_dead_judge_of_own_code_is_told_before_the_model_is_asked(
    moved: Any, endpoint: Any, judge_endpoint: Any
) -> None:
    judge_endpoint.script = lambda call: judge_endpoint.fails(401)
    evaluator = {"type": "BaseEvaluator", "eval_func": "evaluate.py", **moved.judge}
    ran = moved.run([row(0)], evaluator, files={"evaluate.py": GET_RESULT})
    assert ran.returncode == 2
    assert "HTTP 401" in ran.stderr
    assert endpoint.calls == []


def test_extract_evaluator_extracts_and_compares(moved: Any, endpoint: Any, judge_endpoint: Any) -> None:
    replies = {
        1: "extracted_answer: Paris\njudgement: 1",
        2: "**Extracted answer:** Rome\n**Judgement:** 0",
        3: "The two are consistent.",
    }

    def judge(call: Any) -> str:
        found = next((n for n in replies if f"Question {n}:" in call.text), None)
        return replies[found] if found is not None else "extracted_answer: Paris\njudgement: 1"

    judge_endpoint.script = judge
    endpoint.script = lambda call: ["paris", "It is Paris", "It is Rome", "Paris, I think"][call.asked]
    ran = moved.run([row(n) for n in range(4)], {"type": "ExtractEvaluator", **moved.judge})
    assert ran.returncode == 3
    result = moved.files.result
    # 0 is the truth to the letter; FlagEvalMM would count 3, whose judge says nothing readable, as wrong
    assert (result["accuracy"], result["accuracy_judged"], result["range"]) == (50.0, 66.67, [50.0, 75.0])
    assert [each["outcome"] for each in moved.files.evaluated] == [
        "correct",
        "correct",
        "wrong",
        "judge_unparsed",
    ]
    assert [each["answer"] for each in moved.files.evaluated[1:3]] == ["Paris", "Rome"]
    assert result["obtained_by"]["judge"]["family"] == "extract_compare"


def test_extract_evaluator_grades_as_simpleqa(moved: Any, endpoint: Any, judge_endpoint: Any) -> None:
    replies = {1: "A", 2: "B: INCORRECT", 3: "NOT_ATTEMPTED"}
    judge_endpoint.script = lambda call: next(
        (said for n, said in replies.items() if f"Question {n}:" in call.text), "A"
    )
    endpoint.script = lambda call: f"Town {call.asked}"
    evaluator = {"type": "ExtractEvaluator", "eval_method": "simpleqa", **moved.judge}
    ran = moved.run([row(n) for n in range(1, 4)], evaluator)
    assert ran.returncode == 0, ran.output
    result = moved.files.result
    assert (result["accuracy"], result["is_not_attempted"], result["f1"]) == (33.33, 33.33, 40.0)


def test_an_unknown_method_is_refused(moved: Any, endpoint: Any) -> None:
    ran = moved.run([row(0)], {"type": "ExtractEvaluator", "eval_method": "simple_qa", **moved.judge})
    assert ran.returncode == 2
    assert "Did you mean 'simpleqa'?" in ran.stderr
    assert endpoint.calls == []


def test_open_evaluator_takes_rule_or_judge_by_answer_type(
    moved: Any, endpoint: Any, judge_endpoint: Any
) -> None:
    rows = [
        row(0, answer=12, answer_type="integer", kind="a"),
        row(1, answer=["true", "false"], answer_type="true_false", kind="a"),
        row(2, answer="no", answer_type="text match", kind="b"),
        row(3, answer="a red barn", answer_type="open_ended", kind="b"),
        row(4, answer="a red barn", answer_type="open_ended", kind="b"),
    ]
    endpoint.script = lambda call: [
        "So 12 of them.",
        "Answer: True, False",
        "There is a notice.",
        "a barn painted red",
        "a blue barn",
    ][call.asked]
    judge_endpoint.script = lambda call: (
        "Reasoning: another colour\nJudgement: 0" if "blue" in call.text else "Reasoning: same\nJudgement: 1"
    )
    evaluator = {"type": "OpenEvaluator", "tracker_type": "answer_type", "tracker_subtype": "kind"}
    ran = moved.run(rows, {**evaluator, **moved.judge})
    assert ran.returncode == 0, ran.output
    result = moved.files.result
    assert (result["accuracy"], result["final_score"]) == (60.0, [3.0, 5])
    assert [each["outcome"] for each in moved.files.evaluated] == [
        "correct",
        "correct",
        "wrong",
        "correct",
        "wrong",
    ]
    assert result["detailed"]["answer_type"]["open_ended"]["accuracy"] == 50.0
    assert result["detailed"]["kind"]["a"]["accuracy"] == 100.0
    assert len(judge_endpoint.calls) == 1 + 2


def test_open_evaluator_without_open_questions_needs_no_judge(moved: Any, endpoint: Any) -> None:
    endpoint.script = lambda call: "12"
    rows = [row(0, answer=12, answer_type="integer")]
    ran = moved.run(rows, {"type": "OpenEvaluator", "tracker_type": "answer_type"})
    assert (ran.returncode, moved.files.result["accuracy"]) == (0, 100.0), ran.output


def test_open_evaluator_refuses_rows_that_it_cannot_score(moved: Any, endpoint: Any) -> None:
    rows = [
        row(0, answer_type="essay"),
        row(1, answer="twelve", answer_type="integer"),
        row(2, answer="maybe", answer_type="true_false"),
        row(3, answer=[], answer_type="text match"),
        row(4, answer="x", answer_type="text match"),
    ]
    ran = moved.run(rows, {"type": "OpenEvaluator", "tracker_type": "answer_type"})
    assert ran.returncode != 0
    for place in (
        "row 1 (question_id 0): answer_type 'essay'",
        "row 2 (question_id 1): answer 'twelve' is no truth of 'integer'",
        "row 3 (question_id 2): answer 'maybe' is no truth of 'true_false'",
        "row 4 (question_id 3): answer [] is no truth of 'text match'",
    ):
        assert place in ran.stderr
    assert endpoint.calls == []
