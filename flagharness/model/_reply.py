"""Reading what an OpenAI-compatible endpoint answered: pure functions from bytes to a Response or a Fault."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from flagharness.model._faults import Fault
from flagharness.model._types import Response, cut_off

_SHOWN = 200


def read_reply(body: bytes, reasoning_tags: tuple[str, str]) -> Response:
    """Read the body of a 200.

    Raises:
        Fault: Not JSON, an error in a 200, no choices, or no content (all worth another attempt).
    """
    return response_of(_parse(body), reasoning_tags, shown=body)


def response_of(reply: Any, reasoning_tags: tuple[str, str], shown: bytes = b"") -> Response:
    """Turn a parsed chat completion into a Response; see :func:`read_reply`."""
    if not isinstance(reply, dict):
        raise _bad(f"the reply is not a JSON object: {_excerpt(shown)}")
    choices = reply.get("choices")
    if reply.get("error") or not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        what = "carries an error" if reply.get("error") else "has no choices"
        raise _bad(f"HTTP 200, but the reply {what}: {_excerpt(shown)}")
    choice = choices[0]
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    finish_reason = choice.get("finish_reason")
    finish_reason = finish_reason if isinstance(finish_reason, str) else None
    if cut_off(finish_reason):
        finish_reason = "length"  # one word for it everywhere else
    if choice.get("error") or finish_reason == "error":
        raise _bad(f"HTTP 200, but the choice carries an error: {_excerpt(shown)}")
    content = _text(message.get("content"))
    reason = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    thought, answer = split_reasoning(content, reasoning_tags)
    reason = "\n".join(part for part in (reason, thought) if part)
    refusal = _text(message.get("refusal"))
    refused = bool(refusal) or finish_reason == "content_filter"
    usage = reply.get("usage") if isinstance(reply.get("usage"), dict) else None
    if not content and not refused and finish_reason != "length":
        raise Fault(
            "empty_response",
            f"HTTP 200 without content (finish_reason {finish_reason!r})",
            http_status=200,
            retry=True,
            partial=reason[-2000:],
            usage=usage,
            finish_reason=finish_reason,
        )
    return Response(
        answer=answer or refusal,
        reason=reason,
        usage=usage,
        finish_reason=finish_reason,
        response_id=reply.get("id") if isinstance(reply.get("id"), str) else None,
        model=reply.get("model") if isinstance(reply.get("model"), str) else None,
        refused=refused,
    )


def split_reasoning(content: str, tags: tuple[str, str]) -> tuple[str, str]:
    """Separate reasoning from the visible answer: ``(reason, answer)``.

    What precedes the last closing tag is reasoning, also without an opening one (some chat templates open it in
    the prompt). An opening tag that is never closed means the reply was cut off inside the reasoning: what
    follows it is no answer. Without a tag the text is untouched.

    Example:
        >>> split_reasoning("<think>A?</think>\\nB", ("<think>", "</think>"))
        ('A?', 'B')
        >>> split_reasoning("<think>A or", ("<think>", "</think>"))
        ('A or', '')
        >>> split_reasoning("The answer is B", ("<think>", "</think>"))
        ('', 'The answer is B')
    """
    opening, closing = tags
    head, found, tail = content.rpartition(closing)
    if found:
        return head.replace(opening, "", 1).strip(), tail.strip()
    before, found, after = content.partition(opening)
    if found:
        return after.strip(), before.strip()
    return "", content


def read_stream(events: Iterable[bytes], reasoning_tags: tuple[str, str]) -> Response:
    """Assemble a streamed reply from the ``data`` payloads of its server-sent events.

    Raises:
        Fault: An error event, broken JSON, or a stream that ended before it was finished: a cut stream is a failed
            attempt, never a short answer.
    """
    content: list[str] = []
    reason: list[str] = []
    refusal: list[str] = []
    reply: dict[str, Any] = {}
    finish_reason = None
    done = False
    for event in events:
        if event.strip() == b"[DONE]":
            done = True
            break
        chunk = _parse(event)
        if not isinstance(chunk, dict) or chunk.get("error") or chunk.get("object") == "error":
            raise _bad(f"the stream carries an error: {_excerpt(event)}", partial="".join(content))
        reply.update({key: chunk[key] for key in ("id", "model", "usage") if chunk.get(key)})
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else []:
            if not isinstance(choice, dict):
                continue
            delta = choice.get("delta")
            delta = delta if isinstance(delta, dict) else {}
            content.append(_text(delta.get("content")))
            reason.append(_text(delta.get("reasoning_content")) or _text(delta.get("reasoning")))
            refusal.append(_text(delta.get("refusal")))
            finish_reason = choice.get("finish_reason") or finish_reason
    if finish_reason is None and not done:
        raise _bad("the stream was cut before it was finished", partial="".join(content))
    message = {"content": "".join(content), "reasoning_content": "".join(reason), "refusal": "".join(refusal)}
    reply["choices"] = [{"message": message, "finish_reason": finish_reason}]
    return response_of(reply, reasoning_tags)


def sse_data(content: bytes) -> Iterator[bytes]:
    """Yield the data of each server-sent event; comments, ids, retry hints and empty data are no events."""
    for line in re.split(rb"\r\n|\n|\r", content):
        if line.startswith(b"data:"):
            payload = line[5:].strip()
            if payload:
                yield payload


def error_message(body: bytes) -> str:
    """Return the human part of an error body, whichever of the usual shapes it has."""
    try:
        reply = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _excerpt(body) or "(empty body)"
    if isinstance(reply, dict):
        for found in (reply.get("error"), reply.get("detail"), reply.get("message")):
            if isinstance(found, dict) and found.get("message"):
                return str(found["message"])[:1000]
            if found:
                return (found if isinstance(found, str) else orjson.dumps(found).decode())[:1000]
    return _excerpt(body)


def _parse(body: bytes) -> Any:
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _bad(f"the reply is not JSON: {_excerpt(body)}") from None


def _bad(message: str, partial: str = "") -> Fault:
    return Fault("bad_response", message, http_status=200, retry=True, partial=partial[-2000:])


def _excerpt(body: bytes) -> str:
    return body[:_SHOWN].decode("utf-8", "replace").strip()


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):  # some servers answer in parts, as requests are asked
        return "".join(
            part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return ""
