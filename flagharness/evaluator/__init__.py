"""Evaluators: from annotations and predictions to verdicts and metrics."""

from flagharness.evaluator._base import EXTRACTOR_VERSION, BaseEvaluator
from flagharness.evaluator._tally import count_outcomes, headline_block
from flagharness.evaluator._verdict import NO_ANSWER, OUTCOMES, PARSE_FAILURES, Verdict, combine

__all__ = [
    "EXTRACTOR_VERSION",
    "NO_ANSWER",
    "OUTCOMES",
    "PARSE_FAILURES",
    "BaseEvaluator",
    "Verdict",
    "combine",
    "count_outcomes",
    "headline_block",
]
