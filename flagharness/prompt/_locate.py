"""The prompts of OpenVLHarness for grounding, as its page (tool-vision/openvlharness.github.io) shows them."""

from __future__ import annotations

from collections.abc import Sequence


def locate_category(name: str) -> str:
    """Return the prompt that asks for the boxes of one category, as FSCD-147 has it.

    Example:
        >>> locate_category("pill")[:45]
        "Locate all instances of 'pill' in this image."
    """
    return (
        f"Locate all instances of '{name}' in this image. For each instance, output a bounding box as "
        "[x1, y1, x2, y2] where coordinates are normalised on a 0-1000 scale (with (0,0) as the top-left corner and "
        "(1000,1000) as the bottom-right corner). Your answer should be a list of lists. If there are no instances "
        f"of '{name}' in the image, output an empty list [] as your answer."
    )


def locate_categories(names: Sequence[str]) -> str:
    """Return the prompt that asks for the labelled boxes of several categories, as ODinW-13 has it.

    The first two names stand in its example; of a single one there is one example.

    Example:
        >>> locate_categories(["dog", "person"])[:79]
        "Locate every instance that belongs to the following categories: 'dog, person'. "
    """
    example = ", ".join(f'{{"bbox_2d": [x1, y1, x2, y2], "label": "{name}"}}' for name in names[:2])
    return (
        f"Locate every instance that belongs to the following categories: '{', '.join(names)}'. Report the bounding "
        "boxes in JSON format as a list of objects, one object per detected instance, where each object has a "
        '"bbox_2d" key with [x1, y1, x2, y2] and a "label" key with the category name exactly as written above. '
        "Coordinates must be normalised on a 0-1000 scale, with (0,0) as the top-left corner and (1000,1000) as the "
        f"bottom-right corner of the image. For example: [{example}]. If none of the listed categories is present, "
        "output an empty list []."
    )
