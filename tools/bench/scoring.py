"""What scoring costs: CPU seconds for choices and counts, and box AP against COCOeval called directly.

python tools/bench/scoring.py            # all
python tools/bench/scoring.py --lvis     # also LVIS at the size of its validation set: time and peak memory
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from flagharness.evaluator import BaseEvaluator, BoxEvaluator, CountEvaluator
from flagharness.metric import coco_ap, lvis_ap, order_free_ap
from flagharness.run import Prediction

CHOICES, COUNTS = 100_000, 1_000_000
IMAGES, CLASSES = 5_000, 80
LVIS_IMAGES, LVIS_CLASSES = 19_809, 1_203

CHOICE_REPLIES = (
    "B",
    "The answer is C.",
    "**A**",
    "Looking at the picture, the ball is left of the box, so option D is right.\n\nAnswer: D",
    "\\boxed{B}",
    "I cannot tell.",
)
COUNT_REPLIES = ("12", "There are 12 of them.", "I count 1,204 in all: \\boxed{1204}", "four", "about 7 or 8")


def main() -> None:
    """Run the benches and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lvis", action="store_true", help="also LVIS at full size")
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    _print("what", "size", "CPU s", "target")
    _print("multiple choice", f"{CHOICES:,} replies", f"{choices():.2f}", "5")
    _print("counts", f"{COUNTS:,} replies", f"{counts():.2f}", "20")
    for line in boxes():
        _print(*line)
    if options.lvis:
        for line in lvis():
            _print(*line)


def choices() -> float:
    """CPU seconds for verdicts and metrics of choices."""
    row = {"question_type": "multiple-choice", "options": ["red ball", "blue box", "green cone", "a tree"]}
    rows = ({**row, "question_id": str(i), "answer": "ABCD"[i % 4]} for i in range(CHOICES))
    return _score(BaseEvaluator(), rows, CHOICE_REPLIES)


def counts() -> float:
    """CPU seconds for verdicts and metrics of counts."""
    rows = ({"question_type": "count", "question_id": str(i), "answer": i % 20} for i in range(COUNTS))
    return _score(CountEvaluator(), rows, COUNT_REPLIES)


def _score(evaluator: BaseEvaluator, rows: Iterator[dict[str, Any]], replies: tuple[str, ...]) -> float:
    started = time.process_time()
    annotations, verdicts = {}, []
    for i, row in enumerate(rows):
        annotations[row["question_id"]] = row
        # Replies differ from row to row, as real ones do: nothing may live from having been seen before.
        reply = f"{replies[i % len(replies)]}" if i % 3 else f"Sample {i}.\n{replies[i % len(replies)]}"
        verdict = evaluator.verdict_on(row, [Prediction(row["question_id"], answer=reply)])
        verdict.raw_answer = verdict.extraction = None  # as the engine does once a row is on disk
        verdicts.append(verdict)
    evaluator.aggregate(verdicts, annotations)
    return time.process_time() - started


def boxes() -> Iterator[tuple[str, str, str, str]]:
    """Box AP on made-up photographs: COCOeval as its authors call it, then all that our evaluator computes."""
    truth, detections = _scene(IMAGES, CLASSES, per_image=7.3, found=2.65)
    size = f"{IMAGES:,} images, {CLASSES} classes, {len(truth['annotations']):,} + {len(detections):,} boxes"
    direct = _cpu(lambda: _coco_directly(truth, detections))
    yield "COCOeval called directly", size, f"{direct:.1f}", "-"
    as_emitted = _cpu(lambda: coco_ap(truth, detections, max_dets=(100,), sizes=False))
    free = _cpu(lambda: order_free_ap(truth, detections))
    yield "AP as emitted + order-free", "the same", f"{as_emitted:.1f} + {free:.1f}", "-"
    yield "  ratio to COCOeval", "", f"{(as_emitted + free) / direct:.2f}", "1.2"
    whole = _cpu(lambda: _box_evaluator(truth, detections))
    yield "BoxEvaluator, from reply to result", "the same", f"{whole:.1f}", "-"
    yield "  ratio to COCOeval", "", f"{whole / direct:.2f}", "1.2"
    fast = _cpu(lambda: coco_ap(truth, detections, engine="fast"))
    yield "the fast engine alone", "the same", f"{fast:.1f}", "-"


