"""From verdicts to numbers: the full denominator, every failure counted, what the score could be."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.evaluator import (
    NO_ANSWER,
    OUTCOMES,
    PARSE_FAILURES,
    UNDECIDED,
    Verdict,
    combine,
    count_outcomes,
    headline_block,
)
from flagharness.evaluator._tally import breakdown


def _of(outcome: str, question_id: str = "1", **fields: Any) -> Verdict:
    return Verdict(question_id, outcome, correct=fields.pop("correct", outcome == "correct"), **fields)


def test_samples_without_an_answer_are_in_the_denominator_as_wrong() -> None:
    verdicts = [_of("correct")] * 5 + [_of("request_error")] * 5
    block = headline_block(verdicts)
    assert (block["accuracy"], block["n"]) == (50.0, 10)
    assert block["accuracy_answered"] == 100.0
    assert block["range"] == [50.0, 100.0]


@pytest.mark.parametrize(
    ("outcomes", "accuracy", "answered", "bounds"),
    [
        (["correct", "wrong"], 50.0, 50.0, [50.0, 50.0]),
        (["correct", "unparsed"], 50.0, 50.0, [50.0, 50.0]),
        (["correct", "missing"], 50.0, 100.0, [50.0, 100.0]),
        (["wrong", "data_error", "missing", "request_error"], 0.0, 0.0, [0.0, 75.0]),
        (["missing"], 0.0, None, [0.0, 100.0]),
        (["correct"] * 2 + ["wrong"], 66.67, 66.67, [66.67, 66.67]),
    ],
)
def test_the_headline_and_what_stands_beside_it(
    outcomes: list[str], accuracy: float, answered: float | None, bounds: list[float]
) -> None:
    block = headline_block([_of(outcome) for outcome in outcomes])
    assert (block["accuracy"], block["accuracy_answered"], block["range"]) == (accuracy, answered, bounds)


def test_the_interval_is_named_and_in_percent() -> None:
    block = headline_block([_of("correct")] * 8 + [_of("wrong")] * 2)
    assert block["ci95"] == [49.02, 94.33]
    assert block["ci95_method"] == "Wilson score interval, 95 %"


def test_no_samples_at_all_have_no_score_rather_than_zero() -> None:
    assert headline_block([]) == {
        "accuracy": None,
        "n": 0,
        "ci95": None,
        "ci95_method": "Wilson score interval, 95 %",
        "accuracy_answered": None,
        "accuracy_finished": None,
        "range": None,
    }


def test_accuracy_on_finished_replies_leaves_out_the_truncated_ones() -> None:
    verdicts = [_of("correct"), _of("wrong"), _of("no_response", truncated=True), _of("missing")]
    block = headline_block(verdicts)
    assert (block["accuracy"], block["accuracy_answered"], block["accuracy_finished"]) == (25.0, 33.33, 50.0)


def test_graded_scores_are_averaged() -> None:
    block = headline_block([_of("graded", correct=0.25), _of("correct"), _of("wrong")])
    assert block["accuracy"] == 41.67


def test_the_range_counts_only_the_inferences_that_failed() -> None:
    half_right = combine([_of("correct"), _of("request_error")])
    half_wrong = combine([_of("wrong"), _of("request_error")])
    assert headline_block([half_right])["range"] == [50.0, 100.0]
    assert headline_block([half_wrong])["range"] == [0.0, 50.0]
    assert headline_block([half_right, half_wrong])["range"] == [25.0, 75.0]


def test_every_outcome_is_counted_in_its_place() -> None:
    counts = count_outcomes([_of(outcome) for outcome in OUTCOMES])
    assert counts == {
        "total": 16,
        "answered": 13,
        "request_errors": 1,
        "missing": 1,
        "data_errors": 1,
        "parse_failures": 5,
        "truncated": 0,
        "refused": 0,
        "judge_failures": 3,
    }


def test_truncated_and_refused_are_counted_beside_the_outcome() -> None:
    counts = count_outcomes([_of("correct", truncated=True), _of("wrong", truncated=True, refused=True)])
    assert (counts["truncated"], counts["refused"], counts["answered"]) == (2, 1, 2)


def test_no_verdicts_count_nothing() -> None:
    assert set(count_outcomes([]).values()) == {0}


def test_a_sample_of_several_inferences_counts_once_for_each_kind_of_trouble() -> None:
    verdict = combine([_of("request_error"), _of("request_error"), _of("unparsed"), _of("correct")])
    counts = count_outcomes([verdict])
    assert (counts["total"], counts["answered"]) == (1, 0)
    assert (counts["request_errors"], counts["parse_failures"], counts["missing"]) == (1, 1, 0)


_VERDICTS = st.lists(st.sampled_from(OUTCOMES).map(_of), min_size=1, max_size=30)


@given(_VERDICTS)
def test_answered_and_failed_samples_make_up_the_total(verdicts: list[Verdict]) -> None:
    counts = count_outcomes(verdicts)
    failed = counts["request_errors"] + counts["missing"] + counts["data_errors"]
    assert counts["answered"] + failed == counts["total"] == len(verdicts)
    assert counts["parse_failures"] <= counts["answered"]


@given(_VERDICTS)
def test_the_score_lies_in_its_range_and_the_range_in_percent(verdicts: list[Verdict]) -> None:
    block = headline_block(verdicts)
    low, high = block["range"]
    assert 0 <= low == block["accuracy"] <= high <= 100
    assert block["ci95"][0] <= block["accuracy"] <= block["ci95"][1]
    if not any(verdict.outcome in NO_ANSWER | UNDECIDED for verdict in verdicts):
        assert low == high == block["accuracy_answered"]


@given(_VERDICTS)
def test_the_order_of_the_samples_does_not_matter(verdicts: list[Verdict]) -> None:
    assert headline_block(verdicts) == headline_block(verdicts[::-1])


# --- by category ----------------------------------------------------------------------------------------------


def _table(rows: dict[str, dict[str, Any]], keys: list[str]) -> dict[str, dict[str, Any]]:
    verdicts = [_of("correct" if row["right"] else "wrong", question_id) for question_id, row in rows.items()]
    return {
        key: {name: (block["accuracy"], block["n"]) for name, block in blocks.items()}
        for key, blocks in breakdown(verdicts, rows, keys).items()
    }


def test_each_key_has_a_table_of_its_own() -> None:
    rows = {
        "1": {"right": True, "kind": "x", "level": "easy"},
        "2": {"right": False, "kind": "y", "level": "easy"},
        "3": {"right": False, "kind": "x", "level": "x"},
    }
    assert _table(rows, ["kind", "level"]) == {
        "kind": {"x": (50.0, 2), "y": (0.0, 1)},
        "level": {"easy": (50.0, 2), "x": (0.0, 1)},
    }


def test_categories_named_like_metrics_harm_nobody() -> None:
    rows = {"1": {"right": True, "kind": "accuracy"}, "2": {"right": False, "kind": "n"}}
    assert _table(rows, ["kind"]) == {"kind": {"accuracy": (100.0, 1), "n": (0.0, 1)}}


def test_a_list_counts_its_sample_under_each_element() -> None:
    rows = {
        "1": {"right": True, "tags": ["a", "b"]},
        "2": {"right": False, "tags": ["b"]},
        "3": {"right": True, "tags": []},
    }
    assert _table(rows, ["tags"]) == {"tags": {"a": (100.0, 1), "b": (50.0, 2)}}


def test_a_row_without_the_key_is_shown_as_such() -> None:
    rows = {"1": {"right": True}, "2": {"right": False, "kind": None}, "3": {"right": True, "kind": 3}}
    assert _table(rows, ["kind"]) == {"kind": {"(none)": (50.0, 2), "3": (100.0, 1)}}


def test_no_number_of_a_breakdown_is_nan() -> None:
    rows = {str(n): {"right": n % 2 == 0, "kind": "abc"[n % 3]} for n in range(7)}
    for accuracy, n in _table(rows, ["kind"])["kind"].values():
        assert n > 0
        assert not math.isnan(accuracy)


def test_the_failures_of_parsing_and_of_asking_are_different_things() -> None:
    assert NO_ANSWER.isdisjoint(PARSE_FAILURES)
    assert set(OUTCOMES) > NO_ANSWER | PARSE_FAILURES
