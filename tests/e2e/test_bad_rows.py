"""Rows that cannot be asked or scored are named, all at once, before the first request."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def _cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def test_missing_and_damaged_pictures_are_reported_together_and_nothing_is_sent(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any
) -> None:
    task = make_task(6, missing=["1.png"])
    _cut_in_half(task.data / "4.png")
    command = ("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)

    ran = run_here(*command)

    assert ran.returncode == 1
    assert endpoint.calls == []
    assert "toy: 2 of 6 rows cannot be asked; nothing was sent" in ran.stderr
    assert f"row 2 (question_id '1'): {task.data / '1.png'}: does not exist" in ran.stderr
    assert f"row 5 (question_id '4'): {task.data / '4.png'}: cannot be used" in ran.stderr
    assert "--skip-bad-rows" in ran.stderr

    ran = run_here(*command, "--skip-bad-rows")

    assert ran.returncode == 3
    assert endpoint.rows_asked() == [0, 2, 3, 5]
    files = files_of()
    assert files.counts == {"total": 6, "answered": 4, "data_errors": 2}
    assert (files.result["accuracy"], files.result["accuracy_answered"]) == (66.67, 100.0)
    assert files.predictions[1]["error"]["type"] == "data_error"
    assert files.evaluated[4]["outcome"] == "data_error"

    # Repaired, they are all that is asked.
    for name in ("1.png", "4.png"):
        (task.data / name).write_bytes(task.image("0.png"))
    endpoint.forget()
    assert run_here(*command).returncode == 0
    assert endpoint.rows_asked() == [1, 4]


def test_rows_that_no_rule_can_score_are_refused_before_the_first_request(
    endpoint: Any, make_rows: Any, make_task: Any, make_model: Any, run_here: Any, out: Any
) -> None:
    rows = make_rows(4)
    rows[1]["question_type"] = "coutn"
    rows[2]["answer"] = "many"
    del rows[3]["answer"]

    ran = run_here("--tasks", make_task(rows).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 1
    assert endpoint.calls == []
    assert "row 2 (question_id 1)" in ran.stderr
    assert "Did you mean 'count'?" in ran.stderr
    assert "row 3 (question_id 2): answer 'many' is not a whole number" in ran.stderr
    assert "row 4 (question_id 3): no `answer`" in ran.stderr


def test_rows_that_share_an_id_are_refused(
    endpoint: Any, make_rows: Any, make_task: Any, make_model: Any, run_here: Any, out: Any
) -> None:
    rows = make_rows(5)
    rows[3]["question_id"] = "1"
    rows[4]["question_id"] = 0

    ran = run_here("--tasks", make_task(rows).config, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 1
    assert endpoint.calls == []
    assert "row 4 (question_id '1'): question_id is that of row 2 too" in ran.stderr
    assert "row 5 (question_id 0): question_id is that of row 1 too" in ran.stderr


def test_any_text_can_be_an_id_and_no_file_leaves_the_run_folder(
    endpoint: Any,
    make_rows: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    files_of: Any,
    out: Any,
    tmp_path: Path,
) -> None:
    ids = [
        "a/b",
        "../../x",
        "..",
        ".",
        "/etc/x",
        "c:\\d",
        "问题/🐱",
        "two\nlines",
        '"quoted"',
        " ",
        "-1",
        "x" * 300,
    ]
    rows = [{**row, "question_id": name} for row, name in zip(make_rows(len(ids)), ids, strict=True)]
    command = ("--tasks", make_task(rows).config, "--cfg", make_model(), "--output-dir", out)
    before = set(tmp_path.rglob("*"))

    assert run_here(*command).returncode == 0

    files = files_of()
    assert list(files.answers()) == ids
    assert files.result["accuracy"] == 100.0
    new = {path.relative_to(tmp_path) for path in set(tmp_path.rglob("*")) - before if path.is_file()}
    assert {str(path) for path in new if not path.name.startswith(".")} == {
        "out/summary.json",
        "out/toy/items/journal.jsonl",
        "out/toy/toy.json",
        "out/toy/toy_config.json",
        "out/toy/toy_evaluated.json",
        "out/toy/toy_result.json",
    }
    assert {path.parent for path in new if path.name.startswith(".")} <= {Path("out")}

    endpoint.forget()
    assert run_here(*command).returncode == 0
    assert endpoint.calls == []
    assert list(files.answers()) == ids
