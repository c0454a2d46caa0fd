"""The client for OpenAI-compatible chat endpoints.

It uses the openai package's aiohttp client and headers, sends bodies that are already bytes, and reads replies
itself: both halves of the package that would copy every image several times are passed by.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from flagharness.config import ModelConfig
from flagharness.model._faults import Fault, fault_of_status, may_retry, wait_before_retry
from flagharness.model._reply import error_message, read_reply, read_stream, sse_data
from flagharness.model._types import Request, Response
from flagharness.model._wire import chat_body

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

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
        self._refusing: set[str] = set()
        """Endpoints whose failures say that they will fail every request alike."""

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
        self._targets = {url: _without_credentials(url) for url in config.endpoints}
        forms = {form for secret in config.secrets for form in (secret, json.dumps(secret)[1:-1])}
        self._secret_forms = [form.encode() for form in sorted(forms, key=len, reverse=True)]
        self._body_keys = frozenset(config.sampling) | (
            {"stream", "stream_options"} if config.stream else set()
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    def _authorization(self, url: str) -> Mapping[str, str]:
        credentials, at, _ = urlsplit(url).netloc.rpartition("@")
        if at:
            return {"Authorization": f"Basic {base64.b64encode(unquote(credentials).encode()).decode()}"}
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
            self._config.audio_mode == "audio_url",
        )

    async def ask(self, body: bytes) -> Response:
        """Send one request until it is answered or the retries are used up.

        Raises:
            Fault: The last failure; ``attempts`` holds all of them.
        """
        attempts: list[dict[str, Any]] = []
        failed_at: Counter[str] = Counter()
        while True:
            # The least busy endpoint that has not failed this request; one that refuses everybody comes last.
            url = min(
                self._in_flight,
                key=lambda each: (each in self._refusing, failed_at[each], self._in_flight[each]),
            )
            started = time.monotonic()
            try:
                response = await self._attempt(url, body)
            except Fault as fault:
                attempts.append(fault.record(time.monotonic() - started))
                failed_at[url] += 1
                if await self._give_up(url, fault, len(attempts)):
                    fault.attempts = attempts
                    raise
                continue
            response.attempts = attempts
            response.latency_s = time.monotonic() - started
            return response

    async def _attempt(self, url: str, body: bytes) -> Response:
        self._in_flight[url] += 1
        try:
            # The whole attempt: a server that drips a byte now and then would never time out otherwise.
            response = await asyncio.wait_for(self._once(url, body), self._config.timeout)
        except asyncio.TimeoutError as error:
            raise Fault("timeout", f"no reply within {self._config.timeout:g} s", retry=True) from error
        except Fault as fault:
            self._reached = self._reached or fault.http_status is not None
            raise
        finally:
            self._in_flight[url] -= 1
        self._reached = True
        return response

    async def _give_up(self, url: str, fault: Fault, attempts: int) -> bool:
        """Decide whether a failed request is given up; where it is not, wait until it may be tried again."""
        if fault.kind == "connection" and not self._reached and attempts >= UNREACHABLE_TRIES:
            fault.retry, fault.fatal = False, True
        if fault.fatal and url not in self._refusing:
            self._refusing.add(url)
            if len(self._in_flight) > 1:
                logger.warning(
                    "%s refuses every request and is left out: %s", self._targets[url], fault.message
                )
        if fault.fatal and len(self._refusing) < len(self._in_flight):
            fault.fatal = False  # the others may still answer; this request goes to one of them at once
            return False
        if not may_retry(fault, attempts, self._config.max_retries):
            return True
        seconds = wait_before_retry(attempts, fault, self._config.retry_wait_max, self._jitter())
        await self._wait(fault, seconds)
        return False

    async def _once(self, url: str, body: bytes) -> Response:
        import aiohttp
        import httpx2

        request = self._http.build_request(
            "POST", self._targets[url], headers=self._headers[url], content=body
        )
        try:
            reply = await self._http.send(request, stream=self._config.stream)
            if self._config.stream and reply.status_code == 200:
                return await self._streamed(reply)
            content = self._scrubbed(await reply.aread())
        except (httpx2.HTTPError, aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            raise _transport_fault(error, self._targets[url], self._config.timeout) from error
        if reply.status_code == 200:
            return read_reply(content, self._config.reasoning_tags)
        raise fault_of_status(
            reply.status_code,
            reply.headers,
            error_message(content),
            self._targets[url],
            self._body_keys,
            time.time(),
        )

    async def _streamed(self, reply: httpx2.Response) -> Response:
        try:
            # Whole first: httpx would cut lines at every Unicode line end, also inside a JSON string.
            content = self._scrubbed(await reply.aread())
        finally:
            await reply.aclose()
        if content.lstrip().startswith(b"{"):  # a server that does not stream answers as if not asked to
            return read_reply(content, self._config.reasoning_tags)
        return read_stream(sse_data(content), self._config.reasoning_tags)

    def _scrubbed(self, content: bytes) -> bytes:
        """Take our own secrets out of a reply before anything of it is cut, kept or shown."""
        for secret in self._secret_forms:
            if secret in content:
                content = content.replace(secret, b"***")
        return content


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


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
