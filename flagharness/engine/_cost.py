"""What a run took: tokens of model and judges apart, and money where prices are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flagharness.engine._spec import TaskRun
from flagharness.model import tokens_of
from flagharness.run import UNREADABLE_ANSWER, Prediction


@dataclass
class JudgeUse:
    """What the verdicts of one judge took. ``calls`` counts replies, unreadable ones included."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    models: set[str] = field(default_factory=set)

    def add(self, record: Prediction) -> None:
        """Count one record of the judge's journal."""
        unread = sum(attempt.get("type") == UNREADABLE_ANSWER for attempt in record.attempts)
        self.calls += unread + (record.ok or bool(record.answer))
        tokens = tokens_of(record)
        self.prompt += tokens["prompt"]
        self.completion += tokens["completion"]
        if record.model:
            self.models.add(record.model)


def paid(run: TaskRun, tokens: Mapping[str, int], judges_used: Mapping[str, JudgeUse]) -> dict[str, Any]:
    """Return what model and judges took, apart: tokens, and money where prices are known."""
    use = dict(judges_used)
    if run.chat is not None:
        use = {run.chat.name: JudgeUse()}
        for record in run.chat.used:
            use[run.chat.name].add(record)
    judges = {judge.id: judge for judge in run.judge.judges} if run.judge is not None else {}
    shown: dict[str, Any] = {}
    if use:
        shown["judge_calls"] = {name: each.calls for name, each in use.items()}
        shown["judge_tokens"] = {
            name: {"prompt": u.prompt, "completion": u.completion} for name, u in use.items()
        }
        shown["judge_models_returned"] = {name: sorted(each.models) for name, each in use.items()}
    costs = {
        "model": _cost(tokens, run.price),
        **{
            f"judge {name}": _cost({"prompt": u.prompt, "completion": u.completion}, judges[name].model.price)
            for name, u in use.items()
            if name in judges
        },
    }
    known = {who: cost for who, cost in costs.items() if cost is not None}
    return {**shown, **({"cost": known} if known else {})}


def _cost(tokens: Mapping[str, int], price: Mapping[str, float] | None) -> float | None:
    if price is None:
        return None
    return round((tokens["prompt"] * price["input"] + tokens["completion"] * price["output"]) / 1e6, 6)
