"""Scoring one task and writing its files."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import math
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from flagharness.config import source_digest
from flagharness.engine._cost import JudgeUse, paid
from flagharness.engine._judging import judge_question
from flagharness.engine._spec import TaskRun
from flagharness.errors import FOREIGN_FAILURES, ScoringError
from flagharness.evaluator import (
    EXTRACTOR_VERSION,
    BaseEvaluator,
    Verdict,
    combine,
    count_outcomes,
    headline_block,
    judge_block,
)
from flagharness.judge import Ruling
from flagharness.model import split_reasoning, tokens_of
from flagharness.run import (
    UNREADABLE_ANSWER,
    Prediction,
    merge_inferences,
    write_json,
    write_json_list,
    write_text,
)

logger = logging.getLogger(__name__)

Lookup = Callable[[int, int], "Prediction | None"]
"""Returns the prediction for (sample index, inference), or None when there is none."""

_MISSING = {"type": "missing", "message": "no prediction", "http_status": None, "attempts": 0}


def score_task(run: TaskRun, lookup: Lookup, *, write_predictions: bool) -> dict[str, Any]:
    """Score a task over its full denominator and write its prediction, evaluated and result files.

    Args:
        write_predictions: Write ``{task}.json``; not when scoring again, so that files that came from elsewhere
            stay what they are.

    Returns:
        The result as written.

    Raises:
        ScoringError: The evaluator failed; the predictions are on disk by then.
    """
    scorer = _Scorer(run, lookup)
    if write_predictions:
        write_json_list(run.folder.predictions, scorer.prediction_rows())
    with _naming_failures(run):
        metrics, verdicts = scorer.score()
    counts: dict[str, int | None] = {**count_outcomes(verdicts)}
    if run.task.evaluator is None or run.task.evaluator.scores_all_at_once:
        counts["parse_failures"] = None  # only the task's own code knows what it could not read
    if run.chat is not None and run.chat.failures:
        counts["judge_failures"] = run.chat.failures
    result = {
        **_with_notes(metrics, run, len(scorer.asked_again)),
        "counts": counts,
        "tokens": scorer.tokens,
        **paid(run, scorer.tokens, scorer.judge_use),
        "partial": run.partial or bool(metrics.get("partial")),
        "rows_in_data": len(run.task.dataset),
        "obtained_by": _provenance(run),
    }
    write_json(run.folder.result, result)
    if run.task.evaluator is not None:
        with _naming_failures(run):
            reports = run.task.evaluator.reports(verdicts, scorer.annotations, result)
        for name, text in reports.items():
            write_text(run.folder.path / f"{run.label}_{name}", text)
    return result


@contextmanager
def _naming_failures(run: TaskRun) -> Iterator[None]:
    try:
        yield
    except FOREIGN_FAILURES as error:
        what = (
            f"{type(run.task.evaluator).__name__} failed at {_place(error)}: {type(error).__name__}: {error}"
        )
        raise ScoringError(
            f"{run.name}: {what}. The predictions are safe; after the repair, score them again with --without-infer."
        ) from error


def _place(error: BaseException) -> str:
    """Return file and line of the innermost frame: in a task's own code, what its writer needs to know."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "an unknown place"


def _with_notes(metrics: Mapping[str, Any], run: TaskRun, asked_again: int) -> dict[str, Any]:
    """Say beside the metrics what a reader has to know of them: numbers that are none (null, as other readers of JSON
    take no NaN), and data of another size than the benchmark's."""
    odd = [key for key, value in metrics.items() if isinstance(value, float) and not math.isfinite(value)]
    result = {key: None if key in odd else value for key, value in metrics.items()}
    notes = [str(result["note"])] if result.get("note") else []
    if odd:
        notes.append(f"{', '.join(odd)} came out as no number")
    if asked_again:
        result["asked_again_when_unreadable"] = asked_again
        notes.append(f"{asked_again} samples were asked again because no answer could be read")
    if run.self_judged:
        notes.append(run.self_judged)
    if run.chat is not None and run.chat.failures:
        notes.append(
            f"{run.chat.failures} judge calls failed; what they count as, the task's own code decided"
        )
    if size_note := run.size_note():
        notes.append(size_note)
    return {**result, "note": "; ".join(notes)} if notes else result


def visible(prediction: Prediction | None, tags: Sequence[str] | None) -> Prediction | None:
    """Take reasoning out of an answer that was given before these tags were named in the model config."""
    if prediction is None or not tags or not any(tag in prediction.answer for tag in tags):
        return prediction
    reason, answer = split_reasoning(prediction.answer, (tags[0], tags[1]))
    return dataclasses.replace(
        prediction, answer=answer, reason="\n".join(filter(None, (prediction.reason, reason)))
    )


