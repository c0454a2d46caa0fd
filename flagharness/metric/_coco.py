"""Box AP by the official COCO code."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

from flagharness.metric._box_scene import Entry, Pair, Scene
from flagharness.metric._fast_ap import fast_arrays

AREAS = ("", "s", "m", "l")
"""All boxes, small (below 32^2 pixels), medium, large (above 96^2)."""
Numbers = dict[str, "float | None"]


def coco_ap(
    truth: Mapping[str, Any],
    detections: Sequence[Entry],
    *,
    max_dets: Sequence[int] = (1, 10, 100),
    sizes: bool = True,
    engine: str = "official",
) -> Numbers:
    """Average precision and recall as pycocotools' COCOeval computes them, in the order given.

    The official code (cocodataset/cocoapi, PythonAPI/pycocotools/cocoeval.py) does the matching and accumulating; it
    is driven category by category over the images that hold a box, which changes no number. Boxes of equal score rank
    by image id and by their place in ``detections``; `order_free_ap` is for those who do not want that.

    Args:
        truth, detections: See `Scene`. Ids may be 0; a truth box with ``ignore`` absorbs detections without harm.
        max_dets: Detections of an image and category that count, ascending; all AP take the last one.
        sizes: Whether the values for small, medium and large boxes are wanted; they take three quarters of the time.
        engine: "official", or "fast" for faster-coco-eval (extra ``fast``), which gives the same numbers.

    Returns:
        AP, AP50, AP75, APs, APm, APl, AR1, AR10, AR100 (or as ``max_dets`` says), ARs, ARm, ARl in [0, 1]; None where
        there is no true box.

    Raises:
        ValueError: An unknown or repeated image or category, or an unknown engine.
        ModuleNotFoundError: The engine's package is not installed.
    """
    scene = Scene(truth, detections)
    if engine == "fast":
        arrays = fast_arrays(scene, tuple(max_dets), federated=False)
    elif engine == "official":
        arrays = _official_arrays(scene, tuple(max_dets), len(AREAS) if sizes else 1)
    else:
        raise ValueError(f"engine must be 'official' or 'fast', got {engine!r}")
    precision, recall = arrays
    numbers = {
        "AP": mean_of(precision[:, :, :, 0, -1]),
        "AP50": mean_of(precision[0, :, :, 0, -1]),
        "AP75": mean_of(precision[5, :, :, 0, -1]),
    }
    slices = (1, 2, 3) if sizes else ()
    numbers |= {f"AP{AREAS[a]}": mean_of(precision[:, :, :, a, -1]) for a in slices}
    numbers |= {f"AR{most}": mean_of(recall[:, :, 0, m]) for m, most in enumerate(max_dets)}
    numbers |= {f"AR{AREAS[a]}": mean_of(recall[:, :, a, -1]) for a in slices}
    return numbers


def mean_of(values: Any) -> float | None:
    """Mean of what is not -1, the official mark for "no truth"; None if all of it is."""
    known = values[values > -1]
    return float(known.mean()) if known.size else None


def _official_arrays(scene: Scene, max_dets: tuple[int, ...], areas: int) -> tuple[Any, Any]:
    """Return precision [IoU, recall, category, area, maxDets] and recall [IoU, category, area, maxDets]."""
    import numpy as np

    module = official_module("pycocotools.cocoeval", "pycocotools.cocoeval", print=lambda *_: None)
    shape = (len(scene.categories), areas, len(max_dets))
    precision, recall = -np.ones((10, 101, *shape)), -np.ones((10, *shape))
    for k, category in enumerate(scene.categories):
        if images := scene.pairs(category):
            found = _evaluate_category(module, category, images, max_dets, areas)
            precision[:, :, k], recall[:, k] = found["precision"][:, :, 0], found["recall"][:, 0]
    return precision, recall


def _evaluate_category(
    module: ModuleType, category: Any, images: Mapping[Any, Pair], max_dets: tuple[int, ...], areas: int
) -> Any:
    evaluation = module.COCOeval(iouType="bbox")
    params = evaluation.params
    params.imgIds, params.catIds, params.maxDets = list(images), [category], list(max_dets)
    params.areaRng, params.areaRngLbl = params.areaRng[:areas], params.areaRngLbl[:areas]
    # What COCOeval._prepare does, but that it would overwrite `ignore`.
    for image, pair in images.items():
        evaluation._gts[image, category] = pair.truth
        evaluation._dts[image, category] = pair.detections
    evaluation.ious = {(image, category): evaluation.computeIoU(image, category) for image in images}
    evaluation.evalImgs = [
        evaluation.evaluateImg(image, category, area, max_dets[-1])
        for area in params.areaRng
        for image in images
    ]
    evaluation._paramsEval = params
    evaluation.accumulate()
    return evaluation.eval


@lru_cache(maxsize=8)
def _copy_of(name: str, alias: str) -> ModuleType:
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__name__ = alias
    spec.loader.exec_module(module)
    return module


def official_module(name: str, alias: str, **names: Callable[..., Any] | Any) -> ModuleType:
    """Return a copy of a module of our own, in which some global names mean something else.

    The official code prints as it goes and relies on a name that numpy no longer has; neither is anybody else's
    business, so the shared module and numpy stay as they are.
    """
    module = _copy_of(name, alias)
    for key, value in names.items():
        setattr(module, key, value)
    return module
