"""The same numbers as the official codes, by faster-coco-eval (extra ``fast``)."""

from __future__ import annotations

from itertools import islice
from typing import Any

from flagharness.metric._box_scene import Scene

_CATEGORIES_AT_ONCE = 20
"""The engine's memory grows with categories times images; blocks keep it small and give the same numbers."""


def fast_arrays(scene: Scene, max_dets: tuple[int, ...], *, federated: bool) -> tuple[Any, Any]:
    """Return precision [IoU, recall, category, area, maxDets] and recall [IoU, category, area, maxDets].

    Raises:
        ModuleNotFoundError: faster-coco-eval is not installed.
        ValueError: Truth with ``ignore``, which this engine does not know.
    """
    import numpy as np

    shape = (len(scene.categories), 4, len(max_dets))
    precision, recall = -np.ones((10, 101, *shape)), -np.ones((10, *shape))
    categories = iter(enumerate(scene.categories))
    while block := dict(islice(categories, _CATEGORIES_AT_ONCE)):
        found = _evaluate(scene, list(block.values()), max_dets, federated)
        if found is not None:
            positions = list(block)
            precision[:, :, positions], recall[:, positions] = found["precision"], found["recall"]
    return precision, recall


def _evaluate(scene: Scene, categories: list[Any], max_dets: tuple[int, ...], federated: bool) -> Any:
    try:
        from faster_coco_eval import COCO, COCOeval_faster
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'ap_engine "fast" takes the package faster-coco-eval: pip install "flagharness[fast]"'
        ) from error

    pairs = [pair for category in categories for pair in scene.pairs(category).values()]
    truth = [{**box, "id": n} for n, box in enumerate((box for p in pairs for box in p.truth), start=1)]
    found = [box for pair in pairs for box in pair.detections]
    if any(box["ignore"] and not box["iscrowd"] for box in truth):
        raise ValueError('the truth has boxes with `ignore`, which ap_engine "fast" does not know')
    images = sorted({box["image_id"] for box in (*truth, *found)})
    if not images:
        return None
    wanted = set(categories)
    dataset = {
        "images": [
            {
                "id": image,
                "neg_category_ids": sorted(
                    wanted.intersection(scene.images[image].get("neg_category_ids", ()))
                ),
                "not_exhaustive_category_ids": sorted(
                    wanted.intersection(scene.images[image].get("not_exhaustive_category_ids", ()))
                ),
            }
            for image in images
        ],
        "annotations": truth,
        "categories": [
            {"id": c, "name": str(c), "frequency": scene.categories[c].get("frequency", "f")}
            for c in categories
        ],
    }
    real = COCO(dataset)
    evaluation = COCOeval_faster(
        real, real.loadRes(found), "bbox", lvis_style=federated, print_function=lambda *_: None
    )
    evaluation.params.maxDets = list(max_dets)
    evaluation.evaluate()
    evaluation.accumulate()
    return evaluation.eval
