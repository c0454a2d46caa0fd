"""The evaluator that most tasks use: verdicts per question type, and what it refuses to score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from flagharness.evaluator import PARSE_FAILURES, BaseEvaluator, Verdict
from flagharness.evaluator._rules import RULES
from flagharness.run import Prediction

_ABCD = ["a cat", "a dog", "a hen", "a cow"]
_SEVEN = [f"place {n}" for n in range(1, 8)]


def _verdict(
    row: Mapping[str, Any], answer: str, evaluator: BaseEvaluator | None = None, **fields: Any
) -> Verdict:
    annotation = {"question_id": "1", **row}
    prediction = Prediction("1", answer=answer, **fields)
    return (evaluator or BaseEvaluator()).verdict_on(annotation, [prediction])


@pytest.mark.parametrize(
    ("row", "reply", "answer", "outcome"),
    [
        # multiple-choice: letters of this row only
        ({"question_type": "multiple-choice", "options": _ABCD, "answer": "B"}, "B", "B", "correct"),
        (
            {"question_type": "multiple-choice", "options": _ABCD, "answer": "B"},
            "The answer is (B).",
            "B",
            "correct",
        ),
        (
            {"question_type": "multiple-choice", "options": _ABCD, "answer": "B"},
            "<answer>b</answer>",
            "B",
            "correct",
        ),
        (
            {"question_type": "multiple-choice", "options": _ABCD, "answer": "a dog"},
            "B. a dog",
            "B",
            "correct",
        ),
        ({"question_type": "multiple-choice", "options": _ABCD, "answer": "B"}, "A", "A", "wrong"),
        ({"question_type": "multiple-choice", "options": _ABCD, "answer": "B"}, "", None, "no_response"),
        (
            {"question_type": "multiple-choice", "options": _ABCD, "answer": "B"},
            "I cannot see it.",
            None,
            "unparsed",
        ),
        (
            {"question_type": "multiple-choice", "options": _ABCD[:3], "answer": "C"},
            "ANSWER: E",
            None,
            "invalid_choice",
        ),
        ({"question_type": "multiple-choice", "options": _SEVEN, "answer": "G"}, "G", "G", "correct"),
        (
            {"question_type": "multiple-choice", "question": "Q\nA. x\nB. y", "answer": "B"},
            "B",
            "B",
            "correct",
        ),
        (
            {"question_type": "multiple-choice", "question": "Q\nA. x\nB. y", "answer": "B"},
            "Answer: C",
            None,
            "invalid_choice",
        ),
        ({"options": _ABCD, "answer": "B"}, "B", "B", "correct"),
        # multiple-response: the whole set or nothing
        ({"question_type": "multiple-response", "options": _ABCD, "answer": "A,C"}, "A, C", "AC", "correct"),
        (
            {"question_type": "multiple-response", "options": _ABCD, "answer": "A,C"},
            "ANSWER: C and A",
            "AC",
            "correct",
        ),
        ({"question_type": "multiple-response", "options": _ABCD, "answer": "A,C"}, "A", "A", "wrong"),
        ({"question_type": "multiple-response", "options": _ABCD, "answer": "A,C"}, "ABC", "ABC", "wrong"),
        # yes-no: whole words
        (
            {"question_type": "yes-no", "answer": "yes"},
            "Yes, the stone carries a death notice.",
            "yes",
            "correct",
        ),
        ({"question_type": "yes-no", "answer": "no"}, "yes", "yes", "wrong"),
        ({"question_type": "yes-no", "answer": "no"}, "not sure", None, "unparsed"),
        ({"question_type": "yes-no", "answer": False}, "No.", "no", "correct"),
        # count: strict
        ({"question_type": "count", "answer": 1}, "1", 1, "correct"),
        (
            {"question_type": "count", "answer": "130000"},
            "$80,000 + $50,000 = $130,000 in total.",
            130000,
            "correct",
        ),
        ({"question_type": "count", "answer": 9}, "Nine", None, "unparsed"),
        ({"question_type": "count", "answer": 9}, "8", 8, "wrong"),
        ({"question_type": "count", "answer": 0}, "0", 0, "correct"),
        # number
        ({"question_type": "number", "answer": 0.5}, "The answer is 0.50 m", 0.5, "correct"),
        ({"question_type": "number", "answer": "1,000"}, "1000", 1000.0, "correct"),
        ({"question_type": "number", "answer": 0.3}, "0.30000000000000004", 0.30000000000000004, "correct"),
        ({"question_type": "number", "answer": 3}, "3.1", 3.1, "wrong"),
        ({"question_type": "number", "answer": 0}, "0", 0.0, "correct"),
        # short texts
        ({"question_type": "fill-in-the-blank", "answer": "2019"}, "2018", "2018", "wrong"),
        ({"question_type": "fill-blank", "answer": "increase"}, "decrease", "decrease", "wrong"),
        ({"question_type": "fill-blank", "answer": "left"}, "The answer is LEFT.", "LEFT", "correct"),
        ({"question_type": "cloze", "answer": ["cat", "kitten"]}, "Kitten", "Kitten", "correct"),
        ({"question_type": "short-answer", "answer": 12}, "12 cm", "12 cm", "correct"),
        ({"answer": "stop sign"}, "**stop sign**", "stop sign", "correct"),
        ({"answer": "stop sign"}, " ", None, "no_response"),
    ],
)
def test_a_reply_is_judged_by_the_type_of_its_question(
    row: dict[str, Any], reply: str, answer: Any, outcome: str
) -> None:
    verdict = _verdict(row, reply)
    assert (verdict.answer, verdict.outcome) == (answer, outcome)
    assert verdict.correct is (outcome == "correct")
    assert verdict.raw_answer == reply


def test_a_verdict_says_what_was_read_where_and_against_which_truth() -> None:
    row = {"question_type": "multiple-choice", "options": _ABCD, "answer": "a dog"}
    reply = "I think the answer is B."
    verdict = _verdict(row, reply)
    record = verdict.to_json()
    assert record["label"] == "B"
    assert record["question_type"] == "multiple-choice"
    start, end = record["extraction"]["span"]
    assert reply[start:end] == "B"
    assert set(record["extraction"]) == {"rule", "span"}


def test_an_unread_reply_says_why_and_no_letter_is_drawn() -> None:
    row = {"question_type": "multiple-choice", "options": _ABCD, "answer": "A"}
    verdicts = [_verdict(row, "Sorry, I cannot see the image.") for _ in range(20)]
    assert {(v.answer, v.correct, v.outcome) for v in verdicts} == {(None, False, "unparsed")}
    assert verdicts[0].extraction == {"rule": "unparsed", "span": None}


def test_the_answer_tag_can_be_changed() -> None:
    row = {"question_type": "multiple-choice", "options": _ABCD, "answer": "B"}
    reply = "<final>B</final> <answer>A</answer>"
    assert _verdict(row, reply).answer == "A"
    assert _verdict(row, reply, BaseEvaluator(answer_tag="final")).answer == "B"


def test_a_reply_cut_inside_its_reasoning_is_no_answer() -> None:
    row = {"question_type": "multiple-choice", "options": _ABCD, "answer": "B"}
    verdict = _verdict(row, "", finish_reason="length", reason="It might be B")
    assert (verdict.outcome, verdict.truncated, verdict.correct) == ("unfinished_reasoning", True, False)


def test_a_refusal_is_scored_and_marked() -> None:
    verdict = _verdict({"answer": "cat"}, "I cannot help with that.", refused=True)
    assert (verdict.outcome, verdict.refused) == ("wrong", True)


@pytest.mark.parametrize(
    ("prediction", "outcome"),
    [
        (None, "missing"),
        (Prediction("1", status="error", error={"type": "timeout"}), "request_error"),
        (Prediction("1", status="error", error=None), "request_error"),
        (Prediction("1", status="error", error={"type": "data_error"}), "data_error"),
    ],
)
def test_a_sample_without_an_answer_is_wrong_and_named(prediction: Prediction | None, outcome: str) -> None:
    row = {"question_id": 1, "answer": "cat"}
    verdict = BaseEvaluator().verdict_on(row, [prediction])
    assert (verdict.question_id, verdict.outcome, verdict.correct) == ("1", outcome, False)
    assert (verdict.label, verdict.answer, verdict.question_type) == ("cat", None, "short-answer")


def test_the_answer_text_of_a_failed_request_is_never_read() -> None:
    failed = Prediction("1", answer="cat", status="error", error={"type": "timeout"})
    assert BaseEvaluator().verdict_on({"question_id": 1, "answer": "cat"}, [failed]).correct is False


# --- what cannot be scored ------------------------------------------------------------------------------------


def test_all_rows_that_cannot_be_scored_are_told_at_once() -> None:
    rows = [
        {"question_id": 1, "question_type": "count", "answer": "many"},
        {"question_id": "b", "question_type": "count", "answer": 3},
        {"question_id": 3, "question_type": "cuont", "answer": 3},
        {"question_id": 4, "question_type": "bbox", "answer": [1, 2, 3, 4]},
        {"question_id": 5, "question_type": "count"},
        {"question_id": 6, "options": ["x"], "answer": "B"},
    ]
    problems = BaseEvaluator().problems(rows)
    assert [problem.split(":")[0] for problem in problems] == [
        "row 1 (question_id 1)",
        "row 3 (question_id 3)",
        "row 4 (question_id 4)",
        "row 5 (question_id 5)",
        "row 6 (question_id 6)",
    ]
    assert "'many' is not a whole number" in problems[0]
    assert (
        "cannot score question_type 'cuont'. Did you mean 'count'? It scores multiple-choice, " in problems[1]
    )
    assert "no `answer`, though other rows have one" in problems[3]


def test_rows_without_any_answer_are_hidden_answers_and_no_problem() -> None:
    rows = [{"question_id": 1}, {"question_id": 2, "answer": None, "question_type": "count"}]
    assert BaseEvaluator().problems(rows) == []


def test_a_type_that_nobody_can_score_is_a_problem_with_hidden_answers_too() -> None:
    assert len(BaseEvaluator().problems([{"question_id": 1, "question_type": "open"}])) == 1


def test_no_rows_have_no_problems() -> None:
    assert BaseEvaluator().problems([]) == []


def test_an_evaluator_with_scoring_of_its_own_decides_for_itself() -> None:
    rows = [{"question_id": 1, "question_type": "of its own", "answer": {"x": 1}}]

    class Scores(BaseEvaluator):
        def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
            return Verdict(prediction.question_id, "correct", correct=True)

    class All(BaseEvaluator):
        def cal_accuracy(
            self, annotations: Any, predictions: Any, *args: Any, **kwargs: Any
        ) -> dict[str, Any]:
            return {}

    by_function = BaseEvaluator(eval_func=lambda annotations, predictions: {})
    evaluators = [Scores(), All(), by_function, BaseEvaluator()]
    assert [evaluator.problems(rows) == [] for evaluator in evaluators] == [True, True, True, False]
    assert [evaluator.scores_all_at_once for evaluator in evaluators] == [False, True, True, False]


def test_unread_options_are_warned_of_with_the_nearest_known_name(caplog: pytest.LogCaptureFixture) -> None:
    BaseEvaluator(detailed_key=["a"], is_clean=True)
    assert caplog.messages == [
        "evaluator BaseEvaluator: nothing reads `detailed_key`. Did you mean 'detailed_keys'?",
        "evaluator BaseEvaluator: nothing reads `is_clean`.",
    ]


# --- from verdicts to metrics ---------------------------------------------------------------------------------

_ROWS: dict[str, tuple[dict[str, Any], str, str]] = {
    # question type: a row, a right and a wrong reply
    "multiple-choice": ({"options": _ABCD, "answer": "B"}, "B", "C"),
    "multiple-response": ({"options": _ABCD, "answer": "BC"}, "BC", "B"),
    "yes-no": ({"answer": "yes"}, "yes", "no"),
    "count": ({"answer": 5}, "5", "6"),
    "number": ({"answer": 0.5}, "0.5", "5"),
    "fill-in-the-blank": ({"answer": "cat"}, "cat", "dog"),
    "fill-blank": ({"answer": "cat"}, "cat", "dog"),
    "cloze": ({"answer": "cat"}, "cat", "dog"),
    "short-answer": ({"answer": "cat"}, "cat", "dog"),
}


def _metrics(rows: Sequence[Mapping[str, Any]], replies: Sequence[str], **options: Any) -> dict[str, Any]:
    evaluator = BaseEvaluator(**options)
    annotations = {str(row["question_id"]): row for row in rows}
    verdicts = [
        evaluator.verdict_on(row, [Prediction(question_id, answer=reply)])
        for (question_id, row), reply in zip(annotations.items(), replies, strict=True)
    ]
    return evaluator.aggregate(verdicts, annotations)


def test_every_type_that_can_be_scored_has_a_self_test() -> None:
    assert (
        BaseEvaluator().problems(
            [{"question_id": kind, "question_type": kind, **row} for kind, (row, _, _) in _ROWS.items()]
        )
        == []
    )
    assert set(_ROWS) == set(RULES)


@pytest.mark.parametrize("kind", sorted(_ROWS))
def test_all_right_is_100_and_all_wrong_is_0(kind: str) -> None:
    row, right, wrong = _ROWS[kind]
    rows = [{"question_id": n, "question_type": kind, **row} for n in range(5)]
    assert _metrics(rows, [right] * 5)["accuracy"] == 100.0
    assert _metrics(rows, [wrong] * 5)["accuracy"] == 0.0
    assert _metrics(rows, [right, wrong, right, wrong, wrong])["accuracy"] == 40.0


def test_every_category_has_its_number_whatever_the_ids_are() -> None:
    rows = [
        {"question_id": 900, "answer": "cat", "sub_task": "b"},
        {"question_id": 7, "answer": "cat", "sub_task": "a"},
        {"question_id": 0, "answer": "cat", "sub_task": "c"},
        {"question_id": 3, "answer": "cat", "sub_task": "a"},
    ]
    result = _metrics(rows, ["cat", "cat", "dog", "dog"], detailed_keys=["sub_task"])
    assert {
        name: (block["accuracy"], block["n"]) for name, block in result["detailed"]["sub_task"].items()
    } == {
        "a": (50.0, 2),
        "b": (100.0, 1),
        "c": (0.0, 1),
    }


def test_one_detailed_key_may_be_a_plain_text() -> None:
    assert BaseEvaluator(detailed_keys="sub_task").detailed_keys == ["sub_task"]


def test_without_detailed_keys_there_is_no_breakdown() -> None:
    assert "detailed" not in _metrics([{"question_id": 1, "answer": "cat"}], ["cat"])


# --- the way in for task folders that bring calls of their own --------------------------------------------------


def test_cal_accuracy_scores_records_and_writes_the_verdicts_into_them() -> None:
    annotations = {"1": {"question_id": 1, "answer": "cat"}, "2": {"question_id": 2, "answer": "dog"}}
    predictions: list[dict[str, Any]] = [
        {"question_id": "1", "answer": "The answer is cat."},
        {"question_id": "2", "answer": "Error code: 500"},
    ]
    result = BaseEvaluator().cal_accuracy(annotations, predictions)
    assert result["accuracy"] == 50.0
    assert [(row["correct"], row["outcome"]) for row in predictions] == [
        (True, "correct"),
        (False, "request_error"),
    ]
    assert (predictions[0]["raw_answer"], predictions[0]["answer"]) == ("The answer is cat.", "cat")


def test_a_subclass_may_override_the_scoring_of_one_sample() -> None:
    class Lenient(BaseEvaluator):
        def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
            right = str(annotation["answer"]) in prediction.answer
            return Verdict(prediction.question_id, "correct" if right else "wrong", correct=right)

    annotations = {"1": {"question_id": 1, "answer": "cat"}}
    result = Lenient().cal_accuracy(annotations, [{"question_id": "1", "answer": "a cat there"}])
    assert result["accuracy"] == 100.0


def test_the_reasons_for_no_answer_are_those_of_the_extractors() -> None:
    row = {"question_type": "multiple-choice", "options": _ABCD[:3], "answer": "C"}
    replies = {
        "": "no_response",
        "no idea": "unparsed",
        "Answer: E": "invalid_choice",
        "<think>A or": "unfinished_reasoning",
    }
    assert {reply: _verdict(row, reply).outcome for reply in replies} == replies
    assert set(replies.values()) < PARSE_FAILURES
