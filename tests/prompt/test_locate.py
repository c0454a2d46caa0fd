"""The prompts of the grounding sets, to the letter."""

from __future__ import annotations

from flagharness.prompt import locate_categories, locate_category


def test_one_category() -> None:
    assert locate_category("pill") == (
        "Locate all instances of 'pill' in this image. For each instance, output a bounding box as [x1, y1, x2, y2] "
        "where coordinates are normalised on a 0-1000 scale (with (0,0) as the top-left corner and (1000,1000) as "
        "the bottom-right corner). Your answer should be a list of lists. If there are no instances of 'pill' in the "
        "image, output an empty list [] as your answer."
    )


def test_several_categories_and_the_first_two_in_the_example() -> None:
    assert locate_categories(["aeroplane", "bicycle", "bird"]) == (
        "Locate every instance that belongs to the following categories: 'aeroplane, bicycle, bird'. Report the "
        "bounding boxes in JSON format as a list of objects, one object per detected instance, where each object has "
        'a "bbox_2d" key with [x1, y1, x2, y2] and a "label" key with the category name exactly as written above. '
        "Coordinates must be normalised on a 0-1000 scale, with (0,0) as the top-left corner and (1000,1000) as the "
        'bottom-right corner of the image. For example: [{"bbox_2d": [x1, y1, x2, y2], "label": "aeroplane"}, '
        '{"bbox_2d": [x1, y1, x2, y2], "label": "bicycle"}]. If none of the listed categories is present, output an '
        "empty list []."
    )


def test_a_single_one_stands_once() -> None:
    assert 'For example: [{"bbox_2d": [x1, y1, x2, y2], "label": "hand"}]. If' in locate_categories(["hand"])