class _Scorer:
    """One pass over the predictions of a task, never holding more than one of them."""

    def __init__(self, run: TaskRun, lookup: Lookup) -> None:
        self._run = run
        self._lookup = lookup
        self.annotations = {question_id: run.task.annotations[question_id] for question_id in run.ids}
        self.tokens = {"prompt": 0, "completion": 0}
        self.judge_use: dict[str, JudgeUse] = {}
        """What each judge's verdicts took, by its id."""
        self.asked_again: set[str] = set()
        """Samples that were asked again because an answer could not be read."""

    def prediction_rows(self) -> Iterator[dict[str, Any]]:
        for index, question_id in enumerate(self._run.ids):
            yield _row(question_id, [self._lookup(index, k) for k in range(self._run.num_infers)])

    def score(self) -> tuple[dict[str, Any], list[Verdict]]:
        evaluator = self._run.task.evaluator
        if evaluator is None:
            return {"note": "this task has no evaluator"}, self._unscored()
        if evaluator.scores_all_at_once:
            return self._all_at_once(evaluator)
        if not any(row.get("answer") is not None for row in self.annotations.values()):
            file = self._run.folder.predictions.name
            note = f"the data holds no answers, so there is no score; {file} is what can be submitted"
            return {"accuracy": None, "note": note}, self._unscored()
        return self._each(evaluator)

    def _take(self, index: int, inference: int) -> Prediction | None:
        prediction = self._lookup(index, inference)
        if prediction is not None:
            if any(attempt.get("type") == UNREADABLE_ANSWER for attempt in prediction.attempts):
                self.asked_again.add(prediction.question_id)
            for kind, count in tokens_of(prediction).items():
                self.tokens[kind] += count
        return prediction

    def _each(self, evaluator: BaseEvaluator) -> tuple[dict[str, Any], list[Verdict]]:
        run = self._run
        verdicts: list[Verdict] = []

        def rows() -> Iterator[dict[str, Any]]:
            for index, (question_id, annotation) in enumerate(self.annotations.items()):
                predictions = [self._take(index, k) for k in range(run.num_infers)]
                rulings = self._rulings(question_id, predictions)
                verdict = (
                    evaluator.verdict_on(annotation, predictions)
                    if rulings is None
                    else evaluator.verdict_on(annotation, predictions, rulings)
                )
                logger.debug("%s %s: %s (%s)", run.name, question_id, verdict.outcome, verdict.answer)
                yield {**_row(question_id, predictions), **verdict.to_json()}
                for kept in (verdict, *verdict.inferences):
                    kept.forget_texts()
                verdicts.append(verdict)

        write_json_list(run.folder.evaluated, rows())
        metrics = evaluator.aggregate(verdicts, self.annotations)
        if run.panel is not None:
            family = run.panel.family
            beside = judge_block(verdicts, run.panel.config.max_failure_rate)
            metrics = {**metrics, **beside, "judge_prompt_verified": family.prompt_verified}
        return metrics, verdicts

    def _rulings(
        self, question_id: str, predictions: Sequence[Prediction | None]
    ) -> list[Ruling | None] | None:
        panel = self._run.panel
        if panel is None:
            return None
        rulings: list[Ruling | None] = []
        for inference, prediction in enumerate(predictions):
            answered = prediction is not None and prediction.ok
            question = judge_question(self._run, question_id, prediction) if prediction and answered else None
            if question is None:
                rulings.append(None)
                continue
            ruling = panel.ruling(question_id, inference, question)
            for opinion in ruling.opinions:
                if opinion.record is not None:
                    self.judge_use.setdefault(opinion.judge, JudgeUse()).add(opinion.record)
            rulings.append(ruling)
        return rulings

    def _all_at_once(self, evaluator: BaseEvaluator) -> tuple[dict[str, Any], list[Verdict]]:
        """Let the task's own code score: every annotation has a row, an unanswered one with an empty answer."""
        run = self._run
        metrics: list[dict[str, Any]] = []
        per_inference: list[list[Verdict]] = []
        rows: list[dict[str, Any]] = []
        overruled = 0
        evaluator.llm_evaluator = run.chat
        for inference in range(run.num_infers):
            annotations = {question_id: dict(row) for question_id, row in self.annotations.items()}
            predictions = [self._take(index, inference) for index in range(run.rows)]
            records = [
                _row(question_id, [p]) for question_id, p in zip(annotations, predictions, strict=True)
            ]
            originals = [record["answer"] for record in records]
            metrics.append(_call(evaluator, annotations, list(records)))  # it may sort or shorten its list
            verdicts = []
            for record, prediction, original in zip(records, predictions, originals, strict=True):
                record.setdefault("raw_answer", original)
                if record.get("correct") and (prediction is None or not prediction.ok):
                    record["correct"], overruled = False, overruled + 1
                verdicts.append(_verdict_of(record, prediction))
            per_inference.append(verdicts)
            rows.extend(records)
        write_json_list(run.folder.evaluated, rows)
        combined = [combine(list(each)) for each in zip(*per_inference, strict=True)]
        result = _mean_of(metrics)
        if all(verdict.outcome != "unscored" for each in per_inference for verdict in each):
            block = headline_block(combined)
            if overruled:
                result["accuracy_by_task_code"] = result.pop("accuracy", None)
                result["note"] = (
                    f"{overruled} samples without an answer were marked correct by the task's own code; they count "
                    f"as wrong"
                )
            # Where the task's accuracy is not the mean of its own marks, our interval would not belong to it.
            stated = result.setdefault("accuracy", block["accuracy"])
            if isinstance(stated, (int, float)) and abs(stated - (block["accuracy"] or 0)) < 0.01:
                result = {**block, **result}
        result.setdefault("n", run.rows)
        return result, combined

    def _unscored(self) -> list[Verdict]:
        verdicts = []
        for index, question_id in enumerate(self._run.ids):
            predictions = [self._take(index, k) for k in range(self._run.num_infers)]
            verdicts.append(combine([_verdict_of(_row(question_id, [p]), p) for p in predictions]))
        return verdicts


