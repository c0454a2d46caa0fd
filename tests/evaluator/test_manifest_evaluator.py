"""ManifestEvaluator: any of the answers, equal to the reply or contained in it, and nothing folded beyond that."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.errors import ConfigError
from flagharness.evaluator import ManifestEvaluator
from flagharness.run import Prediction

BOTH = ManifestEvaluator(["exact-match", "rule-match"], "contains")
EQUALS = ManifestEvaluator(["rule-match"], "equals")
EXACT = ManifestEvaluator(["exact-match"])


def outcome(evaluator: ManifestEvaluator, reply: str, answer: Any) -> tuple[str, str | None]:
    verdict = evaluator.verdict_on({"question_id": "1", "answer": answer}, [Prediction("1", answer=reply)])
    assert verdict.correct == (verdict.outcome == "correct")
    return verdict.outcome, (verdict.extraction or {})["rule"]


@pytest.mark.parametrize(
    ("reply", "answer", "both", "equals"),
    [
        ("CENTRE", ["centre"], "exact-match", "rule-match: equals"),
        (" Centre\n", "centre", "exact-match", "rule-match: equals"),
        ("It says Centre.", ["centre"], "rule-match: contains", None),
        ("blue", ["red", "Blue\n"], "exact-match", "rule-match: equals"),
        ("New\nYork", ["new york"], "exact-match", "rule-match: equals"),
        ("new york", ["New\nYork"], "exact-match", "rule-match: equals"),
        ("7", 7, "exact-match", "rule-match: equals"),
        ("17", [7], "rule-match: contains", None),
        ("newyork", ["new york"], None, None),
        ("new  york", ["new york"], None, None),
        ("centre", ["centre."], None, None),
        ("Ａ", ["A"], None, None),
        ("cent", ["centre"], None, None),
    ],
)
def test_replies_and_answers(reply: str, answer: Any, both: str | None, equals: str | None) -> None:
    assert outcome(BOTH, reply, answer) == ("correct" if both else "wrong", both)
    assert outcome(EQUALS, reply, answer) == ("correct" if equals else "wrong", equals)
    assert outcome(EXACT, reply, answer)[0] == ("correct" if equals else "wrong")


@pytest.mark.parametrize("reply", ["", " ", "\n\t"])
def test_an_empty_reply_is_no_answer(reply: str) -> None:
    for evaluator in (BOTH, EQUALS, EXACT):
        assert outcome(evaluator, reply, ["a"]) == ("no_response", None)


def test_the_verdict_keeps_reply_and_answers() -> None:
    row = {"question_id": "1", "answer": ["a", "b"]}
    verdict = BOTH.verdict_on(row, [Prediction("1", answer=" b! ")])
    assert (verdict.answer, verdict.raw_answer, verdict.label) == ("b!", " b! ", ["a", "b"])
    assert verdict.question_type == "short-answer"


def test_failed_requests_are_wrong_and_inferences_are_averaged() -> None:
    rows = {name: {"question_id": name, "answer": ["a"], "kind": name} for name in ("1", "2")}
    evaluator = ManifestEvaluator(["exact-match"], detailed_keys=["kind"])
    verdicts = [
        evaluator.verdict_on(rows["1"], [Prediction("1", answer="a"), Prediction("1", answer="b")]),
        evaluator.verdict_on(rows["2"], [None, None]),
    ]
    result = evaluator.aggregate(verdicts, rows)
    assert (result["accuracy"], result["n"]) == (25.0, 2)
    assert result["detailed"]["kind"]["1"]["accuracy"] == 50.0


def test_rows_whose_answer_would_match_everything_or_nothing_are_refused() -> None:
    rows = [
        {"question_id": n, "answer": answer}
        for n, answer in enumerate(["a", ["a", " \n"], [], None, [["a"]], {"a": 1}, 7])
    ]
    assert [problem.split(":")[0] for problem in BOTH.problems(rows)] == [
        f"row {n + 1} (question_id {n})" for n in (1, 2, 3, 4, 5)
    ]
    assert BOTH.problems([{"question_id": 1}, {"question_id": 2, "answer": None}]) == []  # hidden answers


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"score_pipeline": ["exactmatch"]}, "Did you mean 'exact-match'"),
        ({"score_pipeline": []}, "score_pipeline is empty"),
        ({"score_pipeline": ["rule-match"]}, "string_match: got None; it takes contains, equals"),
        ({"score_pipeline": "rule-match", "string_match": "contain"}, "Did you mean 'contains'"),
    ],
)
def test_options_that_cannot_be_used_are_told(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ManifestEvaluator(**options)
    assert said in str(caught.value)


@given(st.text(), st.text(min_size=1).filter(str.strip), st.text())
def test_an_answer_inside_a_reply_is_found_and_what_equals_also_contains(
    before: str, answer: str, after: str
) -> None:
    # Lower-casing depends on the neighbours of a few letters, such as the Greek final sigma.
    before, answer, after = before.casefold(), answer.casefold().strip(), after.casefold()
    if answer.lower() != answer or (before + answer + after).lower() != before + answer + after:
        return
    assert outcome(BOTH, before + answer + after, [answer])[0] == "correct"
    if outcome(EQUALS, before + answer + after, [answer])[0] == "correct":
        assert outcome(EXACT, before + answer + after, [answer])[0] == "correct"
