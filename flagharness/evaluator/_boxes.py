"""Boxes: average precision over the whole set, and what became of each row."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from flagharness.errors import ConfigError, ScoringError, did_you_mean, listing
from flagharness.evaluator._base import BaseEvaluator
from flagharness.evaluator._box_ap import Pair, Protocol
from flagharness.evaluator._box_result import Grouping, box_result
from flagharness.evaluator._box_rows import Row, boxes_outside, row_problems, set_problems, true_boxes
from flagharness.evaluator._box_scores import read_detections, take_over_scores
from flagharness.evaluator._box_table import per_row_csv
from flagharness.evaluator._box_verdict import (
    BoxVerdict,
    Detection,
    PixelReply,
    label_of,
    match_row,
    place_boxes,
    total,
)
from flagharness.evaluator._verdict import Verdict, by_inference
from flagharness.extract import extract_boxes, space_suspicion
from flagharness.judge import Ruling
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction

logger = logging.getLogger(__name__)

PROTOCOLS = {"coco": 100, "lvis": 300}
"""The protocols, and how many detections count: per image and category, or per image."""
AP_ENGINES = ("official", "fast")
MOST_OUTSIDE = 0.05
"""Share of the true boxes that may reach out of their image: more is another way of writing boxes, less is noise."""
SCORE_MODES = ("constant", "original")
PACKAGES = {
    ("coco", "official"): ("pycocotools", "pycocotools"),
    ("lvis", "official"): ("lvis", "flagharness[lvis]"),
    ("coco", "fast"): ("faster_coco_eval", "flagharness[fast]"),
    ("lvis", "fast"): ("faster_coco_eval", "flagharness[fast]"),
}
"""What computes the official value, by protocol and engine: the module, and what to install for it."""


@EVALUATORS.register_module()
class BoxEvaluator(BaseEvaluator):
    """Scores replies that state bounding boxes: AP over IoU 0.50 to 0.95, as COCO and LVIS define it.

    Models give no confidence, so every box scores 1 and the official code ranks equal boxes as they come, by image
    and by position in the reply. The headline ``AP`` does not depend on that order: boxes of equal score enter the
    ranking together. ``AP_as_emitted`` is the official code's value in the given order; published numbers compare
    with that one.

    A row states ``width`` and ``height`` of its image file, ``category`` (one name; labels of the reply are ignored)
    or ``categories`` (labels are matched), and ``answer``: a list of ``{"bbox": [x, y, width, height]}`` in pixels,
    with ``label`` where several categories are asked, and ``area``, ``iscrowd``, ``ignore`` if known. Rows with the
    same ``image_id`` are about one image. The ``lvis`` protocol takes ``category``, ``frequency`` and
    ``not_exhaustive``; an empty answer there is a verified absence.

    The model's coordinates are read as ``bbox_space`` of the model config says, never guessed.

    Args:
        protocol: "coco", or "lvis" (federated).
        group_by: Annotation key; AP is then computed per value of it, and the headline is their unweighted mean.
        groups: All values of that key in the benchmark; the result says which of them this run lacks.
        count_errors: Report the errors of the number of boxes too.
        class_agnostic: Report AP with all rows of one category too.
        ap_engine: What computes ``AP_as_emitted``: "official", or "fast".
        score_mode: "constant", or "original": boxes take over score and place of detections of another detector.
        detections_dir: Their folder, relative to the task's folder: a ``<question_id>.json`` for each row.
        max_dets: How many detections count: per image and category (coco, default 100), per image (lvis, 300).
        detailed_keys: Annotation keys to break AP down by.
        answer_tag: As for BaseEvaluator.
        base_dir: The task's folder.

    Raises:
        ConfigError: For a value that is none of the known ones.
    """

    def __init__(
        self,
        protocol: str = "coco",
        group_by: str | None = None,
        groups: Sequence[str] | None = None,
        count_errors: bool = False,
        class_agnostic: bool = False,
        ap_engine: str = "official",
        score_mode: str = "constant",
        detections_dir: str | None = None,
        max_dets: int | None = None,
        detailed_keys: Sequence[str] | None = None,
        answer_tag: str = "answer",
        base_dir: str | None = None,
    ) -> None:
        super().__init__(detailed_keys=detailed_keys, answer_tag=answer_tag, base_dir=base_dir)
        _check_choice("protocol", protocol, tuple(PROTOCOLS))
        _check_choice("ap_engine", ap_engine, AP_ENGINES)
        _check_choice("score_mode", score_mode, SCORE_MODES)
        if group_by is not None and (not isinstance(group_by, str) or not group_by):
            raise ConfigError(f"group_by must be an annotation key, got {group_by!r}.")
        if groups is not None and (group_by is None or isinstance(groups, str) or not groups):
            raise ConfigError(f"groups must list the values of the key that group_by names, got {groups!r}.")
        if class_agnostic and protocol == "lvis":
            raise ConfigError("class_agnostic belongs to protocol 'coco': the lvis protocol is per category.")
        if score_mode == "original" and not isinstance(detections_dir, str):
            raise ConfigError("score_mode 'original' takes detections_dir, the folder of the detections.")
        if max_dets is None:
            max_dets = PROTOCOLS[protocol]
        if not isinstance(max_dets, int) or isinstance(max_dets, bool) or max_dets < 1:
            raise ConfigError(f"max_dets must be a whole number of at least 1, got {max_dets!r}.")
        self.protocol = Protocol(federated=protocol == "lvis", max_dets=max_dets, engine=ap_engine)
        self.grouping = Grouping(group_by, tuple(groups or ()))
        self.count_errors = bool(count_errors)
        self.class_agnostic = bool(class_agnostic)
        self.score_mode = score_mode
        self._has_detections = isinstance(detections_dir, str)
        self._detections = Path(base_dir or ".", Path(detections_dir or ".").expanduser())
        self._package = PACKAGES[protocol, ap_engine]

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        module, package = self._package
        found = []
        if find_spec(module) is None:
            found.append(f'{module}, which computes AP as emitted, is not installed: pip install "{package}"')
        hidden = all(row.get("answer") is None for row in annotations)
        by_row = [self._row_problems(row, hidden) for row in annotations]
        if not any(by_row):
            for index, problem in set_problems(annotations, self.grouping.key):
                by_row[index].append(problem)
        if not any(by_row) and not hidden:
            self._judge_boxes_outside(annotations, by_row)
        found += [
            f"row {index + 1} (question_id {row.get('question_id')!r}): {problem}"
            for index, row in enumerate(annotations)
            for problem in by_row[index]
        ]
        return found

    def _judge_boxes_outside(self, annotations: Sequence[Mapping[str, Any]], by_row: list[list[str]]) -> None:
        """Refuse truth that is written in another form; a few stray boxes, as data sets have them, are only told."""
        outside = {index: boxes for index, row in enumerate(annotations) if (boxes := boxes_outside(row))}
        strays = sum(map(len, outside.values()))
        if strays > MOST_OUTSIDE * sum(len(row["answer"]) for row in annotations):
            for index, boxes in outside.items():
                by_row[index].extend(boxes)
        elif outside:
            lines = [f"row {index + 1}: {box}" for index, boxes in outside.items() for box in boxes]
            logger.warning("%d true boxes reach out of their image:\n%s", strays, listing(lines, 5))

    def _row_problems(self, row: Row, hidden: bool) -> list[str]:
        found = row_problems(row, hidden=hidden, federated=self.protocol.federated)
        found += self.grouping.problems(row)
        countable = not hidden and not found
        if countable and self.protocol.engine == "fast" and any(box.ignore for box in true_boxes(row)):
            found.append("a true box has `ignore`, which ap_engine 'fast' does not know")
        if self.score_mode == "original":
            try:
                read_detections(self._detections, str(row["question_id"]))
            except ScoringError as error:
                found.append(str(error))
        return found

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        """Score one answered sample by F1 at IoU 0.5. Pure, but for the row's detections with original scores."""
        read = extract_boxes(prediction.answer, answer_tag=self.answer_tag)
        boxes = read.value or ()
        suspicion = space_suspicion(boxes, self.bbox_space, annotation["width"], annotation["height"])
        reply = place_boxes(boxes, annotation, self.bbox_space)
        detections = self._with_scores(reply, annotation)
        match = total(match_row(annotation, detections))
        f1 = match.f1 if read.value is not None else 0.0
        outcome = "correct" if f1 == 1 else "wrong" if f1 == 0 else "graded"
        return BoxVerdict(
            question_id=prediction.question_id,
            outcome=read.rule if read.value is None else outcome,
            correct=f1,
            answer=None if read.value is None else [self._shown(found) for found in detections],
            raw_answer=prediction.answer,
            label=label_of(annotation),
            question_type="bbox",
            extraction={"rule": read.rule, "span": list(read.span) if read.span else None},
            truncated=prediction.truncated,
            refused=prediction.refused,
            extra={
                "tp": match.tp,
                "fp": match.fp,
                "fn": match.fn,
                "mean_iou": match.mean_iou,
                "f1": f1,
                "n_predicted": len(detections),
                "n_truth": match.tp + match.fn,
                "swapped": reply.swapped,
                "clipped": reply.clipped,
                "dropped_labels": reply.dropped_labels,
                "space_suspicion": suspicion,
            },
            detections=detections,
        )

    def _with_scores(self, reply: PixelReply, row: Row) -> list[Detection]:
        if self.score_mode == "constant":
            return [Detection(name, bbox, 1.0) for name, bbox in reply.boxes]
        found = read_detections(self._detections, str(row["question_id"])) if reply.boxes else []
        scored = take_over_scores([bbox for _, bbox in reply.boxes], found)
        return [
            Detection(name, one.bbox, one.score) for (name, _), one in zip(reply.boxes, scored, strict=True)
        ]

    def _shown(self, found: Detection) -> dict[str, Any]:
        shown = {"bbox": [round(value, 2) for value in found.bbox], "label": found.category}
        return shown if self.score_mode == "constant" else {**shown, "score": found.score}

    def take_judge_options(self, options: Mapping[str, Any]) -> None:
        mode = options.get("score_mode", self.score_mode)
        _check_choice("score_mode", mode, SCORE_MODES)
        if mode == "original" and not self._has_detections:
            raise ConfigError(
                "score_mode 'original' takes evaluator.detections_dir, the folder of the detections."
            )
        self.score_mode = mode
        super().take_judge_options(options)

    def verdict_on(
        self,
        annotation: Mapping[str, Any],
        predictions: Sequence[Prediction | None],
        rulings: Sequence[Ruling | None] | None = None,
    ) -> Verdict:
        verdict = super().verdict_on(annotation, predictions)
        if verdict.inferences:
            verdict.extra = {
                f"inference_{k}": each.extra for k, each in enumerate(verdict.inferences) if each.extra
            }
        return verdict

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return AP in percent, its spread and range, and what was counted; see the class."""
        rows = [annotations[verdict.question_id] for verdict in verdicts]
        inferences = [
            [Pair(row, verdict) for row, verdict in zip(rows, each, strict=True)]
            for each in by_inference(verdicts)
        ]
        return box_result(
            inferences,
            self.protocol,
            self.grouping,
            bbox_space=self.bbox_space,
            score_mode=self.score_mode,
            with_count_errors=self.count_errors,
            class_agnostic=self.class_agnostic,
            detailed_keys=self.detailed_keys,
        )

    def reports(
        self,
        verdicts: Sequence[Verdict],
        annotations: Mapping[str, Mapping[str, Any]],
        result: Mapping[str, Any],
    ) -> dict[str, str]:
        return {"per_row.csv": per_row_csv(by_inference(verdicts), annotations)}


def _check_choice(option: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else ""
        raise ConfigError(f"{option} must be one of {', '.join(known)}, got {value!r}.{hint}")
