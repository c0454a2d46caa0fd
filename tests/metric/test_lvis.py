"""Federated box AP by the official LVIS code, on real annotations."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from flagharness.metric import lvis_ap, order_free_ap

Make = Callable[..., Any]
STRAY = [1.0, 1.0, 3.0, 3.0]


def _copied(truth: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"image_id": box["image_id"], "category_id": box["category_id"], "bbox": box["bbox"], "score": 1.0}
        for box in truth["annotations"]
    ]


def _stray(image: int, category: int) -> dict[str, Any]:
    return {"image_id": image, "category_id": category, "bbox": STRAY, "score": 1.0}


def _present(truth: dict[str, Any]) -> set[int]:
    return {box["category_id"] for box in truth["annotations"]}


def test_the_truth_itself_scores_1_in_every_slice(lvis_100: dict[str, Any]) -> None:
    assert list(lvis_ap(lvis_100, _copied(lvis_100)).values()) == [pytest.approx(1.0)] * 13


def test_boxes_of_categories_of_which_an_image_says_nothing_are_dropped(lvis_100: dict[str, Any]) -> None:
    here = {(box["image_id"], box["category_id"]) for box in lvis_100["annotations"]}
    unknown = [
        _stray(image["id"], category)
        for image in lvis_100["images"][:20]
        for category in sorted(_present(lvis_100))[:10]
        if (image["id"], category) not in here and category not in image["neg_category_ids"]
    ]
    assert len(unknown) > 100
    assert lvis_ap(lvis_100, [*unknown, *_copied(lvis_100)])["AP"] == pytest.approx(1.0)


def test_boxes_of_verified_absent_categories_are_mistakes_where_the_category_exists(
    lvis_100: dict[str, Any],
) -> None:
    present = _present(lvis_100)
    absent = [(image["id"], c) for image in lvis_100["images"] for c in image["neg_category_ids"]]
    mistakes = [_stray(*pair) for pair in absent if pair[1] in present]
    harmless = [_stray(*pair) for pair in absent if pair[1] not in present]
    assert len(mistakes) == 203
    assert lvis_ap(lvis_100, [*mistakes, *_copied(lvis_100)])["AP"] == pytest.approx(0.8635, abs=1e-4)
    assert lvis_ap(lvis_100, [*harmless, *_copied(lvis_100)])["AP"] == pytest.approx(1.0)


def test_unmatched_boxes_of_categories_that_are_not_exhaustive_are_ignored(lvis_100: dict[str, Any]) -> None:
    lenient = [_stray(i["id"], c) for i in lvis_100["images"] for c in i["not_exhaustive_category_ids"]]
    assert len(lenient) == 16
    assert lvis_ap(lvis_100, [*lenient, *_copied(lvis_100)])["AP"] == pytest.approx(1.0)


def test_300_boxes_of_an_image_count_over_all_its_categories(lvis_100: dict[str, Any]) -> None:
    boxes = {image["id"]: 0 for image in lvis_100["images"]}
    for box in lvis_100["annotations"]:
        boxes[box["image_id"]] += 1
    crowded = max(boxes, key=boxes.__getitem__)
    category = next(b["category_id"] for b in lvis_100["annotations"] if b["image_id"] == crowded)
    junk = [_stray(crowded, category)] * 300
    assert lvis_ap(lvis_100, [*_copied(lvis_100), *junk])["AP"] == pytest.approx(1.0)
    first = lvis_ap(lvis_100, [*junk, *_copied(lvis_100)])["AP"]
    assert first == pytest.approx(0.9703, abs=2e-3)


def test_no_detection_at_all_is_0_and_absent_groups_are_none(lvis_100: dict[str, Any]) -> None:
    assert set(lvis_ap(lvis_100, []).values()) == {0.0}
    frequent = {**lvis_100, "categories": [{**c, "frequency": "f"} for c in lvis_100["categories"]]}
    numbers = lvis_ap(frequent, [])
    assert (numbers["APr"], numbers["APc"], numbers["APf"]) == (None, None, 0.0)


def _noisy(truth: dict[str, Any], seed: int, *, distinct: bool) -> list[dict[str, Any]]:
    import numpy as np

    draw = np.random.default_rng(seed)
    absent = [(image["id"], c) for image in truth["images"] for c in image["neg_category_ids"]]
    found = []
    for box in truth["annotations"]:
        for _ in range(int(draw.poisson(2.0))):
            shift = draw.normal(0, 0.08, 4) * np.array([box["bbox"][2], box["bbox"][3]] * 2)
            noisy = [float(max(x, 0.1)) for x in np.array(box["bbox"]) + shift]
            found.append({"image_id": box["image_id"], "category_id": box["category_id"], "bbox": noisy})
    for image, category in absent[::3]:
        found.append({"image_id": image, "category_id": category, "bbox": [5.0, 5.0, 30.0, 30.0]})
    order = draw.permutation(len(found))
    return [{**found[i], "score": float(draw.random()) if distinct else 1.0} for i in order]


@pytest.mark.parametrize("distinct", [True, False])
def test_it_is_the_official_code_and_the_fast_engine_agrees(
    lvis_100: dict[str, Any], lvis_called_directly: Make, distinct: bool
) -> None:
    few = sorted(_present(lvis_100))
    # The official loop visits every category of every image: with those that occur it takes seconds, not minutes.
    truth = {**lvis_100, "categories": [c for c in lvis_100["categories"] if c["id"] in few]}
    found = [box for box in _noisy(lvis_100, 5, distinct=distinct) if box["category_id"] in few]
    ours = lvis_ap(truth, found)
    assert 0.05 < ours["AP"] < 0.95
    direct = lvis_called_directly(truth, found)
    fast = lvis_ap(truth, found, engine="fast")
    for key, value in ours.items():
        assert direct[key] == pytest.approx(value, abs=1e-12), key
        assert fast[key] == pytest.approx(value, abs=1e-12), key


@pytest.mark.parametrize("seed", range(6))
def test_small_scenes_too(random_scene: Make, lvis_called_directly: Make, seed: int) -> None:
    truth, found = random_scene(seed, distinct=seed % 2 == 0, crowds=False)
    ours, direct = lvis_ap(truth, found), lvis_called_directly(truth, found)
    for key, value in ours.items():
        assert direct[key] == (-1 if value is None else pytest.approx(value, abs=1e-12)), key


def test_a_crowd_is_a_box_like_any_other_as_the_official_code_has_it(lvis_called_directly: Make) -> None:
    truth = {
        "images": [{"id": 1, "width": 500, "height": 500, "neg_category_ids": [], "not_exhaustive_category_ids": []}],
        "annotations": [
            {"image_id": 1, "category_id": 1, "bbox": [0, 0, 100, 100], "iscrowd": 1},
            {"image_id": 1, "category_id": 1, "bbox": [300, 300, 50, 50]},
        ],
        "categories": [{"id": 1, "name": "c1", "frequency": "r"}],
    }  # fmt: skip
    found = [
        {"image_id": 1, "category_id": 1, "bbox": [10, 10, 10, 10], "score": 0.9},
        {"image_id": 1, "category_id": 1, "bbox": [300, 300, 50, 50], "score": 0.8},
    ]
    # A mistake, then a hit that finds one of two: precision 1/2 up to recall 1/2, which is 51 of 101 levels.
    expected = pytest.approx(0.5 * 51 / 101)
    assert lvis_called_directly(truth, found)["AP"] == expected
    assert lvis_ap(truth, found)["AP"] == expected
    assert lvis_ap(truth, found, engine="fast")["AP"] == expected
    assert order_free_ap(truth, found, max_dets=300, federated=True)["AP"] == expected


def test_without_sizes_the_rest_is_the_same(random_scene: Make) -> None:
    truth, found = random_scene(7, crowds=False)
    whole, part = lvis_ap(truth, found), lvis_ap(truth, found, sizes=False)
    assert part == {key: value for key, value in whole.items() if key[2:] not in ("s", "m", "l")}


def test_the_cut_to_300_is_made_over_all_categories_in_both_engines(random_scene: Make) -> None:
    truth, found = random_scene(3, images=2, crowds=False)
    crowded = [{**box, "score": box["score"] / 1000} for box in found for _ in range(40)] + found
    official, fast = lvis_ap(truth, crowded), lvis_ap(truth, crowded, engine="fast")
    for key, value in official.items():
        assert fast[key] == (value if value is None else pytest.approx(value, abs=1e-12)), key


def test_neither_opencv_nor_matplotlib_is_loaded_and_numpy_stays_as_it_is(
    lvis_100: dict[str, Any],
) -> None:
    import subprocess

    program = (
        "import sys, numpy\n"
        "from flagharness.metric import lvis_ap\n"
        "lvis_ap({'images': [], 'annotations': [], 'categories': []}, [])\n"
        "print([m for m in ('cv2', 'matplotlib', 'lvis') if m in sys.modules], hasattr(numpy, 'float'))\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["[]", "False"]


def test_threads_may_load_the_official_code_at_once() -> None:
    import subprocess

    program = (
        "import sys, threading\n"
        "from flagharness.metric import lvis_ap\n"
        "sys.setswitchinterval(1e-6)\n"
        "start, done = threading.Barrier(6), []\n"
        "def score():\n"
        "    start.wait()\n"
        "    lvis_ap({'images': [], 'annotations': [], 'categories': []}, [])\n"
        "    done.append(1)\n"
        "threads = [threading.Thread(target=score) for _ in range(6)]\n"
        "for thread in threads: thread.start()\n"
        "for thread in threads: thread.join()\n"
        "print(len(done), 'lvis' in sys.modules)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["6", "False"], ran.stderr


def test_without_the_package_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    monkeypatch.delitem(sys.modules, "lvis", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"flagharness\[lvis\]"):
        lvis_ap({"images": [], "annotations": [], "categories": []}, [])
