"""Several inferences of one sample: the mean of their scores, and what happened to each."""

from __future__ import annotations

import pytest

from flagharness.evaluator import Verdict, combine


def _of(outcome: str, **fields: object) -> Verdict:
    return Verdict("1", outcome, **{"correct": outcome == "correct", **fields})  # type: ignore[arg-type]


def test_one_inference_is_its_own_verdict() -> None:
    verdict = _of("correct")
    assert combine([verdict]) is verdict


def test_four_right_of_ten_is_point_four() -> None:
    verdict = combine([_of("correct")] * 4 + [_of("wrong")] * 6)
    assert verdict.correct == pytest.approx(0.4)
    assert verdict.outcome == "graded"
    record = verdict.to_json()
    assert record["inference_scores"] == [1.0] * 4 + [0.0] * 6
    assert record["num_inferences"] == 10
    assert record["outcomes"] == ["correct"] * 4 + ["wrong"] * 6


@pytest.mark.parametrize(
    ("outcomes", "outcome", "score"),
    [
        (["correct", "correct"], "correct", 1.0),
        (["wrong", "wrong"], "wrong", 0.0),
        (["correct", "wrong"], "graded", 0.5),
        (["correct", "unparsed"], "graded", 0.5),
        (["wrong", "unparsed"], "unparsed", 0.0),
        (["correct", "request_error"], "request_error", 0.5),
        (["unparsed", "missing"], "missing", 0.0),
        (["data_error", "data_error"], "data_error", 0.0),
    ],
)
def test_the_outcome_names_the_worst_trouble(outcomes: list[str], outcome: str, score: float) -> None:
    verdict = combine([_of(each) for each in outcomes])
    assert (verdict.outcome, verdict.correct) == (outcome, score)


def test_answers_and_texts_are_kept_by_inference() -> None:
    verdicts = [
        _of(
            "correct",
            answer="A",
            raw_answer="A.",
            extraction={"rule": "whole_reply"},
            label="A",
            question_type="x",
        ),
        _of("unparsed", raw_answer="?", truncated=True, refused=True, label="A", question_type="x"),
    ]
    verdict = combine(verdicts)
    assert verdict.answer == {"inference_0": "A", "inference_1": None}
    assert verdict.raw_answer == {"inference_0": "A.", "inference_1": "?"}
    assert verdict.extraction == {"inference_0": {"rule": "whole_reply"}, "inference_1": None}
    assert (verdict.label, verdict.question_type) == ("A", "x")
    assert (verdict.truncated, verdict.refused) == (True, True)
    assert verdict.inferences == verdicts


def test_what_a_custom_evaluator_adds_is_written_into_the_row() -> None:
    record = _of("correct", extra={"judge": "said so", "label": "own"}).to_json()
    assert (record["judge"], record["label"]) == ("said so", "own")
