"""The optional grader of the spatial benchmarks: rules without a judge, its word with one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import find_task_config, load_task_config


@pytest.fixture
def embspatial(write_tsv: Callable[..., Path], png: Callable[..., bytes]) -> Path:
    rows = [
        {
            "index": n,
            "image": png(n),
            "question": f"Where is lamp {n}?",
            "options": "['left', 'right', 'above', 'below']",
            "answer": "B",
            "data_source": "mp3d",
        }
        for n in range(4)
    ]
    return write_tsv("EmbSpatialBench.tsv", rows)


@pytest.mark.parametrize("name", ["mmsi_bench", "erqa", "embspatial", "spar_bench", "mindcube"])
def test_the_grader_is_optional(name: str) -> None:
    config = load_task_config(find_task_config(name))
    assert config.evaluator is not None
    assert (config.evaluator["grader"], config.meta["needs_judge"]) == ("spatial_extract", "optional")


def test_without_a_judge_rules_decide(
    embspatial: Path, run_benchmark: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_MODEL", "a-judge")  # which serves tasks that need a judge, and only those
    run = run_benchmark("embspatial", embspatial, lambda call: ["B", "right", "A", "no idea"][call.asked])
    assert run.ran.returncode == 0, run.ran.output
    assert run.files.result["accuracy"] == 50.0
    assert run.files.counts["parse_failures"] == 1
    assert run.files.result["obtained_by"]["judge"] is None


def test_a_judge_config_without_a_model_means_rules(
    embspatial: Path, run_benchmark: Callable[..., Any], make_judge: Callable[..., Path], judge_endpoint: Any
) -> None:
    judge = make_judge(model_name=None)
    run = run_benchmark("embspatial", embspatial, lambda call: "B", "--judge", judge)
    assert (run.ran.returncode, run.files.result["accuracy"]) == (0, 100.0)
    assert judge_endpoint.calls == []


def test_with_a_judge_its_grade_decides_and_a_gap_stays_open(
    embspatial: Path, run_benchmark: Callable[..., Any], make_judge: Callable[..., Path], judge_endpoint: Any
) -> None:
    replies = {0: "A\tB", 1: "B\tA", 2: "C\tN/A"}

    def judge(call: Any) -> Any:
        if call.is_probe:
            return "A\tParis"
        number = int(call.text.partition("lamp ")[2].partition("?")[0])
        return replies[number] if number in replies else judge_endpoint.fails(500)

    judge_endpoint.script = judge
    run = run_benchmark(
        "embspatial", embspatial, lambda call: f"B, lamp {call.asked}", "--judge", make_judge()
    )
    result = run.files.result
    # 3 has a reply that the rules read as right; the judge failed, and no rule takes its place
    assert run.ran.returncode == 3
    assert (result["accuracy"], result["accuracy_judged"], result["range"]) == (25.0, 33.33, [25.0, 50.0])
    assert (result["complete"], result["waiting_for_a_verdict"]) == (False, ["3"])
    assert result["judge_statuses"]["invalid"] == 1
    assert run.files.counts["judge_failures"] == 1
    asked = next(call for call in judge_endpoint.calls if "lamp 0" in call.text)
    assert "A. left\nB. right\nC. above\nD. below" in asked.text
    assert "B. right" in asked.text.partition("standard answer:")[2]
    assert not asked.images


def test_numbers_count_by_what_was_extracted_and_changes_of_view_by_rule(
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    run_benchmark: Callable[..., Any],
    make_judge: Callable[..., Path],
    judge_endpoint: Any,
) -> None:
    moved = "move_right:0.4,move_up:0.1,move_forward:0.2,rotate_left:30,rotate_down:0"
    rows = [
        {"task": "depth_prediction_oc", "question": "How deep is it, 0?", "answer": "2.0"},
        {"task": "view_change_infer", "question": "How did it move, 1?", "answer": moved},
        {"task": "position_matching", "question": "Where, 2?\nA. here\nB. there", "answer": "B"},
    ]
    table = [{"index": n, "image": png(n), **row} for n, row in enumerate(rows)]
    judge_endpoint.script = lambda call: (
        "A\tParis" if call.is_probe else "B\t2.4 m" if "How deep" in call.text else "A\tB"
    )
    run = run_benchmark(
        "spar_bench",
        write_tsv("SparBench_tiny.tsv", table),
        lambda call: ["well", moved, "the second"][call.asked],
        "--judge",
        make_judge(),
    )
    assert run.ran.returncode == 0, run.ran.output
    tasks = {name: task["score"] for name, task in run.files.result["tasks"].items()}
    # 2.4 for 2.0 is off by 20 %: seven of ten thresholds
    assert tasks == {"depth_prediction_oc": 70.0, "view_change_infer": 100.0, "position_matching": 100.0}
    assert run.files.result["overall"] == 90.0
    assert sorted("How did it move" in call.text for call in judge_endpoint.calls) == [False] * 3
