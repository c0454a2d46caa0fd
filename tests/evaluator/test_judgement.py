"""What a result says of its judges: every row in the denominator, gaps named, agreement of several judges."""

from __future__ import annotations

from typing import Any

from flagharness.evaluator import JudgedEvaluator, Verdict, judge_block
from flagharness.judge import GRADES, Opinion, Ruling, ruling_of
from flagharness.run import Prediction


def verdicts(rulings: list[Ruling | None], family: str = "judge_vdr") -> tuple[list[Verdict], dict[str, Any]]:
    evaluator = JudgedEvaluator(judge=family)
    rows = {str(n): {"question_id": n, "question": "?", "answer": "x"} for n in range(len(rulings))}
    found = []
    for (key, row), ruling in zip(rows.items(), rulings, strict=True):
        failed = {"status": "error", "error": {"type": "http_error"}} if ruling is None else {}
        prediction = Prediction(key, answer="" if ruling is None else "y", **failed)
        found.append(evaluator.verdict_on(row, [prediction], [ruling]))
    return found, {**evaluator.aggregate(found, rows), **judge_block(found, 0.0)}


def said(status: str, **fields: Any) -> Ruling:
    return Ruling(status, status if status in GRADES else None, fields, [Opinion("j", status, fields)])


def test_ten_rows_of_which_two_have_no_verdict() -> None:
    rulings: list[Ruling | None] = [
        *[said("correct")] * 6,
        *[said("incorrect")] * 2,
        said("judge_failed"),
        said("judge_unparsed"),
    ]
    _, result = verdicts(rulings)
    assert (result["accuracy"], result["accuracy_judged"], result["range"]) == (60.0, 75.0, [60.0, 80.0])
    assert (result["judged"], result["complete"]) == (8, False)
    assert result["waiting_for_a_verdict"] == ["8", "9"]
    assert {k: v for k, v in result["judge_statuses"].items() if v} == {
        "correct": 6,
        "incorrect": 2,
        "judge_unparsed": 1,
        "judge_failed": 1,
    }


def test_a_share_of_gaps_may_be_allowed() -> None:
    found, _ = verdicts([said("correct")] * 9 + [said("judge_failed")])
    assert [judge_block(found, rate)["complete"] for rate in (0.0, 0.05, 0.1)] == [False, False, True]


def test_what_the_model_did_not_answer_is_no_gap_of_the_judge() -> None:
    _, result = verdicts([said("correct"), None])
    assert (result["accuracy"], result["accuracy_judged"], result["complete"]) == (50.0, 100.0, True)
    assert result["judge_statuses"]["model_failed"] == 1


def test_a_decision_without_a_call_counts_as_judged() -> None:
    _, result = verdicts([Ruling("skipped_rule", "correct"), said("incorrect")])
    assert (result["judged"], result["accuracy_judged"]) == (2, 50.0)
    assert result["judge_statuses"]["skipped_rule"] == 1


def test_grades_of_simplevqa_become_its_numbers() -> None:
    _, result = verdicts(
        [said("correct"), said("correct"), said("incorrect"), said("not_attempted"), said("judge_failed")],
        "simplevqa",
    )
    assert result["is_correct"] == result["accuracy"] == 40.0
    assert (result["is_incorrect"], result["is_not_attempted"]) == (20.0, 20.0)
    assert (result["is_given_attempted"], result["accuracy_given_attempted"]) == (60.0, 66.67)
    assert result["f1"] == 50.0  # 4 / (2 + 1 + 5)


def test_confidence_gives_a_calibration_error_only_where_it_differs() -> None:
    _, same = verdicts([said("correct", confidence=100.0), said("incorrect", confidence=100.0)], "hle")
    assert same["calibration_error"] is None
    assert "not meaningful" in same["calibration_note"]
    _, other = verdicts([said("correct", confidence=100.0), said("incorrect", confidence=50.0)], "hle")
    assert (other["calibration_error"], other["calibration_n"]) == (25.0, 2)


def test_a_strict_answer_meets_every_item_of_its_checklist() -> None:
    _, result = verdicts(
        [
            said("correct", checklist_met=2, checklist_items=2),
            said("correct", checklist_met=1, checklist_items=2),
            said("incorrect", checklist_met=2, checklist_items=2),
            said("correct", checklist_met=None, checklist_items=2),
        ],
        "mmbrowsecomp",
    )
    assert (result["accuracy"], result["strict_accuracy"], result["checklist_score"]) == (75.0, 25.0, 62.5)
    assert result["checklists_unread"] == 1


def test_two_judges_are_compared_where_both_said_something() -> None:
    def both(one: str, two: str) -> Ruling:
        return ruling_of([Opinion("a", one), Opinion("b", two)], 1)

    _, result = verdicts(
        [
            both("correct", "correct"),
            both("incorrect", "incorrect"),
            both("correct", "incorrect"),
            both("correct", "judge_failed"),
        ]
    )
    # of three pairs two agree; by chance (2*1 + 1*2) / 9 = 4/9; kappa = (6/9 - 4/9) / (5/9) = 0.4
    assert result["judge_agreement"] == {
        "pairs": [{"judges": ["a", "b"], "n": 3, "agreement": 66.67, "cohen_kappa": 0.4}],
        "disagreements": 1,
        "disagree_on": ["2"],
    }
    assert result["accuracy"] == 75.0  # the first breaks the tie
