"""A verdict: what scoring found out about one sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from flagharness.judge import OPEN_STATUSES, Ruling

OUTCOMES = (
    "correct",
    "wrong",
    "graded",  # a score between the two
    "no_response",  # an empty reply
    "unparsed",  # a reply in which no answer could be read
    "invalid_choice",  # a committed choice that is none of the row's
    "ambiguous",  # several different choices and no commitment
    "unfinished_reasoning",  # cut off before the answer began
    "request_error",
    "missing",
    "data_error",
    "not_attempted",  # a judge: the answer commits to nothing
    "invalid",  # a judge: the answer is cut off, irrelevant or refuses
    "not_judged",  # answered, but there is no judge
    "judge_unparsed",  # a judge answered, but no verdict could be read
    "judge_failed",  # a judge could not be asked
)
NO_ANSWER = frozenset({"request_error", "missing", "data_error"})
"""Outcomes of samples that the model could not answer: wrong in the headline, open in its range."""
NOT_JUDGED = "not_judged"
"""The outcome of an answer where no judge is configured."""
UNDECIDED = frozenset({NOT_JUDGED, *OPEN_STATUSES})
"""Outcomes of answers that wait for a verdict: open in the range, and no wrong answers of the model."""
OUTCOME_OF_GRADE = {
    "correct": "correct",
    "incorrect": "wrong",
    "not_attempted": "not_attempted",
    "invalid": "invalid",
}
PARSE_FAILURES = frozenset({"no_response", "unparsed", "invalid_choice", "ambiguous", "unfinished_reasoning"})


@dataclass
class Verdict:
    """One sample's score. With several inferences ``correct`` is their mean and ``inferences`` holds each."""

    question_id: str
    outcome: str
    correct: bool | float = False
    answer: Any = None
    """What was extracted; None when nothing could be read."""
    raw_answer: Any = ""
    label: Any = None
    question_type: str = ""
    extraction: dict[str, Any] | None = None
    truncated: bool = False
    refused: bool = False
    inferences: list[Verdict] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    """What a custom evaluator adds; written into the evaluated row as it is."""
    ruling: Ruling | None = None
    """What judges or the rules before them decided; written as ``judge``."""

    def forget_texts(self) -> None:
        """Let go of what no metric reads once the row is on disk, so that a large run stays small in memory."""
        self.raw_answer = self.extraction = None
        if self.ruling is not None:
            self.ruling = self.ruling.without_texts()

    def to_json(self) -> dict[str, Any]:
        """Return the fields that a row of ``{task}_evaluated.json`` gains."""
        record: dict[str, Any] = {
            "raw_answer": self.raw_answer,
            "answer": self.answer,
            "extraction": self.extraction,
            "correct": self.correct,
            "outcome": self.outcome,
            "label": self.label,
            "question_type": self.question_type,
        }
        if self.inferences:
            record["inference_scores"] = [float(verdict.correct) for verdict in self.inferences]
            record["num_inferences"] = len(self.inferences)
            record["outcomes"] = [verdict.outcome for verdict in self.inferences]
        rulings = [
            verdict.ruling.to_json() for verdict in self.inferences or [self] if verdict.ruling is not None
        ]
        if rulings:
            record["judge"] = rulings if self.inferences else rulings[0]
        return {**record, **self.extra}


def combine(verdicts: list[Verdict]) -> Verdict:
    """Return one verdict for all inferences of a sample: the mean of their scores."""
    if len(verdicts) == 1:
        return verdicts[0]
    first = verdicts[0]
    score = sum(float(verdict.correct) for verdict in verdicts) / len(verdicts)
    open_outcomes = NO_ANSWER | UNDECIDED
    failed = next((verdict.outcome for verdict in verdicts if verdict.outcome in open_outcomes), None)
    unread = next((verdict.outcome for verdict in verdicts if verdict.outcome in PARSE_FAILURES), None)
    if failed or (unread and score == 0):
        outcome = failed or unread or "wrong"
    else:
        outcome = "correct" if score == 1 else "wrong" if score == 0 else "graded"
    return Verdict(
        question_id=first.question_id,
        outcome=outcome,
        correct=score,
        answer={f"inference_{k}": verdict.answer for k, verdict in enumerate(verdicts)},
        raw_answer={f"inference_{k}": verdict.raw_answer for k, verdict in enumerate(verdicts)},
        label=first.label,
        question_type=first.question_type,
        extraction={f"inference_{k}": verdict.extraction for k, verdict in enumerate(verdicts)},
        truncated=any(verdict.truncated for verdict in verdicts),
        refused=any(verdict.refused for verdict in verdicts),
        inferences=verdicts,
    )


def by_inference(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Return the verdicts on the first inference of every sample, those on the second, and so on."""
    number = max((len(verdict.inferences) for verdict in verdicts), default=0)
    if number == 0:
        return [list(verdicts)]
    return [[verdict.inferences[k] for verdict in verdicts] for k in range(number)]
