"""Failed attempts: what kinds there are, which are tried again, how long is waited."""

from __future__ import annotations

import math
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.model import Fault, explained
from flagharness.model._faults import fault_of_status, may_retry, parse_retry_after, wait_before_retry

_URL = "http://h/v1/chat/completions"
_NOW = 1_700_000_000.0
_KEYS = frozenset({"temperature", "max_tokens", "stop"})


def _of(status: int, message: str = "x", headers: dict[str, str] | None = None) -> Fault:
    return fault_of_status(status, headers or {}, message, _URL, _KEYS, _NOW)


@pytest.mark.parametrize(
    ("status", "kind", "retry", "fatal"),
    [
        (400, "rejected", False, False),
        (401, "rejected", False, True),
        (402, "rejected", False, True),
        (403, "rejected", False, True),
        (404, "rejected", False, True),
        (405, "rejected", False, False),
        (408, "rejected", True, False),
        (409, "rejected", True, False),
        (413, "rejected", False, False),
        (422, "rejected", False, False),
        (425, "rejected", True, False),
        (429, "rate_limited", True, False),
        (500, "server_error", True, False),
        (501, "server_error", True, False),
        (502, "server_error", True, False),
        (503, "server_error", True, False),
        (504, "server_error", True, False),
        (529, "server_error", True, False),
        (599, "server_error", True, False),
    ],
)
def test_a_status_says_whether_to_try_again_and_whether_all_is_lost(
    status: int, kind: str, retry: bool, fatal: bool
) -> None:
    fault = _of(status)
    assert (fault.kind, fault.retry, fault.fatal, fault.http_status) == (kind, retry, fatal, status)


def test_a_404_names_the_url_that_was_asked() -> None:
    assert f"asked {_URL}; is the model name right" in _of(404).message


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model", "max_tokens"),
        ("temperature: Extra inputs are not permitted", "temperature"),
        ("Unrecognized request argument supplied: stop", "stop"),
        ("unknown field `max_tokens`", "max_tokens"),
        ("'temperature' does not support 0.5; unsupported value", "temperature"),
    ],
)
def test_a_parameter_that_the_endpoint_does_not_take_stops_the_run_with_a_hint(
    status: int, message: str, named: str
) -> None:
    fault = _of(status, message)
    assert fault.fatal
    assert not fault.retry
    assert message in fault.message
    assert f"the endpoint does not take `{named}`" in fault.message
    assert "extra_body" in fault.message


@pytest.mark.parametrize(
    "message",
    [
        "max_tokens is too large: 5000",
        "Unsupported image format",
        "unknown error",
        "unsupported: max_tokens_per_image",
        "This model's maximum context length is 4096 tokens",
    ],
)
def test_a_complaint_about_one_row_does_not_stop_the_run(message: str) -> None:
    fault = _of(400, message)
    assert (fault.fatal, fault.retry, fault.message) == (False, False, message)


# --- Retry-After ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": " 7 "}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, 0.0),
        ({"retry-after": "inf"}, math.inf),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "soon"}, None),
        ({"retry-after": formatdate(_NOW + 30, usegmt=True)}, 30.0),
        ({"retry-after": formatdate(_NOW - 30, usegmt=True)}, 0.0),
        ({"retry-after": "Wed, 99 Nov 2023 25:00:00 GMT"}, None),
        ({"retry-after-ms": "soon", "retry-after": formatdate(_NOW + 30, usegmt=True)}, 30.0),
    ],
)
def test_retry_after_is_milliseconds_seconds_or_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert parse_retry_after(headers, _NOW) == seconds


@given(st.text(), st.text())
def test_any_header_is_a_wait_of_at_least_nothing_or_no_wait(milliseconds: str, value: str) -> None:
    seconds = parse_retry_after({"retry-after-ms": milliseconds, "retry-after": value}, _NOW)
    assert seconds is None or seconds >= 0


def test_only_a_status_that_is_tried_again_carries_a_wait() -> None:
    headers = {"retry-after": "3"}
    assert _of(429, headers=headers).retry_after_s == 3.0
    assert _of(503, headers=headers).retry_after_s == 3.0
    assert _of(401, headers=headers).retry_after_s is None


