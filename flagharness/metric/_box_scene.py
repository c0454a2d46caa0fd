"""Truth and detections in the form of COCO files: checked, completed and sorted into images and categories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Entry = Mapping[str, Any]


class Pair(NamedTuple):
    """What one image holds of one category."""

    truth: list[dict[str, Any]]
    detections: list[dict[str, Any]]


class Scene:
    """A set of images with true and predicted boxes, numbered as the official code wants it.

    Args:
        truth: ``{"images": [{"id", "width", "height"}], "annotations": [{"image_id", "category_id", "bbox"}],
            "categories": [{"id", "name"}]}``; ``bbox`` is [x, y, width, height] in pixels. An annotation may have
            ``area`` (else width times height), ``iscrowd`` and ``ignore``. For federated evaluation an image has
            ``neg_category_ids`` and ``not_exhaustive_category_ids``, a category ``frequency`` ("r", "c" or "f").
        detections: ``[{"image_id", "category_id", "bbox", "score"}]``, in the order in which they were emitted.
        max_dets: Keep the best so many detections of an image, over all categories; None to keep all.
        federated: Drop detections of categories about which an image says nothing, and boxes without area, as the
            LVIS code does.

    Raises:
        ValueError: An image or category comes twice or is unknown; names its id.
    """

    def __init__(
        self,
        truth: Entry,
        detections: Sequence[Entry],
        *,
        max_dets: int | None = None,
        federated: bool = False,
    ) -> None:
        self.images = {image["id"]: image for image in _unique(truth["images"], "image")}
        self.categories = {entry["id"]: entry for entry in _unique(truth["categories"], "category")}
        self.pairs: dict[Any, dict[Any, Pair]] = {category: {} for category in sorted(self.categories)}
        """By category, then by image; only pairs that hold a box. Both sorted by id."""
        filled: dict[tuple[Any, Any], Pair] = defaultdict(lambda: Pair([], []))
        for number, box in enumerate(truth["annotations"], start=1):
            self._check(box, "a true box")
            x, y, width, height = box["bbox"]
            kept = {
                "id": number,
                "image_id": box["image_id"],
                "category_id": box["category_id"],
                "bbox": [x, y, width, height],
                "area": box.get("area", width * height),
                "iscrowd": int(bool(box.get("iscrowd", 0))),
                "ignore": int(bool(box.get("ignore", 0)) or bool(box.get("iscrowd", 0))),
            }
            if not federated or kept["area"] > 0:
                filled[box["category_id"], box["image_id"]].truth.append(kept)
        for box in detections:
            self._check(box, "a detection")
        ranked = detections if max_dets is None else _best_of_each_image(detections, max_dets)
        for number, box in enumerate(ranked, start=1):
            x, y, width, height = box["bbox"]
            category, image = box["category_id"], box["image_id"]
            if federated and (width * height <= 0 or not self._is_known(category, image, filled)):
                continue
            filled[category, image].detections.append(
                {
                    "id": number,
                    "image_id": image,
                    "category_id": category,
                    "bbox": [x, y, width, height],
                    "area": width * height,
                    "score": box["score"],
                    "iscrowd": 0,
                }
            )
        for category, image in sorted(filled):
            self.pairs[category][image] = filled[category, image]

    def _check(self, box: Entry, what: str) -> None:
        if box["image_id"] not in self.images:
            raise ValueError(f"{what} is on image {box['image_id']!r}, which the truth does not have")
        if box["category_id"] not in self.categories:
            raise ValueError(f"{what} is of category {box['category_id']!r}, which the truth does not have")

    def _is_known(self, category: Any, image: Any, filled: Mapping[tuple[Any, Any], Pair]) -> bool:
        """Whether the image says anything about the category: it is there, or verified to be absent."""
        here = filled.get((category, image))
        return bool(here and here.truth) or category in self.images[image].get("neg_category_ids", ())

    def is_not_exhaustive(self, category: Any, image: Any) -> bool:
        """Whether boxes of the category may be missing from the truth of the image."""
        return category in self.images[image].get("not_exhaustive_category_ids", ())


def _unique(entries: Sequence[Entry], what: str) -> Sequence[Entry]:
    seen = set()
    for entry in entries:
        if entry["id"] in seen:
            raise ValueError(f"{what} {entry['id']!r} comes twice")
        seen.add(entry["id"])
    return entries


def _best_of_each_image(detections: Sequence[Entry], most: int) -> list[Entry]:
    by_image: dict[Any, list[Entry]] = {}
    for box in detections:
        by_image.setdefault(box["image_id"], []).append(box)
    return [
        box
        for boxes in by_image.values()
        for box in (boxes if len(boxes) <= most else sorted(boxes, key=lambda b: -b["score"])[:most])
    ]
