"""Failed attempts: what kinds there are, which are tried again, and how long to wait."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

RETRIED_STATUS = frozenset({408, 409, 425, 429})
FATAL_STATUS = frozenset({401, 402, 403, 404})
FIRST_WAIT_S = 0.5
RETRY_AFTER_MAX_S = 600.0
"""A server may ask for a longer wait than ``retry_wait_max``; up to this it is believed."""
EMPTY_REPLY_RETRIES = 2
"""An empty reply may be a passing fault, but a deterministic model would repeat it for ever."""

_PARAMETER_COMPLAINT = re.compile(
    r"(?i)unsupported|not supported|unrecognized|unknown|unexpected|not permitted|extra (?:inputs|fields)|forbidden"
)


class Fault(Exception):
    """One failed attempt.

    Attributes:
        kind: "connection", "timeout", "rate_limited", "server_error", "bad_response", "empty_response",
            "rejected" (any other 4xx), "model_error" (an in-process model raised) or "data_error".
        retry: Whether another attempt can help.
        fatal: Whether every other request of this run would fail alike: a wrong key, model name or URL.
        retry_after_s: What the server asked to wait, if it did.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        http_status: int | None = None,
        retry: bool = False,
        fatal: bool = False,
        retry_after_s: float | None = None,
        partial: str = "",
        usage: dict[str, Any] | None = None,
        finish_reason: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.http_status = http_status
        self.retry = retry
        self.fatal = fatal
        self.retry_after_s = retry_after_s
        self.partial = partial
        """Text that did arrive before the attempt failed, such as reasoning without an answer."""
        self.usage = usage
        self.finish_reason = finish_reason
        self.attempts: list[dict[str, Any]] = []
        """Records of all attempts, this one last; filled by whoever gave up."""

    def record(self, seconds: float) -> dict[str, Any]:
        """Return what is kept of this attempt."""
        record: dict[str, Any] = {
            "type": self.kind,
            "http_status": self.http_status,
            "message": self.message,
            "seconds": round(seconds, 3),
        }
        if self.partial:
            record["partial"] = self.partial
        if self.usage:
            record["usage"] = self.usage
        return record


def fault_of_status(
    status: int, headers: Mapping[str, str], message: str, url: str, body_keys: frozenset[str], now: float
) -> Fault:
    """Classify an HTTP status of 400 and above.

    Args:
        now: Seconds since the epoch, for a Retry-After that is a date.
        body_keys: The keys of the request body: a 4xx that complains of one of them will hit every row.
    """
    if status in RETRIED_STATUS or status >= 500:
        return Fault(
            "rate_limited" if status == 429 else "server_error" if status >= 500 else "rejected",
            message,
            http_status=status,
            retry=True,
            retry_after_s=parse_retry_after(headers, now),
        )
    hint = ""
    fatal = status in FATAL_STATUS
    if status == 404:
        hint = f" (asked {url}; is the model name right, and does the URL end where it should?)"
    elif status in (400, 422) and _PARAMETER_COMPLAINT.search(message):
        named = sorted(key for key in body_keys if re.search(rf"\b{re.escape(key)}\b", message))
        if named:
            fatal = True
            hint = (
                f" (the endpoint does not take `{named[0]}`: leave it out of the model config, or put the name it "
                f'wants into extra_body, e.g. {{"max_completion_tokens": 4096}})'
            )
    return Fault("rejected", message + hint, http_status=status, fatal=fatal)


def parse_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds to wait that ``retry-after-ms`` or ``retry-after`` (seconds or a date) ask for."""
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after")
    for text, unit in ((milliseconds, 0.001), (value, 1.0)):
        try:
            if text:
                return max(0.0, float(text) * unit)
        except ValueError:
            continue
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now) if value else None
    except (TypeError, ValueError):
        return None


def wait_before_retry(failures: int, fault: Fault, wait_max_s: float, jitter: float) -> float:
    """Seconds to wait after the ``failures``-th failure of a request.

    Exponential from half a second, up to ``wait_max_s``, of which ``jitter`` in [0, 1) takes away up to half, so
    that requests that failed together do not come back together. A Retry-After is a lower bound.

    Example:
        >>> fault = Fault("server_error", "x", retry=True)
        >>> [wait_before_retry(n, fault, 60, 0.0) for n in (1, 2, 3, 10)]
        [0.5, 1.0, 2.0, 60.0]
    """
    backoff: float = min(wait_max_s, FIRST_WAIT_S * 2.0 ** min(failures - 1, 60)) * (1 - jitter / 2)
    if fault.retry_after_s is None:
        return backoff
    # A little jitter on top: everybody was told the same moment.
    return max(backoff, min(fault.retry_after_s, RETRY_AFTER_MAX_S) * (1 + jitter / 10))


def may_retry(fault: Fault, failures: int, max_retries: int) -> bool:
    """Whether a request that failed ``failures`` times is tried again."""
    limit = min(max_retries, EMPTY_REPLY_RETRIES) if fault.kind == "empty_response" else max_retries
    return fault.retry and failures <= limit
