"""What the end-to-end tests share: a scripted endpoint, task folders, the command line, the files it wrote."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

CHECKOUT = Path(__file__).resolve().parents[2]
HARD_CASES = CHECKOUT / "tests" / "data" / "hard_cases"
PATIENCE_S = 60.0
"""A test that waits longer than this for something has failed."""


# --- the endpoint -------------------------------------------------------------------------------------------------


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


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A scripted endpoint of this test's own."""
    server = Endpoint()
    yield server
    server.close()
    if server.errors:
        raise server.errors[0]


@pytest.fixture
def dead_url() -> str:
    """A base URL where nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/v1"


# --- what a user writes -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskOnDisk:
    """A task folder with its data beside it."""

    config: Path
    data: Path

    def write_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Replace data.json."""
        text = json.dumps(list(rows), ensure_ascii=False)
        (self.data / "data.json").write_text(text, encoding="utf-8")

    def image(self, name: str) -> bytes:
        return (self.data / name).read_bytes()


def count_rows(number: int) -> list[dict[str, Any]]:
    """Rows whose truth is their position, as the endpoint's first script answers."""
    return [
        {
            "question_id": index,
            "question": f"How many dots are in picture {index}?",
            "question_type": "count",
            "answer": index,
            "img_path": f"{index}.png",
        }
        for index in range(number)
    ]


def draw(path: Path) -> None:
    """Make a small real picture whose pixels follow from its name."""
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    colour = zlib.crc32(path.name.encode()).to_bytes(4, "big")[:3]
    Image.new("RGB", (16, 12), tuple(colour)).save(path)


@pytest.fixture
def make_rows() -> Callable[[int], list[dict[str, Any]]]:
    """Return a function that makes up rows: see count_rows."""
    return count_rows


@pytest.fixture
def make_task(tmp_path: Path) -> Callable[..., TaskOnDisk]:
    """Return a function that writes a task folder.

    Args: rows (a list, or how many to make up), name, evaluator (None for none), files (name to text) for the
    task folder, top (further lines of the config), missing (image files not to be drawn), and dataset keys.
    """

    def make(
        rows: int | Sequence[Mapping[str, Any]] = 4,
        name: str = "toy",
        *,
        evaluator: Mapping[str, Any] | None = {"type": "BaseEvaluator"},
        files: Mapping[str, str] = {},
        top: str = "",
        missing: Sequence[str] = (),
        **dataset: Any,
    ) -> TaskOnDisk:
        folder = tmp_path / "tasks" / name
        task = TaskOnDisk(folder / f"{name}.py", folder / "data")
        task.data.mkdir(parents=True, exist_ok=True)
        rows = count_rows(rows) if isinstance(rows, int) else rows
        task.write_rows(rows)
        for row in rows:
            paths = row.get("img_path") or []
            for path in [paths] if isinstance(paths, str) else paths:
                if path not in missing:
                    draw(task.data / path)
        options = {
            "type": "VqaBaseDataset",
            "name": name,
            "data_root": str(task.data),
            "prompt_template": {"type": "PromptTemplate"},
            **dataset,
        }
        lines = [f"dataset = {options!r}", f"evaluator = {evaluator!r}" if evaluator else "", top, ""]
        task.config.write_text("\n".join(lines), encoding="utf-8")
        for file, text in files.items():
            (folder / file).write_text(text, encoding="utf-8")
        return task

    return make


@pytest.fixture
def make_model(tmp_path: Path, endpoint: Endpoint) -> Callable[..., Path]:
    """Return a function that writes a model config for the endpoint; a setting that is None is left out."""

    def make(file: str = "model.json", **settings: Any) -> Path:
        values = {
            "model_name": "m",
            "url": endpoint.url,
            "num_workers": 4,
            "retry_wait_max": 0.01,
            **settings,
        }
        path = tmp_path / file
        path.write_text(json.dumps({k: v for k, v in values.items() if v is not None}), encoding="utf-8")
        return path

    return make


# --- the command line ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """How one command ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr


