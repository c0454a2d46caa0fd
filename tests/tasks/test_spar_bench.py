"""SPAR-Bench: three kinds of prompts and of row scores, means of tasks, and the mean of those."""

from __future__ import annotations

import base64
import doctest
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmengine.config import ConfigDict

from flagharness.config import load_task_config
from flagharness.data import load_annotations
from flagharness.errors import DataError
from flagharness.evaluator import BaseEvaluator
from flagharness.run import Prediction
from flagharness.task import Task

FOLDER = Path(__file__).parents[2] / "tasks" / "spar_bench"

Processed = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def task(load_process: Callable[[Path], ModuleType]) -> ModuleType:
    return load_process(FOLDER)


@pytest.fixture
def processed(task: ModuleType, tmp_path: Path) -> Processed:
    """Return a function that runs process.py on a file or folder and returns the rows it wrote, by id."""

    def run(source: Path) -> list[dict[str, Any]]:
        config = load_task_config(FOLDER / "spar_bench.py").dataset["config"]
        own = {"dataset_path": str(source), "processed_dataset_path": str(tmp_path / "made")}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        rows = load_annotations([tmp_path / "made" / "test" / "data.json"])
        return sorted(rows, key=lambda row: str(row["question_id"]))

    return run


TRUTH = "move_right:0.4,move_up:0.1,move_forward:0.0,rotate_left:30,rotate_down:0"
WORD = "Please answer the question using a single word or phrase."
LETTER = "Answer with the option's letter from the given choices directly."
BOXES = (
    "The values represent the bounding box coordinates normalized to a 0-1000 scale, with the top-left corner as the "
    "origin of the image."
)
CHOICES = [
    "obj_spatial_relation_oo",
    "obj_spatial_relation_oc_mv",
    "obj_spatial_relation_oo_mv",
    "spatial_imagination_oc",
    "spatial_imagination_oo",
    "spatial_imagination_oc_mv",
    "spatial_imagination_oo_mv",
    "position_matching",
    "camera_motion_infer",
    "distance_infer_center_oo",
    "distance_infer_center_oo_mv",
]
NUMBERS = [
    f"{what}_prediction_{which}" for what in ("depth", "distance") for which in ("oc", "oo", "oc_mv", "oo_mv")
]
ALL_TASKS = [*CHOICES, *NUMBERS, "view_change_infer"]


@pytest.fixture(scope="module")
def evaluator() -> BaseEvaluator:
    found = Task(FOLDER / "spar_bench.py").evaluator
    assert found is not None
    return found


@pytest.fixture(scope="module")
def own(evaluator: BaseEvaluator) -> ModuleType:
    """The module of the evaluator."""
    return sys.modules[type(evaluator).__module__]


def truth(task: str) -> str:
    return "B" if task in CHOICES else "1.0" if task in NUMBERS else TRUTH


def table_row(index: int, task: str, pictures: str, answer: str | None = None) -> dict[str, Any]:
    choices = "\nA. left\nB. right\nC. above\nD. below" if task in CHOICES else ""
    return {
        "index": index,
        "image": pictures,
        "question": f"Question {index}?{choices}",
        "answer": truth(task) if answer is None else answer,
        "task": task,
        "img_type": "single",
    }


def encoded(*pictures: bytes) -> str:
    return json.dumps([base64.b64encode(picture).decode() for picture in pictures])


