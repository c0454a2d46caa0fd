"""Box AP without the order of equal scores."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagharness.metric import coco_ap, lvis_ap, order_free_ap

RIGHT = [[i * 50, 0, 40, 40] for i in range(10)]
WRONG = [[i * 50, 500, 40, 40] for i in range(5)]
Make = Callable[..., Any]


@pytest.mark.parametrize("found", [RIGHT + WRONG, WRONG + RIGHT, RIGHT[:3] + WRONG + RIGHT[3:]])
def test_wrong_boxes_cost_the_same_wherever_they_stand(
    truth_of: Make, found_of: Make, found: list[Any]
) -> None:
    truth = truth_of({1: [(1, box) for box in RIGHT]})
    numbers = order_free_ap(truth, found_of(*((1, 1, box) for box in found)))
    assert numbers["AP"] == numbers["lowest"] == pytest.approx(10 / 15)
    assert numbers["highest"] == pytest.approx(1.0)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_the_ids_of_images_play_no_part(truth_of: Make, found_of: Make, first: int, second: int) -> None:
    truth = truth_of({first: [(1, RIGHT[0])], second: [(1, box) for box in RIGHT[:5]]})
    found = found_of(*((first, 1, box) for box in WRONG), *((second, 1, box) for box in RIGHT[:5]))
    # 5 of 10 boxes are right, 5 of 6 true ones are found: precision 1/2 up to recall 5/6, which is 84 of 101 levels.
    assert order_free_ap(truth, found)["AP"] == pytest.approx(0.5 * 84 / 101)


def test_two_categories_and_all_as_one(truth_of: Make, found_of: Make) -> None:
    a, b, stray = [10, 10, 40, 40], [200, 200, 40, 40], [500, 500, 30, 30]
    apart = order_free_ap(
        truth_of({1: [(1, a)], 2: [(2, a), (2, b)]}, categories=2),
        found_of((1, 1, a), (2, 2, stray), (2, 2, a)),
    )
    assert apart["AP"] == pytest.approx((1 + 0.5 * 51 / 101) / 2)
    assert apart["per_category"] == {1: pytest.approx(1.0), 2: pytest.approx(0.5 * 51 / 101)}
    as_one = order_free_ap(
        truth_of({1: [(1, a)], 2: [(1, a), (1, b)]}), found_of((1, 1, a), (2, 1, stray), (2, 1, a))
    )
    # 2 of 3 boxes are right, 2 of 3 true ones are found, which is 67 of 101 levels.
    assert as_one["AP"] == pytest.approx(67 / 101 * 2 / 3)
    assert as_one["highest"] == pytest.approx(67 / 101)


def test_a_box_that_fits_better_takes_the_true_box_whichever_comes_first(
    truth_of: Make, found_of: Make
) -> None:
    truth = truth_of({1: [(1, [0, 0, 100, 100])]})
    exact, loose = (1, 1, [0, 0, 100, 100]), (1, 1, [0, 0, 100, 60])
    both = [order_free_ap(truth, found_of(*order)) for order in ((exact, loose), (loose, exact))]
    assert both[0] == both[1]
    assert both[0]["AP75"] == both[0]["AP50"] == pytest.approx(0.5)


def test_nothing_found_is_0_and_nothing_to_find_is_none(truth_of: Make, found_of: Make) -> None:
    assert order_free_ap(truth_of({1: [(1, RIGHT[0])]}), [])["AP"] == 0.0
    numbers = order_free_ap(truth_of({1: []}), found_of((1, 1, RIGHT[0])))
    assert (numbers["AP"], numbers["lowest"], numbers["highest"]) == (None, None, None)


def test_ignored_truth_absorbs_boxes_without_harm(truth_of: Make, found_of: Make) -> None:
    truth = truth_of({1: [(1, RIGHT[0]), (1, RIGHT[1])]})
    truth["annotations"][1]["ignore"] = 1
    assert order_free_ap(truth, found_of((1, 1, RIGHT[0]), (1, 1, RIGHT[1])))["AP"] == pytest.approx(1.0)
    assert order_free_ap(truth, found_of((1, 1, RIGHT[0])))["AP"] == pytest.approx(1.0)


def test_of_too_many_boxes_the_first_by_coordinates_count(truth_of: Make, found_of: Make) -> None:
    many = [[(i % 50) * 20, (i // 50) * 20, 15, 15] for i in range(200)]
    truth, found = truth_of({1: [(1, box) for box in many]}), found_of(*((1, 1, box) for box in many))
    assert order_free_ap(truth, found)["AP"] == pytest.approx(51 / 101)
    assert order_free_ap(truth, found[::-1]) == order_free_ap(truth, found)


@pytest.mark.parametrize("seed", range(25))
def test_where_all_scores_differ_it_is_the_official_value(random_scene: Make, seed: int) -> None:
    truth, found = random_scene(seed)
    ours, official = order_free_ap(truth, found), coco_ap(truth, found)
    for key in ("AP", "AP50", "AP75", "APs", "APm", "APl"):
        expected = official[key]
        assert ours[key] == (expected if expected is None else pytest.approx(expected, abs=1e-12)), key


@pytest.mark.parametrize("seed", range(25))
def test_where_all_scores_differ_it_is_the_official_federated_value(random_scene: Make, seed: int) -> None:
    truth, found = random_scene(seed, crowds=False)
    ours, official = order_free_ap(truth, found, max_dets=300, federated=True), lvis_ap(truth, found)
    for key in ("AP", "AP50", "AP75", "APs", "APm", "APl", "APr", "APc", "APf"):
        expected = official[key]
        assert ours[key] == (expected if expected is None else pytest.approx(expected, abs=1e-12)), key


@pytest.mark.parametrize("federated", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_no_order_of_anything_changes_it(random_scene: Make, seed: int, federated: bool) -> None:
    truth, found = random_scene(seed, distinct=False)
    numbers = order_free_ap(truth, found, max_dets=7, federated=federated)
    shuffle = random.Random(seed).sample
    other = {key: shuffle(entries, len(entries)) for key, entries in truth.items()}
    assert order_free_ap(other, shuffle(found, len(found)), max_dets=7, federated=federated) == numbers


@pytest.mark.parametrize("seed", range(12))
def test_every_order_lies_between_lowest_and_highest(truth_of: Make, found_of: Make, seed: int) -> None:
    draw = random.Random(seed)
    # Boxes that do not touch: who matches whom is beyond doubt, and order decides the ranking alone.
    truth = truth_of({image: [(1, RIGHT[i]) for i in draw.sample(range(10), 4)] for image in (1, 2, 3)})
    found = found_of(
        *((image, 1, box) for image in (1, 2, 3) for box in (*draw.sample(RIGHT, 4), *draw.sample(WRONG, 2)))
    )
    numbers = order_free_ap(truth, found)
    for _ in range(20):
        emitted = coco_ap(truth, draw.sample(found, len(found)))["AP"]
        assert numbers["lowest"] - 1e-12 <= emitted <= numbers["highest"] + 1e-12


def _entries(boxes: st.SearchStrategy[list[int]], **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    where = {"image_id": st.integers(1, 2), "category_id": st.just(1), "bbox": boxes}
    return st.lists(st.fixed_dictionaries({**where, **more}), min_size=2, max_size=10)


# A narrow grid, so that equal boxes, equal overlaps and equal scores are the rule.
_GRID = st.tuples(*(st.sampled_from(v) for v in ((0, 10, 20), (0,), (20, 30, 0), (20,)))).map(list)
_FLAG = st.sampled_from((0, 0, 0, 0, 1))


@settings(deadline=None)
@given(
    _entries(_GRID, iscrowd=_FLAG, ignore=_FLAG, area=st.sampled_from((100, 5000, 20000))),
    _entries(_GRID, score=st.sampled_from((0.5, 1.0))),
    st.booleans(),
    st.integers(0, 1000),
)
def test_no_order_changes_it_where_everything_is_tied(
    real: list[Any], found: list[Any], federated: bool, seed: int
) -> None:
    truth: dict[str, Any] = {
        "images": [
            {"id": i, "neg_category_ids": [1], "not_exhaustive_category_ids": [1][: i - 1]} for i in (1, 2)
        ],
        "annotations": real,
        "categories": [{"id": 1, "name": "a", "frequency": "r"}],
    }
    draw = random.Random(seed)
    numbers = order_free_ap(truth, found, max_dets=3, federated=federated)
    other = {key: draw.sample(entries, len(entries)) for key, entries in truth.items()}
    assert order_free_ap(other, draw.sample(found, len(found)), max_dets=3, federated=federated) == numbers


# A true box of (100 c, 0, 80, 80) in cell c; detections stay in their cell, so that each meets at most one.
_CELL = st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(0, 4))
_IN_CELL = st.tuples(_CELL, st.integers(0, 20), st.integers(20, 80))


@settings(deadline=None)
@given(st.sets(_CELL, max_size=8), st.lists(_IN_CELL, max_size=10), st.randoms(use_true_random=False))
def test_it_is_the_official_value_wherever_scores_differ(
    cells: set[tuple[int, int, int]], drawn: list[Any], draw: random.Random
) -> None:
    truth = {
        "images": [
            {"id": i, "neg_category_ids": [1, 2], "not_exhaustive_category_ids": [1][: i - 1]} for i in (1, 2)
        ],
        "annotations": [
            {"image_id": i, "category_id": c, "bbox": [100 * cell, 0, 80, 80]} for i, c, cell in sorted(cells)
        ],
        "categories": [{"id": 1, "name": "a", "frequency": "r"}, {"id": 2, "name": "b", "frequency": "f"}],
    }
    scores = draw.sample(range(1, 100), len(drawn))
    found = [
        {"image_id": i, "category_id": c, "bbox": [100 * cell + x, 0, 80 - x, height], "score": score / 100}
        for ((i, c, cell), x, height), score in zip(drawn, scores, strict=True)
    ]
    for federated, official in ((False, coco_ap(truth, found)), (True, lvis_ap(truth, found))):
        ours = order_free_ap(truth, found, max_dets=300 if federated else 100, federated=federated)
        for key in official.keys() & ours.keys():
            expected = official[key]
            assert ours[key] == (expected if expected is None else pytest.approx(expected, abs=1e-12)), key


def test_it_is_the_official_value_in_a_larger_scene_too(random_scene: Make) -> None:
    truth, found = random_scene(100, images=150, categories=20)
    ours, official = order_free_ap(truth, found), coco_ap(truth, found)
    for key in ("AP", "AP50", "AP75", "APs", "APm", "APl"):
        assert ours[key] == pytest.approx(official[key], abs=1e-12), key
