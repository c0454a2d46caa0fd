"""What was decided about one answer: by one judge, by all of them together, or by rule."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flagharness.judge._family import GRADES, JudgeFamily
from flagharness.judge._question import JudgeQuestion
from flagharness.run import Prediction

STATUSES = (*GRADES, "judge_unparsed", "judge_failed", "skipped_rule", "model_failed")
"""What can be said of an answer. ``skipped_rule``: an exact match or a grade by rule, decided without a call;
``model_failed``: there was no answer to judge. Neither is a judge's verdict; the middle two are none at all."""
OPEN_STATUSES = frozenset({"judge_unparsed", "judge_failed"})
"""No verdict: neither right nor wrong, and asked again by the next run."""
UNPARSED = "judge_unparsed"
"""The error type of a reply that could not be read, in the journal of a judge."""


@dataclass(frozen=True)
class Opinion:
    """What one judge said.

    Attributes:
        status: A grade, ``judge_unparsed`` or ``judge_failed``.
        why: Why there is no grade.
        record: The journal's record of the call; None where none was made.
    """

    judge: str
    status: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    why: str | None = None
    record: Prediction | None = None

    @property
    def grade(self) -> str | None:
        return self.status if self.status in GRADES else None

    def to_json(self) -> dict[str, Any]:
        """Return what a row of the evaluated file says of it; the reply is always there, also an unreadable one."""
        shown: dict[str, Any] = {"judge": self.judge, "status": self.status, **self.fields}
        if self.why:
            shown["why"] = self.why
        if self.record is not None:
            shown |= {"reply": self.record.answer, "model": self.record.model, "usage": self.record.usage}
            if self.record.reason:
                shown["reason"] = self.record.reason
        return shown


@dataclass(frozen=True)
class Ruling:
    """What holds for one answer.

    Attributes:
        status: One of STATUSES.
        grade: One of GRADES; None while it is open.
        fields: What the deciding judge said beside the grade.
        cut: Whether the judges saw only the end of the answer.
    """

    status: str
    grade: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    opinions: Sequence[Opinion] = ()
    cut: bool = False

    @property
    def open(self) -> bool:
        return self.status in OPEN_STATUSES

    def to_json(self) -> dict[str, Any]:
        """Return what a row of the evaluated file says of it."""
        shown: dict[str, Any] = {"status": self.status, "grade": self.grade, **self.fields}
        if self.cut:
            shown["answer_cut"] = True
        if len(self.opinions) == 1:
            shown = {**self.opinions[0].to_json(), **shown}
        elif self.opinions:
            shown["judges"] = [opinion.to_json() for opinion in self.opinions]
        return shown

    def without_texts(self) -> Ruling:
        """Return it without what no metric reads."""
        bare = [dataclasses.replace(opinion, record=None) for opinion in self.opinions]
        return dataclasses.replace(self, opinions=bare)


def decided_by_rule(family: JudgeFamily, question: JudgeQuestion) -> Ruling | None:
    """Return the ruling that takes no call, if there is one."""
    grade = family.decided(question)
    if grade is None:
        return None
    return Ruling("skipped_rule" if question.answer.strip() else "model_failed", grade)


def ruling_of(opinions: Sequence[Opinion], min_valid: int, *, cut: bool = False) -> Ruling:
    """Return what several judges decide together: the majority, and of a tie the grade of the first judge in it.

    With fewer than ``min_valid`` grades there is none.
    """
    grades = Counter(opinion.grade for opinion in opinions if opinion.grade)
    if grades.total() < min_valid:
        unread = any(opinion.status == UNPARSED for opinion in opinions)
        failed = any(opinion.status == "judge_failed" for opinion in opinions)
        return Ruling(UNPARSED if unread and not failed else "judge_failed", opinions=opinions, cut=cut)
    most = max(grades.values())
    first = next(opinion for opinion in opinions if opinion.grade and grades[opinion.grade] == most)
    return Ruling(first.status, first.grade, first.fields, opinions, cut)
