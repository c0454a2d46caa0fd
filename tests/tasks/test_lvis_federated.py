"""LVIS, federated: pairs of images and categories, on real annotations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.data import load_annotations
from flagharness.prompt import locate_category

REAL = Path(__file__).parents[1] / "data" / "lvis_val_100.json"


@pytest.fixture
def lvis(tmp_path: Path) -> tuple[Path, Path, dict[str, Any]]:
    """Two images of the real annotations with pictures of their size: the file, the folder of COCO, the content."""
    from PIL import Image

    content = json.loads(REAL.read_text(encoding="utf-8"))
    chosen = sorted(
        content["images"], key=lambda image: (len(_categories(content, image["id"])), image["id"])
    )[20:22]
    ids = {image["id"] for image in chosen}
    content["images"] = [
        {**image, "coco_url": f"http://images.cocodataset.org/{folder}/{image['id']:012}.jpg"}
        for image, folder in zip(chosen, ("val2017", "train2017"), strict=True)
    ]
    content["annotations"] = [box for box in content["annotations"] if box["image_id"] in ids]
    coco = tmp_path / "coco"
    for image in content["images"]:
        path = coco.joinpath(*image["coco_url"].split("/")[-2:])
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (image["width"], image["height"]), (image["id"] % 256, 0, 0)).save(path)
    file = tmp_path / "lvis_v1_val.json"
    file.write_text(json.dumps(content))
    return file, coco, content


def _categories(content: dict[str, Any], image: int) -> set[int]:
    return {box["category_id"] for box in content["annotations"] if box["image_id"] == image}


def _answers(content: dict[str, Any], image: int, category: int) -> list[list[float]]:
    """The true boxes as a perfect model states them."""
    size = next(entry for entry in content["images"] if entry["id"] == image)
    return [
        [x / size["width"] * 1000, y / size["height"] * 1000, (x + w) / size["width"] * 1000,
         (y + h) / size["height"] * 1000]
        for box in content["annotations"]
        if (box["image_id"], box["category_id"]) == (image, category)
        for x, y, w, h in [box["bbox"]]
    ]  # fmt: skip


@pytest.fixture
def run_lvis(
    run_benchmark: Callable[..., Any], lvis: tuple[Path, Path, dict[str, Any]]
) -> Callable[..., Any]:
    """Return a function that runs the task on the two images; the reply is a function of (image id, category id)."""
    file, coco, content = lvis
    names = {locate_category(c["name"].replace("_", " ")): c["id"] for c in content["categories"]}
    sizes = {(image["width"], image["height"]): image["id"] for image in content["images"]}

    def run(reply: Callable[[int, int], Any], *options: Any) -> Any:
        def script(call: Any) -> Any:
            import io

            from PIL import Image

            with Image.open(io.BytesIO(call.images[0][1])) as picture:
                red = picture.convert("RGB").getpixel((0, 0))[0]
                size = picture.size
            images = [i["id"] for i in content["images"] if abs(i["id"] % 256 - red) < 4 and size in sizes]
            return reply(images[0], names[call.text])

        return run_benchmark(
            "LVIS_bbox_val_federated",
            file,
            script,
            f"config.images_root={coco}",
            *options,
            name="lvis_federated",
        )

    return run


def test_every_pair_that_the_annotators_looked_at_is_a_row(
    run_lvis: Callable[..., Any], golden_requests: Callable[..., None], lvis: Any, tmp_path: Path
) -> None:
    _, coco, content = lvis
    run = run_lvis(lambda image, category: json.dumps(_answers(content, image, category)))
    rows = load_annotations([tmp_path / "cache" / "LVIS_federated" / "val" / "data.json"])
    expected = [
        f"{image['id']}_{category}"
        for image in content["images"]
        for category in sorted(_categories(content, image["id"]) | set(image["neg_category_ids"]))
    ]
    assert [row["question_id"] for row in rows] == expected
    assert len(expected) > 10
    by_id = {row["question_id"]: row for row in rows}
    image = content["images"][0]
    shown, absent = min(_categories(content, image["id"])), min(image["neg_category_ids"])
    assert by_id[f"{image['id']}_{absent}"]["answer"] == []
    name, frequency = next((c["name"], c["frequency"]) for c in content["categories"] if c["id"] == shown)
    row = by_id[f"{image['id']}_{shown}"]
    assert {**row, "answer": len(row["answer"])} == {
        "question_id": f"{image['id']}_{shown}",
        "question_type": "bbox",
        "answer": len(_answers(content, image["id"], shown)),
        "img_path": str(coco / "val2017" / f"{image['id']:012}.jpg"),
        "width": image["width"],
        "height": image["height"],
        "image_id": image["id"],
        "category": name,
        "frequency": frequency,
        "not_exhaustive": shown in image["not_exhaustive_category_ids"],
    }
    # A perfect model.
    assert run.ran.returncode == 0
    assert run.files.result["AP"] == run.files.result["AP_as_emitted"] == pytest.approx(100, abs=1e-4)
    assert run.files.result["AR"] == pytest.approx(100, abs=1e-4)
    golden_requests("lvis_federated", run.calls[:2])


def test_a_model_that_finds_nothing_and_one_that_finds_half_of_the_categories(
    run_lvis: Callable[..., Any], lvis: Any
) -> None:
    content = lvis[2]
    run = run_lvis(lambda image, category: "[]")
    assert run.files.result["AP"] == run.files.result["AP_as_emitted"] == 0.0
    shown = sorted({box["category_id"] for box in content["annotations"]})
    found = set(shown[::2])

    def reply(image: int, category: int) -> str:
        return json.dumps(_answers(content, image, category)) if category in found else "none of these"

    run = run_lvis(reply, "--overwrite")
    result = run.files.result
    assert result["AP"] == pytest.approx(100 * len(found) / len(shown), abs=1e-4)
    assert len(result["never_predicted"]) == len(shown) - len(found)


def test_boxes_of_an_absent_category_do_harm_only_where_the_category_has_truth(
    run_lvis: Callable[..., Any], lvis: Any
) -> None:
    content = lvis[2]
    shown = {box["category_id"] for box in content["annotations"]}

    def reply(image: int, category: int) -> str:
        boxes = _answers(content, image, category)
        return json.dumps(boxes or ([[0, 0, 10, 10]] if category not in shown else []))

    assert run_lvis(reply).files.result["AP"] == pytest.approx(100, abs=1e-4)


def test_a_limited_run_counts_nothing_as_missed_that_was_not_asked(
    run_lvis: Callable[..., Any], lvis: Any
) -> None:
    content = lvis[2]
    run = run_lvis(lambda image, category: json.dumps(_answers(content, image, category)), "--limit", "5")
    assert run.files.result["partial"] is True
    assert run.files.result["AP"] in (None, pytest.approx(100, abs=1e-4))


def test_names_are_shown_with_spaces(run_lvis: Callable[..., Any], lvis: Any) -> None:
    run = run_lvis(lambda image, category: "[]")
    assert not any("_" in call.text.replace("bbox_2d", "") for call in run.calls)


@pytest.mark.parametrize("variable", ["LVIS_GT_PATH", "LVIS_DATA_ROOT", "LMUData"])
def test_the_annotations_are_found_where_other_tools_keep_them(
    run_benchmark: Callable[..., Any], lvis: Any, tmp_path: Path, environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch, variable: str,
) -> None:  # fmt: skip
    file, coco, _ = lvis
    place = tmp_path / "elsewhere" / {"LMUData": "lvis-api/data"}.get(variable, "") / file.name
    place.parent.mkdir(parents=True)
    file.rename(place)
    value = place if variable == "LVIS_GT_PATH" else tmp_path / "elsewhere"
    for name, path in ((variable, value), ("COCO_IMAGES", coco)):
        environment[name] = str(path)
        monkeypatch.setenv(name, str(path))
    run = run_benchmark("lvis_federated", None, lambda call: "[]")
    assert run.ran.returncode == 0
    assert run.files.result["AP"] == 0.0


def test_a_row_without_an_answer_is_missed_and_one_that_is_not_exhaustive_forgives_strays(
    run_lvis: Callable[..., Any], lvis: Any, endpoint: Any
) -> None:
    file, _, content = lvis
    shown = sorted({box["category_id"] for box in content["annotations"]})
    lenient = next(
        category
        for category in shown
        if sum(category in _categories(content, i["id"]) for i in content["images"]) == 1
    )
    failing = next(category for category in shown if category != lenient)
    for image in content["images"]:
        image["not_exhaustive_category_ids"] = [lenient]
    file.write_text(json.dumps(content))

    def reply(image: int, category: int) -> Any:
        if category == failing:
            return endpoint.fails(400)
        boxes = _answers(content, image, category)
        return json.dumps([[0, 0, 3, 3], *boxes] if category == lenient else boxes)

    run = run_lvis(reply)
    # Every category is 1 but the one whose requests fail; the stray boxes of the lenient one are forgiven.
    assert run.ran.returncode == 3
    perfect = 100 * (len(shown) - 1) / len(shown)
    assert run.files.result["AP"] == run.files.result["AP_as_emitted"] == pytest.approx(perfect, abs=1e-4)
    assert run.files.result["range"] == [pytest.approx(perfect, abs=1e-4), 100.0]
    assert "benchmark" not in run.files.result.get("note", "")


def test_a_picture_of_another_size_than_annotated_is_refused(
    run_benchmark: Callable[..., Any], lvis: Any, png: Callable[..., bytes], endpoint: Any
) -> None:
    file, coco, content = lvis
    other = coco / "val2017" / f"{content['images'][0]['id']:012}.jpg"
    other.write_bytes(png(1, (20, 10), "JPEG"))
    run = run_benchmark("lvis_federated", file, lambda call: "[]", f"config.images_root={coco}")
    assert run.ran.returncode == 1
    assert f"{other} is 20 x 10, annotated " in run.ran.stderr
    assert endpoint.calls == []


def test_what_is_missing_is_named(run_benchmark: Callable[..., Any], lvis: Any, endpoint: Any) -> None:
    file, coco, content = lvis
    file = file.rename(file.with_name("lvis.json"))
    run = run_benchmark("lvis_federated", None, lambda call: "[]")
    assert run.ran.returncode == 1
    assert "no LVIS annotations: lvis_v1_val.json" in run.ran.stderr
    gone = coco / "train2017" / f"{content['images'][1]['id']:012}.jpg"
    gone.unlink()
    run = run_benchmark("lvis_federated", file, lambda call: "[]", f"config.images_root={coco}")
    assert run.ran.returncode == 1
    assert f"1 of 2 pictures are not below {coco}" in run.ran.stderr
    assert str(gone) in run.ran.stderr
    assert endpoint.calls == []


def test_a_coco_file_that_is_no_lvis_file_is_refused(run_benchmark: Callable[..., Any], lvis: Any) -> None:
    file, coco, content = lvis
    content["images"] = [
        {k: v for k, v in image.items() if k != "neg_category_ids"} for image in content["images"]
    ]
    file.write_text(json.dumps(content))
    run = run_benchmark("lvis_federated", file, lambda call: "[]", f"config.images_root={coco}")
    assert run.ran.returncode == 1
    assert "lacks neg_category_ids or not_exhaustive_category_ids" in run.ran.stderr
