"""Data that a run is asking about, and the data that a run is scored again on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.data import DataInUse

PROCESS = """
from pathlib import Path
from flagharness.data import process_table

def process(cfg):
    process_table(cfg, lambda row: {"question": row["question"], "question_type": "count", "answer": row["answer"]},
                  images=False)
"""


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """Two tables for one task; the second has other answers."""
    paths = (tmp_path / "one.jsonl", tmp_path / "two.jsonl")
    for path, shift in zip(paths, (0, 1), strict=True):
        rows = [{"question": f"How many in {n}?", "answer": n + shift} for n in range(3)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


@pytest.fixture
def task(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks" / "counts"
    folder.mkdir(parents=True)
    (folder / "process.py").write_text(PROCESS)
    (folder / "counts.py").write_text(
        "config = dict(dataset_path='nowhere.jsonl', split='val', processed_dataset_path='counts', "
        "processor='process.py')\n"
        "dataset = dict(type='VqaBaseDataset', config=config, name='counts')\n"
        "evaluator = dict(type='BaseEvaluator')\n"
    )
    return folder / "counts.py"


def test_data_that_a_run_is_using_is_not_replaced_by_another(
    task: Path, tables: tuple[Path, Path], make_model: Callable[..., Path], run_here: Callable[..., Any],
    endpoint: Any, out: Path, tmp_path: Path,
) -> None:  # fmt: skip
    def run(table: Path, *options: Any) -> Any:
        source = f"config.dataset_path={table}"
        return run_here(
            "--tasks", task, "--cfg", make_model(), "--output-dir", out, "--cfg-options", source, *options
        )

    assert run(tables[0]).returncode == 0
    cache = tmp_path / "cache"
    reader = DataInUse(cache / "counts" / "val", cache)
    try:
        assert run(tables[0], "--overwrite").returncode == 0  # any number may read
        endpoint.forget()
        ran = run(tables[1], "--overwrite")
        assert (ran.returncode, endpoint.calls) == (1, [])
        assert "another run is using this data" in ran.stderr
        assert "config.processed_dataset_path=" in ran.stderr
    finally:
        reader.close()
        reader.close()
    assert run(tables[1], "--overwrite").returncode == 0


def test_scoring_again_takes_the_data_of_the_run_and_what_the_command_line_says(
    task: Path, tables: tuple[Path, Path], make_model: Callable[..., Path], run_here: Callable[..., Any],
    files_of: Callable[..., Any], out: Path,
) -> None:  # fmt: skip
    first = f"config.dataset_path={tables[0]}"
    run_here("--tasks", task, "--cfg", make_model(), "--output-dir", out, "--cfg-options", first)
    assert files_of("counts").result["accuracy"] == 100.0
    ran = run_here("--tasks", task, "--without-infer", "--output-dir", out)
    assert ran.returncode == 0
    assert f"data as in the run here: dataset.config.dataset_path={tables[0]}" in ran.stderr
    assert files_of("counts").result["accuracy"] == 100.0
    second = f"config.dataset_path={tables[1]}"
    ran = run_here("--tasks", task, "--without-infer", "--output-dir", out, "--cfg-options", second)
    assert "the data is not what it was" in ran.stderr
    assert files_of("counts").result["accuracy"] == 0.0


def test_scoring_again_that_fails_leaves_the_summary_of_the_run(
    task: Path, tables: tuple[Path, Path], make_model: Callable[..., Path], run_here: Callable[..., Any],
    files_of: Callable[..., Any], out: Path,
) -> None:  # fmt: skip
    first = f"config.dataset_path={tables[0]}"
    run_here("--tasks", task, "--cfg", make_model(), "--output-dir", out, "--cfg-options", first)
    before = files_of("counts").summary
    gone = "config.dataset_path=gone.jsonl"
    ran = run_here("--tasks", task, "--without-infer", "--output-dir", out, "--cfg-options", gone)
    assert ran.returncode == 1
    after = files_of("counts").summary
    assert (after["status"], after["score"], after["time_s"]) == ("scored", 100.0, before["time_s"])
    assert "scoring again failed" in after["error"]


def test_a_misspelt_key_of_the_command_line_is_refused_with_the_nearest(
    task: Path, tables: tuple[Path, Path], make_model: Callable[..., Path], run_here: Callable[..., Any]
) -> None:
    for wrong, right in (
        ("config.datset_path=x", "dataset_path"),
        ("evaluatr.detailed_keys=[]", "evaluator"),
    ):
        ran = run_here("--tasks", task, "--cfg", make_model(), "--dry-run", "--cfg-options", wrong)
        assert ran.returncode == 2
        assert f"Did you mean '{right}'?" in ran.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"min_short_side": 64}, "min_short_side pads pictures"),
        ({"max_long_side": 64, "bbox_space": "pixel"}, "max_long_side may shrink pictures"),
        ({"max_long_side": 64}, None),
        ({"bbox_space": "pixel"}, None),
    ],
)
def test_picture_limits_that_would_move_boxes_are_refused(
    make_model: Callable[..., Path], run_here: Callable[..., Any], endpoint: Any, out: Path,
    settings: dict[str, Any], said: str | None,
) -> None:  # fmt: skip
    endpoint.script = lambda call: "[]"
    ran = run_here(
        "--tasks", "raccoon_bbox", "--cfg", make_model(**settings), "--output-dir", out, "--limit", "2"
    )
    assert ran.returncode == (1 if said else 0)
    if said:
        assert said in ran.stderr
        assert endpoint.calls == []


def test_pictures_that_are_turned_are_told_where_boxes_are_asked_for(
    make_task: Callable[..., Any], make_model: Callable[..., Path], run_here: Callable[..., Any], endpoint: Any,
    out: Path,
) -> None:  # fmt: skip
    from PIL import ExifTags, Image

    endpoint.script = lambda call: "[]"
    rows = [
        {"question_id": n, "question": "Where?", "question_type": "bbox", "category": "dot", "width": 16,
         "height": 12, "answer": [{"bbox": [1, 1, 5, 5]}], "img_path": f"{n}.jpg"}
        for n in range(2)
    ]  # fmt: skip
    task = make_task(rows, evaluator={"type": "BoxEvaluator"})
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    Image.new("RGB", (16, 12)).save(task.data / "1.jpg", exif=exif)
    ran = run_here("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)
    assert ran.returncode == 0
    assert "1 pictures are turned by their EXIF orientation" in ran.stderr
    assert "1.jpg" in ran.stderr


def test_secrets_and_code_of_a_config_are_not_taken_from_the_record_of_a_run(
    task: Path, tables: tuple[Path, Path], make_model: Callable[..., Path], run_here: Callable[..., Any],
    files_of: Callable[..., Any], out: Path,
) -> None:  # fmt: skip
    text = task.read_text().replace("split='val'", "split='val', api_key='sk-0123456789', clean=str.strip")
    task.write_text(text.replace("'nowhere.jsonl'", repr(str(tables[0]))))
    run_here("--tasks", task, "--cfg", make_model(), "--output-dir", out)
    assert "sk-0123456789" not in json.dumps(files_of("counts").config)
    ran = run_here("--tasks", task, "--without-infer", "--output-dir", out)
    assert ran.returncode == 0
    assert "data as in the run here" not in ran.stderr
    assert "preparing" not in ran.stderr
