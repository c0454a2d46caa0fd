"""Errors of counts beside exact match."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.evaluator import CountEvaluator, Verdict
from flagharness.run import Prediction


def _evaluate(truths: list[Any], replies: list[list[str | None]]) -> dict[str, Any]:
    evaluator = CountEvaluator()
    rows: dict[str, dict[str, Any]] = {}
    verdicts: list[Verdict] = []
    for number, (truth, each) in enumerate(zip(truths, replies, strict=True)):
        row = {"question_id": str(number), "question_type": "count", "answer": truth}
        rows[str(number)] = row
        predictions = [
            Prediction(str(number), status="error", error={"type": "timeout"}) if text is None
            else Prediction(str(number), answer=text)
            for text in each
        ]  # fmt: skip
        verdict = evaluator.verdict_on(row, predictions)
        for kept in (verdict, *verdict.inferences):
            kept.forget_texts()
        verdicts.append(verdict)
    return evaluator.aggregate(verdicts, rows)


def test_errors_of_counts_worked_out_by_hand() -> None:
    # errors 0, 1, 4 (unread) and 6 (failed): mae 11/4, rmse sqrt(53/4)
    result = _evaluate([5, 20, 4, 6], [["5"], ["21"], ["many"], [None]])
    assert (result["accuracy"], result["n"]) == (25.0, 4)
    assert (result["mae"], result["rmse"], result["within_5_percent"]) == (2.75, 3.6401, 50.0)


def test_several_inferences_give_the_mean_of_their_errors() -> None:
    # first inference: errors 0 and 2; second: errors 4 and 0
    result = _evaluate([5, 4], [["5", "9"], ["2", "4"]])
    assert result["accuracy"] == 50.0
    assert (result["mae"], result["within_5_percent"]) == (1.5, 50.0)
    assert result["rmse"] == pytest.approx((2**0.5 + 8**0.5) / 2, abs=1e-4)


def test_a_count_that_is_not_there_is_not_within_5_percent_of_0() -> None:
    # all four errors are 0, but one count alone was given
    result = _evaluate([0, 0, 0, 0], [["0"], ["none"], [""], [None]])
    assert (result["mae"], result["rmse"]) == (0.0, 0.0)
    assert result["accuracy"] == result["within_5_percent"] == 25.0


@pytest.mark.parametrize(
    ("truth", "reply", "near"),
    [
        (20, "21", True), (20, "19", True), (20, "22", False), (19, "20", False), (400, "380", True),
        (400, "379", False), (1, "1", True), (0, "1", False), (60, "63", True),
    ],
)  # fmt: skip
def test_the_edge_of_5_percent_is_inside(truth: int, reply: str, near: bool) -> None:
    assert _evaluate([truth], [[reply]])["within_5_percent"] == (100.0 if near else 0.0)


@pytest.mark.parametrize("truth", [7, "7", " 7 ", "7.0", 7.0])
def test_the_truth_of_a_row_without_an_answer_may_be_text(truth: Any) -> None:
    assert _evaluate([truth, truth], [["7"], [None]])["mae"] == 3.5


def test_no_samples_have_no_errors() -> None:
    assert "mae" not in CountEvaluator().aggregate([], {})


REPLIES = st.one_of(st.integers(0, 50).map(str), st.sampled_from(["", "many", None]))


@given(st.lists(st.tuples(st.integers(0, 50), REPLIES), min_size=1, max_size=12))
def test_exact_counts_are_within_5_percent_and_have_no_error(pairs: list[tuple[int, str | None]]) -> None:
    truths, replies = [truth for truth, _ in pairs], [[reply] for _, reply in pairs]
    result = _evaluate(truths, replies)
    assert result["accuracy"] <= result["within_5_percent"] + 0.01
    assert result["mae"] <= result["rmse"] + 1e-3
    assert _evaluate(truths, [[str(truth)] for truth in truths])["mae"] == 0
