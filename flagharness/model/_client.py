"""The client for OpenAI-compatible chat endpoints.

It uses the openai package's aiohttp client and headers, sends bodies that are already bytes, and reads replies
itself: both halves of the package that would copy every image several times are passed by.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from flagharness.config import ModelConfig
from flagharness.model._faults import Fault, fault_of_status, may_retry, wait_before_retry
from flagharness.model._reply import error_message, read_reply, read_stream, sse_data
from flagharness.model._types import Request, Response
from flagharness.model._wire import chat_body

if TYPE_CHECKING:
    import httpx2

UNREACHABLE_TRIES = 3
"""Attempts to connect before the first reply ever: nobody listens there, so the run need not wait long."""


class EndpointClient:
    """Asks one model at one or several endpoints. Use as an async context manager.

    Args:
        wait: Called before a retry with the failure and the seconds to wait.
        jitter: Returns a number in [0, 1); see :func:`wait_before_retry`.
    """

    def __init__(
        self,
        config: ModelConfig,
        *,
        wait: Callable[[Fault, float], Awaitable[None]],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._config = config
        self._wait = wait
        self._jitter = jitter
        self._in_flight = dict.fromkeys(config.endpoints, 0)
        self._reached = False

    async def __aenter__(self) -> EndpointClient:
        import httpx2
        import openai

        config = self._config
        self._http = openai.DefaultAioHttpClient(
            timeout=httpx2.Timeout(config.timeout, connect=min(config.timeout, 30.0)),
            limits=httpx2.Limits(
                max_connections=config.num_workers, max_keepalive_connections=config.num_workers
            ),
        )
        client = openai.AsyncOpenAI(
            api_key=config.api_key or "none",
            base_url=config.endpoints[0],
            http_client=self._http,
            max_retries=0,
        )
        headers = {key: value for key, value in client.default_headers.items() if isinstance(value, str)}
        headers = {key: value for key, value in headers.items() if not key.lower().startswith("x-stainless")}
        headers.pop("Authorization", None)
        headers["Content-Type"] = "application/json"
        self._headers = {
            url: {**headers, **self._authorization(url), **config.extra_headers} for url in config.endpoints
        }
        self._body_keys = frozenset(config.sampling) | (
            {"stream", "stream_options"} if config.stream else set()
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    def _authorization(self, url: str) -> Mapping[str, str]:
        key = self._config.api_key
        if not key:
            return {}
        if (urlsplit(url).hostname or "").endswith(".azure.com"):
            return {"api-key": key}
        return {"Authorization": f"Bearer {key}"}

    def prepare(self, request: Request, media_types: Sequence[str]) -> bytes:
        """Return the body to send for a request: pure, for worker threads."""
        return chat_body(
            self._config.model_name,
            request.messages,
            list(zip(media_types, request.encoded, strict=True)),
            request.sampling,
            self._config.stream,
        )

    async def ask(self, body: bytes) -> Response:
        """Send one request until it is answered or the retries are used up.

        Raises:
            Fault: The last failure; ``attempts`` holds all of them.
        """
        attempts: list[dict[str, Any]] = []
        failures: Counter[str] = Counter()
        while True:
            # The least busy endpoint; a dead one is never busy, so this request turns to the others next.
            url = min(self._in_flight, key=lambda each: (failures[each], self._in_flight[each]))
            started = time.monotonic()
            self._in_flight[url] += 1
            try:
                response = await self._once(url, body)
                self._reached = True
                response.attempts = attempts
                response.latency_s = time.monotonic() - started
                return response
            except Fault as fault:
                attempts.append(fault.record(time.monotonic() - started))
                failures[url] += 1
                self._reached = self._reached or fault.http_status is not None
                unreachable = fault.kind == "connection" and not self._reached
                if unreachable and len(attempts) >= UNREACHABLE_TRIES:
                    fault.retry, fault.fatal = False, True
                if not may_retry(fault, len(attempts), self._config.max_retries):
                    fault.attempts = attempts
                    raise
                failed = fault
            finally:
                self._in_flight[url] -= 1
            seconds = wait_before_retry(len(attempts), failed, self._config.retry_wait_max, self._jitter())
            await self._wait(failed, seconds)

    async def _once(self, url: str, body: bytes) -> Response:
        import aiohttp
        import httpx2

        request = self._http.build_request("POST", url, headers=self._headers[url], content=body)
        try:
            reply = await self._http.send(request, stream=self._config.stream)
            if self._config.stream and reply.status_code == 200:
                return await self._streamed(reply)
            content = await reply.aread()
        except (httpx2.HTTPError, aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            raise _transport_fault(error, url, self._config.timeout) from error
        if reply.status_code == 200:
            return read_reply(content, self._config.reasoning_tags)
        raise fault_of_status(
            reply.status_code, reply.headers, error_message(content), url, self._body_keys, time.time()
        )

    async def _streamed(self, reply: httpx2.Response) -> Response:
        try:
            lines = [line async for line in reply.aiter_lines()]
        finally:
            await reply.aclose()
        return read_stream(sse_data(lines), self._config.reasoning_tags)


def _transport_fault(error: BaseException, url: str, timeout: float) -> Fault:
    import aiohttp
    import httpx2

    cause = error.__cause__ or error
    # The aiohttp transport reports a refused connection as a time-out; the cause knows better.
    if isinstance(cause, aiohttp.ClientConnectorError):
        return Fault("connection", f"cannot connect to {url}: {cause.os_error.strerror or cause}", retry=True)
    if isinstance(cause, aiohttp.ServerTimeoutError) or (
        isinstance(error, (httpx2.TimeoutException, asyncio.TimeoutError))
        and not isinstance(cause, aiohttp.ClientConnectionError)
    ):
        return Fault("timeout", f"no reply within {timeout:g} s", retry=True)
    detail = str(cause) or type(cause).__name__
    return Fault("connection", f"the connection to {url} broke: {detail}", retry=True)
