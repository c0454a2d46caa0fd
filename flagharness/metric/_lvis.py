"""Federated box AP by the official LVIS code (extra ``lvis``)."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from flagharness.metric._box_scene import Entry, Pair, Scene
from flagharness.metric._coco import AREAS, Numbers, mean_of, official_module
from flagharness.metric._fast_ap import fast_arrays

_SILENT = logging.Logger("lvis", logging.CRITICAL)
"""The official code says for every category that it is at work."""
_LOADING = threading.Lock()
"""While the official module loads, ``sys.modules`` holds a stand-in that no second thread may see or remove."""
FREQUENCIES = ("r", "c", "f")
"""Categories with fewer than 10, with 10 to 99, and with at least 100 training images."""


def lvis_ap(
    truth: Mapping[str, Any],
    detections: Sequence[Entry],
    *,
    max_dets: int = 300,
    sizes: bool = True,
    engine: str = "official",
) -> Numbers:
    """Average precision and recall as LVISEval computes them, in the order given.

    The official code (lvis-dataset/lvis-api, lvis/eval.py) does the matching and accumulating; it is driven category
    by category over the images that hold a box, which changes no number and keeps memory flat. Its rules: detections
    of categories of which an image says nothing are dropped; those of a category that is not annotated exhaustively
    are ignored if they match nothing; the best ``max_dets`` of an image count, over all categories; boxes without
    area do not exist; ``ignore`` is honoured, ``iscrowd`` means nothing. Ties keep the order given.

    Args:
        truth, detections: See `Scene`.
        sizes: Whether the values for small, medium and large boxes are wanted; they take three quarters of the time.
        engine: "official", or "fast" for faster-coco-eval (extra ``fast``), which gives the same numbers.

    Returns:
        AP, AP50, AP75, APs, APm, APl, APr, APc, APf, AR, ARs, ARm, ARl in [0, 1]; None where there is no true box.

    Raises:
        ValueError: An unknown or repeated image or category, or an unknown engine.
        ModuleNotFoundError: The engine's package is not installed.
    """
    scene = Scene(truth, detections, max_dets=max_dets, federated=True)
    if engine == "fast":
        precision, recall = fast_arrays(scene, (max_dets,), federated=True)
        precision, recall = precision[..., 0], recall[..., 0]
    elif engine == "official":
        precision, recall = _official_arrays(scene, max_dets, len(AREAS) if sizes else 1)
    else:
        raise ValueError(f"engine must be 'official' or 'fast', got {engine!r}")
    numbers = {
        "AP": mean_of(precision[:, :, :, 0]),
        "AP50": mean_of(precision[0, :, :, 0]),
        "AP75": mean_of(precision[5, :, :, 0]),
    }
    slices = (1, 2, 3) if sizes else ()
    numbers |= {f"AP{AREAS[a]}": mean_of(precision[:, :, :, a]) for a in slices}
    numbers |= {f"AP{group}": mean_of(precision[:, :, of_group(scene, group), 0]) for group in FREQUENCIES}
    return numbers | {f"AR{AREAS[a]}": mean_of(recall[:, :, a]) for a in (0, *slices)}


def of_group(scene: Scene, group: str) -> list[int]:
    """Return the positions of the categories of a frequency group."""
    return [k for k, category in enumerate(scene.categories.values()) if category.get("frequency") == group]


def _official_arrays(scene: Scene, max_dets: int, areas: int) -> tuple[Any, Any]:
    """Return precision [IoU, recall, category, area] and recall [IoU, category, area]."""
    import numpy as np

    module = _lvis_eval()
    precision, recall = (
        -np.ones((10, 101, len(scene.categories), areas)),
        -np.ones((10, len(scene.categories), areas)),
    )
    for k, category in enumerate(scene.categories):
        if images := scene.pairs(category):
            found = _evaluate_category(module, scene, category, images, max_dets, areas)
            precision[:, :, k], recall[:, k] = found["precision"][:, :, 0], found["recall"][:, 0]
    return precision, recall


def _evaluate_category(
    module: ModuleType, scene: Scene, category: Any, images: Mapping[Any, Pair], max_dets: int, areas: int
) -> Any:
    evaluation = module.LVISEval.__new__(module.LVISEval)
    evaluation.logger = _SILENT
    evaluation.params = module.Params("bbox")
    evaluation.params.max_dets = max_dets
    evaluation.params.area_rng = evaluation.params.area_rng[:areas]
    evaluation.params.img_ids, evaluation.params.cat_ids = list(images), [category]
    # What LVISEval._prepare would gather; `Scene` has dropped what is not to be evaluated.
    evaluation._gts = {(image, category): pair.truth for image, pair in images.items()}
    evaluation._dts = {(image, category): pair.detections for image, pair in images.items()}
    evaluation.img_nel = {
        image: [category] if scene.is_not_exhaustive(category, image) else [] for image in images
    }
    evaluation.ious = {(image, category): evaluation.compute_iou(image, category) for image in images}
    evaluation.eval_imgs = [
        evaluation.evaluate_img(image, category, area)
        for area in evaluation.params.area_rng
        for image in images
    ]
    evaluation.accumulate()
    return evaluation.eval


class _NumpyWithFloat:
    """Numpy, with the alias that release 0.5.3 of lvis still uses."""

    float = float

    def __getattr__(self, name: str) -> Any:
        import numpy as np

        return getattr(np, name)


def _lvis_eval() -> ModuleType:
    """Return the official module without running ``lvis/__init__.py``, which wants OpenCV and matplotlib."""
    with _LOADING:
        if "lvis" not in sys.modules:
            spec = importlib.util.find_spec("lvis")
            if spec is None:
                raise ModuleNotFoundError('LVIS AP takes the package lvis: pip install "flagharness[lvis]"')
            package = ModuleType("lvis")
            package.__path__ = list(spec.submodule_search_locations or [])
            sys.modules["lvis"] = package
            try:
                return official_module("lvis.eval", "lvis.eval", np=_NumpyWithFloat())
            finally:
                del sys.modules["lvis"]
        return official_module("lvis.eval", "lvis.eval", np=_NumpyWithFloat())
