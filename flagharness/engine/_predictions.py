"""From what a client gave back to the record that is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flagharness.engine._spec import TaskRun
from flagharness.model import Fault, Response
from flagharness.run import UNREADABLE_ANSWER, Prediction


@dataclass(frozen=True)
class Job:
    """One inference of one sample."""

    run: TaskRun
    index: int
    inference: int


def answered(job: Job, text: str, request_hash: str, response: Response) -> Prediction:
    """Return the record of a sample that was answered.

    Args:
        text: The prompt as sent.
    """
    return Prediction(
        question_id=job.run.ids[job.index],
        question=text,
        answer=response.answer,
        reason=response.reason,
        usage=response.usage,
        finish_reason=response.finish_reason,
        latency_s=round(response.latency_s or 0.0, 4),
        response_id=response.response_id,
        request_hash=request_hash,
        settings=job.run.settings,
        inference=job.inference,
        model=response.model,
        refused=response.refused,
        attempts=response.attempts,
    )


def failed(job: Job, fault: Fault, text: str, request_hash: str | None, secrets: Sequence[str]) -> Prediction:
    """Return the record of a sample that could not be had, with every attempt and without any secret."""
    attempts = fault.attempts
    return Prediction(
        question_id=job.run.ids[job.index],
        question=text,
        status="error",
        error={
            "type": fault.kind,
            "message": scrubbed(fault.message, secrets),
            "http_status": fault.http_status,
            "attempts": len(attempts),
        },
        reason=scrubbed(fault.partial, secrets),
        usage=fault.usage,
        finish_reason=fault.finish_reason,
        latency_s=attempts[-1]["seconds"] if attempts else None,
        request_hash=request_hash,
        settings=job.run.settings,
        inference=job.inference,
        attempts=[_scrubbed_record(attempt, secrets) for attempt in attempts],
    )


def after(earlier: Prediction | None, prediction: Prediction) -> Prediction:
    """Keep in a record the answers to the same request that could not be read."""
    if earlier is not None:
        unread = {
            "type": UNREADABLE_ANSWER,
            "answer": earlier.answer,
            "reason": earlier.reason,
            "finish_reason": earlier.finish_reason,
            "response_id": earlier.response_id,
            "usage": earlier.usage,
        }
        prediction.attempts = [*earlier.attempts, unread, *prediction.attempts]
    return prediction


def scrubbed(text: str, secrets: Sequence[str]) -> str:
    """Take secrets out of text that came from outside: servers quote keys in their error messages."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _scrubbed_record(record: dict[str, Any], secrets: Sequence[str]) -> dict[str, Any]:
    return {
        key: scrubbed(value, secrets) if isinstance(value, str) else value for key, value in record.items()
    }
