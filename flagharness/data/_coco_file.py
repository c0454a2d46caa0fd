"""Annotation files in the form of COCO: images, boxes and categories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from flagharness.errors import DataError


class CocoFile(NamedTuple):
    """What a file says, by id."""

    images: dict[Any, dict[str, Any]]
    """In the order of the file."""
    boxes: dict[Any, list[dict[str, Any]]]
    """By image id: ``bbox`` ([x, y, width, height] in pixels), ``label`` (the category's name), and ``area``,
    ``iscrowd`` and ``ignore`` where the file has them."""
    categories: dict[Any, dict[str, Any]]


def read_coco(path: str | Path) -> CocoFile:
    """Read a COCO detection file; polygons are dropped as they come by, so that LVIS fits into memory.

    Raises:
        DataError: The file cannot be read, a part of it is missing, or a box names an image or category that is not
            there.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8") as file:
            content = json.load(file, object_hook=_without_polygons)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error}).") from error
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}") from error
    missing = [
        key
        for key in ("images", "annotations", "categories")
        if not isinstance(content, dict) or key not in content
    ]
    if missing:
        raise DataError(f"{path}: no COCO file: {', '.join(missing)} missing.")
    try:
        images = {image["id"]: image for image in content["images"]}
        categories = {category["id"]: category for category in content["categories"]}
        boxes: dict[Any, list[dict[str, Any]]] = {image: [] for image in images}
        for box in content["annotations"]:
            kept = {key: box[key] for key in ("area", "iscrowd", "ignore") if key in box}
            label = categories[box["category_id"]]["name"]
            boxes[box["image_id"]].append({"bbox": box["bbox"], "label": label, **kept})
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{path}: an image, category or box lacks {error}, or names one that is not there."
        ) from error
    return CocoFile(images, boxes, categories)


def _without_polygons(value: dict[str, Any]) -> dict[str, Any]:
    value.pop("segmentation", None)
    return value