class Running:
    """A command that was started and not yet waited for."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def kill(self) -> None:
        self._process.kill()
        self.wait()

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def read_error_line_with(self, text: str) -> None:
        """Block until a line on stderr holds ``text``."""
        assert self._process.stderr is not None
        too_late = threading.Timer(PATIENCE_S, self._process.kill)
        too_late.start()
        lines = []
        for line in self._process.stderr:
            lines.append(line)
            if text in line:
                too_late.cancel()
                return
        raise AssertionError(f"the command ended without {text!r} on stderr, only {lines}")

    def wait(self) -> Ran:
        stdout, stderr = self._process.communicate(timeout=PATIENCE_S)
        return Ran(self._process.returncode, stdout, stderr)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment that commands run in; tests may change it."""
    path = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_") and "proxy" not in k.lower()}
    ours = {"PYTHONPATH": path, "FLAGHARNESS_CACHE": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    return {**kept, **ours}


@pytest.fixture
def start_cli(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[..., Running]]:
    """Return a function that starts ``python -m flagharness`` in a process of its own and does not wait."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: Any) -> Running:
        process = subprocess.Popen(
            [sys.executable, "-m", "flagharness", *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        started.append(process)
        return Running(process)

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.fixture
def run_cli(start_cli: Callable[..., Running]) -> Callable[..., Ran]:
    """Return a function that runs ``python -m flagharness`` in a process of its own, in tmp_path."""
    return lambda *arguments: start_cli(*arguments).wait()


@pytest.fixture
def run_here(
    tmp_path: Path,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Callable[..., Ran]]:
    """As run_cli, inside this process: no second of imports, but the same files, output and exit status."""
    from flagharness.cli import main

    monkeypatch.chdir(tmp_path)
    for name in os.environ.keys() - environment.keys():
        monkeypatch.delenv(name)
    for name in ("FLAGHARNESS_CACHE", "HF_HUB_OFFLINE"):
        monkeypatch.setenv(name, environment[name])
    ours = logging.getLogger("flagharness")
    before = (ours.handlers[:], ours.level, ours.propagate)

    def run(*arguments: Any) -> Ran:
        capsys.readouterr()
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 1
        return Ran(status, *capsys.readouterr())

    yield run
    ours.handlers[:], ours.level, ours.propagate = before


# --- the files a user reads ---------------------------------------------------------------------------------------


class RunFiles:
    """The files of one task in a run directory, read as JSON when they are asked for."""

    def __init__(self, output_dir: Path, task: str) -> None:
        self._folder = output_dir / task
        self._task = task
        self.output_dir = output_dir

    @property
    def summary(self) -> dict[str, Any]:
        """This task's part of summary.json."""
        tasks: dict[str, dict[str, Any]] = _json(self.output_dir / "summary.json")["tasks"]
        return tasks[self._task]

    @property
    def result(self) -> dict[str, Any]:
        return dict(_json(self._folder / f"{self._task}_result.json"))

    @property
    def counts(self) -> dict[str, int]:
        """What was counted, without the zeros."""
        return {name: count for name, count in self.result["counts"].items() if count}

    @property
    def predictions(self) -> list[dict[str, Any]]:
        return list(_json(self._folder / f"{self._task}.json"))

    @property
    def evaluated(self) -> list[dict[str, Any]]:
        return list(_json(self._folder / f"{self._task}_evaluated.json"))

    @property
    def config(self) -> dict[str, Any]:
        return dict(_json(self._folder / f"{self._task}_config.json"))

    @property
    def journal_file(self) -> Path:
        return self._folder / "items" / "journal.jsonl"

    @property
    def journal(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.journal_file.read_text(encoding="utf-8").splitlines()]

    def answers(self) -> dict[str, Any]:
        """Return question_id to answer."""
        return {row["question_id"]: row["answer"] for row in self.predictions}

    def without_times(self) -> dict[str, Any]:
        """Return predictions, verdicts and result without what two runs of the same thing may differ in."""
        differing = ("latency_s", "attempts")
        return {
            "predictions": [_without(row, differing) for row in self.predictions],
            "evaluated": [_without(row, differing) for row in self.evaluated],
            "result": self.result,
        }


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _without(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


@pytest.fixture
def read_json() -> Callable[[Path], Any]:
    return _json


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The run directory that tests give as --output-dir."""
    return tmp_path / "out"


@pytest.fixture
def files_of(out: Path) -> Callable[..., RunFiles]:
    """Return a function that reads the files of a task: ``files_of("toy").result``."""
    return lambda task="toy", output_dir=out: RunFiles(output_dir, task)


# --- faults people met --------------------------------------------------------------------------------------------


def hard_cases() -> list[dict[str, Any]]:
    """Return the rows that these tests cover, from the data files of their areas."""
    return [case for area in ("inference", "retry", "resume") for case in _json(HARD_CASES / f"{area}.json")]


@pytest.fixture
def hard_case() -> Callable[[str], dict[str, Any]]:
    """Return a function that finds a hard case by its id."""
    return lambda name: next(case for case in hard_cases() if case["id"] == name)
