"""A prediction: what is kept of one response, and how it is written as a line of JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson

from flagharness.errors import DataError

UNREADABLE_ANSWER = "unreadable_answer"
"""The type of an attempt that was answered, but in which no answer could be read."""
JSON_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS


@dataclass
class Prediction:
    """One inference of one sample. A failure is a value here, never text in the answer."""

    question_id: str
    question: str = ""
    """The prompt text as sent, with its ``<image N>`` marks."""
    answer: str = ""
    """The visible text of the reply, without reasoning."""
    reason: str = ""
    usage: dict[str, Any] | None = None
    status: str = "ok"
    """"ok" or "error"."""
    error: dict[str, Any] | None = None
    """type, message, http_status, attempts - when status is "error"."""
    finish_reason: str | None = None
    latency_s: float | None = None
    """Seconds from the start of the attempt that succeeded (or the last one) to its end."""
    response_id: str | None = None
    request_hash: str | None = None
    settings: str | None = None
    """Digest of model, sampling and system prompt: what a run's answers have in common."""
    inference: int = 0
    frame_times: list[list[float]] = field(default_factory=list)
    """When the frames that were shown of each video stand in it, in seconds from its first."""
    model: str | None = None
    """The model name that the endpoint reported."""
    refused: bool = False
    attempts: list[dict[str, Any]] = field(default_factory=list)
    """The attempts before the last one: type, http_status, message, seconds of a failed one; type, answer, reason,
    finish_reason, response_id, usage of one that was answered unreadably and asked again."""

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def truncated(self) -> bool:
        return self.finish_reason == "length"

    def to_json(self) -> dict[str, Any]:
        """Return the record as written to disk: the fields of the contract, the rest only where set."""
        record: dict[str, Any] = {
            "question_id": self.question_id,
            "question": self.question,
            "answer": self.answer,
            "reason": self.reason,
            "usage": self.usage,
            "status": self.status,
            "error": self.error,
            "finish_reason": self.finish_reason,
            "latency_s": self.latency_s,
            "response_id": self.response_id,
            "request_hash": self.request_hash,
        }
        if self.settings:
            record["settings"] = self.settings
        if self.inference:
            record["inference"] = self.inference
        if self.frame_times:
            record["frame_times"] = self.frame_times
        if self.model:
            record["model"] = self.model
        if self.refused:
            record["refused"] = True
        if self.attempts:
            record["attempts"] = self.attempts
        return record

    @classmethod
    def from_json(cls, record: Any, where: str) -> Prediction:
        """Read a record of ours or of FlagEvalMM (which has neither status nor request_hash).

        Raises:
            DataError: Not a prediction; says where.
        """
        if not isinstance(record, dict) or "question_id" not in record:
            raise DataError(
                f"{where}: not a prediction: expected an object with `question_id`, got {record!r:.120}."
            )
        known = {name: record[name] for name in cls.__dataclass_fields__ if record.get(name) is not None}
        known["question_id"] = str(record["question_id"])
        if "status" not in record:
            known["question"] = record.get("question") or record.get("prompt") or ""
        answer = known.get("answer", "")
        known["answer"] = answer if isinstance(answer, str) else str(answer)
        reason = known.get("reason", "")
        known["reason"] = reason if isinstance(reason, str) else ""
        for name, kinds in _KINDS.items():
            if name in known and not isinstance(known[name], kinds):
                raise DataError(
                    f"{where}: `{name}` of question_id {known['question_id']!r} is {known[name]!r:.80}."
                )
        if not 0 <= known.get("inference", 0) < MOST_INFERENCES or known.get("status", "ok") not in (
            "ok",
            "error",
        ):
            raise DataError(f"{where}: question_id {known['question_id']!r}: no such inference or status.")
        prediction = cls(**known)
        if "status" not in record and _is_error_text(prediction.answer):
            prediction.status = "error"
            prediction.error = {"type": "imported", "message": prediction.answer[:500]}
            prediction.answer = ""
        return prediction


MOST_INFERENCES = 1000
_KINDS: dict[str, type | tuple[type, ...]] = {
    "question": str,
    "usage": dict,
    "status": str,
    "error": dict,
    "finish_reason": str,
    "latency_s": (int, float),
    "response_id": str,
    "request_hash": str,
    "settings": str,
    "inference": int,
    "model": str,
    "refused": bool,
    "attempts": list,
}


def _is_error_text(answer: str) -> bool:
    # FlagEvalMM writes a failed request into the answer; such a text must never reach an extractor.
    return answer.startswith(("Error code", "Error:", "RetryError[", "Invalid response"))


def _plain(value: Any) -> Any:
    """What evaluators put into results beside plain JSON: sets, paths, numpy scalars of odd types."""
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)
    if hasattr(value, "item"):
        return value.item()
    return str(value)


def dump(record: Any, option: int = 0) -> bytes:
    """JSON, UTF-8. NaN becomes null; what JSON cannot hold at all is written as close as it can."""
    try:
        return orjson.dumps(record, default=_plain, option=JSON_OPTIONS | option)
    except TypeError:
        return orjson.dumps(_writable(record), default=_plain, option=JSON_OPTIONS | option)


def _writable(value: Any) -> Any:
    """Replace halves of surrogate pairs, whole numbers beyond 64 bits and keys that are no text."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(_writable(key)): _writable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_writable(part) for part in value]
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**64:
        return str(value)
    return value


def dump_line(record: Any) -> bytes:
    """One JSON line, UTF-8, with its newline. NaN becomes null."""
    return dump(record, orjson.OPT_APPEND_NEWLINE)


def dump_pretty(record: Any) -> bytes:
    """Indented JSON, UTF-8, ending with a newline. NaN becomes null."""
    return dump(record, orjson.OPT_APPEND_NEWLINE | orjson.OPT_INDENT_2)
