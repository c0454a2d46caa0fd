"""Models that run inside the process: one class in a file of the user's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

PLAIN = """
import re

from flagharness.model import Response


class MyModel:
    def __init__(self, prefix=""):
        self.prefix = prefix

    def generate(self, request):
        row = int(re.search(r"\\d+", request.text)[0])
        if row in (2, 5):
            raise ValueError(f"cannot do row {row}")
        if row == 3:
            return "3"
        sizes = [len(image) for image in request.images]
        return Response(answer=f"{self.prefix}{row}", reason=f"images of {sizes} bytes")
"""

ASYNC = """
import asyncio

from flagharness.model import Response


class MyModel:
    async def generate(self, request):
        await asyncio.sleep(0)
        return Response(answer=request.text.split("picture ")[1][0], usage={"completion_tokens": 1})
"""


def _model(make_model: Any, file: Path, text: str, **settings: Any) -> Path:
    file.write_text(text, encoding="utf-8")
    config: Path = make_model(url=None, model_type=f"{file.name}:MyModel", **settings)
    return config


def test_a_plain_class_answers_and_the_rows_where_it_raises_are_errors(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any, tmp_path: Path
) -> None:
    task = make_task(7)
    model = _model(make_model, tmp_path / "my_model.py", PLAIN, model_args={"prefix": "about "})
    command = ("--tasks", task.config, "--cfg", model, "--output-dir", out)

    ran = run_here(*command)

    assert ran.returncode == 3, ran.stderr
    assert endpoint.calls == []
    files = files_of()
    answers = files.answers()
    assert answers == {
        "0": "about 0",
        "1": "about 1",
        "2": "",
        "3": "",
        "4": "about 4",
        "5": "",
        "6": "about 6",
    }
    assert files.predictions[1]["reason"] == f"images of [{len(task.image('1.png'))}] bytes"
    errors = {row["question_id"]: row["error"] for row in files.predictions if row["error"]}
    assert {error["type"] for error in errors.values()} == {"model_error"}
    assert errors["2"]["message"] == "ValueError: cannot do row 2"
    assert "must return a Response" in errors["3"]["message"]
    assert files.counts == {"total": 7, "answered": 4, "request_errors": 3}
    assert files.result["accuracy"] == 57.14

    # A repaired model is another model: its old answers are no longer taken for its own.
    repaired = PLAIN.replace("(2, 5)", "()").replace('return "3"', 'return Response(answer="3")')
    _model(make_model, tmp_path / "my_model.py", repaired, model_args={"prefix": "about "})
    ran = run_here(*command)
    assert ran.returncode == 0, ran.stderr
    assert files.summary["requests"]["asked"] == 7
    assert files.result["accuracy"] == 100.0
    assert run_here(*command).returncode == 0
    assert files.summary["requests"] == {"asked": 0, "kept": 7, "retries": 0}


def test_an_async_class_answers(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any, tmp_path: Path
) -> None:
    model = _model(make_model, tmp_path / "my_model.py", ASYNC)

    ran = run_here("--tasks", make_task(6).config, "--cfg", model, "--output-dir", out)

    assert ran.returncode == 0, ran.stderr
    assert files_of().result["accuracy"] == 100.0
    assert files_of().result["tokens"]["completion"] == 6


def test_the_model_type_may_stand_on_the_command_line(
    make_task: Any, run_here: Any, files_of: Any, out: Any, tmp_path: Path
) -> None:
    (tmp_path / "my_model.py").write_text(ASYNC, encoding="utf-8")

    ran = run_here(
        "--tasks", make_task(2).config, "--model", "mine", "--model-type", "my_model.py:MyModel",
        "--output-dir", out,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    assert files_of().result["accuracy"] == 100.0


@pytest.mark.parametrize(
    ("model_type", "text", "message"),
    [
        ("my_model.py:MyModle", ASYNC, "no class 'MyModle' in my_model.py. Did you mean 'MyModel'?"),
        ("no_model.py:MyModel", ASYNC, "no such file"),
        ("my_model.py:MyModel", "class MyModel:\n    pass\n", "no method `generate(request) -> Response`"),
        ("my_model.py:MyModel", "import nowhere_at_all\n", "my_model.py:1: ModuleNotFoundError"),
    ],
)
def test_a_model_that_cannot_be_built_is_a_wrong_config(
    model_type: str,
    text: str,
    message: str,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    out: Any,
    tmp_path: Path,
) -> None:
    (tmp_path / "my_model.py").write_text(text, encoding="utf-8")

    ran = run_here(
        "--tasks",
        make_task(2).config,
        "--cfg",
        make_model(url=None, model_type=model_type),
        "--output-dir",
        out,
    )

    assert ran.returncode == 2
    assert message in ran.stderr
