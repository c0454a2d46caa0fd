"""The fallback of choices: a judge reads what no rule can, and is asked about nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import find_task_config, load_task_config
from flagharness.errors import ConfigError
from flagharness.evaluator import BaseEvaluator

UNREAD = "Whatever stands nearest to the door, I would say."


@pytest.fixture
def table(write_tsv: Callable[..., Path], png: Callable[..., bytes]) -> Path:
    row = {"A": "red", "B": "blue", "C": "", "D": "", "answer": "B", "category": "direct_attributes"}
    return write_tsv(
        "VStarBench.tsv",
        [{"index": n, "image": png(n), "question": f"Which colour has cup {n}?", **row} for n in range(5)],
    )


@pytest.mark.parametrize("name", ["realworldqa", "vstar", "hallusion_bench", "freak_mcq"])
def test_the_fallback_is_optional(name: str) -> None:
    config = load_task_config(find_task_config(name))
    assert config.evaluator is not None
    assert (config.evaluator["fallback"], config.meta["needs_judge"]) == ("option_extract", "optional")


def test_only_what_no_rule_can_read_goes_to_the_judge(
    table: Path, run_benchmark: Callable[..., Any], make_judge: Callable[..., Path], judge_endpoint: Any
) -> None:
    replies = {2: "B", 3: "none"}

    def judge(call: Any) -> Any:
        if call.is_probe:
            return "A"
        number = int(call.text.partition("cup ")[2].partition("?")[0])
        return replies[number] if number in replies else judge_endpoint.fails(500)

    judge_endpoint.script = judge
    run = run_benchmark(
        "vstar", table, lambda call: ["B", "A", UNREAD, UNREAD, UNREAD][call.asked], "--judge", make_judge()
    )
    result = run.files.result
    # 0 right and 1 wrong by rule; 2 right by the judge's reading, 3 unread by both, 4 open
    assert run.ran.returncode == 3
    assert (result["accuracy"], result["range"], result["waiting_for_a_verdict"]) == (
        40.0,
        [40.0, 60.0],
        ["4"],
    )
    assert result["judge_statuses"]["skipped_rule"] == 2
    assert (run.files.counts["parse_failures"], run.files.counts["judge_failures"]) == (1, 1)
    asked = [call for call in judge_endpoint.calls if not call.is_probe]
    assert {call.text.partition("cup ")[2][0] for call in asked} == {"2", "3", "4"}
    assert "A. red\nB. blue" in asked[0].text
    assert [row["extraction"] and row["extraction"]["rule"] for row in run.files.evaluated][2:] == [
        "judge",
        None,
        None,
    ]


def test_without_a_judge_it_is_unread(table: Path, run_benchmark: Callable[..., Any]) -> None:
    run = run_benchmark("vstar", table, lambda call: UNREAD if call.asked else "B")
    assert (run.ran.returncode, run.files.result["accuracy"]) == (0, 20.0)
    assert run.files.counts["parse_failures"] == 4
    assert "judge_statuses" not in run.files.result


def test_an_evaluator_has_one_or_the_other() -> None:
    with pytest.raises(ConfigError, match="not both"):
        BaseEvaluator(grader="spatial_extract", fallback="option_extract")
    with pytest.raises(ConfigError, match="Did you mean 'option_extract'"):
        BaseEvaluator(fallback="option_extrct")