def test_rows_of_the_table_are_asked_and_scored_by_their_task(
    processed: Processed, write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = [
        table_row(0, "position_matching", encoded(png(0), png(1)), " b "),
        table_row(1, "depth_prediction_oc", encoded(png(2)), "1.5"),
        table_row(2, "view_change_infer", encoded(png(3), png(4))),
    ]
    assert processed(write_tsv("SparBench_tiny.tsv", rows)) == [
        {
            "question_id": "0",
            "img_path": ["img/0_1.png", "img/0_2.png"],
            "question": "Question 0?\nA. left\nB. right\nC. above\nD. below",
            "question_type": "multiple-choice",
            "answer": "B",
            "task": "position_matching",
            "img_type": "single",
        },
        {
            "question_id": "1",
            "img_path": "img/1.png",
            "question": "Question 1?",
            "question_type": "number",
            "answer": 1.5,
            "task": "depth_prediction_oc",
            "img_type": "single",
        },
        {
            "question_id": "2",
            "img_path": ["img/2_1.png", "img/2_2.png"],
            "question": "Question 2?",
            "question_type": "view-change",
            "answer": TRUTH,
            "task": "view_change_infer",
            "img_type": "single",
        },
    ]


def test_rows_of_the_hub_give_the_same(
    processed: Processed, write_parquet: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = {
        "id": "scene_1",
        "image": [{"bytes": png(2), "path": None}],
        "question": "How deep?",
        "answer": "1.5",
        "task": "depth_prediction_oc",
    }
    assert processed(write_parquet("hub.parquet", [row])) == [
        {
            "question_id": "0",
            "img_path": "img/0.png",
            "question": "How deep?",
            "question_type": "number",
            "answer": 1.5,
            "task": "depth_prediction_oc",
            "source_id": "scene_1",
        }
    ]


def test_rows_are_stored_in_another_order_than_the_sorted_source(
    task: ModuleType, write_tsv: Callable[..., Path], png: Callable[..., bytes], tmp_path: Path
) -> None:
    picture = encoded(png(0))
    rows = [table_row(n, ALL_TASKS[n // 5], picture) for n in range(100)]
    orders = []
    for name in ("one", "two"):
        file = write_tsv("t.tsv", rows)
        config = load_task_config(FOLDER / "spar_bench.py").dataset["config"]
        own = {"dataset_path": str(file), "processed_dataset_path": str(tmp_path / name)}
        task.process(ConfigDict({**config, **own, "processor": str(FOLDER / "process.py")}))
        orders.append([row["task"] for row in load_annotations([tmp_path / name / "test" / "data.json"])])
    assert orders[0] == orders[1]
    assert len(set(orders[0][:32])) > 10  # the first 32 of the source are of 7 tasks


@pytest.mark.parametrize(
    ("name", "answer", "problem"),
    [
        ("depth_prediction", "1", "task 'depth_prediction' is none of the 20. Did you mean"),
        ("position_matching", "left", "none of the letters A to Z"),
        ("depth_prediction_oo", "far", "is no number"),
        ("depth_prediction_oo", "nan", "is no number"),
        ("view_change_infer", "right", "names no movement"),
    ],
)
def test_a_row_that_cannot_be_scored_is_told(
    processed: Processed,
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    name: str,
    answer: str,
    problem: str,
) -> None:
    with pytest.raises(DataError, match=problem):
        processed(write_tsv("t.tsv", [table_row(0, name, encoded(png(0)), answer)]))


def test_the_tasks_are_the_20_everywhere(task: ModuleType, own: ModuleType) -> None:
    assert sorted(task.KINDS) == sorted(ALL_TASKS) == sorted(own.TASKS)
    assert [name for name, kind in task.KINDS.items() if kind == "multiple-choice"] == CHOICES
    assert {name for name, kind in task.KINDS.items() if kind == "number"} == set(NUMBERS)
    assert {level: len(tasks) for level, tasks in own.LEVELS.items()} == {"low": 8, "middle": 3, "high": 9}
    assert set(own.LEVELS["low"]) == set(NUMBERS)


# --- changes of view ---


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (TRUTH, 1.0),
        ("move_right:0.4", 0.6),
        (TRUTH.replace("move_right", "move_left"), 0.8),
        ("", 0.0),
        ("I moved to the right.", 0.0),
        ("move_up", 0.0),
        ("move_right:0.4, move_up:0.1, rotate_left:30", 1.0),
        ("move_right: 0.5, move_left: 0.1, move_up:0.1, rotate_left:30", 1.0),
        ("rotate_right:-30,move_down:-0.1,move_left:\u22120.4", 1.0),
        ("move_right:0.44,move_up:0.1,rotate_left:30", 0.98),  # off by a tenth: 0.9 on one axis of five
        ("Sure! The camera did this: move_right:0.4m, move_up:0.1m, rotate_left:30 degrees.", 1.0),
        ('{"move_right": 0.4, "move_up": 0.1, "rotate_left": 30}', 1.0),
        ("move_right:9\n<answer>move_right:0.4,move_up:0.1,rotate_left:30</answer>", 1.0),
        ("move_right:0.4,move_up:0.1,rotate_left:30 <answer>done</answer>", 1.0),
        ("MOVE_RIGHT:0.4,MOVE_UP:.1,ROTATE_LEFT:3e1", 1.0),
        ("move_right:<value>,move_up:<value>", 0.0),
        ("move_right:1e999", 0.0),
        ("not_move_right:0.4", 0.0),
    ],
)
def test_a_change_of_view_scores_the_mean_of_its_axes(own: ModuleType, reply: str, score: float) -> None:
    assert own.view_change_score(own.movements(reply), own.movements(TRUTH)) == pytest.approx(score)


MOVES = st.dictionaries(
    st.sampled_from([f"move_{way}" for way in ("right", "left", "up", "down", "forward", "backward")]
                    + [f"rotate_{way}" for way in ("right", "left", "up", "down")]),
    st.integers(-900, 900).map(lambda number: number / 10),
    min_size=1,
)  # fmt: skip


@given(moves=MOVES, seed=st.integers(0, 99))
def test_a_movement_is_fully_right_in_any_order_and_with_opposite_names(
    own: ModuleType, moves: dict[str, float], seed: int
) -> None:
    opposite = {name: other for axis in own.AXES for name, other in (axis, axis[::-1])}
    net: dict[str, float] = {}
    for name, value in moves.items():
        net[opposite[name]] = -value  # one name a key, so two keys of an axis do not meet
    pairs = [f"{name}:{value}" for name, value in net.items()]
    random.Random(seed).shuffle(pairs)
    assert own.view_change_score(own.movements(", ".join(pairs)), moves) == 1.0


# --- scores ---


def rows_of(*tasks: str) -> dict[str, dict[str, Any]]:
    kinds = {
        **dict.fromkeys(CHOICES, "multiple-choice"),
        **dict.fromkeys(NUMBERS, "number"),
        "view_change_infer": "view-change",
    }
    return {
        str(number): {
            "question_id": str(number),
            "question": "?",
            "question_type": kinds[task],
            "answer": 1.0 if task in NUMBERS else truth(task),
            "task": task,
        }
        for number, task in enumerate(tasks)
    }


def result_of(evaluator: BaseEvaluator, rows: dict[str, Any], *replies: list[str | None]) -> dict[str, Any]:
    verdicts = [
        evaluator.verdict_on(
            row, [None if text is None else Prediction(name, answer=text) for text in replies[int(name)]]
        )
        for name, row in rows.items()
    ]
    return evaluator.aggregate(verdicts, rows)


def test_all_20_tasks_count_alike_however_many_rows_they_have(evaluator: BaseEvaluator) -> None:
    # Choices: all right but the three rows of position_matching. Numbers 1.1 for 1: 0.9. View: 0.6.
    rows = rows_of(*ALL_TASKS, "position_matching", "position_matching")
    assert evaluator.problems(list(rows.values())) == []
    replies = [
        ["A" if row["task"] == "position_matching" else "B" if row["task"] in CHOICES else "1.1"
         if row["task"] in NUMBERS else "move_right:0.4"]
        for row in rows.values()
    ]  # fmt: skip
    result = result_of(evaluator, rows, *replies)
    assert (result["headline"], result["overall"]) == ("overall", 89.0)  # (10 + 0 + 8 * 0.9 + 0.6) / 20
    assert (result["accuracy"], result["n"]) == (80.91, 22)  # 17.8 / 22
    assert result["levels"] == {"low": 90.0, "middle": 53.33, "high": 100.0}  # middle: (0 + 1 + 0.6) / 3
    assert list(result["tasks"]) != []
    assert result["tasks"]["position_matching"] == {"score": 0.0, "n": 3, "metric": "accuracy"}
    assert result["tasks"]["depth_prediction_oc"] == {"score": 90.0, "n": 1, "metric": "MRA"}
    assert result["tasks"]["view_change_infer"] == {"score": 60.0, "n": 1, "metric": "view change"}
    assert "partial" not in result
    assert "absent_tasks" not in result


def test_absent_tasks_are_named_and_do_not_count(evaluator: BaseEvaluator) -> None:
    rows = rows_of("depth_prediction_oc", "position_matching", "position_matching")
    result = result_of(evaluator, rows, ["0.9"], ["B"], [""])
    assert result["overall"] == 70.0  # (0.9 + 0.5) / 2
    assert result["levels"] == {"low": 90.0, "middle": 50.0, "high": None}
    assert result["partial"] is True
    assert sorted(result["absent_tasks"]) == sorted(
        set(ALL_TASKS) - {"depth_prediction_oc", "position_matching"}
    )


def test_rows_without_an_answer_score_0_and_several_inferences_their_mean(evaluator: BaseEvaluator) -> None:
    rows = rows_of("depth_prediction_oc", "depth_prediction_oc", "view_change_infer")
    result = result_of(evaluator, rows, ["1.1", None], [None, None], ["move_right:0.4", "?"])
    assert result["tasks"]["depth_prediction_oc"]["score"] == 22.5  # (0.45 + 0) / 2
    assert result["tasks"]["view_change_infer"]["score"] == 30.0  # (0.6 + 0) / 2
    assert result["overall"] == 26.25


def test_no_rows_have_no_score(evaluator: BaseEvaluator) -> None:
    result = evaluator.aggregate([], {})
    assert (result["overall"], result["accuracy"], len(result["absent_tasks"])) == (None, None, 20)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"task": "depth"}, "task 'depth' is none of the 20"),
        ({"question_type": "count"}, "question_type 'count' is none of"),
        ({"answer": "1"}, "cannot be the truth of a number question"),
        ({"answer": None}, "cannot be the truth of a number question"),
        (
            {"question_type": "multiple-choice", "answer": 1},
            "cannot be the truth of a multiple-choice question",
        ),
        (
            {"question_type": "view-change", "answer": "right"},
            "cannot be the truth of a view-change question",
        ),
    ],
)
def test_rows_that_cannot_be_scored_are_told_before_anything_is_asked(
    evaluator: BaseEvaluator, change: dict[str, Any], problem: str
) -> None:
    good, bad = rows_of("depth_prediction_oc", "depth_prediction_oc").values()
    (found,) = evaluator.problems([good, {**bad, **change}])
    assert found.startswith("row 2 (question_id '1'): ")
    assert problem in found


