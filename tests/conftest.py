"""What all tests share: a scripted endpoint, task folders, the command line, the files it wrote."""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
from scripted_endpoint import PATIENCE_S, Endpoint

# The same examples on every machine, however slow it is; `--hypothesis-profile=default` looks for new ones.
settings.register_profile(
    "steady", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _log_as_it_was() -> Iterator[None]:
    """The command line sets up our logger for a terminal; a test that runs it must not change the next one."""
    ours = logging.getLogger("flagharness")
    handlers, level, propagate = list(ours.handlers), ours.level, ours.propagate
    yield
    ours.handlers[:] = handlers
    ours.setLevel(level)
    ours.propagate = propagate


CHECKOUT = Path(__file__).resolve().parents[1]
HARD_CASES = CHECKOUT / "tests" / "data" / "hard_cases"


# --- the endpoint ---


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A scripted endpoint of this test's own."""
    server = Endpoint()
    yield server
    server.close()
    if server.errors:
        raise server.errors[0]


@pytest.fixture
def judge_endpoint() -> Iterator[Endpoint]:
    """A second scripted endpoint, for a judge. What it says by default fits no family: set its script."""
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


@pytest.fixture
def file_server() -> Iterator[Callable[[Mapping[str, bytes]], str]]:
    """Return a function that serves files on 127.0.0.1 and returns the base URL; anything else is a 404."""
    servers = []

    def serve(files: Mapping[str, bytes]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data = files.get(self.path)
                self.send_response(200 if data is not None else 404)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


# --- what a user writes ---


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


@pytest.fixture
def make_judge(tmp_path: Path, judge_endpoint: Endpoint) -> Callable[..., Path]:
    """Return a function that writes a judge config for the judge's endpoint; None is written as null."""

    def make(file: str = "judge.yaml", **keys: Any) -> Path:
        values = {
            "model_name": "gpt-4o",
            "api_base": f"{judge_endpoint.url}/chat/completions",
            "nproc": 4,
            "retry": 2,
            "retry_wait_max": 0.01,
            **keys,
        }
        path = tmp_path / file
        lines = [f"{key}: {json.dumps(value)}" for key, value in values.items()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return make


# --- the command line ---


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


# --- the files a user reads ---


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
    def predictions_file(self) -> Path:
        return self._folder / f"{self._task}.json"

    @property
    def predictions(self) -> list[dict[str, Any]]:
        return list(_json(self.predictions_file))

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


# --- faults people met ---


def hard_cases() -> list[dict[str, Any]]:
    """Return the rows that these tests cover, from the data files of their areas."""
    return [case for area in ("inference", "retry", "resume") for case in _json(HARD_CASES / f"{area}.json")]


@pytest.fixture
def hard_case() -> Callable[[str], dict[str, Any]]:
    """Return a function that finds a hard case by its id."""
    return lambda name: next(case for case in hard_cases() if case["id"] == name)
