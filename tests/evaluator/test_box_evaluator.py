"""Scoring of boxes: what a row asks, what a reply gets, and the AP of a set, worked out by hand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from flagharness.errors import ConfigError
from flagharness.evaluator import BoxEvaluator, Verdict
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction

HARD_CASES = {
    case["id"]: case
    for case in json.loads(
        (Path(__file__).parents[1] / "data" / "hard_cases" / "box-scoring.json").read_text(encoding="utf-8")
    )
}
A = [10, 10, 40, 40]
B = [200, 200, 40, 40]


def row(question_id: str, *boxes: Sequence[float], category: str = "a", **more: Any) -> dict[str, Any]:
    """A row about an image of 1000 x 1000, where the 0-1000 scale is pixels."""
    return {
        "question_id": question_id,
        "question": "Where?",
        "question_type": "bbox",
        "img_path": f"{question_id}.png",
        "width": 1000,
        "height": 1000,
        "answer": [{"bbox": list(box)} for box in boxes],
        "category": category,
        **more,
    }


def several(
    question_id: str, names: list[str], *boxes: tuple[str, Sequence[float]], **more: Any
) -> dict[str, Any]:
    """A row that asks for several categories."""
    asked = row(question_id, categories=names, **more)
    del asked["category"]
    return {**asked, "answer": [{"bbox": list(box), "label": label} for label, box in boxes]}


def corners(*boxes: Sequence[float]) -> str:
    """A reply with these [x, y, width, height] boxes."""
    return json.dumps([[x, y, x + w, y + h] for x, y, w, h in boxes])


def labelled(*boxes: tuple[str | None, Sequence[float]]) -> str:
    return json.dumps(
        [
            {"bbox_2d": [x, y, x + w, y + h], **({} if label is None else {"label": label})}
            for label, (x, y, w, h) in boxes
        ]
    )


def predict(asked: Mapping[str, Any], reply: str | None, inference: int = 0) -> Prediction:
    if reply is None:
        error = {"type": "timeout", "message": "no reply", "http_status": None, "attempts": 3}
        return Prediction(str(asked["question_id"]), status="error", error=error, inference=inference)
    return Prediction(str(asked["question_id"]), answer=reply, inference=inference)


def verdicts_of(
    evaluator: BoxEvaluator, rows: Sequence[Mapping[str, Any]], replies: Sequence[Any]
) -> list[Verdict]:
    """Score the rows; a reply may be a list of one for each inference. Texts are dropped as a run drops them."""
    verdicts = []
    for asked, reply in zip(rows, replies, strict=True):
        each = reply if isinstance(reply, list) else [reply]
        verdict = evaluator.verdict_on(asked, [predict(asked, text, k) for k, text in enumerate(each)])
        for kept in (verdict, *verdict.inferences):
            kept.forget_texts()
        verdicts.append(verdict)
    return verdicts


def evaluate(
    rows: Sequence[Mapping[str, Any]], replies: Sequence[Any], space: str = "norm1000", **options: Any
) -> dict[str, Any]:
    evaluator = BoxEvaluator(**options)
    evaluator.bbox_space = space
    assert evaluator.problems(rows) == []
    verdicts = verdicts_of(evaluator, rows, replies)
    return evaluator.aggregate(verdicts, {str(asked["question_id"]): asked for asked in rows})


def judge(asked: Mapping[str, Any], reply: str | None, space: str = "norm1000") -> Verdict:
    evaluator = BoxEvaluator()
    evaluator.bbox_space = space
    return evaluator.verdict_on(asked, [predict(asked, reply)])


# --- one row ---


@pytest.mark.parametrize(
    ("reply", "outcome", "correct", "answer"),
    [
        (corners(A), "correct", 1.0, [{"bbox": [10.0, 10.0, 40.0, 40.0], "label": "a"}]),
        (corners(B), "wrong", 0.0, [{"bbox": [200.0, 200.0, 40.0, 40.0], "label": "a"}]),
        (
            corners(A, B),
            "graded",
            2 / 3,
            [
                {"bbox": [10.0, 10.0, 40.0, 40.0], "label": "a"},
                {"bbox": [200.0, 200.0, 40.0, 40.0], "label": "a"},
            ],
        ),
        ("[]", "wrong", 0.0, []),
        ("", "no_response", 0.0, None),
        ("I cannot help with that.", "unparsed", 0.0, None),
        ("<think>perhaps [10, 10, 50, 50]", "unfinished_reasoning", 0.0, None),
        (None, "request_error", 0.0, None),
    ],
)
def test_a_row_is_worth_its_f1_at_half_overlap(
    reply: str | None, outcome: str, correct: float, answer: Any
) -> None:
    verdict = judge(row("1", A), reply)
    assert (verdict.outcome, verdict.answer) == (outcome, answer)
    assert float(verdict.correct) == pytest.approx(correct)
    assert verdict.question_type == "bbox"


def test_an_empty_list_is_right_where_nothing_is_and_silence_is_not() -> None:
    assert (judge(row("1"), "[]").outcome, judge(row("1"), "[]").correct) == ("correct", 1.0)
    assert (judge(row("1"), "Nothing there.").outcome, judge(row("1"), "Nothing there.").correct) == (
        "unparsed",
        0.0,
    )
    assert judge(row("1"), corners(A)).outcome == "wrong"


def test_the_evaluated_row_shows_what_was_found_in_rounded_pixels() -> None:
    wide = row("1", [100, 50, 100, 25], category="cat", width=640, height=330)
    verdict = judge(wide, "[[313, 151, 156, 226]]")
    assert verdict.answer == [{"bbox": [99.84, 49.83, 100.48, 24.75], "label": "cat"}]
    shown = verdict.to_json()
    assert {
        name: shown[name] for name in ("tp", "fp", "fn", "n_predicted", "n_truth", "swapped", "clipped")
    } == {
        "tp": 1,
        "fp": 0,
        "fn": 0,
        "n_predicted": 1,
        "n_truth": 1,
        "swapped": 1,
        "clipped": 0,
    }
    assert shown["label"] == [{"bbox": [100.0, 50.0, 100.0, 25.0], "label": "cat"}]
    assert shown["f1"] == 1.0
    assert 0.97 < shown["mean_iou"] < 1
    assert "detections" not in shown
    json.dumps(shown)


def test_ap_takes_boxes_unrounded() -> None:
    # A truth of 0.004 x 0.004 pixels would be [0, 0, 0, 0] in the file.
    tiny = row("1", [0.001, 0.001, 0.002, 0.002])
    result = evaluate([tiny], ["[[0.001, 0.001, 0.003, 0.003]]"], space="pixel")
    assert result["AP"] == 100.0


def test_labels_are_matched_by_name_and_unknown_ones_are_dropped_and_counted() -> None:
    asked = several("1", ["Dog", "person"], ("Dog", A), ("person", B))
    verdict = judge(asked, labelled((" dOG ", A), ("person", B), ("cat", A), (None, A)))
    assert [found["label"] for found in verdict.answer] == ["Dog", "person"]
    assert verdict.outcome == "correct"
    assert verdict.extra["dropped_labels"] == 2


def test_a_box_of_the_wrong_category_finds_nothing() -> None:
    verdict = judge(several("1", ["dog", "person"], ("dog", A)), labelled(("person", A)))
    assert (verdict.extra["tp"], verdict.extra["fp"], verdict.extra["fn"]) == (0, 1, 1)


def test_a_box_without_label_is_of_the_only_category() -> None:
    assert judge(several("1", ["dog"], ("dog", A)), corners(A)).outcome == "correct"
    assert judge(row("1", A), labelled(("anything", A))).outcome == "correct"


def test_a_crowd_is_neither_missed_nor_a_mistake() -> None:
    asked = row("1", A)
    asked["answer"].append({"bbox": B, "iscrowd": 1})
    assert judge(asked, corners(A)).correct == 1.0
    assert judge(asked, corners(A, [205, 205, 20, 20])).correct == 1.0
    assert judge(asked, corners(A, [500, 500, 20, 20])).outcome == "graded"


# --- AP of a set, by hand ---

FSCD_ROWS = [row("1", A, category="a"), row("2", A, B, category="b")]
FSCD_REPLIES = [corners(A), corners([500, 500, 30, 30], A)]


def test_two_categories_and_all_as_one() -> None:
    result = evaluate(FSCD_ROWS, FSCD_REPLIES, class_agnostic=True)
    assert result["AP"] == pytest.approx(100 * (1 + 0.5 * 51 / 101) / 2, abs=1e-4)  # 0.6262
    assert result["AP_as_emitted"] == pytest.approx(62.6238, abs=1e-4)
    # The right one of b first: precision 1 up to recall 0.5.
    assert result["order_spread"]["highest"] == pytest.approx(100 * (1 + 51 / 101) / 2, abs=1e-4)
    assert result["order_spread"]["lowest"] == result["AP"]
    agnostic = result["class_agnostic"]
    assert agnostic["AP_as_emitted"] == pytest.approx(100 * (34 + 33 * 2 / 3) / 101, abs=1e-4)  # 0.5545
    # All three boxes at once: precision 2/3 up to recall 2/3, which is 67 of the 101 points.
    assert agnostic["AP"] == pytest.approx(100 * 67 * (2 / 3) / 101, abs=1e-4)
    assert result["per_class"] == {
        "a": {"AP": 100.0, "n_truth": 1, "n_predicted": 1},
        "b": {"AP": 25.2475, "n_truth": 2, "n_predicted": 2},
    }


def test_the_result_names_its_headline_and_comes_in_reading_order() -> None:
    result = evaluate(FSCD_ROWS, FSCD_REPLIES)
    assert list(result)[:14] == [
        "AP",
        "AP50",
        "AP75",
        "APs",
        "APm",
        "APl",
        "AP_as_emitted",
        "order_spread",
        "n",
        "headline",
        "range",
        "per_class",
        "never_predicted",
        "boxes",
    ]
    assert result["headline"] == "AP"
    assert result["n"] == 2
    assert result["range"] == [result["AP"], result["AP"]]
    assert result["mean_f1_at_50"] == pytest.approx(75.0)  # 1 and 2 * 1 / (2 * 1 + 1 + 1)
    assert (result["bbox_space"], result["score_mode"], result["ap_engine"]) == (
        "norm1000",
        "constant",
        "official",
    )
    assert result["space_warning"] is None
    json.dumps(result, allow_nan=False)


def test_the_headline_does_not_depend_on_the_order_of_boxes_or_rows() -> None:
    rows = [row("1", A), row("2", A, B)]
    one = evaluate(rows, [corners(B), corners([500, 500, 30, 30], A, B)])
    other = evaluate(rows[::-1], [corners(B, A, [500, 500, 30, 30]), corners(B)])
    assert one["AP"] == other["AP"]
    assert one["AP_as_emitted"] != other["AP_as_emitted"]
    assert one["order_spread"] == other["order_spread"]
    for result in (one, other):
        assert (
            result["order_spread"]["lowest"] <= result["AP_as_emitted"] <= result["order_spread"]["highest"]
        )


def test_rows_without_an_answer_are_misses_and_open_the_range() -> None:
    rows = [row("1", A), row("2", A), row("3", A, B), row("4")]
    result = evaluate(rows, [corners(A), "no idea", None, None])
    assert result["AP"] == pytest.approx(100 * 26 / 101, abs=1e-4)  # recall 1/4 at precision 1
    assert result["range"] == [
        result["AP"],
        pytest.approx(100 * 76 / 101, abs=1e-4),
    ]  # 3/4: the unread one stays
    assert result["boxes"]["n_truth"] == 4
    assert result["boxes"]["n_predicted"] == 1


def test_no_answer_at_all_is_zero_and_no_crash() -> None:
    result = evaluate([row("1", A), row("2", B, category="b")], [None, ""])
    assert (result["AP"], result["AP_as_emitted"], result["range"]) == (0.0, 0.0, [0.0, 50.0])
    assert result["never_predicted"] == ["a", "b"]


def test_no_truth_at_all_is_no_number() -> None:
    result = evaluate([row("1"), row("2")], ["[]", corners(A)])
    assert (result["AP"], result["AP_as_emitted"], result["range"]) == (None, None, [None, None])
    assert result["mean_f1_at_50"] == 50.0


def test_no_rows_are_no_number() -> None:
    result = BoxEvaluator(class_agnostic=True, count_errors=True).aggregate([], {})
    assert (result["AP"], result["n"], result["mean_f1_at_50"]) == (None, 0, None)


def test_rows_about_one_image_share_it() -> None:
    # As one image, the second row's box of the same place is of another category and of no matter to the first.
    rows = [row("1", A, category="a", image_id=7), row("2", A, category="b", image_id=7)]
    assert evaluate(rows, [corners(A), corners(A)])["AP"] == 100.0


def test_boxes_beyond_the_cap_are_counted_and_do_not_score() -> None:
    truth = [[10 * i, 10 * j, 9, 9] for i in range(6) for j in range(2)]
    result = evaluate([row("1", *truth)], [corners(*truth)], max_dets=10)
    assert result["boxes"]["beyond_max_dets"] == 2
    assert result["AP"] == pytest.approx(100 * 84 / 101, abs=1e-4)  # recall 10/12 at precision 1
    few = evaluate([row("1", *truth)], [corners(*truth)], max_dets=3)
    assert few["AP"] == few["AP_as_emitted"] == pytest.approx(100 * 26 / 101, abs=1e-4)
    assert evaluate([row("1", *truth)], [corners(*truth)])["boxes"]["beyond_max_dets"] == 0


def test_what_was_done_to_boxes_is_counted() -> None:
    replies = ["[[50, 50, 10, 10]]", "[[990, 990, 1012, 1005]]", "[[5, 5, 5, 9]]"]
    boxes = evaluate([row("1", A), row("2", [990, 990, 10, 10]), row("3", A)], replies)["boxes"]
    assert boxes == {
        "n_truth": 3,
        "n_predicted": 3,
        "swapped": 1,
        "clipped": 1,
        "dropped_labels": 0,
        "beyond_max_dets": 0,
        "zero_size": 1,
        "space_suspicions": 0,
    }


# --- faults people met ---


def test_a_size_without_truth_is_no_number_and_spoils_no_mean() -> None:
    case = HARD_CASES["BL-054"]
    result = evaluate([row("1", *case["input"]["truth"])], [corners(*case["input"]["predicted"])])
    assert {name: result[name] for name in case["expected"]} == case["expected"]
    two = evaluate(
        [row("1", *case["input"]["truth"], domain="x"), row("2", A, domain="y")],
        [corners(*case["input"]["predicted"]), corners(A)],
        group_by="domain",
    )
    assert two["APl"] == 100.0


def test_a_category_that_was_never_predicted_is_zero_and_named() -> None:
    case = HARD_CASES["BL-055"]
    rows = [row(name, *boxes, category=name) for name, boxes in case["input"]["truth"].items()]
    result = evaluate(
        rows, [corners(*case["input"]["predicted"].get(name, [])) for name in case["input"]["truth"]]
    )
    assert {name: result[name] for name in case["expected"]} == case["expected"]


def test_another_coordinate_space_is_told_and_not_guessed() -> None:
    case = HARD_CASES["BL-040"]
    asked = [row(str(k), case["input"]["truth"], width=640, height=480) for k in range(2)]
    result = evaluate(asked, case["input"]["replies"])
    assert result["AP"] == case["expected"]["AP"]
    assert case["expected"]["warning"] in result["space_warning"]
    assert "bbox_space" in result["space_warning"]
    assert result["note"] == result["space_warning"]
    assert judge(asked[1], case["input"]["replies"][1]).outcome == case["expected"]["outcome_of_a_point"]
    declared = evaluate(asked[:1], case["input"]["replies"][:1], space="norm1")
    assert (declared["AP"], declared["space_warning"]) == (100.0, None)


def test_a_few_odd_replies_among_many_are_counted_and_no_warning() -> None:
    rows = [row(str(k), A) for k in range(20)]
    result = evaluate(rows, [*[corners(A)] * 19, "[0.1, 0.1, 0.5, 0.5]"])
    assert result["space_warning"] is None
    assert result["boxes"]["space_suspicions"] == 1


# --- groups ---


def test_groups_are_evaluated_apart_and_weigh_the_same() -> None:
    rows = [
        several("1", ["dog", "cat"], ("dog", A), domain="pets"),
        several("2", ["dog", "cat"], ("cat", A), domain="pets"),
        several("3", ["dog"], ("dog", A), domain="wild"),
    ]
    replies = [labelled(("dog", A)), labelled(("cat", A)), labelled(("dog", B))]
    result = evaluate(rows, replies, group_by="domain", groups=["pets", "wild", "sea"])
    assert result["AP"] == 50.0  # over three categories at once it would be 2/3 or 3/4
    assert {name: (group["AP"], group["n"]) for name, group in result["groups"].items()} == {
        "pets": (100.0, 2),
        "wild": (0.0, 1),
    }
    assert result["groups_absent"] == ["sea"]
    assert result["partial"] is True
    assert "sea" in result["note"]
    assert result["per_class"]["wild: dog"] == {"AP": 0.0, "n_truth": 1, "n_predicted": 1}
    complete = evaluate(rows, replies, group_by="domain", groups=["pets", "wild"])
    assert "partial" not in complete
    assert complete["groups_absent"] == []


def test_a_group_without_truth_is_left_out_of_the_mean() -> None:
    rows = [row("1", A, domain="x"), row("2", domain="y")]
    result = evaluate(rows, [corners(A), corners(A)], group_by="domain")
    assert result["AP"] == 100.0
    assert result["groups"]["y"]["AP"] is None


def test_a_row_without_group_or_of_an_unknown_one_is_refused() -> None:
    evaluator = BoxEvaluator(group_by="domain", groups=["pets", "wild"])
    problems = evaluator.problems([row("1", A), row("2", A, domain="pet"), row("3", A, domain="wild")])
    assert len(problems) == 2
    assert "no `domain`" in problems[0]
    assert "Did you mean 'pets'?" in problems[1]


# --- counts ---


def test_errors_of_the_number_of_boxes() -> None:
    def boxes(n: int) -> list[list[int]]:
        return [[20 * k, 0, 10, 10] for k in range(n)]

    rows = [row(str(k), *boxes(g)) for k, g in enumerate((10, 10, 20, 5))]
    errors = evaluate(rows, [corners(*boxes(p)) for p in (10, 9, 19, 0)], count_errors=True)["count_errors"]
    assert errors["mae"] == 1.75
    assert errors["rmse"] == pytest.approx(2.5981, abs=1e-4)
    assert errors["nae"] == pytest.approx(0.2875)
    assert (errors["exact"], errors["within_5"], errors["within_10"]) == (25.0, 50.0, 75.0)
    assert errors["nae_left_out"] == 0


def test_a_true_number_of_zero_has_no_relative_error() -> None:
    rows = [row("1"), row("2"), row("3", A, B)]
    errors = evaluate(rows, ["[]", corners(A), None], count_errors=True)["count_errors"]
    assert (errors["nae"], errors["nae_left_out"]) == (1.0, 2)
    assert errors["within_10"] == pytest.approx(100 / 3, abs=1e-4)
    assert errors["mae"] == 1.0


# --- the federated protocol ---


def lvis_row(
    question_id: str, image: int, category: str, frequency: str, *boxes: Sequence[float], **more: Any
) -> Any:
    return row(question_id, *boxes, category=category, image_id=image, frequency=frequency, **more)


LVIS_ROWS = [
    lvis_row("1", 1, "bow", "r", A),
    lvis_row("2", 1, "cat", "f"),
    lvis_row("3", 2, "cat", "f", A),
]


def test_a_box_on_a_verified_absence_is_a_mistake() -> None:
    result = evaluate(LVIS_ROWS, [corners(A), corners(B), corners(A)], protocol="lvis")
    assert {name: result[name] for name in ("AP", "AP_as_emitted", "APr", "APc", "APf", "AR")} == {
        "AP": 75.0,
        "AP_as_emitted": 75.0,
        "APr": 100.0,
        "APc": None,
        "APf": 50.0,
        "AR": 100.0,
    }
    assert list(result)[:10] == ["AP", "AP50", "AP75", "APs", "APm", "APl", "APr", "APc", "APf", "AR"]
    assert result["per_class"] == {
        "bow": {"AP": 100.0, "n_truth": 1, "n_predicted": 1},
        "cat": {"AP": 50.0, "n_truth": 1, "n_predicted": 2},
    }


def test_a_category_absent_everywhere_is_not_evaluated() -> None:
    rows = [*LVIS_ROWS, lvis_row("4", 2, "yak", "c")]
    result = evaluate(rows, [corners(A), "[]", corners(A), corners(B)], protocol="lvis")
    assert result["AP"] == result["AP_as_emitted"] == 100.0
    assert result["per_class"]["yak"] == {"AP": None, "n_truth": 0, "n_predicted": 1}


def test_more_than_the_annotators_listed_is_no_mistake_where_they_stopped() -> None:
    listed = [lvis_row("1", 1, "bow", "r", A, not_exhaustive=True)]
    assert evaluate(listed, [corners(B, A)], protocol="lvis")["AP"] == 100.0
    complete = [lvis_row("1", 1, "bow", "r", A)]
    assert evaluate(complete, [corners(B, A)], protocol="lvis")["AP"] == 50.0


def test_three_hundred_boxes_an_image_are_shared_by_its_categories() -> None:
    grid = [[3 * (k % 300), 3 * (k // 300), 2, 2] for k in range(301)]
    rows = [lvis_row("1", 1, "bow", "r", *grid), lvis_row("2", 1, "cat", "f", A)]
    result = evaluate(rows, [corners(*grid), corners(A)], protocol="lvis")
    assert result["boxes"]["beyond_max_dets"] == 2


def test_the_federated_protocol_asks_for_what_it_needs() -> None:
    rows = [
        several("1", ["a"], ("a", A), frequency="f"),
        row("2", A),
        row("3", A, frequency="x"),
        row("4", A, frequency="f"),
    ]
    problems = BoxEvaluator(protocol="lvis").problems(rows)
    assert [problem.split(":")[0] for problem in problems if problem.startswith("row")] == [
        "row 1 (question_id '1')",
        "row 2 (question_id '2')",
        "row 3 (question_id '3')",
    ]
    rows = [row("1", A, frequency="f"), row("2", A, frequency="r")]
    assert "frequency of 'a' differs from row 1" in BoxEvaluator(protocol="lvis").problems(rows)[-1]


def test_both_engines_give_the_same_value() -> None:
    for rows, replies, options in (
        (FSCD_ROWS, FSCD_REPLIES, {}),
        (LVIS_ROWS, [corners(A), corners(B), corners(A)], {"protocol": "lvis"}),
    ):
        fast = evaluate(rows, replies, ap_engine="fast", **options)
        assert fast.pop("ap_engine") == "fast"
        official = evaluate(rows, replies, **options)
        assert official.pop("ap_engine") == "official"
        assert fast == official


def test_the_fast_engine_says_what_it_does_not_know() -> None:
    asked = row("1")
    asked["answer"] = [{"bbox": A, "ignore": 1}]
    [problem] = BoxEvaluator(ap_engine="fast").problems([asked])
    assert "`ignore`" in problem
    assert BoxEvaluator().problems([asked]) == []


# --- several inferences ---


def test_several_inferences_give_the_mean_of_their_ap() -> None:
    rows = [row("1", A), row("2", A)]
    replies = [[corners(A), corners(A)], [corners(A), None]]
    result = evaluate(rows, replies, count_errors=True)
    assert result["AP"] == pytest.approx(100 * (1 + 51 / 101) / 2, abs=1e-4)
    assert result["range"] == [result["AP"], 100.0]
    assert result["n"] == 2
    assert result["mean_f1_at_50"] == 75.0
    assert result["count_errors"]["mae"] == 0.25
    assert result["boxes"]["n_truth"] == 2
    assert result["boxes"]["n_predicted"] == 3


def test_the_evaluated_row_keeps_what_each_inference_found() -> None:
    evaluator = BoxEvaluator()
    [verdict] = verdicts_of(evaluator, [row("1", A)], [[corners(A), "[]"]])
    shown = verdict.to_json()
    assert shown["inference_scores"] == [1.0, 0.0]
    assert (shown["inference_0"]["tp"], shown["inference_1"]["tp"]) == (1, 0)
    report = evaluator.reports([verdict], {"1": row("1", A)}, {})["per_row.csv"]
    lines = list(csv.DictReader(io.StringIO(report)))
    assert [(line["inference"], line["tp"]) for line in lines] == [("1", "0"), ("0", "1")]


# --- the table of rows ---


def test_the_worst_rows_come_first_and_equal_ones_in_the_order_of_the_data() -> None:
    rows = [
        row("good", A),
        row("half", A, B),
        several("two", ["dog", "cat", "cow"], ("dog", A), ("cat", B)),
        row("silent", A),
        row("failed", A, B, img_path=["1.png", "2.png"]),
        row("empty"),
    ]
    replies = [corners(A), corners(A), labelled(("dog", A)), "no", None, "[]"]
    evaluator = BoxEvaluator()
    verdicts = verdicts_of(evaluator, rows, replies)
    reports = evaluator.reports(verdicts, {asked["question_id"]: asked for asked in rows}, {})
    assert list(reports) == ["per_row.csv"]
    assert reports["per_row.csv"].splitlines() == [
        "question_id,image,category,tp,fp,fn,mean_iou,f1,n_truth,n_predicted,outcome",
        "two,two.png,cat,0,0,1,,0.0000,1,0,wrong",
        "silent,silent.png,a,0,0,1,,0.0000,1,0,unparsed",
        "failed,1.png 2.png,a,0,0,2,,0.0000,2,0,request_error",
        "half,half.png,a,1,0,1,1.0000,0.6667,2,1,graded",
        "good,good.png,a,1,0,0,1.0000,1.0000,1,1,correct",
        "two,two.png,dog,1,0,0,1.0000,1.0000,1,1,correct",
        "empty,empty.png,a,0,0,0,,1.0000,0,0,correct",
    ]


# --- scores of another detector ---


@pytest.fixture
def detections(tmp_path: Path) -> Path:
    (tmp_path / "found").mkdir()
    return tmp_path / "found"


def original(base: Path) -> dict[str, Any]:
    return {"score_mode": "original", "detections_dir": "found", "base_dir": str(base)}


def test_boxes_take_over_score_and_place_of_the_detection_under_them(detections: Path) -> None:
    found = [{"bbox": [10, 10, 50, 50], "score": 0.9}, {"bbox": [10, 10, 50, 45], "score": 0.99}]
    (detections / "1.json").write_text(json.dumps(found))
    evaluator = BoxEvaluator(**original(detections.parent))
    asked = row("1", A)
    verdict = evaluator.verdict_on(asked, [predict(asked, "[[11, 11, 51, 51], [500, 500, 520, 520]]")])
    assert verdict.answer == [
        {"bbox": [10.0, 10.0, 40.0, 40.0], "label": "a", "score": 0.9},
        {"bbox": [500.0, 500.0, 20.0, 20.0], "label": "a", "score": 0.5},
    ]


def test_scores_rank_boxes(detections: Path) -> None:
    # The wrong box comes first, with a low score.
    found = [{"bbox": [200, 200, 240, 240], "score": 0.1}, {"bbox": [10, 10, 50, 50], "score": 0.8}]
    (detections / "1.json").write_text(json.dumps(found))
    result = evaluate([row("1", A)], [corners(B, A)], **original(detections.parent))
    assert (result["AP"], result["AP_as_emitted"], result["score_mode"]) == (100.0, 100.0, "original")
    assert evaluate([row("1", A)], [corners(B, A)])["AP"] == 50.0


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        "{}",
        '[{"bbox": [1, 2, 3], "score": 1}]',
        '[{"bbox": [1, 2, 3, 4]}]',
        '[{"bbox": [1, 2, 3, 4], "score": "high"}]',
        '[{"bbox": [1, 2, 3, NaN], "score": 1}]',
        '[{"bbox": [5, 5, 1, 1], "score": 1}]',
        "[[1, 2, 3, 4]]",
    ],
)
def test_missing_and_odd_detections_are_told_before_anything_is_asked(
    detections: Path, text: str | None
) -> None:
    if text is not None:
        (detections / "1.json").write_text(text)
    [problem] = BoxEvaluator(**original(detections.parent)).problems([row("1", A)])
    assert problem.startswith("row 1 (question_id '1'): ")
    assert "1.json" in problem


def test_detections_are_read_from_their_folder_only(detections: Path) -> None:
    (detections.parent / "1.json").write_text("[]")
    [problem] = BoxEvaluator(**original(detections.parent)).problems([row("../1", A)])
    assert "outside" in problem


# --- what is refused before the first request ---


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"width": None}, "`width`"),
        ({"height": 0}, "`height`"),
        ({"height": 10.5}, "`height`"),
        ({"category": None}, "neither `category`"),
        ({"categories": ["b"]}, "both `category` and `categories`"),
        ({"category": 3}, "`category` must be a name"),
        ({"category": None, "categories": []}, "`categories` must be a list"),
        ({"category": None, "categories": ["dog", " DOG "]}, "twice"),
        ({"answer": None}, "`answer` must be a list"),
        ({"answer": [[1, 2, 3, 4]]}, "`answer` must be a list"),
        ({"answer": [{"bbox": [1, 2, 3]}]}, "four finite numbers"),
        ({"answer": [{"bbox": [1, 2, 3, "4"]}]}, "four finite numbers"),
        ({"answer": [{"bbox": [1, 2, 3, float("nan")]}]}, "four finite numbers"),
        ({"answer": [{"bbox": [1, 2, 3, True]}]}, "four finite numbers"),
        ({"answer": [{"bbox": [100, 100, -50, 10]}]}, "negative"),
        ({"answer": [{"bbox": [960, 10, 42, 10]}]}, "leaves the image of 1000 x 1000"),
        ({"answer": [{"bbox": [-2, 10, 42, 10]}]}, "leaves the image"),
        ({"answer": [{"bbox": A, "label": "b"}]}, "label 'b' is none of the asked a"),
        ({"category": None, "categories": ["dog", "cat"], "answer": [{"bbox": A}]}, "label None"),
        (
            {"category": None, "categories": ["dog", "cat"], "answer": [{"bbox": A, "label": "dogg"}]},
            "Did you mean 'dog'?",
        ),
        ({"answer": [{"bbox": A, "area": "big"}]}, "area must be a number"),
    ],
)
def test_a_row_that_cannot_be_scored_is_told(change: dict[str, Any], told: str) -> None:
    broken = {name: value for name, value in {**row("x", A), **change}.items() if value is not None}
    [problem] = BoxEvaluator().problems([row("1", A), broken])
    assert problem.startswith("row 2 (question_id 'x'): ")
    assert told in problem


def test_rows_that_contradict_each_other_are_told() -> None:
    rows = [
        row("1", A, image_id=1),
        row("2", A, image_id=1),
        row("3", A, category="b", image_id=1, width=999),
    ]
    problems = BoxEvaluator().problems(rows)
    assert problems == [
        "row 2 (question_id '2'): category 'a' of this image is asked in row 1 too",
        "row 3 (question_id '3'): width and height differ from row 1, which is about the same image",
    ]


def test_a_box_one_pixel_over_the_edge_is_no_problem() -> None:
    assert BoxEvaluator().problems([row("1", [-1, -1, 1002, 1002], [0, 0, 0, 0])]) == []


def test_hidden_answers_are_no_problem() -> None:
    hidden = {name: value for name, value in row("1").items() if name != "answer"}
    assert BoxEvaluator().problems([hidden]) == []


def test_a_package_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flagharness.evaluator._boxes.find_spec", lambda name: None)
    [problem] = BoxEvaluator().problems([row("1", A)])
    assert "pycocotools" in problem


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"protocol": "coc"}, "coco, lvis.*Did you mean 'coco'"),
        ({"ap_engine": "quick"}, "official, fast"),
        ({"score_mode": "constnt"}, "Did you mean 'constant'"),
        ({"score_mode": "original"}, "detections_dir"),
        ({"group_by": 3}, "group_by"),
        ({"groups": ["a"]}, "group_by"),
        ({"group_by": "domain", "groups": "pets"}, "groups"),
        ({"max_dets": 0}, "max_dets"),
        ({"protocol": "lvis", "class_agnostic": True}, "class_agnostic"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        BoxEvaluator(**options)


def test_tasks_find_it_by_name() -> None:
    assert EVALUATORS.find("BoxEvaluator", {}, "here") is BoxEvaluator


def test_ap_can_be_broken_down_by_a_key_of_the_rows() -> None:
    rows = [row("1", A, light="day"), row("2", A, light=["night", "rain"]), row("3", A)]
    result = evaluate(rows, [corners(A), corners(B), corners(A)], detailed_keys=["light"])
    assert {name: (each["AP"], each["n"]) for name, each in result["detailed"]["light"].items()} == {
        "(none)": (100.0, 1),
        "day": (100.0, 1),
        "night": (0.0, 1),
        "rain": (0.0, 1),
    }


def test_a_few_true_boxes_that_reach_out_of_their_image_are_told_and_many_are_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stray = [990, 10, 40, 40]
    rows = [row(str(n), [10, 10, 20, 20], [50, 50, 20, 20]) for n in range(10)] + [row("x", stray)]
    with caplog.at_level("WARNING", logger="flagharness"):
        assert BoxEvaluator().problems(rows) == []
    assert "1 true boxes reach out of their image" in caplog.text
    assert "row 11: bbox [990.0, 10.0, 40.0, 40.0] leaves the image of 1000 x 1000" in caplog.text
    assert "leaves the image" in BoxEvaluator().problems(rows[-3:])[0]


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ({"iscrowd": "0"}, "iscrowd must be 0 or 1, got '0'"),
        ({"ignore": 2}, "ignore must be 0 or 1, got 2"),
        ({"area": -5}, "area must be a number of at least 0, got -5"),
    ],
)
def test_marks_of_a_true_box_are_what_they_should_be(box: dict[str, Any], said: str) -> None:
    asked = {**row("1"), "answer": [{"bbox": [1, 1, 5, 5], **box}]}
    assert said in BoxEvaluator().problems([asked])[0]


def test_labels_are_compared_as_people_read_them() -> None:
    asked = {
        **row("1"),
        "categories": ["caf\u00e9", "bar"],
        "answer": [{"bbox": [0, 0, 50, 50], "label": "caf\u00e9"}],
    }
    del asked["category"]
    reply = json.dumps([{"bbox_2d": [0, 0, 50, 50], "label": "cafe\u0301"}])
    assert BoxEvaluator().verdict_on(asked, [predict(asked, reply)]).outcome == "correct"