# --- waiting --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "retry_after", "wait_max", "jitter", "seconds"),
    [
        (1, None, 60, 0.0, 0.5),
        (2, None, 60, 0.0, 1.0),
        (5, None, 60, 0.0, 8.0),
        (7, None, 60, 0.0, 32.0),
        (8, None, 60, 0.0, 60.0),
        (100, None, 60, 0.0, 60.0),
        (100_000, None, 60, 0.0, 60.0),
        (5, None, 60, 0.5, 6.0),
        (5, None, 2, 0.5, 1.5),
        (5, None, 0, 0.0, 0.0),
        (1, 2.0, 60, 0.0, 2.0),
        (1, 2.0, 60, 0.5, 2.1),
        (5, 2.0, 60, 0.0, 8.0),
        (1, 90.0, 60, 0.0, 90.0),
        (1, 1e9, 60, 0.0, 600.0),
        (1, math.inf, 60, 0.0, 600.0),
        (1, 0.0, 60, 0.0, 0.5),
    ],
)
def test_the_wait_doubles_up_to_a_limit_and_retry_after_is_its_lower_bound(
    failures: int, retry_after: float | None, wait_max: float, jitter: float, seconds: float
) -> None:
    fault = Fault("rate_limited", "x", retry=True, retry_after_s=retry_after)
    assert wait_before_retry(failures, fault, wait_max, jitter) == pytest.approx(seconds)


_JITTER = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, 5000), st.floats(0, 3600), _JITTER)
def test_without_retry_after_the_wait_is_at_least_half_the_first_and_at_most_the_limit(
    failures: int, wait_max: float, jitter: float
) -> None:
    seconds = wait_before_retry(failures, Fault("server_error", "x", retry=True), wait_max, jitter)
    assert min(wait_max, 0.5) / 2 <= seconds <= wait_max


@given(st.integers(1, 5000), st.floats(0, 600), st.floats(0, 3600), _JITTER)
def test_the_wait_is_never_below_retry_after(
    failures: int, retry_after: float, wait_max: float, jitter: float
) -> None:
    fault = Fault("rate_limited", "x", retry=True, retry_after_s=retry_after)
    assert wait_before_retry(failures, fault, wait_max, jitter) >= retry_after


@pytest.mark.parametrize(
    ("kind", "retry", "failures", "max_retries", "again"),
    [
        ("server_error", True, 1, 5, True),
        ("server_error", True, 5, 5, True),
        ("server_error", True, 6, 5, False),
        ("server_error", True, 1, 0, False),
        ("rejected", False, 1, 5, False),
        ("empty_response", True, 1, 5, True),
        ("empty_response", True, 2, 5, True),
        ("empty_response", True, 3, 5, False),
        ("empty_response", True, 2, 1, False),
    ],
)
def test_a_request_is_tried_again_as_often_as_the_config_says_and_an_empty_one_twice(
    kind: str, retry: bool, failures: int, max_retries: int, again: bool
) -> None:
    assert may_retry(Fault(kind, "x", retry=retry), failures, max_retries) is again


def test_a_record_of_an_attempt_holds_what_is_known() -> None:
    assert Fault("timeout", "no reply").record(1.23456) == {
        "type": "timeout",
        "http_status": None,
        "message": "no reply",
        "seconds": 1.235,
    }
    full = Fault("empty_response", "x", http_status=200, partial="thought", usage={"total_tokens": 1})
    assert full.record(0)["partial"] == "thought"
    assert full.record(0)["usage"] == {"total_tokens": 1}


@pytest.mark.parametrize(
    ("message", "status", "said"),
    [
        ("busy, key sk-1", 503, "HTTP 503: busy, key ***"),
        ("HTTP 200 without content", 200, "HTTP 200 without content"),
        ("nobody listens", None, "nobody listens"),
    ],
)
def test_why_an_attempt_failed_names_its_status_once_and_no_secret(
    message: str, status: int | None, said: str
) -> None:
    assert explained(Fault("server_error", message, http_status=status), ["sk-1"]) == said
