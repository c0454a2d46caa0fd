"""The shipped box tasks from the command line: AP worked out by hand from what the endpoint says."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TASKS = Path(__file__).parents[2] / "tasks"
RACCOONS = TASKS / "raccoon_bbox" / "raccoon_bbox.py"
CELLS = TASKS / "bccd_bbox" / "bccd_bbox.py"


def photo_of(folder: Path) -> Callable[[Any], str]:
    """Return a function that tells which photograph a request carries."""
    names = {path.read_bytes(): path.stem for path in folder.iterdir()}

    def name(call: Any) -> str:
        [(media_type, data)] = call.images
        assert media_type == "image/jpeg"
        return names[data]

    return name


def raccoons(scale: float = 1000.0) -> dict[str, list[list[float]]]:
    """The true corners of every photograph, on a scale from 0."""
    found: dict[str, list[list[float]]] = {}
    with (TASKS / "raccoon_bbox" / "labels.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            width, height = int(line["width"]) / scale, int(line["height"]) / scale
            box = [int(line["xmin"]) / width, int(line["ymin"]) / height]
            box += [int(line["xmax"]) / width, int(line["ymax"]) / height]
            found.setdefault(line["filename"].removesuffix(".jpg"), []).append(box)
    return found


def test_raccoons_found_missed_and_never_answered(
    endpoint: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    truth = raccoons()
    photo = photo_of(TASKS / "raccoon_bbox" / "photos")

    def script(call: Any) -> Any:
        name = photo(call)
        if name == "raccoon-168":  # two boxes
            return endpoint.fails(400)
        if name == "raccoon-72":  # two boxes
            return json.dumps(truth[name][:1])
        odd = {"raccoon-99": "[[0, 0, 5, 5]]", "raccoon-59": "None that I can see.", "raccoon-95": "[]"}
        return odd.get(name) or json.dumps(truth[name])

    endpoint.script = script

    ran = run_here("--tasks", RACCOONS, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 3, ran.stderr
    files = files_of("raccoon_bbox")
    assert files.counts == {"total": 33, "answered": 32, "request_errors": 1, "parse_failures": 1}
    result = files.result
    # 35 true boxes; 29 right and 1 wrong box at once: precision 29/30 up to recall 29/35, 83 of the 101 points.
    assert result["AP"] == pytest.approx(100 * 83 * (29 / 30) / 101, abs=1e-4)
    # The wrong box comes on the last photograph: precision 1 up to there.
    assert result["AP_as_emitted"] == pytest.approx(100 * 83 / 101, abs=1e-4)
    assert result["order_spread"]["lowest"] == result["AP"]
    assert result["order_spread"]["highest"] == result["AP_as_emitted"]
    # With the two boxes of the failed request: 31/32 up to 31/35, 89 points.
    assert result["range"] == [result["AP"], pytest.approx(100 * 89 * (31 / 32) / 101, abs=1e-4)]
    assert (result["boxes"]["n_truth"], result["boxes"]["n_predicted"]) == (35, 30)
    # Off by two boxes on one photograph, by one on three.
    assert result["count_errors"]["mae"] == pytest.approx(5 / 33, abs=1e-4)
    assert result["count_errors"]["exact"] == pytest.approx(100 * 29 / 33, abs=1e-4)
    assert (files.summary["metric"], files.summary["score"]) == ("AP", result["AP"])
    assert "raccoon_bbox  AP" in ran.stdout

    report = (out / "raccoon_bbox" / "raccoon_bbox_per_row.csv").read_text(encoding="utf-8")
    lines = list(csv.DictReader(report.splitlines()))
    assert len(lines) == 33
    assert [(line["question_id"], line["outcome"]) for line in lines[:5]] == [
        ("raccoon-168", "request_error"),
        ("raccoon-59", "unparsed"),
        ("raccoon-95", "wrong"),
        ("raccoon-99", "wrong"),
        ("raccoon-72", "graded"),
    ]
    assert all(line["f1"] == "1.0000" for line in lines[5:])


def test_the_coordinates_of_a_model_are_what_its_config_says(
    endpoint: Any, make_model: Any, run_here: Any, files_of: Any, tmp_path: Path
) -> None:
    truth = raccoons(scale=1.0)
    photo = photo_of(TASKS / "raccoon_bbox" / "photos")
    endpoint.script = lambda call: json.dumps(truth[photo(call)])

    told = run_here(
        "--tasks", RACCOONS, "--cfg", make_model(bbox_space="norm1"), "--output-dir", tmp_path / "a"
    )
    untold = run_here("--tasks", RACCOONS, "--cfg", make_model(), "--output-dir", tmp_path / "b")

    assert (told.returncode, untold.returncode) == (0, 0), told.stderr + untold.stderr
    right = files_of("raccoon_bbox", tmp_path / "a").result
    assert (right["AP"], right["bbox_space"], right["space_warning"]) == (100.0, "norm1", None)
    wrong = files_of("raccoon_bbox", tmp_path / "b").result
    assert (wrong["AP"], wrong["bbox_space"]) == (0.0, "norm1000")
    assert "33 of 33 replies with boxes do not look like coordinates in norm1000" in untold.stdout
    assert "bbox_space" in untold.stdout


def test_cells_of_two_kinds_found_and_of_the_third_never(
    endpoint: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    photo = photo_of(TASKS / "bccd_count" / "photos")
    truth: dict[str, list[dict[str, Any]]] = {}
    with (TASKS / "bccd_count" / "labels.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            box = [int(line["xmin"]) / 0.64, int(line["ymin"]) / 0.48]
            box += [int(line["xmax"]) / 0.64, int(line["ymax"]) / 0.48]
            truth.setdefault(line["photo"], []).append({"bbox_2d": box, "label": line["label"]})

    def script(call: Any) -> str:
        boxes = [
            {**box, "label": "cell"} if box["label"] == "Platelets" else box for box in truth[photo(call)]
        ]
        return f"```json\n{json.dumps(boxes)}\n```"

    endpoint.script = script

    ran = run_here("--tasks", CELLS, "--cfg", make_model(), "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    result = files_of("bccd_bbox").result
    assert result["AP"] == result["AP_as_emitted"] == pytest.approx(200 / 3, abs=1e-4)
    assert result["per_class"] == {
        "RBC": {"AP": 100.0, "n_truth": 805, "n_predicted": 805},
        "WBC": {"AP": 100.0, "n_truth": 71, "n_predicted": 71},
        "Platelets": {"AP": 0.0, "n_truth": 69, "n_predicted": 0},
    }
    assert result["never_predicted"] == ["Platelets"]
    assert result["boxes"]["dropped_labels"] == 69
    assert result["count_errors"]["mae"] == pytest.approx(69 / 72, abs=1e-4)


def test_the_same_answers_scored_again_give_the_same(
    endpoint: Any, make_model: Any, run_here: Any, files_of: Any, out: Path
) -> None:
    truth = raccoons()
    photo = photo_of(TASKS / "raccoon_bbox" / "photos")
    endpoint.script = lambda call: json.dumps([truth[photo(call)][0], [1, 1, 2, 2]])
    arguments = ("--tasks", RACCOONS, "--output-dir", out)

    first = run_here(*arguments, "--cfg", make_model())
    before = files_of("raccoon_bbox").without_times()
    endpoint.forget()
    again = run_here(*arguments, "--cfg", make_model(), "--without-infer")

    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert endpoint.calls == []
    assert files_of("raccoon_bbox").without_times() == before
