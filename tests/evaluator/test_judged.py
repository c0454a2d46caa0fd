"""Answers that only a judge can score: open verdicts, no score, a diagnostic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.errors import ConfigError
from flagharness.evaluator import NOT_JUDGED, JudgedEvaluator, Verdict, count_outcomes
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction

EVALUATOR = JudgedEvaluator(judge="freak")
FAILED = Prediction("1", status="error", error={"type": "timeout"})


def _row(number: int = 1, answer: Any = "five", **other: Any) -> dict[str, Any]:
    return {"question_id": number, "question_type": "open", "answer": answer, **other}


def _verdict(reply: str | Prediction | None, answer: Any = "five") -> Verdict:
    prediction = Prediction("1", answer=reply) if isinstance(reply, str) else reply
    return EVALUATOR.verdict_on(_row(answer=answer), [prediction])


def _metrics(*replies: str | Prediction | list[str | None] | None) -> dict[str, Any]:
    """Metrics of one row a reply, all with the truth "five"; a list is several inferences of one row."""
    annotations = {str(number): _row(number) for number in range(len(replies))}
    verdicts = []
    for (key, row), reply in zip(annotations.items(), replies, strict=True):
        several = reply if isinstance(reply, list) else [reply]
        predictions = [Prediction(key, answer=each) if isinstance(each, str) else each for each in several]
        verdicts.append(EVALUATOR.verdict_on(row, predictions))
    return {**EVALUATOR.aggregate(verdicts, annotations), "counts": count_outcomes(verdicts)}


# --- one answer -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reply", ["five", "Five legs.", "four", "I cannot tell.", "The answer is five."])
def test_an_answer_is_neither_right_nor_wrong_without_a_judge(reply: str) -> None:
    verdict = _verdict(reply)
    assert (verdict.outcome, verdict.correct, verdict.answer) == (NOT_JUDGED, False, reply)
    assert (verdict.label, verdict.question_type, verdict.raw_answer) == ("five", "open", reply)


@pytest.mark.parametrize("reply", ["", " \n\t"])
def test_nothing_to_judge_is_no_response(reply: str) -> None:
    verdict = _verdict(reply)
    assert (verdict.outcome, verdict.correct, verdict.answer) == ("no_response", False, None)


def test_white_space_around_an_answer_does_not_belong_to_it() -> None:
    verdict = _verdict("  five\n")
    assert (verdict.answer, verdict.raw_answer) == ("five", "  five\n")


@pytest.mark.parametrize(("prediction", "outcome"), [(None, "missing"), (FAILED, "request_error")])
def test_a_row_without_an_answer_waits_for_no_judge(prediction: Prediction | None, outcome: str) -> None:
    assert _verdict(prediction).outcome == outcome


def test_a_reply_cut_inside_its_reasoning_is_no_answer() -> None:
    cut = Prediction("1", answer="", reason="It might be", finish_reason="length")
    assert (_verdict(cut).outcome, _verdict(cut).truncated) == ("unfinished_reasoning", True)


@pytest.mark.parametrize(
    ("reply", "answer", "matches"),
    [
        ("Five.", "five", True),
        ("5", 5, True),
        ("dog", ["cat", "dog"], True),
        ("four", "five", False),
        ("", "five", False),
    ],
)
def test_the_diagnostic_stands_beside_the_open_verdict(reply: str, answer: Any, matches: bool) -> None:
    assert _verdict(reply, answer).to_json()["exact_match"] is matches


# --- metrics ----------------------------------------------------------------------------------------------------


def test_without_a_judge_there_is_no_score_but_a_diagnostic() -> None:
    result = _metrics("five", "four", "Five", "no idea")
    for key in ("accuracy", "ci95", "accuracy_answered", "accuracy_finished"):
        assert result[key] is None
    assert (result["exact_match"], result["n"], result["range"]) == (50.0, 4, [0.0, 100.0])
    assert result["note"] == (
        "no score: it takes a judge (freak), and none is configured; 4 of 4 samples are not judged. "
        "exact_match is a diagnostic, not the metric"
    )
    assert result["counts"]["judge_failures"] == 4
    assert result["counts"]["parse_failures"] == 0


def test_rows_without_an_answer_are_in_the_denominator_and_are_no_judge_failure() -> None:
    result = _metrics("five", None, "", FAILED)
    assert (result["accuracy"], result["exact_match"]) == (None, 25.0)
    # one answer to judge, and two rows that a second try may answer; the empty reply is a wrong answer
    assert result["range"] == [0.0, 75.0]
    counts = {name: count for name, count in result["counts"].items() if count}
    assert counts == {
        "total": 4,
        "answered": 2,
        "missing": 1,
        "request_errors": 1,
        "parse_failures": 1,
        "judge_failures": 1,
    }
    assert "1 of 4 samples are not judged" in result["note"]


def test_where_nothing_waits_for_a_judge_all_are_wrong() -> None:
    result = _metrics("", None)
    assert (result["accuracy"], result["range"], "exact_match" in result) == (0.0, [0.0, 50.0], False)


def test_several_answers_a_row_share_the_diagnostic() -> None:
    result = _metrics(["five", "four"], ["five", "five"], ["", None])
    assert (result["accuracy"], result["exact_match"]) == (None, 50.0)  # (1/2 + 1 + 0) / 3
    assert result["range"] == [0.0, 83.33]  # of the last row's two answers the empty one is wrong for good
    assert result["counts"]["judge_failures"] == 2


@given(st.lists(st.sampled_from(["five", "four", "", None]), min_size=1, max_size=12))
def test_no_number_is_given_for_a_score_while_one_answer_is_open(replies: list[str | None]) -> None:
    result = _metrics(*replies)
    is_open = any(replies)
    assert (result["accuracy"] is None) is is_open
    assert result["counts"]["judge_failures"] == sum(bool(reply) for reply in replies)
    if is_open:
        assert result["exact_match"] == pytest.approx(100 * replies.count("five") / len(replies), abs=0.01)
        assert result["range"][1] == pytest.approx(
            100 * (len(replies) - replies.count("")) / len(replies), abs=0.01
        )


# --- before anything is asked -------------------------------------------------------------------------------------


def test_rows_without_a_truth_are_told_and_no_question_type_is_refused() -> None:
    rows: list[Mapping[str, Any]] = [
        _row(1),
        _row(2, None),
        _row(3, ""),
        _row(4, []),
        {"question_id": 5},
        _row(6, question_type="of its own"),
    ]
    problems = EVALUATOR.problems(rows)
    assert [problem.split(":")[0] for problem in problems] == [
        "row 2 (question_id 2)",
        "row 3 (question_id 3)",
        "row 4 (question_id 4)",
        "row 5 (question_id 5)",
    ]
    assert problems[0].endswith("no `answer` for the judge to compare with")


def test_it_says_that_it_takes_a_judge_and_which() -> None:
    assert JudgedEvaluator.needs_judge
    assert EVALUATOR.judge == "freak"
    assert EVALUATORS.find("JudgedEvaluator", {}, "evaluator.type") is JudgedEvaluator


def test_the_judge_must_be_named(make_task: Any) -> None:
    from flagharness.task import Task

    with pytest.raises(ConfigError, match="judge"):
        Task(make_task(1, evaluator={"type": "JudgedEvaluator"}).config)


def test_a_truth_may_be_a_list() -> None:
    assert EVALUATOR.problems([_row(1, ["cat", "kitten"])]) == []
