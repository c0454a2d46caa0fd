"""Machines as they are: another locale, no network, a wrong command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROCESS = """
import json
import pathlib

from PIL import Image


def process(cfg):
    folder = pathlib.Path(cfg.processed_dataset_path) / cfg.split
    folder.mkdir(parents=True)
    Image.new("RGB", (8, 8), "red").save(folder / "0.png")
    row = {"question_id": 0, "question": "How many dots?", "question_type": "count", "answer": 0, "img_path": "0.png"}
    (folder / "data.json").write_text(json.dumps([row]), encoding="utf-8")
"""

MODEL = """
from flagharness.model import Response


class MyModel:
    def generate(self, request):
        return Response(answer="0")
"""

WITHOUT_NETWORK = """
import socket
import sys

TRIES = []


def refuse(*arguments, **keywords):
    TRIES.append(arguments)
    raise OSError("no network here")


socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = socket.gethostbyname = socket.create_connection = refuse

from flagharness.cli import main

status = main(sys.argv[1:])
sys.exit(f"network tries: {TRIES}" if TRIES else status)
"""


@pytest.mark.parametrize("utf8_mode", ["", "0"], ids=["as it comes", "without UTF-8 mode"])
def test_a_machine_in_the_c_locale_reads_and_writes_utf8(
    utf8_mode: str,
    endpoint: Any,
    make_rows: Any,
    make_task: Any,
    make_model: Any,
    run_cli: Any,
    environment: dict[str, str],
    files_of: Any,
    out: Any,
) -> None:
    environment.update({"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": utf8_mode})
    if not utf8_mode:
        del environment["PYTHONUTF8"]
    rows = [
        {**row, "question": f"图{i}中有多少只猫？🐱", "question_id": f"问题{i}"}
        for i, row in enumerate(make_rows(2))
    ]
    endpoint.script = lambda call: endpoint.says(str(call.asked), reasoning_content="数一数 🐱")
    task = make_task(rows, prompt_template={"type": "PromptTemplate", "pre_prompt": "请看图。"})
    model = make_model(system_prompt="简短回答。")

    ran = run_cli("--tasks", task.config, "--cfg", model, "--output-dir", out, "--debug")

    assert ran.returncode == 0, ran.stderr
    assert {call.text for call in endpoint.calls} == {
        f"请看图。图{i}中有多少只猫？🐱\n最终答案应为一个整数。" for i in range(2)
    }
    files = files_of()
    assert files.answers() == {"问题0": "0", "问题1": "1"}
    assert files.predictions[0]["reason"] == "数一数 🐱"
    assert "多少只猫？🐱" in files.journal_file.read_text(encoding="utf-8")
    assert files.config["model"]["system_prompt"] == "简短回答。"
    assert "answer: 0" in ran.stderr


def test_prepared_data_is_used_without_the_source_and_without_the_network(
    make_task: Any,
    make_model: Any,
    run_here: Any,
    environment: dict[str, str],
    files_of: Any,
    out: Any,
    tmp_path: Path,
) -> None:
    config = {
        "dataset_path": "nobody/nothing",
        "split": "test",
        "processed_dataset_path": "toy",
        "processor": "process.py",
    }
    task = make_task([], config=config, data_root=None, files={"process.py": PROCESS})
    (tmp_path / "my_model.py").write_text(MODEL, encoding="utf-8")
    model = make_model(url=None, model_type="my_model.py:MyModel")
    ran = run_here("prepare", "--tasks", task.config)
    assert ran.returncode == 0, ran.stderr
    data = tmp_path / "cache" / "toy" / "test"
    assert ran.stdout == f"toy: {data}\n"
    before = {path: path.stat().st_mtime_ns for path in data.iterdir()}
    script = tmp_path / "without_network.py"
    script.write_text(WITHOUT_NETWORK, encoding="utf-8")

    ran = subprocess.run(
        [sys.executable, script, "--tasks", task.config, "--cfg", model, "--output-dir", out],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    assert files_of().result["accuracy"] == 100.0
    assert {path: path.stat().st_mtime_ns for path in data.iterdir()} == before
    assert files_of().config["data"]["manifest"]["source"] == "nobody/nothing"


def test_a_source_that_fails_leaves_no_data_behind_and_is_tried_again(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, out: Any, tmp_path: Path
) -> None:
    config = {"split": "test", "processed_dataset_path": "toy", "processor": "process.py"}
    broken = PROCESS.replace("    (folder", "    raise OSError('the source is away')\n    (folder")
    task = make_task([], config=config, data_root=None, files={"process.py": broken})
    command = ("--tasks", task.config, "--cfg", make_model(), "--output-dir", out)

    ran = run_here(*command)

    assert ran.returncode == 1
    assert "OSError: the source is away" in ran.stderr
    assert endpoint.calls == []
    assert not (tmp_path / "cache" / "toy" / "test").exists()

    (task.config.parent / "process.py").write_text(PROCESS, encoding="utf-8")
    endpoint.script = lambda call: "0"
    assert run_here(*command).returncode == 0
    assert files_of().result["accuracy"] == 100.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--tasks", "TASK", "--cfg", "no_model.json"], "--cfg no_model.json: no such file."),
        (
            ["--tasks", "TASK", "--cfg", "MODEL", "--num-infers", "0"],
            "`num_infers` must be a whole number of at",
        ),
        (["--tasks", "TASK", "--cfg", "MODEL", "--limit", "0"], "--limit must be at least 1, got 0."),
        (["--tasks", "TASK", "--cfg", "MODEL", "-wi", "--overwrite"], "--overwrite exclude each other."),
        (["--tasks", "TASK"], "no model: give --cfg model.json"),
        (["--tasks", "tasks/toy/tyo.py", "--cfg", "MODEL"], "Did you mean '"),
        (["--tasks", "TASK", "--cfg", "MODEL", "--tryrun"], "unrecognized arguments: --tryrun"),
        (["prepar", "--tasks", "TASK"], "Did you mean 'prepare'?"),
        (
            ["--tasks", "TASK", "--cfg", "MODEL", "--cfg-options", "evaluator.type=BaseEvalutor"],
            "'BaseEvaluator'?",
        ),
    ],
)
def test_a_wrong_command_is_refused_before_anything_is_asked_or_written(
    arguments: list[str],
    message: str,
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    out: Any,
) -> None:
    names = {"TASK": str(make_task(2).config), "MODEL": str(make_model())}

    ran = run_here(*[names.get(argument, argument) for argument in arguments], "--output-dir", out)

    assert ran.returncode == 2
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert endpoint.calls == []
    assert not out.exists()


def test_a_shell_sees_the_exit_status_and_results_alone_on_stdout(
    endpoint: Any, make_task: Any, make_model: Any, run_cli: Any, out: Any
) -> None:
    endpoint.script = lambda call: endpoint.fails(400, "too long") if call.asked == 1 else str(call.asked)

    ran = run_cli("--tasks", make_task(4).config, "--cfg", make_model(), "--output-dir", out, "--quiet")

    assert ran.returncode == 3
    assert ran.stderr == ""
    assert ran.stdout.splitlines()[-1] == f"Results: {out}"
    assert run_cli("--tasks", "nothing").returncode == 2
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["tasks"]["toy"]["score"] == 75.0


def test_the_default_run_directory_follows_the_model_name_and_stays_inside_results(
    endpoint: Any, make_task: Any, make_model: Any, run_here: Any, files_of: Any, tmp_path: Path
) -> None:
    task = make_task(1)
    for name, place in (("org-a/m", "org-a/m"), ("org-b/m", "org-b/m"), ("../../m", "m")):
        assert run_here("--tasks", task.config, "--cfg", make_model(model_name=name)).returncode == 0
        assert files_of("toy", tmp_path / "results" / place).summary["score"] == 100.0
    assert len(endpoint.calls) == 3