def _row(question_id: str, predictions: Sequence[Prediction | None]) -> dict[str, Any]:
    return merge_inferences(
        [
            prediction or Prediction(question_id=question_id, status="error", inference=k, error=_MISSING)
            for k, prediction in enumerate(predictions)
        ]
    )


def _call(
    evaluator: BaseEvaluator, annotations: dict[str, dict[str, Any]], records: list[dict[str, Any]]
) -> dict[str, Any]:
    score = evaluator.eval_func or evaluator.cal_accuracy
    result = (
        score(annotations, records, evaluator.llm_evaluator)
        if evaluator.wants_chat
        else score(annotations, records)
    )
    if not isinstance(result, Mapping):
        raise TypeError(f"expected a dict of metrics, got {type(result).__name__}")
    return dict(result)


def _verdict_of(record: Mapping[str, Any], prediction: Prediction | None) -> Verdict:
    """Read a verdict off a record that a task's own function has marked, or not marked, with ``correct``."""
    correct = record.get("correct")
    if prediction is None:
        outcome = "missing"
    elif not prediction.ok:
        outcome = "data_error" if (prediction.error or {}).get("type") == "data_error" else "request_error"
    elif correct is None:
        outcome = "unscored"
    else:
        outcome = "correct" if float(correct) == 1 else "wrong" if float(correct) == 0 else "graded"
    return Verdict(
        question_id=str(record["question_id"]),
        outcome=outcome,
        correct=float(correct or 0),
        truncated=prediction is not None and prediction.truncated,
        refused=prediction is not None and prediction.refused,
    )


def _mean_of(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Average the numbers of several inferences' metrics, and keep each; one result is returned as it is."""
    if len(results) == 1:
        return dict(results[0])
    mean = {
        key: sum(result[key] for result in results) / len(results)
        for key in results[0]
        if all(isinstance(r.get(key), (int, float)) and not isinstance(r.get(key), bool) for r in results)
    }
    return {**mean, "per_inference": list(results)}


def _provenance(run: TaskRun) -> dict[str, Any]:
    """Say how a result was obtained, so that it can be obtained again."""
    evaluator = run.task.evaluator
    return {
        "model": run.model_name,
        "settings": run.settings,
        "evaluator": type(evaluator).__name__ if evaluator else None,
        "evaluator_source_sha256": _own_source(evaluator),
        "extractor_version": EXTRACTOR_VERSION,
        "num_infers": run.num_infers,
        "reducer": "mean" if run.num_infers > 1 else None,
        "data_digest": run.task.data_digest,
        "judge": run.panel.describe() if run.panel is not None else None,
    }


def _own_source(evaluator: BaseEvaluator | None) -> str | None:
    """Digest of the file a task's own scoring code lies in; None for ours, whose version the result names anyway."""
    ours = type(evaluator).__module__.startswith("flagharness.evaluator.")
    if evaluator is None or (ours and evaluator.eval_func is None):
        return None
    own = evaluator.eval_func or type(evaluator)
    return source_digest(inspect.getmodule(own) or own)


def headline_of(result: Mapping[str, Any]) -> tuple[str, float | None]:
    """Return name and value of the metric that stands for a task.

    It is the one that ``headline`` names, else ``accuracy``, else the first number.
    """
    name = str(result.get("headline", "accuracy"))
    if name in result:
        value = result[name]
        return name, float(value) if isinstance(value, (int, float)) else None
    for key, value in result.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and key != "rows_in_data":
            return key, float(value)
    return "-", None
