"""What the tests of the shipped tasks share: a run against a scripted endpoint, and the requests it should send."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
REQUESTS = CHECKOUT / "tests" / "data" / "requests"


@pytest.fixture(scope="session")
def load_process() -> Callable[[Path], ModuleType]:
    """Return a function that imports the process.py of a task folder, as a module of its own."""

    def load(folder: Path) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"{folder.name}_process", folder / "process.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture
def png() -> Callable[..., bytes]:
    """Return a function that draws a small picture: ``png(7)``; every number gives another one."""

    def draw(number: int = 0, size: tuple[int, int] = (24, 16), kind: str = "PNG") -> bytes:
        from PIL import Image

        file = io.BytesIO()
        Image.new("RGB", size, (number * 37 % 256, number * 91 % 256, number % 256)).save(file, kind)
        return file.getvalue()

    return draw


@pytest.fixture
def write_tsv(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a TSV as benchmark authors do; bytes become base64."""

    def write(name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
        import base64
        import csv

        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        columns = list(dict.fromkeys(column for row in rows for column in row))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, delimiter="\t", restval="")
            writer.writeheader()
            for row in rows:
                cells = {
                    k: base64.b64encode(v).decode() if isinstance(v, bytes) else v for k, v in row.items()
                }
                writer.writerow(cells)
        return path

    return write


@pytest.fixture
def write_parquet(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a parquet file with the columns of the rows."""

    def write(name: str, rows: Sequence[Mapping[str, Any]]) -> Path:
        import pyarrow
        from pyarrow import parquet

        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), path)
        return path

    return write


@pytest.fixture
def run_benchmark(
    endpoint: Any,
    make_model: Callable[..., Path],
    run_here: Callable[..., Any],
    files_of: Callable[..., Any],
    out: Path,
) -> Callable[..., Any]:
    """Return a function that runs a shipped task on given data against the scripted endpoint.

    Args: the task's name (any that it answers to), the file or folder to take instead of its source (None for data
    that is shipped), a function from a Call to the reply (text or endpoint.says(...)), further command-line options;
    ``name`` is the config's dataset.name if it is not the first argument; further keywords go into the model config.

    Returns: ``files`` (see files_of), ``ran`` (returncode, stdout, stderr) and ``calls`` (the requests as received,
    in the order of the data).
    """

    def run(
        task: str,
        source: Path | None,
        reply: Callable[[Any], Any],
        *options: Any,
        name: str | None = None,
        **model: Any,
    ) -> SimpleNamespace:
        endpoint.script = reply
        settings = {"num_workers": 1, **model}
        overrides = [] if source is None else ["--cfg-options", f"dataset.config.dataset_path={source}"]
        ran = run_here(
            "--tasks", task, "--cfg", make_model(**settings), "--output-dir", out, *overrides, *options
        )
        files = files_of(name or task)
        return SimpleNamespace(ran=ran, files=files, calls=_in_order(endpoint.calls, files))

    return run


def _in_order(calls: Sequence[Any], files: Any) -> list[Any]:
    """Return requests in the order of the data: two workers prepare them, and either may be the first to ask."""
    predictions = files.predictions if files.predictions_file.is_file() else []
    places = {_bare(row["question"]): place for place, row in reversed(list(enumerate(predictions)))}
    return sorted(calls, key=lambda call: places.get(_bare(call.text), len(predictions)))


def _bare(text: str) -> str:
    """Return a prompt without image marks and whitespace, which are other things on the wire."""
    return "".join(re.sub(r"<image\s*[0-9]*>", "", text).split())


@pytest.fixture
def golden_requests() -> Callable[[str, Sequence[Any]], None]:
    """Return a function that compares requests with ``tests/data/requests/<name>.json``.

    Pictures stand there as media type, size in pixels and the colour of their middle, so that no version of an
    encoder matters. With FLAGHARNESS_WRITE_GOLDEN=1 in the environment the file is written instead: read what it says
    before you keep it.
    """

    def compare(name: str, calls: Sequence[Any]) -> None:
        shown = [
            {**{k: v for k, v in call.body.items() if k != "messages"}, "messages": _shown(call)}
            for call in calls
        ]
        path = REQUESTS / f"{name}.json"
        if os.environ.get("FLAGHARNESS_WRITE_GOLDEN"):
            path.write_text(json.dumps(shown, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        assert shown == json.loads(path.read_text(encoding="utf-8"))

    return compare


def _shown(call: Any) -> list[dict[str, Any]]:
    images = iter(call.images)
    messages = []
    for message in call.body["messages"]:
        content = message["content"]
        if isinstance(content, list):
            content = [part if part["type"] == "text" else _picture(*next(images)) for part in content]
        messages.append({**message, "content": content})
    return messages


def _picture(media_type: str, data: bytes) -> dict[str, Any]:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as picture:
        middle = picture.convert("RGB").getpixel((picture.width // 2, picture.height // 2))
        # JPEG decoders may differ by a shade.
        exact = media_type == "image/png"
        colour = "".join(f"{shade:02x}" if exact else f"{shade // 32}" for shade in middle)
        return {"image": f"{media_type} {picture.width}x{picture.height} {colour}"}
