"""Looking at every sample before the first request."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from flagharness.engine import TaskRun
from flagharness.engine._check import Volume, check_samples
from flagharness.errors import DataError
from flagharness.media import MediaRules
from flagharness.run import TaskFolder
from flagharness.task import Task

Open = Callable[..., TaskRun]


def _row(number: int, **fields: Any) -> dict[str, Any]:
    return {"question_id": number, "question": "How many?", "question_type": "count", "answer": 3, **fields}


@pytest.fixture
def open_run(tmp_path: Path) -> Open:
    """Make a task of the given rows with one good and one broken picture, and the run over it."""
    data = tmp_path / "data"
    data.mkdir()
    Image.new("RGB", (40, 20), "red").save(data / "good.png")
    (data / "broken.png").write_bytes((data / "good.png").read_bytes()[:40])

    def open_run(rows: list[dict[str, Any]], extra: str = "", num_infers: int = 1) -> TaskRun:
        (data / "data.json").write_text(json.dumps(rows), encoding="utf-8")
        config = tmp_path / "toy.py"
        config.write_text(
            "dataset = dict(type='VqaBaseDataset', name='toy', data_root='data')\n"
            "evaluator = dict(type='BaseEvaluator')\n" + extra,
            encoding="utf-8",
        )
        task = Task(config)
        task.open()
        run = TaskRun(task=task, folder=TaskFolder(tmp_path / "out", "toy"), num_infers=num_infers)
        run.ids = task.question_ids()
        return run

    return open_run


def _refusal(run: TaskRun) -> str:
    with pytest.raises(DataError) as caught:
        check_samples(run, MediaRules(), skip_bad_rows=False)
    return str(caught.value)


def test_good_rows_are_counted_as_often_as_they_are_sent(open_run: Open, tmp_path: Path) -> None:
    rows = [_row(1, img_path="good.png"), _row(2, img_path=["good.png", "good.png"]), _row(3)]
    run = open_run(rows, num_infers=2)
    size = (tmp_path / "data" / "good.png").stat().st_size
    assert check_samples(run, MediaRules(), skip_bad_rows=False) == Volume(images=6, bytes=6 * size)
    assert run.bad_rows == {}


def test_a_picture_named_by_its_mark_twice_is_sent_twice(open_run: Open) -> None:
    run = open_run([_row(1, question="<image 1> <image 1>?", img_path="good.png")])
    assert check_samples(run, MediaRules(), skip_bad_rows=False).images == 2


def test_all_bad_rows_are_told_at_once_with_every_reason(open_run: Open, tmp_path: Path) -> None:
    rows = [
        _row(1, img_path="good.png"),
        _row(2, img_path=["nowhere.png", "broken.png"]),
        _row(3, question="<image 2>?", img_path="good.png"),
        _row(4, video_path="x.mp4"),
        _row(5, audio_path="x.wav"),
    ]
    lines = _refusal(open_run(rows)).splitlines()
    data = tmp_path / "data"
    assert lines[0] == "toy: 4 of 5 rows cannot be asked; nothing was sent:"
    assert lines[1].startswith(f"  row 2 (question_id '2'): {data / 'nowhere.png'}: does not exist")
    assert f"; {data / 'broken.png'}: " in lines[1]
    assert lines[2].startswith("  row 3 (question_id '3'): the text has the mark <image 2>")
    assert lines[3].startswith("  row 4 (question_id '4'): ")
    assert lines[3].endswith("x.mp4: does not exist")
    assert lines[4].endswith("x.wav: does not exist")
    assert "--skip-bad-rows" in lines[5]


def test_a_prompt_function_that_fails_on_a_row_is_told_with_the_row(open_run: Open) -> None:
    extra = (
        "def prompt(annotation, **kwargs):\n    return annotation['hint']\n"
        "dataset['prompt_template'] = dict(type='PromptTemplate', post_prompt=prompt)\n"
    )
    message = _refusal(open_run([_row(1, hint="x"), _row(2)], extra))
    assert "1 of 2 rows cannot be asked" in message
    assert "row 2 (question_id '2'): " in message
    assert "KeyError: 'hint'" in message


def test_bad_rows_can_be_left_out_of_the_asking(open_run: Open, caplog: pytest.LogCaptureFixture) -> None:
    rows = [_row(1, img_path="good.png"), _row(2, img_path="nowhere.png"), _row(3, img_path="good.png")]
    run = open_run(rows)
    assert check_samples(run, MediaRules(), skip_bad_rows=True).images == 3
    assert list(run.bad_rows) == [1]
    assert "1 of 3 rows are skipped" in caplog.text
    prediction = run.prediction_of_bad_row(1, 2)
    assert (prediction.question_id, prediction.inference, prediction.ok) == ("2", 2, False)
    assert prediction.error is not None
    assert prediction.error["type"] == "data_error"
    assert "nowhere.png" in prediction.error["message"]


def test_rows_that_cannot_be_scored_are_refused_even_if_bad_rows_are_skipped(open_run: Open) -> None:
    run = open_run([_row(1, answer="many"), _row(2)])
    with pytest.raises(DataError, match="1 rows cannot be scored") as caught:
        check_samples(run, MediaRules(), skip_bad_rows=True)
    assert "row 1 (question_id 1): answer 'many' is not a whole number" in str(caught.value)


def test_a_task_without_evaluator_is_only_checked_for_asking(open_run: Open) -> None:
    run = open_run([_row(1, answer="many")], "evaluator = None\n")
    assert check_samples(run, MediaRules(), skip_bad_rows=False) == Volume(0, 0)


def test_only_the_rows_of_the_run_are_looked_at(open_run: Open) -> None:
    run = open_run([_row(1), _row(2, img_path="nowhere.png", answer="many")])
    run.ids = run.ids[:1]
    check_samples(run, MediaRules(), skip_bad_rows=False)
    assert (run.rows, run.partial) == (1, True)


def test_rows_that_cannot_be_asked_and_rows_that_cannot_be_scored_are_told_together(
    tmp_path: Path,
) -> None:
    rows = [
        {
            "question_id": 1,
            "question": "How many?",
            "question_type": "count",
            "answer": 1,
            "img_path": "no.png",
        },
        {"question_id": 2, "question": "How many?", "question_type": "count", "answer": "many"},
    ]
    (tmp_path / "data.json").write_text(json.dumps(rows))
    (tmp_path / "toy.py").write_text(
        "dataset = dict(type='VqaBaseDataset', name='toy', data_root='.')\nevaluator = dict(type='BaseEvaluator')\n"
    )
    task = Task(tmp_path / "toy.py", data_root=str(tmp_path))
    task.open()
    run = TaskRun(task=task, folder=TaskFolder(tmp_path / "out", "toy"), ids=task.question_ids())
    with pytest.raises(DataError) as caught:
        check_samples(run, MediaRules(), skip_bad_rows=False)
    assert "1 of 2 rows cannot be asked; nothing was sent" in str(caught.value)
    assert "1 rows cannot be scored" in str(caught.value)