def lvis() -> Iterator[tuple[str, str, str, str]]:
    """LVIS AP at the size of the validation set, official code and order-free, in one process."""
    truth, detections = _scene(LVIS_IMAGES, LVIS_CLASSES, per_image=12.0, found=1.4)
    draw = random.Random(1)
    for image in truth["images"]:
        image["neg_category_ids"] = draw.sample(range(1, LVIS_CLASSES + 1), 8)
        image["not_exhaustive_category_ids"] = []
    for category in truth["categories"]:
        category["frequency"] = "rcf"[category["id"] % 3]
    size = f"{LVIS_IMAGES:,} images, {LVIS_CLASSES:,} classes, {len(detections):,} detections"
    before = _peak_mb()
    yield (
        "LVIS by the official code",
        size,
        f"{_cpu(lambda: lvis_ap(truth, detections, sizes=False)):.1f}",
        "-",
    )
    free = _cpu(lambda: order_free_ap(truth, detections, max_dets=300, federated=True))
    yield "LVIS order-free", size, f"{free:.1f}", "-"
    yield "  peak memory, MB (before)", "", f"{_peak_mb()} ({before})", "1024"


def _scene(
    images: int, classes: int, per_image: float, found: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    import numpy as np

    draw = np.random.default_rng(0)
    annotations: list[dict[str, Any]] = []
    detections: list[dict[str, Any]] = []
    for image in range(1, images + 1):
        for _ in range(int(draw.poisson(per_image))):
            category = int(draw.integers(1, classes + 1))
            box = [float(x) for x in (*draw.uniform(0, 500, 2), *draw.uniform(8, 160, 2))]
            annotations.append({"image_id": image, "category_id": category, "bbox": box})
            for _ in range(int(draw.poisson(found))):
                noisy = [float(max(x, 0.5)) for x in np.array(box) + draw.normal(0, 8, 4)]
                detections.append({"image_id": image, "category_id": category, "bbox": noisy, "score": 1.0})
    truth = {
        "images": [{"id": image, "width": 640, "height": 640} for image in range(1, images + 1)],
        "annotations": annotations,
        "categories": [{"id": number, "name": str(number)} for number in range(1, classes + 1)],
    }
    return truth, detections


def _coco_directly(truth: dict[str, Any], detections: list[dict[str, Any]]) -> None:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        real = COCO()
        real.dataset = {
            **truth,
            "annotations": [
                {"id": number, "area": box["bbox"][2] * box["bbox"][3], "iscrowd": 0, **box}
                for number, box in enumerate(truth["annotations"], start=1)
            ],
        }
        real.createIndex()
        evaluation = COCOeval(real, real.loadRes([dict(box) for box in detections]), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()


def _box_evaluator(truth: dict[str, Any], detections: list[dict[str, Any]]) -> None:
    names = [category["name"] for category in truth["categories"]]
    rows = {
        str(image["id"]): {
            "question_id": str(image["id"]), "question_type": "bbox", "width": 640, "height": 640,
            "categories": names, "answer": [],
        }
        for image in truth["images"]
    }  # fmt: skip
    replies: dict[str, list[dict[str, Any]]] = {question_id: [] for question_id in rows}
    for box in truth["annotations"]:
        rows[str(box["image_id"])]["answer"].append({"bbox": box["bbox"], "label": str(box["category_id"])})
    for box in detections:
        x, y, width, height = box["bbox"]
        corners = [round(value, 2) for value in (x, y, x + width, y + height)]
        replies[str(box["image_id"])].append({"bbox_2d": corners, "label": str(box["category_id"])})
    evaluator = BoxEvaluator()
    evaluator.bbox_space = "pixel"
    verdicts = [
        evaluator.verdict_on(row, [Prediction(question_id, answer=json.dumps(replies[question_id]))])
        for question_id, row in rows.items()
    ]
    evaluator.aggregate(verdicts, rows)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _peak_mb() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _print(what: str, size: str, value: str, target: str) -> None:
    sys.stdout.write(f"{what:34} {size:64} {value:>14} {target:>7}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
