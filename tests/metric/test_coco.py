"""Box AP by the official COCO code: its own values, and what used to crash it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.metric import coco_ap

RIGHT = [[i * 50, 0, 40, 40] for i in range(10)]
WRONG = [[i * 50, 500, 40, 40] for i in range(5)]
MANY = [[(i % 50) * 20, (i // 50) * 20, 15, 15] for i in range(200)]
ENGINES = ["official", "fast"]
Make = Callable[..., Any]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("found", "ap"),
    [
        (RIGHT, 1.0),
        (RIGHT + WRONG, 1.0),
        (WRONG + RIGHT, 2 / 3),
        ([RIGHT[0], *RIGHT], 1 / 11 * 10 + 0.0),
        ([*RIGHT, RIGHT[0]], 1.0),
        ([[60, 60, -40, -40]], 0.0),
        ([[0, 0, 0, 0]], 0.0),
        ([], 0.0),
    ],
    ids=["all", "wrong last", "wrong first", "twice first", "twice last", "turned", "no size", "none"],
)
def test_ap_of_ten_boxes(truth_of: Make, found_of: Make, found: list[Any], ap: float, engine: str) -> None:
    truth = truth_of({1: [(1, box) for box in RIGHT]})
    numbers = coco_ap(truth, found_of(*((1, 1, box) for box in found)), engine=engine)
    if found[:1] == [RIGHT[0]] and found[1:2] == [RIGHT[0]]:
        # one hit, then a repetition, then nine hits: precision 1 up to recall 0.1, then at best 10/11
        ap = (11 + 90 * 10 / 11) / 101
    assert numbers["AP"] == pytest.approx(ap)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("first", "second", "ap"), [(1, 2, 0.4158), (2, 1, 0.8317)])
def test_ap_depends_on_the_order_of_image_ids(
    truth_of: Make, found_of: Make, first: int, second: int, ap: float, engine: str
) -> None:
    truth = truth_of({first: [(1, RIGHT[0])], second: [(1, box) for box in RIGHT[:5]]})
    found = found_of(*((first, 1, box) for box in WRONG), *((second, 1, box) for box in RIGHT[:5]))
    assert coco_ap(truth, found, engine=engine)["AP"] == pytest.approx(ap, abs=1e-4)


@pytest.mark.parametrize("engine", ENGINES)
def test_boxes_beyond_the_limit_do_not_count_and_ap_is_never_minus_1(
    truth_of: Make, found_of: Make, engine: str
) -> None:
    truth, found = truth_of({1: [(1, box) for box in MANY]}), found_of(*((1, 1, box) for box in MANY))
    assert coco_ap(truth, found, engine=engine)["AP"] == pytest.approx(0.5050, abs=1e-4)
    numbers = coco_ap(truth, found, max_dets=(100, 300, 1000), engine=engine)
    assert (numbers["AR100"], numbers["AP50"]) == (pytest.approx(0.5), pytest.approx(1.0))
    assert coco_ap(truth, found, max_dets=(1, 10, 300), engine=engine)["AP"] == pytest.approx(1.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_categories(truth_of: Make, found_of: Make, engine: str) -> None:
    truth = truth_of({1: [(1, RIGHT[0]), (2, RIGHT[1])]}, categories=3)
    only_first = found_of((1, 1, RIGHT[0]))
    assert coco_ap(truth, only_first, engine=engine)["AP"] == pytest.approx(0.5)  # one is never found
    of_no_truth = found_of((1, 1, RIGHT[0]), (1, 2, RIGHT[1]), (1, 3, RIGHT[2]))
    assert coco_ap(truth, of_no_truth, engine=engine)["AP"] == pytest.approx(1.0)  # one has no truth


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wrong_box_on_an_image_without_truth_counts(truth_of: Make, found_of: Make, engine: str) -> None:
    truth = truth_of({1: [], 2: [(1, RIGHT[0])]})
    assert coco_ap(truth, found_of((1, 1, WRONG[0]), (2, 1, RIGHT[0])), engine=engine)["AP"] == pytest.approx(
        0.5
    )


def test_size_slices_without_truth_are_none(truth_of: Make, found_of: Make) -> None:
    truth = truth_of({1: [(1, [0, 0, 300, 300])]})
    numbers = coco_ap(truth, found_of((1, 1, [0, 0, 300, 300])))
    assert {key: numbers[key] for key in ("APs", "APm", "APl", "ARs", "ARm", "ARl")} == {
        "APs": None, "APm": None, "APl": pytest.approx(1.0), "ARs": None, "ARm": None, "ARl": pytest.approx(1.0)
    }  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_no_truth_at_all_has_no_ap(truth_of: Make, found_of: Make, engine: str) -> None:
    for found in ([], found_of((1, 1, RIGHT[0]))):
        assert set(coco_ap(truth_of({1: []}), found, engine=engine).values()) == {None}


def test_two_categories_and_all_as_one(truth_of: Make, found_of: Make) -> None:
    a, b, stray = [10, 10, 40, 40], [200, 200, 40, 40], [500, 500, 30, 30]
    apart = coco_ap(
        truth_of({1: [(1, a)], 2: [(2, a), (2, b)]}, categories=2),
        found_of((1, 1, a), (2, 2, stray), (2, 2, a)),
    )
    assert apart["AP"] == pytest.approx((1 + 0.5 * 51 / 101) / 2)
    as_one = coco_ap(
        truth_of({1: [(1, a)], 2: [(1, a), (1, b)]}), found_of((1, 1, a), (2, 1, stray), (2, 1, a))
    )
    assert as_one["AP"] == pytest.approx((34 + 33 * 2 / 3) / 101)


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_official_code_to_the_last_bit_and_the_fast_engine_agrees(
    random_scene: Make, called_directly: Make, seed: int, distinct: bool
) -> None:
    truth, found = random_scene(seed, distinct=distinct)
    ours = coco_ap(truth, found)
    assert [-1 if value is None else value for value in ours.values()] == called_directly(truth, found)
    fast = coco_ap(truth, found, engine="fast")
    assert fast.keys() == ours.keys()
    for key, value in ours.items():
        assert fast[key] == (value if value is None else pytest.approx(value, abs=1e-12))


@pytest.mark.parametrize("engine", ENGINES)
def test_without_sizes_the_rest_is_the_same(random_scene: Make, engine: str) -> None:
    truth, found = random_scene(7)
    whole = coco_ap(truth, found, engine=engine)
    part = coco_ap(truth, found, sizes=False, engine=engine)
    assert part == {key: value for key, value in whole.items() if key[2:] not in ("s", "m", "l")}


def test_nothing_is_printed(random_scene: Make, capfd: pytest.CaptureFixture[str]) -> None:
    for engine in ENGINES:
        coco_ap(*random_scene(0), engine=engine)
    assert capfd.readouterr() == ("", "")


def test_what_it_is_given_stays_as_it_is(random_scene: Make) -> None:
    truth, found = random_scene(1)
    before = json.dumps([truth, found])
    for engine in ENGINES:
        coco_ap(truth, found, engine=engine)
    assert json.dumps([truth, found]) == before


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda truth, found: found.append({**found[0], "image_id": 9}), "a detection is on image 9"),
        (lambda truth, found: found.append({**found[0], "image_id": "1"}), "a detection is on image '1'"),
        (lambda truth, found: found.append({**found[0], "category_id": 7}), "a detection is of category 7"),
        (lambda truth, found: truth["annotations"][0].update(image_id=8), "a true box is on image 8"),
        (lambda truth, found: truth["images"].append(truth["images"][0]), "image 1 comes twice"),
        (lambda truth, found: truth["categories"].append(truth["categories"][0]), "category 1 comes twice"),
    ],
)
def test_ids_that_lead_nowhere_are_named(truth_of: Make, found_of: Make, spoil: Make, said: str) -> None:
    truth, found = truth_of({1: [(1, RIGHT[0])]}), found_of((1, 1, RIGHT[0]))
    spoil(truth, found)
    with pytest.raises(ValueError, match=said):
        coco_ap(truth, found)


def test_an_unknown_engine_is_refused(truth_of: Make) -> None:
    with pytest.raises(ValueError, match="'official' or 'fast', got 'quick'"):
        coco_ap(truth_of({1: []}), [], engine="quick")


def test_the_fast_engine_refuses_what_it_would_not_honour(truth_of: Make, found_of: Make) -> None:
    truth = truth_of({1: [(1, RIGHT[0])]})
    truth["annotations"][0]["ignore"] = 1
    with pytest.raises(ValueError, match="boxes with `ignore`"):
        coco_ap(truth, found_of((1, 1, RIGHT[0])), engine="fast")


HARD_CASES = json.loads((Path(__file__).parents[1] / "data" / "hard_cases" / "metric-box.json").read_text())


@pytest.mark.parametrize("case", HARD_CASES, ids=lambda case: case["id"])
def test_faults_people_met(case: dict[str, Any]) -> None:
    numbers = coco_ap(case["input"]["truth"], case["input"]["detections"])
    for key, value in case["expected"].items():
        assert numbers[key] == (value if value is None else pytest.approx(value)), key