def test_hidden_answers_are_no_problem(evaluator: BaseEvaluator) -> None:
    rows = [{**row, "answer": None} for row in rows_of("depth_prediction_oc", "position_matching").values()]
    assert evaluator.problems(rows) == []


def test_a_run_sends_three_kinds_of_prompts_and_means_the_tasks(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
    golden_requests: Callable[..., None],
) -> None:
    tasks = [
        "position_matching", "obj_spatial_relation_oo", "obj_spatial_relation_oo", "depth_prediction_oc",
        "depth_prediction_oc", "view_change_infer", "distance_prediction_oo", "camera_motion_infer",
    ]  # fmt: skip
    rows = [table_row(n, tasks[n], encoded(png(n), png(n + 20))) for n in range(8)]
    replies = ["B", "B. right", "A or B", "1.1 m", None, "move_right:0.4", "no idea", ""]

    def reply(call: Any) -> Any:
        text = replies[call.asked]
        return endpoint.fails(400) if text is None else endpoint.says(text)

    run = run_benchmark("SparBench_tiny", write_tsv("t.tsv", rows), reply, name="spar_bench")
    # position_matching 1; obj_spatial_relation_oo 1 and 0: 0.5; depth 0.9 and refused: 0.45; view change 0.6;
    # distance unread: 0; camera_motion_infer empty: 0. Mean of six tasks: 2.55 / 6. Mean of rows: 3.5 / 8.
    assert run.ran.returncode == 3
    result = run.files.result
    assert (result["headline"], result["overall"], result["accuracy"]) == ("overall", 42.5, 43.75)
    assert result["levels"] == {"low": 22.5, "middle": 53.33, "high": 50.0}
    assert {name: line["score"] for name, line in result["tasks"].items()} == {
        "depth_prediction_oc": 45.0,
        "distance_prediction_oo": 0.0,
        "position_matching": 100.0,
        "camera_motion_infer": 0.0,
        "view_change_infer": 60.0,
        "obj_spatial_relation_oo": 50.0,
    }
    assert result["partial"] is True
    assert len(result["absent_tasks"]) == 14
    assert run.files.summary["metric"] == "overall"
    assert run.files.counts == {"total": 8, "answered": 6, "request_errors": 2, "parse_failures": 2}
    assert result["note"] == "the data holds 8 rows, the benchmark 1,000"
    outcomes = {row["question_id"]: row["outcome"] for row in run.files.evaluated}
    assert outcomes == {
        "0": "correct", "1": "correct", "2": "ambiguous", "3": "graded", "4": "request_error", "5": "graded",
        "6": "unparsed", "7": "request_error",
    }  # fmt: skip
    asked = {call.asked: call for call in run.calls}
    listed = "\nA. left\nB. right\nC. above\nD. below"
    assert asked[0].text == f"\nQuestion 0?{listed}\n{BOXES}\n{LETTER}"
    assert asked[7].text == f"\nQuestion 7?{listed}\n{BOXES}\n{LETTER}"
    assert asked[1].text == f"\nQuestion 1?{listed}\n\n{LETTER}"
    assert asked[3].text == f"\nQuestion 3?\n{WORD}"
    assert asked[5].text == "\nQuestion 5?\n\n"
    assert all(
        [part["type"] for part in call.parts] == ["image_url", "image_url", "text"] for call in run.calls
    )
    golden_requests("spar_bench", [asked[0], asked[1], asked[3], asked[5]])


def test_the_examples_hold(task: ModuleType, own: ModuleType) -> None:
    assert doctest.testmod(task) == (0, 1)
    assert doctest.testmod(own) == (0, 4)
