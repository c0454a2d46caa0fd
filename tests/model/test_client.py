"""The endpoint client: retries, waits and endpoints, over a transport with a script and waits that do not sleep."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from flagharness.config import ModelConfig, load_model_config
from flagharness.model import EndpointClient, Fault, Message, Request, Response

Handler = Callable[[httpx2.Request], httpx2.Response]

_REQUEST = Request("1", 0, (Message("user", ("q?",)),), (), {"temperature": 0.5})


def _config(**values: Any) -> ModelConfig:
    return load_model_config(json.dumps({"model_name": "toy", "url": "http://one/v1", **values}))


def _good(answer: str = "B") -> httpx2.Response:
    return httpx2.Response(200, json={"choices": [{"message": {"content": answer}, "finish_reason": "stop"}]})


class _Transport:
    """Answers the n-th request with the n-th reply, the last one for ever, and remembers all requests."""

    def __init__(self, *replies: httpx2.Response | Exception) -> None:
        self.replies = replies
        self.requests: list[httpx2.Request] = []
        self.waits: list[tuple[str, float]] = []

    def reply(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        reply = self.replies[min(len(self.requests), len(self.replies)) - 1]
        if isinstance(reply, Exception):
            raise reply
        return httpx2.Response(reply.status_code, headers=reply.headers, content=reply.content)

    async def wait(self, fault: Fault, seconds: float) -> None:
        self.waits.append((fault.kind, seconds))


def _ask(
    monkeypatch: pytest.MonkeyPatch, transport: _Transport, config: ModelConfig | None = None, times: int = 1
) -> list[Response | Fault]:
    def client_of(**options: Any) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(transport=httpx2.MockTransport(transport.reply), timeout=options["timeout"])

    monkeypatch.setattr(openai, "DefaultAioHttpClient", client_of)

    async def ask() -> list[Response | Fault]:
        outcomes: list[Response | Fault] = []
        client = EndpointClient(config or _config(), wait=transport.wait, jitter=lambda: 0.0)
        async with client:
            for _ in range(times):
                try:
                    outcomes.append(await client.ask(client.prepare(_REQUEST, [])))
                except Fault as fault:
                    outcomes.append(fault)
        return outcomes

    return asyncio.run(ask())


def test_a_good_answer_needs_one_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(_good())
    [response] = _ask(monkeypatch, transport)
    assert isinstance(response, Response)
    assert (response.answer, response.finish_reason, response.attempts) == ("B", "stop", [])
    assert response.latency_s is not None
    assert 0 <= response.latency_s < 60
    [request] = transport.requests
    assert (request.method, str(request.url)) == ("POST", "http://one/v1/chat/completions")
    assert json.loads(request.content) == {
        "model": "toy",
        "messages": [{"role": "user", "content": "q?"}],
        "temperature": 0.5,
    }
    assert transport.waits == []


@pytest.mark.parametrize(
    ("values", "headers"),
    [
        ({}, {"authorization": None, "content-type": "application/json"}),
        ({"api_key": "sk-FAKE"}, {"authorization": "Bearer sk-FAKE", "api-key": None}),
        (
            {"api_key": "sk-FAKE", "url": "https://x.openai.azure.com/openai/deployments/d"},
            {"authorization": None, "api-key": "sk-FAKE"},
        ),
        ({"api_key": "sk-FAKE", "url": "https://evil.org/x.azure.com"}, {"authorization": "Bearer sk-FAKE"}),
        (
            {"extra_headers": {"X-Title": "toy", "Authorization": "mine"}},
            {"x-title": "toy", "authorization": "mine"},
        ),
    ],
)
def test_the_key_goes_where_the_endpoint_looks_for_it(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, Any], headers: dict[str, str | None]
) -> None:
    transport = _Transport(_good())
    _ask(monkeypatch, transport, _config(**values))
    sent = transport.requests[0].headers
    assert {name: sent.get(name) for name in headers} == headers
    assert not [name for name in sent if name.startswith("x-stainless")]


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        (httpx2.Response(500, text="boom"), "server_error"),
        (httpx2.Response(429, text="slow"), "rate_limited"),
        (httpx2.Response(408, text="x"), "rejected"),
        (httpx2.Response(200, text="<html>"), "bad_response"),
        (httpx2.Response(200, json={"choices": []}), "bad_response"),
        (
            httpx2.Response(200, json={"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}),
            "empty_response",
        ),
        (httpx2.ReadTimeout("x"), "timeout"),
        (httpx2.ReadError("cut"), "connection"),
        (httpx2.RemoteProtocolError("cut"), "connection"),
        (OSError("network is down"), "connection"),
    ],
)
def test_a_passing_fault_is_tried_again_and_recorded(
    monkeypatch: pytest.MonkeyPatch, first: httpx2.Response | Exception, kind: str
) -> None:
    transport = _Transport(first, _good())
    [response] = _ask(monkeypatch, transport)
    assert isinstance(response, Response)
    assert response.answer == "B"
    assert [attempt["type"] for attempt in response.attempts] == [kind]
    assert transport.waits == [(kind, 0.5)]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_lasting_fault_is_not_tried_again(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    transport = _Transport(httpx2.Response(status, json={"error": {"message": "no"}}))
    [fault] = _ask(monkeypatch, transport)
    assert isinstance(fault, Fault)
    assert (fault.http_status, len(fault.attempts), transport.waits) == (status, 1, [])


def test_the_last_failure_carries_all_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(
        httpx2.Response(500, text="a"), httpx2.Response(503, text="b"), httpx2.ReadTimeout("c")
    )
    [fault] = _ask(monkeypatch, transport, _config(max_retries=2))
    assert isinstance(fault, Fault)
    assert [attempt["http_status"] for attempt in fault.attempts] == [500, 503, None]
    assert [attempt["type"] for attempt in fault.attempts] == ["server_error", "server_error", "timeout"]
    assert len(transport.requests) == 3


@pytest.mark.parametrize(("max_retries", "attempts"), [(0, 1), (1, 2), (4, 5)])
def test_max_retries_bounds_the_attempts(
    monkeypatch: pytest.MonkeyPatch, max_retries: int, attempts: int
) -> None:
    transport = _Transport(httpx2.Response(503))
    _ask(monkeypatch, transport, _config(max_retries=max_retries))
    assert len(transport.requests) == attempts


def test_the_waits_double_up_to_retry_wait_max(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(httpx2.Response(503))
    _ask(monkeypatch, transport, _config(max_retries=5, retry_wait_max=3))
    assert [seconds for _, seconds in transport.waits] == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_a_wait_that_the_server_asks_for_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(httpx2.Response(429, headers={"Retry-After": "7"}), _good())
    _ask(monkeypatch, transport)
    assert transport.waits == [("rate_limited", 7.0)]


def test_an_empty_reply_is_tried_twice_more_and_then_is_the_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(_good(""))
    [fault] = _ask(monkeypatch, transport)
    assert isinstance(fault, Fault)
    assert (fault.kind, len(fault.attempts)) == ("empty_response", 3)


def test_a_timeout_says_how_long_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    [fault] = _ask(monkeypatch, _Transport(httpx2.ReadTimeout("")), _config(max_retries=0, timeout=2.5))
    assert isinstance(fault, Fault)
    assert fault.message == "no reply within 2.5 s"


def test_an_endpoint_that_never_answered_is_given_up_after_three_attempts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    transport = _Transport(httpx2.ConnectError("refused"))
    [fault] = _ask(monkeypatch, transport, _config(max_retries=10))
    assert isinstance(fault, Fault)
    assert (len(fault.attempts), fault.fatal) == (3, True)


def test_an_endpoint_that_answered_before_gets_all_its_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(_good(), httpx2.ConnectError("refused"))
    _, fault = _ask(monkeypatch, transport, _config(max_retries=5), times=2)
    assert isinstance(fault, Fault)
    assert (len(fault.attempts), fault.fatal) == (6, False)


def test_a_port_where_nobody_listens_is_a_connection_fault_that_names_the_url() -> None:
    with socket.socket() as bound:  # bound, so that nobody else can listen there
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/v1"

        async def no_wait(fault: Fault, seconds: float) -> None: ...

        async def ask() -> None:
            async with EndpointClient(_config(url=url), wait=no_wait) as client:
                await client.ask(client.prepare(_REQUEST, []))

        with pytest.raises(Fault) as caught:
            asyncio.run(ask())
    assert (caught.value.kind, caught.value.fatal, len(caught.value.attempts)) == ("connection", True, 3)
    assert f"cannot connect to {url}/chat/completions" in caught.value.message


def test_requests_are_spread_over_all_endpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    hosts: list[str] = []
    transport = _Transport()

    async def hold(request: httpx2.Request) -> httpx2.Response:
        hosts.append(request.url.host)
        while len(hosts) < 8:  # until all of them are on their way
            await asyncio.sleep(0)
        return _good()

    monkeypatch.setattr(
        openai,
        "DefaultAioHttpClient",
        lambda **options: httpx2.AsyncClient(transport=httpx2.MockTransport(hold)),
    )

    async def ask() -> None:
        config = _config(url=["http://one/v1", "http://two/v1"])
        async with EndpointClient(config, wait=transport.wait) as client:
            await asyncio.gather(*[client.ask(client.prepare(_REQUEST, [])) for _ in range(8)])

    asyncio.run(ask())
    assert (hosts.count("one"), hosts.count("two")) == (4, 4)


def test_a_request_that_failed_at_one_endpoint_goes_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(httpx2.ConnectError("refused"), httpx2.Response(503), _good(), _good())
    config = _config(url=["http://one/v1", "http://two/v1", "http://three/v1"])
    _ask(monkeypatch, transport, config)
    assert [request.url.host for request in transport.requests] == ["one", "two", "three"]


def test_a_streamed_reply_is_read_and_a_cut_one_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = 'data: {"choices": [{"delta": {"content": "B"}}]}\n\n'
    transport = _Transport(
        httpx2.Response(200, text=chunk), httpx2.Response(200, text=chunk + "data: [DONE]\n\n")
    )
    [response] = _ask(monkeypatch, transport, _config(stream=True))
    assert isinstance(response, Response)
    assert response.answer == "B"
    assert [attempt["type"] for attempt in response.attempts] == ["bad_response"]
    assert json.loads(transport.requests[0].content)["stream"] is True


def test_an_error_status_of_a_streamed_request_keeps_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(httpx2.Response(401, json={"error": {"message": "wrong key"}}))
    [fault] = _ask(monkeypatch, transport, _config(stream=True))
    assert isinstance(fault, Fault)
    assert (fault.message, fault.fatal) == ("wrong key", True)


def test_a_complaint_about_streaming_names_the_field(monkeypatch: pytest.MonkeyPatch) -> None:
    transport = _Transport(httpx2.Response(400, json={"error": "unknown field stream_options"}))
    [fault] = _ask(monkeypatch, transport, _config(stream=True))
    assert isinstance(fault, Fault)
    assert fault.fatal
    assert "does not take `stream_options`" in fault.message
