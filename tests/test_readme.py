"""The README's table of tasks says what the configs say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flagharness.config import find_task_config
from flagharness.report import list_tasks

README = Path(__file__).resolve().parents[1] / "README.md"


def line_of(task: dict[str, Any]) -> str:
    """Return the line of the README's table that belongs to a task."""
    published = [
        f"{entry['model']} {next(v for k, v in entry.items() if k not in ('model', 'source')):.2f}"
        for entry in task["published"][:2]
    ]
    cells = (
        f"[`{task['name']}`](tasks/{Path(task['path']).parent.name}/README.md)",
        ", ".join(f"`{name}`" for name in task["aliases"]) or "-",
        "-" if task["rows"] is None else f"{task['rows']:,}",
        task["metric"],
        {True: "yes", False: "no"}.get(task["needs_judge"], task["needs_judge"]),
        task["license"],
        ", ".join(published) or "-",
    )
    return f"| {' | '.join(cells)} |"


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    monkeypatch.chdir(tmp_path)
    return list_tasks()


def test_the_table_holds_every_task_as_its_config_describes_it(tasks: list[dict[str, Any]]) -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    shown = [line for line in lines if line.startswith("| [`")]
    assert shown == [line_of(task) for task in tasks], "\n" + "\n".join(map(line_of, tasks))


def test_every_task_answers_to_all_its_names(tasks: list[dict[str, Any]]) -> None:
    for task in tasks:
        for name in (task["name"], *task["aliases"]):
            assert find_task_config(name) == Path(task["path"]), name
    for folder in {Path(task["path"]).parent for task in tasks}:
        assert find_task_config(folder.name) == folder / f"{folder.name}.py"


def test_the_benchmarks_of_the_list_are_there_under_their_own_names(tasks: list[dict[str, Any]]) -> None:
    names = {alias for task in tasks for alias in task["aliases"]}
    assert names >= {
        "FSC147_val", "CountQA", "PixmoCount_val", "FSCD_147_bbox_val", "FSCD_LVIS_bbox_val",
        "ODinW13_bbox_val_qwen3", "LVIS_bbox_val_federated", "RealWorldQA", "HallusionBench", "FREAK_VQA",
        "FREAK_MCQ", "VStarBench", "MMSIBench_wo_circular", "ERQA", "EmbSpatialBench", "SparBench_tiny",
        "MindCubeBench_tiny_raw_qa", "DocCount", "OCRBench", "MMSearch", "MMSearchPlus", "RealXBench", "FVQA_test",
        "hle", "BrowseCompVL", "SimpleVQA", "SimpleVQA_300", "MMBrowseComp", "VDRBench", "VisBrowseBench",
        "Infoseek_GDM_test", "EncyclopedicVQA_test", "FVQA_test_300", "Infoseek_GDM_test_300",
        "EncyclopedicVQA_test_300",
    }  # fmt: skip
