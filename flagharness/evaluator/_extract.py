"""FlagEvalMM's ExtractEvaluator: a judge extracts an answer and compares it, or grades it as SimpleQA does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flagharness.errors import ConfigError, did_you_mean
from flagharness.evaluator._judged import JudgedEvaluator
from flagharness.registry import EVALUATORS

METHODS = ("extract_compare", "simpleqa")
"""Each is the judge family of the same name."""


@EVALUATORS.register_module()
class ExtractEvaluator(JudgedEvaluator):
    """Scores free answers by a judge, as flageval-baai/FlagEvalMM's ``flagevalmm/evaluator/extract_evaluator.py``.

    The task's keys ``eval_model_name``, ``base_url`` and ``api_key`` are the judge config where no other is given.
    Unlike there, one call both extracts and compares; grades are read as words or letters, not by equality with "A"
    or "1"; and a judge that fails leaves the answer open instead of wrong. With an ``eval_func`` that function
    scores, and is given the judge.

    Args:
        eval_method: "extract_compare", or "simpleqa" (three grades; the result then has ``is_correct`` and the like).
    """

    def __init__(self, eval_method: str = "extract_compare", **options: Any) -> None:
        if eval_method not in METHODS:
            near = did_you_mean(str(eval_method), METHODS)
            raise ConfigError(f"eval_method {eval_method!r} is neither {' nor '.join(METHODS)}.{near}")
        super().__init__(judge=eval_method, **{"use_llm_evaluator": True, **options})

    @property
    def judge_families(self) -> Sequence[str]:
        return () if self.scores_all_at_once else super().judge_families
