"""Evaluators: from annotations and predictions to verdicts and metrics."""

from flagharness.evaluator._base import EXTRACTOR_VERSION, BaseEvaluator
from flagharness.evaluator._boxes import BoxEvaluator
from flagharness.evaluator._counts import CountEvaluator
from flagharness.evaluator._extract import ExtractEvaluator
from flagharness.evaluator._judged import JudgedEvaluator
from flagharness.evaluator._judgement import judge_block
from flagharness.evaluator._manifest import ManifestEvaluator
from flagharness.evaluator._open import OpenEvaluator
from flagharness.evaluator._tally import accuracy_block, breakdown, count_outcomes, headline_block
from flagharness.evaluator._verdict import (
    NO_ANSWER,
    NOT_JUDGED,
    OUTCOMES,
    PARSE_FAILURES,
    UNDECIDED,
    Verdict,
    combine,
)

__all__ = [
    "EXTRACTOR_VERSION",
    "NOT_JUDGED",
    "NO_ANSWER",
    "OUTCOMES",
    "PARSE_FAILURES",
    "UNDECIDED",
    "BaseEvaluator",
    "BoxEvaluator",
    "CountEvaluator",
    "ExtractEvaluator",
    "JudgedEvaluator",
    "ManifestEvaluator",
    "OpenEvaluator",
    "Verdict",
    "accuracy_block",
    "breakdown",
    "combine",
    "count_outcomes",
    "headline_block",
    "judge_block",
]
