"""The evaluator that most tasks use, and the base of those that bring their own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flagharness.errors import ConfigError, did_you_mean
from flagharness.evaluator._fallback import read_by_judge, unread_question
from flagharness.evaluator._rules import RULES, question_type_of
from flagharness.evaluator._tally import breakdown, headline_block
from flagharness.evaluator._verdict import OUTCOME_OF_GRADE, Verdict, combine
from flagharness.judge import FAMILIES, JudgeQuestion, Ruling
from flagharness.prompt import option_labels
from flagharness.registry import EVALUATORS
from flagharness.run import Prediction

logger = logging.getLogger(__name__)

EXTRACTOR_VERSION = 2
"""Raised when the extraction rules change, so that two results can be told apart.

2: a last line chooses after all options were listed; number words in an answer tag or box; labels in back-ticks.
"""

_JUDGE_KEYS = (
    "use_llm_evaluator",
    "eval_model_name",
    "base_url",
    "api_key",
    "use_cache",
    "chat_name",
    "backend",
    "port",
    "num_threads",
    "extra_args",
)
"""FlagEvalMM's keys for a judge. The last six have nothing to say here: every verdict is kept, and the judge config
says how many calls run at a time."""

EvalFunction = Callable[..., dict[str, Any]]


@EVALUATORS.register_module()
class BaseEvaluator:
    """Scores by rule, by the question type of each row.

    Scoring has two halves: :meth:`score` is pure and looks at one sample, :meth:`aggregate` runs once over all
    verdicts. A task that needs more gives ``eval_func``, or subclasses and overrides either half, or overrides
    :meth:`cal_accuracy` as FlagEvalMM tasks do.

    Args:
        detailed_keys: Annotation keys to break the accuracy down by.
        eval_func: ``get_result(annotations, predictions) -> metrics`` of a task file.
        answer_tag: The tag that wraps the final answer, for models that were told to use one: with "answer",
            ``<answer>B</answer>`` is read first.
        grader: The judge family that grades every answer in place of the rules where a judge is configured; without
            one the rules decide.
        fallback: The judge family that reads choices which the rules cannot read, where a judge is configured.
        base_dir: The task's folder.
    """

    def __init__(
        self,
        detailed_keys: Sequence[str] | None = None,
        eval_func: EvalFunction | None = None,
        answer_tag: str = "answer",
        grader: str | None = None,
        fallback: str | None = None,
        base_dir: str | None = None,
        **kwargs: Any,
    ) -> None:
        self.detailed_keys = [detailed_keys] if isinstance(detailed_keys, str) else list(detailed_keys or [])
        if not all(isinstance(key, str) for key in self.detailed_keys):
            raise ConfigError(f"detailed_keys must be annotation keys, got {detailed_keys!r}.")
        self.eval_func = eval_func
        self.answer_tag = answer_tag
        if grader is not None and fallback is not None:
            raise ConfigError(
                "an evaluator has a grader for every answer or a fallback for unread ones, not both."
            )
        self.asks_only_about_unread = fallback is not None
        self.grader = grader if grader is not None else fallback
        if self.grader is not None and self.grader not in FAMILIES:
            near = did_you_mean(self.grader, FAMILIES)
            raise ConfigError(f"there is no judge family {self.grader!r}.{near}")
        self.base_dir = base_dir
        self.bbox_space = "norm1000"
        """The coordinates in which the model states boxes; from the model config."""
        self._judge_keys = {key: kwargs.pop(key) for key in _JUDGE_KEYS if key in kwargs}
        self.llm_evaluator: Any = None
        """The judge that the task's own scoring code asks; set before scoring."""
        for key in kwargs:
            known = ("detailed_keys", "eval_func", "answer_tag", "grader", "fallback")
            logger.warning(
                "evaluator %s: nothing reads `%s`.%s", type(self).__name__, key, did_you_mean(key, known)
            )

    @property
    def needs_judge(self) -> bool:
        """Whether this evaluator can give no score without a judge."""
        return self.wants_chat

    @property
    def judge_families(self) -> Sequence[str]:
        """The judge families that may decide for this evaluator, its own first; none if it never asks a judge."""
        return (self.grader,) if self.grader else ()

    def judge_question(self, annotation: Mapping[str, Any], answer: str) -> JudgeQuestion | None:
        """Return what a judge is asked about an answer; None where a rule scores it. Pure.

        Args:
            answer: The part of the reply that the judge family looks at.
        """
        if self.asks_only_about_unread:
            return unread_question(annotation, answer, self.answer_tag)
        options = annotation.get("options") or []
        labels = option_labels(len(options))
        listed = (
            "\n".join(f"{label}. {text}" for label, text in zip(labels, options, strict=True)) or "(none)"
        )
        truth = str(annotation.get("answer"))
        stated = f"{truth}. {options[labels.index(truth)]}" if truth in labels else truth
        question = str(annotation.get("question") or "")
        return JudgeQuestion(question, stated, answer, fields={"options": listed})

    def judged(self, annotation: Mapping[str, Any], prediction: Prediction, ruling: Ruling) -> Verdict:
        """Return the verdict on an answer for which a judge, or a rule before it, has decided. Pure."""
        if self.asks_only_about_unread:
            return read_by_judge(annotation, prediction, ruling, self.answer_tag)
        outcome = OUTCOME_OF_GRADE[ruling.grade] if ruling.grade else ruling.status
        return Verdict(
            question_id=prediction.question_id,
            outcome="no_response" if ruling.status == "model_failed" else outcome,
            correct=ruling.grade == "correct",
            answer=ruling.fields.get("extracted_answer", prediction.answer.strip() or None),
            raw_answer=prediction.answer,
            label=annotation.get("answer"),
            question_type=question_type_of(annotation),
            truncated=prediction.truncated,
            refused=prediction.refused,
            ruling=ruling,
        )

    @property
    def judge_source(self) -> Mapping[str, Any] | None:
        """The judge config that the evaluator's own keys give, in FlagEvalMM's words; None if they give none."""
        keys = self._judge_keys
        given = {"model_name": keys.get("eval_model_name"), "base_url": keys.get("base_url")}
        if not all(given.values()):
            return None
        return {**given, **({"key": keys["api_key"]} if keys.get("api_key") else {})}

    @property
    def wants_chat(self) -> bool:
        """Whether the task's own scoring code asks a judge itself."""
        return self.scores_all_at_once and bool(self._judge_keys.get("use_llm_evaluator"))

    def use_family(self, name: str) -> None:
        """Take note of the judge family that decides in this run."""

    def take_judge_options(self, options: Mapping[str, Any]) -> None:
        """Take the keys of the judge config that are not ours."""
        for key in options:
            if key == "score_mode":  # of the grounding benchmarks
                continue
            logger.warning("evaluator %s: nothing reads `%s` of the judge config.", type(self).__name__, key)

    @property
    def scores_all_at_once(self) -> bool:
        """Whether this evaluator computes its metrics from all predictions itself, not from our verdicts."""
        return self.eval_func is not None or type(self).cal_accuracy is not BaseEvaluator.cal_accuracy

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return what of these rows cannot be scored; asked before the first request.

        A data set without any answer is no problem: its answers are hidden, and it is asked but not scored.
        """
        if self.scores_all_at_once or type(self).score is not BaseEvaluator.score:
            return []
        found = []
        hidden = not any("answer" in row and row["answer"] is not None for row in annotations)
        for number, row in enumerate(annotations, start=1):
            place = f"row {number} (question_id {row.get('question_id')!r})"
            kind = question_type_of(row)
            rule = RULES.get(kind)
            if rule is None:
                found.append(
                    f"{place}: {type(self).__name__} cannot score question_type '{kind}'."
                    f"{did_you_mean(kind, RULES)} It scores {', '.join(RULES)}."
                )
            elif not hidden:
                try:
                    if row.get("answer") is None:
                        raise ValueError("no `answer`, though other rows have one")
                    rule.truth(row)
                except ValueError as error:
                    found.append(f"{place}: {error}")
        return found

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        """Score one answered sample. Pure: no file, clock, network or chance."""
        kind = question_type_of(annotation)
        rule = RULES[kind]
        label = rule.truth(annotation)
        found = rule.read(prediction.answer, annotation, self.answer_tag)
        right = found.value is not None and bool(rule.same(found.value, label))
        return Verdict(
            question_id=prediction.question_id,
            outcome=found.rule if found.value is None else "correct" if right else "wrong",
            correct=right,
            answer=found.value,
            raw_answer=prediction.answer,
            label=label,
            question_type=kind,
            extraction={"rule": found.rule, "span": list(found.span) if found.span else None},
            truncated=prediction.truncated,
            refused=prediction.refused,
        )

    def verdict_on(
        self,
        annotation: Mapping[str, Any],
        predictions: Sequence[Prediction | None],
        rulings: Sequence[Ruling | None] | None = None,
    ) -> Verdict:
        """Return the verdict on one sample: score what was answered, name what was not, combine inferences.

        Args:
            rulings: What was decided about each answer where a judge is configured.
        """
        decided = rulings if rulings is not None else [None] * len(predictions)
        verdicts = [
            self._verdict(annotation, p, ruling) for p, ruling in zip(predictions, decided, strict=True)
        ]
        return combine(verdicts)

    def _verdict(
        self, annotation: Mapping[str, Any], prediction: Prediction | None, ruling: Ruling | None
    ) -> Verdict:
        if prediction is not None and prediction.ok:
            if ruling is None:
                verdict = self.score(annotation, prediction)
            else:
                verdict = self.judged(annotation, prediction, ruling)
            if not isinstance(verdict, Verdict):
                raise TypeError(f"{type(self).__name__}.score must return a Verdict, got {verdict!r:.80}")
            if verdict.outcome == "no_response" and prediction.truncated and prediction.reason:
                verdict.outcome = "unfinished_reasoning"
            return verdict
        outcome = "missing"
        if prediction is not None:
            is_data = (prediction.error or {}).get("type") == "data_error"
            outcome = "data_error" if is_data else "request_error"
        return Verdict(
            question_id=str(annotation["question_id"]),
            outcome=outcome,
            label=annotation.get("answer"),
            question_type=question_type_of(annotation),
            truncated=prediction is not None and prediction.truncated,
            refused=prediction is not None and prediction.refused,
        )

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the metrics of the task, from the verdicts on all of its samples.

        Args:
            annotations: By question_id (text), every sample of the task.
        """
        result = headline_block(verdicts)
        if self.detailed_keys:
            result["detailed"] = breakdown(verdicts, annotations, self.detailed_keys)
        return result

    def reports(
        self,
        verdicts: Sequence[Verdict],
        annotations: Mapping[str, Mapping[str, Any]],
        result: Mapping[str, Any],
    ) -> dict[str, str]:
        """Return further files for people to read, ``{name: text}``; each is written as ``{task}_{name}``.

        Args:
            result: The result as written, counts included.
        """
        return {}

    def cal_accuracy(
        self,
        annotations: dict[str, dict[str, Any]],
        predictions: list[dict[str, Any]],
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """FlagEvalMM's way in: score all predictions, write the verdicts into them, return the metrics."""
        verdicts = []
        for record in predictions:
            annotation = annotations[str(record["question_id"])]
            prediction = Prediction.from_json(record, "predictions")
            verdict = self.verdict_on(annotation, [prediction])
            record.update(verdict.to_json())
            verdicts.append(verdict)
        return self.aggregate(verdicts, annotations)
