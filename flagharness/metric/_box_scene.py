"""Truth and detections in the form of COCO files: checked, completed and sorted into images and categories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

Entry = Mapping[str, Any]


class Pair(NamedTuple):
    """What one image holds of one category."""

    truth: list[dict[str, Any]]
    detections: list[dict[str, Any]]


class Scene:
    """A set of images with true and predicted boxes, by category and image.

    It keeps references to what it is given; the dicts that the official code works on are made for one category at a
    time, so that memory does not grow with the number of categories.

    Args:
        truth: ``{"images": [{"id", "width", "height"}], "annotations": [{"image_id", "category_id", "bbox"}],
            "categories": [{"id", "name"}]}``; ``bbox`` is [x, y, width, height] in pixels. An annotation may have
            ``area`` (else width times height), ``iscrowd`` and ``ignore``. For federated evaluation an image has
            ``neg_category_ids`` and ``not_exhaustive_category_ids``, a category ``frequency`` ("r", "c" or "f").
        detections: ``[{"image_id", "category_id", "bbox", "score"}]``, in the order in which they were emitted.
        max_dets: Keep the best so many detections of an image, over all categories; None to keep all.
        federated: Drop detections of categories about which an image says nothing, and boxes without area, and take
            no notice of ``iscrowd``, as the LVIS code does.

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
        by_id = {entry["id"]: entry for entry in _unique(truth["categories"], "category")}
        self.categories = dict(sorted(by_id.items()))
        self._federated = federated
        self._boxes: dict[Any, dict[Any, tuple[list[Entry], list[Entry]]]] = {c: {} for c in self.categories}
        for box in truth["annotations"]:
            self._check(box, "a true box")
            if not federated or _true_area(box) > 0:
                self._at(box)[0].append(box)
        for box in detections:
            self._check(box, "a detection")
        best = detections
        if max_dets is not None:
            best = best_of_each_image(detections, max_dets, lambda box: -box["score"])
        for box in best:
            if not federated or (box["bbox"][2] * box["bbox"][3] > 0 and self._is_known(box)):
                self._at(box)[1].append(box)

    def pairs(self, category: Any) -> dict[Any, Pair]:
        """Return what the images hold of a category, by image id in ascending order; images without a box of it are
        left out. Ids of boxes are unique within an image, from 1."""
        return {
            image: Pair(
                [
                    _true_box(box, number, crowds=not self._federated)
                    for number, box in enumerate(real, start=1)
                ],
                [_detection(box, number) for number, box in enumerate(found, start=1)],
            )
            for image, (real, found) in sorted(self._boxes[category].items(), key=itemgetter(0))
        }

    def _at(self, box: Entry) -> tuple[list[Entry], list[Entry]]:
        return self._boxes[box["category_id"]].setdefault(box["image_id"], ([], []))

    def _check(self, box: Entry, what: str) -> None:
        if box["image_id"] not in self.images:
            raise ValueError(f"{what} is on image {box['image_id']!r}, which the truth does not have")
        if box["category_id"] not in self.categories:
            raise ValueError(f"{what} is of category {box['category_id']!r}, which the truth does not have")

    def _is_known(self, box: Entry) -> bool:
        """Whether the image says anything about the category: it is there, or verified to be absent."""
        category, image = box["category_id"], box["image_id"]
        here = self._boxes[category].get(image)
        return bool(here and here[0]) or category in self.images[image].get("neg_category_ids", ())

    def is_not_exhaustive(self, category: Any, image: Any) -> bool:
        """Whether boxes of the category may be missing from the truth of the image."""
        return category in self.images[image].get("not_exhaustive_category_ids", ())


def _true_area(box: Entry) -> float:
    return float(box.get("area", box["bbox"][2] * box["bbox"][3]))


def _true_box(box: Entry, number: int, *, crowds: bool) -> dict[str, Any]:
    crowd = crowds and bool(box.get("iscrowd", 0))
    return {
        "id": number,
        "image_id": box["image_id"],
        "category_id": box["category_id"],
        "bbox": list(box["bbox"]),
        "area": _true_area(box),
        "iscrowd": int(crowd),
        "ignore": int(crowd or bool(box.get("ignore", 0))),
    }


def _detection(box: Entry, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "image_id": box["image_id"],
        "category_id": box["category_id"],
        "bbox": list(box["bbox"]),
        "area": box["bbox"][2] * box["bbox"][3],
        "score": box["score"],
        "iscrowd": 0,
    }


def _unique(entries: Sequence[Entry], what: str) -> Sequence[Entry]:
    seen = set()
    for entry in entries:
        if entry["id"] in seen:
            raise ValueError(f"{what} {entry['id']!r} comes twice")
        seen.add(entry["id"])
    return entries


def best_of_each_image(detections: Sequence[Entry], most: int, rank: Callable[[Entry], Any]) -> list[Entry]:
    """Keep so many detections of every image, over all categories: those with the smallest rank.

    The detections of an image that has no more than that stay in their order.
    """
    by_image: dict[Any, list[Entry]] = {}
    for box in detections:
        by_image.setdefault(box["image_id"], []).append(box)
    return [
        box
        for boxes in by_image.values()
        for box in (boxes if len(boxes) <= most else sorted(boxes, key=rank)[:most])
    ]
