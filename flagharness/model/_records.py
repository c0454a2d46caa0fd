"""From what a client gave back to the record that is kept of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flagharness.model._faults import Fault
from flagharness.model._types import Response
from flagharness.run import UNREADABLE_ANSWER, Prediction


@dataclass(frozen=True)
class Asked:
    """What was asked: which question, in which words, under which settings.

    Attributes:
        text: The prompt as sent.
        request_hash: None for what could not be made a request.
        frame_times: When the frames of each video were shown, in seconds from its first.
    """

    question_id: str
    inference: int
    settings: str | None
    text: str
    request_hash: str | None
    frame_times: Sequence[Sequence[float]] = ()


def answered(asked: Asked, response: Response) -> Prediction:
    """Return the record of a question that was answered."""
    return Prediction(
        question_id=asked.question_id,
        question=asked.text,
        answer=response.answer,
        reason=response.reason,
        usage=response.usage,
        finish_reason=response.finish_reason,
        latency_s=round(response.latency_s or 0.0, 4),
        response_id=response.response_id,
        request_hash=asked.request_hash,
        settings=asked.settings,
        inference=asked.inference,
        frame_times=[list(times) for times in asked.frame_times],
        model=response.model,
        refused=response.refused,
        attempts=response.attempts,
    )


def failed(asked: Asked, fault: Fault, secrets: Sequence[str]) -> Prediction:
    """Return the record of an answer that could not be had, with every attempt and without any secret."""
    attempts = fault.attempts
    return Prediction(
        question_id=asked.question_id,
        question=asked.text,
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
        request_hash=asked.request_hash,
        settings=asked.settings,
        inference=asked.inference,
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


def tokens_of(prediction: Prediction) -> dict[str, int]:
    """Return the tokens that a record paid for, unreadable answers before it included: ``prompt``, ``completion``."""
    unread = [attempt for attempt in prediction.attempts if attempt.get("type") == UNREADABLE_ANSWER]
    usages = (prediction.usage, *(attempt.get("usage") for attempt in unread))
    return {
        kind: sum(_number(usage, f"{kind}_tokens") for usage in usages) for kind in ("prompt", "completion")
    }


def scrubbed(text: str, secrets: Sequence[str]) -> str:
    """Take secrets out of text that came from outside: servers quote keys in their error messages."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def explained(fault: Fault, secrets: Sequence[str]) -> str:
    """Return why an attempt failed, its HTTP status first, without any secret."""
    message, status = scrubbed(fault.message, secrets), f"HTTP {fault.http_status}"
    told = not fault.http_status or message.startswith(status)
    return message if told else f"{status}: {message}"


def _number(usage: Any, key: str) -> int:
    count = (usage or {}).get(key)
    return count if isinstance(count, int) else 0


def _scrubbed_record(record: dict[str, Any], secrets: Sequence[str]) -> dict[str, Any]:
    return {
        key: scrubbed(value, secrets) if isinstance(value, str) else value for key, value in record.items()
    }
