"""Scenes with boxes, and the official codes called directly."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parents[1] / "data"
Scene = tuple[dict[str, Any], list[dict[str, Any]]]


@pytest.fixture
def truth_of() -> Callable[..., dict[str, Any]]:
    """Return a function: ``truth_of({image: [(category, xywh), ...]})``, every image 1000 x 1000."""

    def make(
        boxes: Mapping[int, Sequence[tuple[int, Sequence[float]]]], categories: int = 1
    ) -> dict[str, Any]:
        return {
            "images": [{"id": image, "width": 1000, "height": 1000} for image in boxes],
            "annotations": [
                {"image_id": image, "category_id": category, "bbox": list(box)}
                for image, here in boxes.items()
                for category, box in here
            ],
            "categories": [{"id": number, "name": f"c{number}"} for number in range(1, categories + 1)],
        }

    return make


@pytest.fixture
def found_of() -> Callable[..., list[dict[str, Any]]]:
    """Return a function: ``found_of((image, category, xywh), ...)``, every score 1."""
    return lambda *boxes: [
        {"image_id": image, "category_id": category, "bbox": list(box), "score": 1.0}
        for image, category, box in boxes
    ]


@pytest.fixture
def random_scene() -> Callable[..., Scene]:
    """Return a function that draws boxes and noisy detections of them; the seed decides everything."""

    def make(
        seed: int, images: int = 12, categories: int = 4, *, distinct: bool = True, crowds: bool = True
    ) -> Scene:
        import numpy as np

        draw = np.random.default_rng(seed)
        annotations: list[dict[str, Any]] = []
        for image in range(1, images + 1):
            for _ in range(int(draw.poisson(4))):
                box = [float(x) for x in (*draw.uniform(0, 800, 2), *draw.uniform(5, 200, 2))]
                annotations.append(
                    {
                        "image_id": image,
                        "category_id": int(draw.integers(1, categories + 1)),
                        "bbox": box,
                        "iscrowd": int(crowds and draw.random() < 0.08),
                    }
                )
        detections = []
        for box in annotations:
            for _ in range(int(draw.poisson(1.5))):
                stray = draw.random() < 0.2
                noisy = np.array(box["bbox"]) + draw.normal(0, 8, 4)
                detections.append(
                    {
                        "image_id": box["image_id"],
                        "category_id": int(draw.integers(1, categories + 1)) if stray else box["category_id"],
                        "bbox": [float(max(0.5, x)) for x in noisy],
                        "score": float(draw.random()) if distinct else 1.0,
                    }
                )
        frequencies = "rcf"
        return (
            {
                "images": [
                    {
                        "id": image,
                        "width": 1000,
                        "height": 1000,
                        "neg_category_ids": [int(c) for c in draw.permutation(categories)[:2] + 1],
                        "not_exhaustive_category_ids": [int(draw.integers(1, categories + 1))],
                    }
                    for image in range(1, images + 1)
                ],
                "annotations": annotations,
                "categories": [
                    {"id": n, "name": f"c{n}", "frequency": frequencies[n % 3]}
                    for n in range(1, categories + 1)
                ],
            },
            detections,
        )

    return make


@pytest.fixture
def called_directly() -> Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], list[float]]:
    """Return a function that gives the twelve numbers of COCOeval, used as its authors use it."""

    def run(truth: Mapping[str, Any], detections: Sequence[Mapping[str, Any]]) -> list[float]:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval

        with contextlib.redirect_stdout(io.StringIO()):
            real = COCO()
            real.dataset = {
                **truth,
                "annotations": [
                    {"id": n, "area": box["bbox"][2] * box["bbox"][3], "iscrowd": 0, **box}
                    for n, box in enumerate(truth["annotations"], start=1)
                ],
            }
            real.createIndex()
            evaluation = COCOeval(real, real.loadRes([dict(box) for box in detections]), "bbox")
            evaluation.evaluate()
            evaluation.accumulate()
            evaluation.summarize()
        return [float(value) for value in evaluation.stats]

    return run


@pytest.fixture
def lvis_called_directly() -> Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], dict[str, float]]:
    """Return a function that gives the results of LVISEval.run(), used as its authors use it."""

    def run(truth: Mapping[str, Any], detections: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        import flagharness.metric._lvis as ours

        module = ours._lvis_eval()
        real = module.LVIS.__new__(module.LVIS)
        real.logger = logging.getLogger("lvis")
        real.dataset = {
            **truth,
            "annotations": [
                {"id": n, "area": box["bbox"][2] * box["bbox"][3], **box}
                for n, box in enumerate(truth["annotations"], start=1)
            ],
        }
        real._create_index()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # logger.warn
            logging.getLogger("lvis.results").disabled = True
            found = module.LVISResults(real, [dict(box) for box in detections])
        evaluation = module.LVISEval(real, found, "bbox")
        evaluation.run()
        return {key.partition("@")[0]: float(value) for key, value in evaluation.results.items()}

    return run


@pytest.fixture(scope="session")
def lvis_100() -> dict[str, Any]:
    """The true boxes of 100 LVIS images."""
    return dict(json.loads((DATA / "lvis_val_100.json").read_text(encoding="utf-8")))
