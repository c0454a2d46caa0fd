"""FSCD-147 and FSCD-LVIS: tables with boxes in a cell, and the authors' COCO files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.data import load_annotations
from flagharness.prompt import locate_category

TASKS = [
    ("fscd_147", "FSCD_147_bbox_val", "FSCD_147/val"),
    ("fscd_lvis", "FSCD_LVIS_bbox_val", "FSCD_LVIS/test"),
]
SIZE = (200, 100)


def _table(png: Callable[..., bytes]) -> list[dict[str, Any]]:
    """Three rows of 200 x 100 pixels: two pills with one and two boxes, one bird with one."""
    boxes = [[[10, 10, 30, 30], [50, 20, 90, 60]], [[100, 50, 200, 100]], [[0, 0, 40, 40]]]
    nouns = ["pill", "pill", "bird"]
    return [
        {"index": n, "image": png(n, SIZE), "question": locate_category(noun), "answer": json.dumps(here)}
        for n, (noun, here) in enumerate(zip(nouns, boxes, strict=True))
    ]


def _reply(call: Any) -> str:
    """Both boxes of row 0 behind a stray one, nothing readable for row 1, the box of row 2."""
    return {
        0: "[[900, 900, 1000, 1000], [50, 100, 150, 300], [250, 200, 450, 600]]",
        1: "I see some pills.",
        2: '```json\n[{"bbox_2d": [0, 0, 200, 400], "label": "bird"}]\n```',
    }[_row_of(call)]


def _row_of(call: Any) -> int:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(call.images[0][1])) as picture:
        return int(picture.convert("RGB").getpixel((0, 0))[2])


@pytest.mark.parametrize(("name", "alias", "folder"), TASKS)
def test_the_table_is_run_and_scored(
    run_benchmark: Callable[..., Any],
    golden_requests: Callable[..., None],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    out: Path,
    tmp_path: Path,
    name: str,
    alias: str,
    folder: str,
) -> None:
    run = run_benchmark(alias, write_tsv(f"{alias}.tsv", _table(png)), _reply, name=name)
    assert run.ran.returncode == 0
    result = run.files.result
    # pill: 3 true boxes, 3 found, 2 right: without order precision 2/3 up to recall 2/3, 67 of 101 levels; as emitted
    # the stray box comes first: 1/2, then 2/3, so 2/3 as well. bird: 1.
    pill = 67 / 101 * 2 / 3
    assert result["AP"] == pytest.approx(100 * (1 + pill) / 2, abs=1e-4)
    assert result["AP_as_emitted"] == pytest.approx(100 * (1 + pill) / 2, abs=1e-4)
    # With the right ones first pills would have 67/101.
    assert result["order_spread"]["highest"] == pytest.approx(100 * (1 + 67 / 101) / 2, abs=1e-4)
    # All as one category: 4 true, 4 found, 3 right: 3/4 up to recall 3/4, 76 levels.
    assert result["class_agnostic"]["AP"] == pytest.approx(100 * 76 / 101 * 3 / 4, abs=1e-4)
    # Counts: (3, 2), (0, 1), (1, 1).
    assert result["count_errors"]["mae"] == pytest.approx(2 / 3, abs=1e-4)
    assert result["count_errors"]["exact"] == pytest.approx(100 / 3, abs=1e-4)
    assert run.files.counts == {"total": 3, "answered": 3, "parse_failures": 1}
    assert "the data holds 3 rows, the benchmark 1," in result["note"]
    assert (run.files.summary["metric"], run.files.summary["score"]) == ("AP", result["AP"])
    lines = (out / name / f"{name}_per_row.csv").read_text().splitlines()
    assert lines[0].startswith("question_id,image,category,tp,fp,fn")
    assert lines[1:] == [
        "1,img/1.png,pill,0,0,1,,0.0000,1,0,unparsed",
        "0,img/0.png,pill,2,1,0,1.0000,0.8000,2,3,graded",
        "2,img/2.png,bird,1,0,0,1.0000,1.0000,1,1,correct",
    ]
    golden_requests(name, [call for call in run.calls if _row_of(call) in (0, 2)])
    rows = load_annotations([tmp_path / "cache" / folder / "data.json"])
    assert rows[0] == {
        "question_id": "0", "img_path": "img/0.png", "question": locate_category("pill"), "question_type": "bbox",
        "answer": [{"bbox": [10, 10, 20, 20]}, {"bbox": [50, 20, 40, 40]}], "width": 200, "height": 100,
        "category": "pill",
    }  # fmt: skip
    assert rows[2]["answer"] == [{"bbox": [0, 0, 40, 40]}]


@pytest.mark.parametrize("box_format", ["pixel_xywh", "norm1000_xyxy"])
def test_boxes_of_another_format_are_read_as_the_config_says(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes], tmp_path: Path,
    box_format: str,
) -> None:  # fmt: skip
    box = {"pixel_xywh": [50, 20, 40, 40], "norm1000_xyxy": [250, 200, 450, 600]}[box_format]
    row = {"index": 1, "image": png(1, SIZE), "category": "pill", "answer": json.dumps([box])}
    source = write_tsv("x.tsv", [row])
    run = run_benchmark(
        "fscd_147", source, lambda call: "[[250, 200, 450, 600]]", f"config.answer_box_format={box_format}"
    )
    assert run.files.result["AP"] == 100.0
    rows = load_annotations([tmp_path / "cache" / "FSCD_147" / "val" / "data.json"])
    assert rows[0]["answer"] == [{"bbox": [50, 20, 40, 40]}]
    assert rows[0]["question"] == locate_category("pill")


def test_boxes_that_contradict_the_format_stop_the_preparation_and_the_others_are_counted(
    run_benchmark: Callable[..., Any],
    write_tsv: Callable[..., Path],
    png: Callable[..., bytes],
    endpoint: Any,
) -> None:
    rows = [
        {"index": n, "image": png(n, SIZE), "category": "pill", "answer": json.dumps(boxes)}
        for n, boxes in enumerate(([[100, 20, 90, 60]], [[10, 10, 20, 20]], [[150, 10, 40, 300]]))
    ]
    run = run_benchmark("fscd_147", write_tsv("x.tsv", rows), _reply)
    assert run.ran.returncode == 1
    assert endpoint.calls == []
    assert "2 rows are not as expected" in run.ran.stderr
    assert "row 1 (index '0'): box [100, 20, 90, 60] is no pixel_xyxy" in run.ran.stderr
    assert "of 3: pixel_xyxy: 2, pixel_xywh: 1, norm1000_xyxy: 2" in run.ran.stderr


def test_an_unknown_format_is_refused(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    run = run_benchmark(
        "fscd_147", write_tsv("x.tsv", _table(png)), _reply, "config.answer_box_format=pixel_xyyx"
    )
    assert run.ran.returncode == 1
    assert "Did you mean 'pixel_xyxy'?" in run.ran.stderr


@pytest.fixture
def authors_files(tmp_path: Path, png: Callable[..., bytes]) -> Callable[..., Path]:
    """Return a function that writes the COCO form: one picture, two boxes of one category."""

    def write(split: str, images: str, categories: list[dict[str, Any]], second: int) -> Path:
        folder = tmp_path / "FSCD"
        (folder / images).mkdir(parents=True)
        (folder / images / "7.jpg").write_bytes(png(7, SIZE, "JPEG"))
        boxes = [[10, 10, 20, 20], [50, 20, 40, 40]]
        content = {
            "images": [{"id": 7, "file_name": "7.jpg", "width": 200, "height": 100}],
            "annotations": [
                {"id": n, "image_id": 7, "category_id": category, "bbox": box, "area": 400, "iscrowd": 0}
                for n, (box, category) in enumerate(zip(boxes, (1, second), strict=True))
            ],
            "categories": categories,
        }
        (folder / f"instances_{split}.json").write_text(json.dumps(content))
        return folder

    return write


def test_fscd_147_from_the_authors_files_takes_its_names_from_the_list_of_classes(
    run_benchmark: Callable[..., Any], authors_files: Callable[..., Path], tmp_path: Path
) -> None:
    folder = authors_files("val", "images_384_VarV2", [{"id": 1, "name": "fg"}], 1)
    (folder / "ImageClasses_FSC147.txt").write_text("7.jpg\tpills\n")
    run = run_benchmark("fscd_147", folder, lambda call: "[[50, 100, 150, 300], [250, 200, 450, 600]]")
    assert run.files.result["AP"] == 100.0
    assert load_annotations([tmp_path / "cache" / "FSCD_147" / "val" / "data.json"]) == [
        {"question_id": "7", "question": locate_category("pills"), "question_type": "bbox",
         "answer": [{"bbox": [10, 10, 20, 20], "area": 400, "iscrowd": 0},
                    {"bbox": [50, 20, 40, 40], "area": 400, "iscrowd": 0}],
         "img_path": "img/7.jpg", "width": 200, "height": 100, "category": "pills"},
    ]  # fmt: skip


def test_fscd_lvis_from_the_authors_files(
    run_benchmark: Callable[..., Any], authors_files: Callable[..., Path]
) -> None:
    folder = authors_files("test", "images/all_images", [{"id": 1, "name": "cup"}], 1)
    run = run_benchmark("FSCD_LVIS_bbox_val", folder, lambda call: "[[50, 100, 150, 300]]", name="fscd_lvis")
    # One of two boxes: precision 1 up to recall 1/2, 51 of 101 levels.
    assert run.files.result["AP"] == pytest.approx(100 * 51 / 101, abs=1e-4)
    assert run.calls[0].text == locate_category("cup")


def test_the_annotations_may_lie_in_a_folder_of_their_own(
    run_benchmark: Callable[..., Any], authors_files: Callable[..., Path]
) -> None:
    folder = authors_files("test", "images", [{"id": 1, "name": "cup"}], 1)
    (folder / "annotations").mkdir()
    (folder / "instances_test.json").rename(folder / "annotations" / "instances_test.json")
    run = run_benchmark("fscd_lvis", folder, lambda call: "[[50, 100, 150, 300], [250, 200, 450, 600]]")
    assert run.files.result["AP"] == 100.0


def test_a_category_that_names_nothing_is_refused(
    run_benchmark: Callable[..., Any], authors_files: Callable[..., Path], endpoint: Any
) -> None:
    run = run_benchmark(
        "fscd_lvis", authors_files("test", "images", [{"id": 1, "name": "fg"}], 1), lambda call: "[]"
    )
    assert run.ran.returncode == 1
    assert "image 7 (7.jpg): category 'fg' does not name what to locate" in run.ran.stderr
    assert endpoint.calls == []


def test_a_picture_of_another_size_than_its_boxes_were_drawn_on_is_refused(
    run_benchmark: Callable[..., Any], authors_files: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    folder = authors_files("val", "images", [{"id": 1, "name": "cup"}], 1)
    (folder / "images" / "7.jpg").write_bytes(png(7, (400, 200), "JPEG"))
    run = run_benchmark("fscd_147", folder, lambda call: "[]")
    assert run.ran.returncode == 1
    assert "7.jpg is 400 x 200, its boxes were drawn on 200 x 100" in run.ran.stderr


def test_a_table_that_fits_several_formats_is_read_as_the_config_says_and_that_is_told(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    row = {"index": 1, "image": png(1, SIZE), "category": "pill", "answer": "[[10, 10, 40, 40]]"}
    run = run_benchmark("fscd_147", write_tsv("x.tsv", [row]), lambda call: "[]")
    assert run.ran.returncode == 0
    assert "no row contradicts any of pixel_xyxy, pixel_xywh, norm1000_xyxy" in run.ran.stderr
    assert "read as pixel_xyxy" in run.ran.stderr


def test_an_image_with_boxes_of_two_categories_is_refused(
    run_benchmark: Callable[..., Any], authors_files: Callable[..., Path]
) -> None:
    categories = [{"id": 1, "name": "cup"}, {"id": 2, "name": "jug"}]
    run = run_benchmark("fscd_lvis", authors_files("test", "images", categories, 2), lambda call: "[]")
    assert run.ran.returncode == 1
    assert "image 7 (7.jpg): boxes of 2 categories, expected one" in run.ran.stderr


def test_a_row_whose_picture_is_broken_stays_in_the_denominator(
    run_benchmark: Callable[..., Any], write_tsv: Callable[..., Path], png: Callable[..., bytes]
) -> None:
    rows = _table(png)
    rows[1]["image"] = rows[1]["image"][:80]
    source = write_tsv("x.tsv", rows)
    run = run_benchmark("fscd_147", source, _reply)
    assert run.ran.returncode == 1
    assert "row 2 (question_id '1')" in run.ran.stderr
    run = run_benchmark("fscd_147", source, _reply, "--skip-bad-rows")
    assert run.ran.returncode == 3
    assert run.files.counts == {"total": 3, "answered": 2, "data_errors": 1}
    # As if row 1 had been answered unreadably.
    assert run.files.result["AP"] == pytest.approx(100 * (1 + 67 / 101 * 2 / 3) / 2, abs=1e-4)
