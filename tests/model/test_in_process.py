"""Models that run inside this process: finding, building and asking them."""

from __future__ import annotations

import asyncio
import json
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import ModelConfig, load_model_config
from flagharness.errors import ConfigError
from flagharness.model import Fault, InProcessClient, Request, Response, load_in_process_model

_REQUEST = Request("1", 0, (), (), {})

_MODEL = """
    from flagharness.model import Response

    class Toy:
        def __init__(self, answer="B"):
            self.answer = answer

        def generate(self, request):
            return Response(answer=self.answer)

    class Silent:
        pass
"""


def _config(model_type: str, folder: Path = Path(), **args: Any) -> ModelConfig:
    values = {"model_name": "toy", "model_type": model_type, "model_args": args}
    path = folder / "toy.json"
    path.write_text(json.dumps(values), encoding="utf-8")
    return load_model_config(str(path))


def _write(folder: Path, text: str = _MODEL, name: str = "my_model.py") -> Path:
    path = folder / name
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def _refusal(config: ModelConfig) -> str:
    with pytest.raises(ConfigError) as caught:
        load_in_process_model(config)
    return str(caught.value)


def test_a_class_beside_the_config_is_found_from_any_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path)
    config = _config("my_model.py:Toy", tmp_path, answer="C")
    monkeypatch.chdir("/")
    model, digest = load_in_process_model(config)
    assert model.generate(_REQUEST) == Response(answer="C")
    assert len(digest) == 64


def test_a_class_is_found_by_absolute_path_and_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "here").mkdir()
    file = _write(tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    for place in (str(file), "my_model.py"):
        model, _ = load_in_process_model(_config(f"{place}:Toy", tmp_path / "configs"))
        assert model.generate(_REQUEST) == Response(answer="B")


def test_a_class_of_an_installed_package_is_found(tmp_path: Path) -> None:
    model, _ = load_in_process_model(_config("flagharness.model.otsu_counter:OtsuCounter", tmp_path))
    assert type(model).__name__ == "OtsuCounter"


def test_the_digest_follows_the_source(tmp_path: Path) -> None:
    _write(tmp_path)
    before = load_in_process_model(_config("my_model.py:Toy", tmp_path))[1]
    assert load_in_process_model(_config("my_model.py:Toy", tmp_path))[1] == before
    _write(tmp_path, _MODEL + "\n    # another version\n")
    assert load_in_process_model(_config("my_model.py:Toy", tmp_path))[1] != before


@pytest.mark.parametrize(
    ("model_type", "args", "problem"),
    [
        ("nowhere.py:Toy", {}, "nowhere.py: no such file"),
        ("no_such_package.module:Toy", {}, "cannot import 'no_such_package.module': No module named"),
        ("my_model.py:Toyy", {}, "no class 'Toyy' in my_model.py. Did you mean 'Toy'?"),
        ("my_model.py:Silent", {}, "the class has no method `generate(request) -> Response`"),
        ("my_model.py:Toy", {"anwser": "C"}, "cannot build the model: TypeError: "),
        ("broken.py:Toy", {}, "broken.py:2: ZeroDivisionError: division by zero"),
    ],
)
def test_what_cannot_be_loaded_is_told(
    tmp_path: Path, model_type: str, args: dict[str, Any], problem: str
) -> None:
    _write(tmp_path)
    _write(tmp_path, "\n1 / 0\n", "broken.py")
    assert problem in _refusal(_config(model_type, tmp_path, **args))


def test_an_error_of_the_constructor_is_told(tmp_path: Path) -> None:
    _write(tmp_path, "class Toy:\n    def __init__(self):\n        raise RuntimeError('no GPU')\n")
    assert "cannot build the model: RuntimeError: no GPU" in _refusal(_config("my_model.py:Toy", tmp_path))


# --- asking ---------------------------------------------------------------------------------------------------


class _Plain:
    def generate(self, request: Request) -> Response:
        return Response(
            answer=f"{request.question_id} on {threading.current_thread().name.partition('_')[0]}"
        )


class _Async:
    async def generate(self, request: Request) -> Response:
        return Response(
            answer=f"{request.question_id} on {threading.current_thread().name.partition('_')[0]}"
        )


class _ReturnsAwaitable:
    def generate(self, request: Request) -> Any:
        return _Async().generate(request)


class _Raises:
    def generate(self, request: Request) -> Response:
        raise RuntimeError("out of memory")


class _ReturnsText:
    def generate(self, request: Request) -> Any:
        return "B"


class _ReturnsNoText:
    def generate(self, request: Request) -> Response:
        return Response(answer=None)  # type: ignore[arg-type]


def _ask(model: Any) -> Response:
    async def ask() -> Response:
        async with InProcessClient(model, 2) as client:
            return await client.ask(client.prepare(_REQUEST, []))

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("model", "answer"),
    [(_Plain(), "1 on model"), (_Async(), "1 on MainThread"), (_ReturnsAwaitable(), "1 on MainThread")],
)
def test_plain_models_answer_in_threads_and_async_ones_in_the_loop(model: Any, answer: str) -> None:
    assert _ask(model).answer == answer


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (_Raises(), "RuntimeError: out of memory"),
        (_ReturnsText(), "generate() must return a Response, got 'B'"),
        (_ReturnsNoText(), "Response.answer cannot be None"),
    ],
)
def test_a_model_that_fails_is_a_fault_with_its_one_attempt(model: Any, message: str) -> None:
    with pytest.raises(Fault) as caught:
        _ask(model)
    fault = caught.value
    assert (fault.kind, fault.retry, fault.fatal) == ("model_error", False, False)
    assert message in fault.message
    assert [attempt["type"] for attempt in fault.attempts] == ["model_error"]
