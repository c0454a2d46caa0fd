"""An OpenAI-compatible server on 127.0.0.1 that does what a test says and remembers every request."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aiohttp import web

PATIENCE_S = 60.0
"""A test that waits longer than this for something has failed."""


@dataclass(frozen=True)
class Call:
    """One request as the server received it."""

    number: int
    """Counted from 0, in the order of arrival."""
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    at: float
    """When it arrived, in seconds of the monotonic clock."""

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The parts of the last message; plain text counts as one part."""
        content = self.body["messages"][-1]["content"]
        return [{"type": "text", "text": content}] if isinstance(content, str) else content

    @property
    def text(self) -> str:
        return "".join(part["text"] for part in self.parts if part["type"] == "text")

    @property
    def is_probe(self) -> bool:
        """Whether this is what a judge is asked once before a run."""
        return "capital of France" in self.text

    @property
    def question_number(self) -> int:
        """The N of the first "Question N:" in what a judge is asked."""
        return int(self.text.partition("Question ")[2].partition(":")[0])

    @property
    def asked(self) -> int:
        """The first number in the text: which row this is, in the rows that `make_task` makes up."""
        found = re.search(r"\d+", self.text)
        assert found is not None, f"no number in {self.text!r}"
        return int(found[0])

    @property
    def images(self) -> list[tuple[str, bytes]]:
        """Media type and bytes of every image, taken out of their data URLs."""
        found = []
        for part in self.parts:
            if part["type"] == "image_url":
                head, _, data = part["image_url"]["url"].partition(";base64,")
                found.append((head.removeprefix("data:"), base64.b64decode(data, validate=True)))
        return found


class Gate:
    """Holds replies back until somebody opens it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._event = asyncio.Event()

    def open(self) -> None:
        self._loop.call_soon_threadsafe(self._event.set)

    async def wait(self) -> None:
        await self._event.wait()


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    body: Any = None
    """Bytes as they are, a list of server-sent lines, or anything else as JSON."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    """Break the connection: instead of a reply, or after the lines of a stream."""
    after: Gate | None = None
    """Not before this gate is open."""
    opens: Gate | None = None

    def held_by(self, gate: Gate) -> Reply:
        return replace(self, after=gate)

    def opening(self, gate: Gate) -> Reply:
        return replace(self, opens=gate)


Script = Callable[[Call], "Reply | str"]


class Endpoint:
    """An OpenAI-compatible server on 127.0.0.1 that does what ``script`` says and remembers every request.

    A script gets the call and returns a Reply, or the text of a good answer. The first script answers with the
    first number in the question.
    """

    def __init__(self) -> None:
        self.script: Script = lambda call: str(call.asked)
        self.calls: list[Call] = []
        self.max_in_flight = 0
        self.errors: list[Exception] = []
        self._in_flight = 0
        self._gates: list[Gate] = []
        self._arrived = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint")
        self._thread.start()
        self.port: int = self._in_loop(self._open())

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.host}/v1"

    # --- writing scripts ---

    def says(self, text: str | None, *, finish_reason: str | None = "stop", **message: Any) -> Reply:
        """A good reply; further keywords are fields of its message."""
        choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}}
        return Reply(
            {
                "id": "reply-1",
                "object": "chat.completion",
                "created": 1,
                "model": "served",
                "choices": [{**choice, "finish_reason": finish_reason}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
            }
        )

    def fails(self, status: int, message: str = "no", **headers: str) -> Reply:
        """An error in OpenAI's form; ``Retry_After="1"`` is the header Retry-After."""
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return Reply({"error": {"message": message}}, status, names)

    def sends(self, body: Any, status: int = 200) -> Reply:
        """Any JSON value, or bytes as they are."""
        return Reply(body, status)

    def streams(self, *lines: str, cut: bool = False) -> Reply:
        """Server-sent lines as they are; ``cut`` breaks the connection after them."""
        return Reply(list(lines), cut=cut)

    def cuts(self) -> Reply:
        """The connection breaks instead of a reply."""
        return Reply(cut=True)

    def in_turn(self, *replies: Reply | str) -> Script:
        """Return a script: the k-th time a question is asked it gets the k-th reply; the last one stays."""
        asked: dict[str, int] = {}

        def script(call: Call) -> Reply | str:
            turn = asked.get(call.text, 0)
            asked[call.text] = turn + 1
            return replies[min(turn, len(replies) - 1)]

        return script

    def gate(self) -> Gate:
        gate = Gate(self._loop)
        self._gates.append(gate)
        return gate

    # --- looking at what came ---

    def wait_for_calls(self, number: int) -> None:
        """Block until so many requests have arrived."""
        with self._arrived:
            done = self._arrived.wait_for(lambda: len(self.calls) >= number, PATIENCE_S)
        assert done, f"{len(self.calls)} of {number} requests arrived"

    def forget(self) -> None:
        """Forget the requests so far."""
        self.calls = []

    def rows_asked(self) -> list[int]:
        """Return which rows were asked, sorted, with repetitions."""
        return sorted(call.asked for call in self.calls)

    # --- the server ---

    def close(self) -> None:
        for gate in self._gates:
            gate.open()
        self._in_loop(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _in_loop(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)

    async def _open(self) -> int:
        application = web.Application(client_max_size=1 << 28)
        application.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        port: int = self._runner.addresses[0][1]
        return port

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.read())
        with self._arrived:
            call = Call(len(self.calls), request.path, request.headers, body, time.monotonic())
            self.calls.append(call)
            self._arrived.notify_all()
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        try:
            reply = self._reply_to(call)
            if reply.after is not None:
                await reply.after.wait()
            return await self._send(request, reply)
        finally:
            self._in_flight -= 1

    def _reply_to(self, call: Call) -> Reply:
        try:
            said = self.script(call)
            return self.says(said) if isinstance(said, str) else said
        except Exception as error:  # noqa: BLE001 - a mistake in a script; the fixture raises it
            self.errors.append(error)
            return Reply(status=500)

    async def _send(self, request: web.Request, reply: Reply) -> web.StreamResponse:
        if isinstance(reply.body, list):
            response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await response.prepare(request)
            for line in reply.body:
                await response.write(f"{line}\n".encode())
        else:
            raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            headers = {"Content-Type": "application/json", **reply.headers}
            response = web.Response(status=reply.status, headers=headers, body=raw)
        if reply.cut:
            assert request.transport is not None
            request.transport.abort()
        if reply.opens is not None:
            reply.opens.open()
        return response
