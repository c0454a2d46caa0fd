"""AP of a set of rows: from rows and verdicts to the plain dicts that the metrics take, and back to numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from flagharness.evaluator._box_rows import Row, TrueBox, categories_of, image_key, true_boxes
from flagharness.evaluator._box_verdict import BoxVerdict, Detection
from flagharness.evaluator._verdict import NO_ANSWER, Verdict
from flagharness.metric import coco_ap, lvis_ap, order_free_ap

Numbers = dict[str, "float | None"]
Entry = dict[str, Any]
"""One image, annotation or detection, as the metrics take it."""

COCO_KEYS = ("AP", "AP50", "AP75", "APs", "APm", "APl")
LVIS_KEYS = (*COCO_KEYS, "APr", "APc", "APf", "AR")
ANY = "any"
"""The one category of a class-agnostic evaluation."""


class Pair(NamedTuple):
    """A row and the verdict on one inference of it."""

    row: Row
    verdict: Verdict


@dataclass(frozen=True)
class Protocol:
    """How AP is computed."""

    federated: bool
    max_dets: int
    engine: str
    class_agnostic: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        return LVIS_KEYS if self.federated else COCO_KEYS

    @property
    def agnostic(self) -> Protocol:
        """The same with every box of one category."""
        return replace(self, class_agnostic=True)


class BoxSet:
    """Truth and detections of rows that are evaluated together, under whole-number ids in the order of the rows."""

    def __init__(self, pairs: Sequence[Pair], protocol: Protocol) -> None:
        self._protocol = protocol
        self._images = _numbered(image_key(row) for row, _ in pairs)
        self._categories = _numbered(self._name(name) for row, _ in pairs for name in categories_of(row))
        self.truth = self._truth(pairs)
        self.detections = [
            self._detection(row, found) for row, verdict in pairs for found in detections_of(verdict)
        ]
        top = max([1.0, *(found["score"] for found in self.detections)])
        self.if_answered = self.detections + [
            self._detection(row, Detection(box.category, box.bbox, top))
            for row, verdict in pairs
            if verdict.outcome in NO_ANSWER
            for box in true_boxes(row)
            if box.counts
        ]
        """The detections, had every row without an answer been answered perfectly."""

    def _name(self, category: str) -> str:
        return ANY if self._protocol.class_agnostic else category

    def _detection(self, row: Row, found: Detection) -> dict[str, Any]:
        return {
            "image_id": self._images[image_key(row)],
            "category_id": self._categories[self._name(found.category)],
            "bbox": found.bbox,
            "score": found.score,
        }

    def _truth(self, pairs: Sequence[Pair]) -> dict[str, Any]:
        images: dict[int, dict[str, Any]] = {}
        annotations: list[dict[str, Any]] = []
        frequencies: dict[str, str] = {}
        for row, _ in pairs:
            number = self._images[image_key(row)]
            image = images.setdefault(number, {"id": number, "width": row["width"], "height": row["height"]})
            boxes = true_boxes(row)
            annotations.extend(self._annotation(number, box) for box in boxes)
            if self._protocol.federated:
                category = self._categories[row["category"]]
                frequencies[row["category"]] = row["frequency"]
                image.setdefault("neg_category_ids", []).extend([] if boxes else [category])
                image.setdefault("not_exhaustive_category_ids", []).extend(
                    [category] if row.get("not_exhaustive") else []
                )
        return {
            "images": list(images.values()),
            "annotations": annotations,
            "categories": [
                {"id": number, "name": name, **_frequency(frequencies.get(name))}
                for name, number in self._categories.items()
            ],
        }

    def _annotation(self, image: int, box: TrueBox) -> dict[str, Any]:
        return {
            "image_id": image,
            "category_id": self._categories[self._name(box.category)],
            "bbox": box.bbox,
            "area": box.area,
            "iscrowd": box.iscrowd,
            "ignore": box.ignore,
        }

    @cached_property
    def _free(self) -> dict[str, Any]:
        return self._order_free(self.detections)

    def numbers(self) -> Numbers:
        """Return the AP of the set, in [0, 1]: order-free, as emitted, its spread, and what it could be at best."""
        free, official = self._free, self._as_emitted()
        more = len(self.if_answered) > len(self.detections)
        return {
            **{key: free[key] if key in free else official[key] for key in self._protocol.keys},
            "as_emitted": official["AP"],
            "lowest": free["lowest"],
            "highest": free["highest"],
            "at_best": self._order_free(self.if_answered)["AP"] if more else free["AP"],
        }

    def per_class(self) -> dict[str, dict[str, Any]]:
        """Return AP in [0, 1] (None without truth) and the number of true and predicted boxes of every category."""
        true = Counter(
            box["category_id"] for box in self.truth["annotations"] if not (box["iscrowd"] or box["ignore"])
        )
        found = Counter(box["category_id"] for box in self.detections)
        return {
            name: {"AP": self._free["per_category"][k], "n_truth": true[k], "n_predicted": found[k]}
            for name, k in self._categories.items()
        }

    def _order_free(self, detections: list[Entry]) -> dict[str, Any]:
        return order_free_ap(
            self.truth, detections, max_dets=self._protocol.max_dets, federated=self._protocol.federated
        )

    def _as_emitted(self) -> Numbers:
        most, engine = self._protocol.max_dets, self._protocol.engine
        if self._protocol.federated:
            return lvis_ap(self.truth, self.detections, max_dets=most, sizes=False, engine=engine)
        return coco_ap(self.truth, self.detections, max_dets=(most,), sizes=False, engine=engine)

    def beyond_max_dets(self) -> int:
        """Return how many detections do not count: each image takes ``max_dets``, of each category or in all."""
        per_image = Counter(
            (found["image_id"], None if self._protocol.federated else found["category_id"])
            for found in self.detections
        )
        return sum(max(0, number - self._protocol.max_dets) for number in per_image.values())


def detections_of(verdict: Verdict) -> list[Detection]:
    """Return the boxes of one inference; a row without a readable answer has none."""
    return verdict.detections if isinstance(verdict, BoxVerdict) else []


def mean_numbers(tables: Sequence[Mapping[str, float | None]]) -> Numbers:
    """Average each number over the tables that have it; None where none has.

    Example:
        >>> mean_numbers([{"AP": 0.5, "APs": None}, {"AP": 1.0, "APs": 0.25}])
        {'AP': 0.75, 'APs': 0.25}
    """
    return {key: _mean(table[key] for table in tables) for key in (tables[0] if tables else ())}


def grouped(pairs: Sequence[Pair], name_of: Callable[[Row], str | None]) -> dict[str | None, list[Pair]]:
    """Return the pairs by the group of their row, in order of first appearance."""
    groups: dict[str | None, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(name_of(pair.row), []).append(pair)
    return groups


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _frequency(value: str | None) -> dict[str, str]:
    return {} if value is None else {"frequency": value}


def _numbered(keys: Iterable[Hashable]) -> dict[Any, int]:
    """Number distinct keys from 1, in order of first appearance."""
    return {key: number for number, key in enumerate(dict.fromkeys(keys), start=1)}
