"""The command line: arguments become a RunSpec, mistakes a message and an exit status."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import flagharness.engine
from flagharness import __version__
from flagharness.cli import main
from flagharness.engine import TRY_RUN_SAMPLES, RunSpec
from flagharness.errors import ConfigError

_MODEL = json.dumps({"model_name": "org/toy", "url": "http://127.0.0.1:1/v1", "temperature": 0.7})


class _Recorder:
    """Takes the engine's place: remembers the spec and does nothing."""

    specs: list[RunSpec]
    outcome: int | BaseException = 0

    def __init__(self, spec: RunSpec) -> None:
        self.specs.append(spec)
        self.runs: list[Any] = []
        self.volumes: dict[str, Any] = {}
        self.summary: dict[str, Any] = {"tasks": {}}

    def run(self) -> int:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> type[_Recorder]:
    class Recorder(_Recorder):
        specs: list[RunSpec] = []  # noqa: RUF012 - one list per test

    monkeypatch.setattr(flagharness.engine, "Engine", Recorder)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return Recorder


@pytest.fixture
def spec_of(recorder: type[_Recorder]) -> Callable[..., RunSpec]:
    """Run a command line and return the spec it means."""

    def spec_of(*arguments: str, cfg: str | None = _MODEL) -> RunSpec:
        assert main(["--tasks", "toy", *(["--cfg", cfg] if cfg else []), *arguments]) == 0
        return recorder.specs[-1]

    return spec_of


@pytest.fixture
def refusal(recorder: type[_Recorder], capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command line that must be refused before the engine is built and return the message."""

    def refusal(*arguments: str) -> str:
        assert main(list(arguments)) == 2
        assert recorder.specs == []
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith("error: ")
        return said.err

    return refusal


# --- what the arguments mean ----------------------------------------------------------------------------------


def test_nothing_but_tasks_and_a_model_means_a_full_run(spec_of: Any) -> None:
    spec = spec_of()
    assert spec.tasks == ["toy"]
    assert spec.model.model_name == "org/toy"
    assert (spec.limit, spec.data_root, spec.overrides) == (None, None, {})
    assert spec.output_dir == Path("results/org/toy")
    flags = (spec.dry_run, spec.without_infer, spec.overwrite, spec.skip, spec.skip_bad_rows, spec.quiet)
    assert flags == (False,) * 6


def test_several_tasks_are_taken_in_their_order(recorder: Any) -> None:
    assert main(["--cfg", _MODEL, "--tasks", "b", "a/x.py", "c"]) == 0
    assert recorder.specs[-1].tasks == ["b", "a/x.py", "c"]


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (["--dry-run"], "dry_run", True),
        (["--dry_run"], "dry_run", True),
        (["--overwrite"], "overwrite", True),
        (["--skip"], "skip", True),
        (["--skip-bad-rows"], "skip_bad_rows", True),
        (["--skip_bad_rows"], "skip_bad_rows", True),
        (["--quiet"], "quiet", True),
        (["-q"], "quiet", True),
        (["--data-root", "/d"], "data_root", "/d"),
        (["--data_root", "/d"], "data_root", "/d"),
        (["--limit", "5"], "limit", 5),
        (["--try-run"], "limit", TRY_RUN_SAMPLES),
        (["--try_run"], "limit", TRY_RUN_SAMPLES),
        (["--try-run", "--limit", "5"], "limit", 5),
        (["--try-run", "--limit", "500"], "limit", TRY_RUN_SAMPLES),
        (["--output-dir", "/o"], "output_dir", Path("/o")),
        (["--output_dir", "/o"], "output_dir", Path("/o")),
        (["-wi", "--output-dir", "/o"], "without_infer", True),
        (["--wi", "--output-dir", "/o"], "without_infer", True),
        (["--without-infer", "--output-dir", "/o"], "without_infer", True),
        (["--without_infer", "--output-dir", "/o"], "without_infer", True),
    ],
)
def test_an_option_in_any_spelling_reaches_the_spec(
    spec_of: Any, arguments: list[str], field: str, value: Any
) -> None:
    assert getattr(spec_of(*arguments), field) == value


@pytest.mark.parametrize(
    ("arguments", "field", "value"),
    [
        (["--model", "other"], "model_name", "other"),
        (["--url", "http://h"], "endpoints", ("http://h/v1/chat/completions",)),
        (["--api-key", "sk-FAKE"], "api_key", "sk-FAKE"),
        (["--api_key", "sk-FAKE"], "api_key", "sk-FAKE"),
        (["--num-workers", "3"], "num_workers", 3),
        (["--num_workers", "3"], "num_workers", 3),
        (["--num-infers", "4"], "num_infers", 4),
        (["--temperature", "0"], "sampling", {"temperature": 0}),
        (["--temperature", "0.2"], "sampling", {"temperature": 0.2}),
        (["--model-type", "my_model.py:MyModel"], "model_type", "my_model.py:MyModel"),
    ],
)
def test_an_option_about_the_model_wins_over_its_config(
    spec_of: Any, arguments: list[str], field: str, value: Any
) -> None:
    assert getattr(spec_of(*arguments).model, field) == value


def test_the_model_can_be_given_without_a_config(spec_of: Any) -> None:
    spec = spec_of("--model", "toy", "--url", "http://h/v1", cfg=None)
    assert spec.model.model_name == "toy"
    assert spec.output_dir == Path("results/toy")


@pytest.mark.parametrize(
    ("text", "overrides"),
    [
        ("dataset.name=x", {"dataset.name": "x"}),
        ("a.b=3", {"a.b": 3}),
        ("a=0.5", {"a": 0.5}),
        ("a=true", {"a": True}),
        ("a=null", {"a": None}),
        ("a=[1,2]", {"a": [1, 2]}),
        ('a={"b": 1}', {"a": {"b": 1}}),
        ('a="3"', {"a": "3"}),
        ("a=b=c", {"a": "b=c"}),
        ("a=", {"a": ""}),
        ("a=True", {"a": "True"}),
    ],
)
def test_a_config_option_is_json_or_else_text(spec_of: Any, text: str, overrides: dict[str, Any]) -> None:
    assert spec_of("--cfg-options", text).overrides == overrides
    assert spec_of("--cfg_options", text, "x.y=1").overrides == {**overrides, "x.y": 1}


@pytest.mark.parametrize(
    ("name", "folder"),
    [
        ("toy", "results/toy"),
        ("org/toy", "results/org/toy"),
        ("other/toy", "results/other/toy"),
        ("../../etc/toy", "results/etc/toy"),
        ("/models/toy", "results/models/toy"),
        ("a\\b", "results/a/b"),
        ("./toy/", "results/toy"),
    ],
)
def test_the_results_lie_below_results_whatever_the_model_is_called(
    spec_of: Any, name: str, folder: str
) -> None:
    assert spec_of("--model", name).output_dir == Path(folder)


def test_an_output_folder_of_the_config_is_used_unless_the_command_line_says_other(spec_of: Any) -> None:
    cfg = json.dumps({**json.loads(_MODEL), "output_dir": "~/runs"})
    assert spec_of(cfg=cfg).output_dir == Path.home() / "runs"
    assert spec_of("--output-dir", "here", cfg=cfg).output_dir == Path("here")


def test_without_a_model_a_dry_run_and_scoring_again_are_possible(spec_of: Any) -> None:
    assert spec_of("--dry-run", cfg=None).model is None
    assert spec_of("--without-infer", "--output-dir", "o", cfg=None).model is None


# --- mistakes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--limit", "0"], "--limit must be at least 1, got 0"),
        (["--limit", "-3"], "--limit must be at least 1, got -3"),
        (["--num-infers", "0"], "`num_infers` must be a whole number of at least 1, got 0"),
        (["--num-workers", "0"], "`num_workers` must be a whole number of at least 1, got 0"),
        (["--temperature", "-1"], "`temperature` must be a number of at least 0, got -1.0"),
        (["--without-infer", "--overwrite"], "--without-infer and --overwrite exclude each other"),
        (["--without-infer", "--dry-run"], "--without-infer and --dry-run exclude each other"),
        (["--overwrite", "--skip"], "--overwrite and --skip exclude each other"),
        (["--cfg-options", "a"], "--cfg-options a: expected KEY=VALUE"),
        (["--cfg-options", "=3"], "--cfg-options =3: expected KEY=VALUE"),
        (["--url", "host:8000"], "'host:8000' is not an http:// or https:// URL"),
        (["--backend", "vllm"], "Start the server yourself"),
        (["--model-type", "gemini"], "OpenAI-compatible endpoint"),
    ],
)
def test_a_value_that_cannot_be_is_refused(refusal: Any, arguments: list[str], problem: str) -> None:
    assert problem in refusal("--tasks", "toy", "--cfg", _MODEL, *arguments)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--tasks", "toy", "--cfg", "{"], "--cfg:1:2: not valid JSON"),
        (["--tasks", "toy", "--cfg", "nowhere.json"], "--cfg nowhere.json: no such file"),
        (["--tasks", "toy", "--model", "toy"], "no `url`"),
        (["--tasks", "toy", "--temperature", "0"], "--temperature needs a model: give --cfg or --model"),
        (["--tasks", "toy", "--num-infers", "2"], "--num-infers needs a model"),
        (["--tasks", "toy", "--without-infer"], "--without-infer needs --output-dir"),
        (
            ["prepar", "--tasks", "toy"],
            "no command 'prepar'. Did you mean 'prepare'? Commands: prepare, list",
        ),
        (["toy"], "no command 'toy'. Commands: "),
    ],
)
def test_a_command_that_lacks_something_is_refused_with_what_to_do(
    refusal: Any, arguments: list[str], problem: str
) -> None:
    assert problem in refusal(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--cfg", _MODEL],
        ["--tasks"],
        ["--tasks", "toy", "--no-such-option"],
        ["--tasks", "toy", "--limit", "many"],
        ["prepare"],
        ["list", "x"],
    ],
)
def test_a_wrong_use_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: flagharness" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["prepare", "--help"], ["list", "-h"], ["--version"]])
def test_help_and_version_go_to_stdout_and_exit_with_0(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    assert capsys.readouterr().out.startswith(("usage: flagharness", f"flagharness {__version__}"))


def test_the_help_says_what_the_exit_status_means(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert "exit status: 0 every sample answered and scored; 1 a task failed" in text
    for name in (
        "--tasks",
        "--cfg",
        "--try-run",
        "--dry-run",
        "--without-infer",
        "--overwrite",
        "--cfg-options",
    ):
        assert name in text


# --- how it ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 1, 3, 130])
def test_the_status_of_the_run_is_the_exit_status(
    recorder: Any, capsys: pytest.CaptureFixture[str], status: int
) -> None:
    recorder.outcome = status
    assert main(["--tasks", "toy", "--cfg", _MODEL, "--output-dir", "o"]) == status
    assert "Results: o" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("outcome", "status", "said"),
    [
        (ConfigError("toy.py: no `dataset`"), 2, "error: toy.py: no `dataset`\n"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
        (BrokenPipeError(), 1, ""),
        (
            OSError(28, "No space left on device"),
            1,
            "error: [Errno 28] No space left on device. What was answered",
        ),
    ],
)
def test_an_error_is_one_message_without_a_traceback(
    recorder: Any, capsys: pytest.CaptureFixture[str], outcome: BaseException, status: int, said: str
) -> None:
    recorder.outcome = outcome
    assert main(["--tasks", "toy", "--cfg", _MODEL]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(said)
    assert "Traceback" not in captured.err


def test_a_bug_keeps_its_traceback(recorder: Any) -> None:
    recorder.outcome = ZeroDivisionError()
    with pytest.raises(ZeroDivisionError):
        main(["--tasks", "toy", "--cfg", _MODEL])


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], ["INFO", "WARNING"]),
        (["--quiet"], ["WARNING"]),
        (["--debug"], ["D DEBUG", "I INFO", "W WARNING"]),
        (["--debug", "--quiet"], ["D DEBUG", "I INFO", "W WARNING"]),
    ],
)
def test_quiet_and_debug_set_what_is_said_on_stderr(
    recorder: Any, capsys: pytest.CaptureFixture[str], arguments: list[str], shown: list[str]
) -> None:
    assert main(["--tasks", "toy", "--cfg", _MODEL, *arguments]) == 0
    capsys.readouterr()
    for level in ("DEBUG", "INFO", "WARNING"):
        logging.getLogger("flagharness.anything").log(getattr(logging, level), level)
    captured = capsys.readouterr()
    assert captured.err.splitlines() == shown
    assert captured.out == ""


# --- the other commands ---------------------------------------------------------------------------------------


@pytest.fixture
def task_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLAGHARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "tasks" / "toy"
    folder.mkdir(parents=True)
    (folder / "toy.py").write_text(
        "config = dict(processed_dataset_path='toy', split='val', processor='process.py')\n"
        "dataset = dict(type='VqaBaseDataset', name='toy', config=config)\n",
        encoding="utf-8",
    )
    (folder / "process.py").write_text(
        "from flagharness.data import split_folder, write_annotations\n"
        "def process(cfg):\n"
        "    write_annotations(split_folder(cfg), [dict(question_id=cfg.get('first', 1))])\n",
        encoding="utf-8",
    )
    return folder


def test_list_shows_every_task_with_its_place(task_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["toy"].endswith(str(task_folder / "toy.py"))
    assert "1,528" in lines["countqa"]


def test_prepare_makes_the_data_and_says_where(
    task_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cache" / "toy" / "val"
    assert main(["prepare", "--tasks", "toy"]) == 0
    assert capsys.readouterr().out == f"toy: {folder}\n"
    first = (folder / "manifest.json").stat().st_ino
    assert main(["prepare", "--tasks", "toy"]) == 0
    assert (folder / "manifest.json").stat().st_ino == first
    assert main(["prepare", "--tasks", "toy", "--force", "--quiet"]) == 0
    assert json.loads((folder / "data.json").read_text(encoding="utf-8")) == [{"question_id": 1}]


def test_prepare_takes_config_options(task_folder: Path, tmp_path: Path) -> None:
    options = ["dataset.config.split=test", "dataset.config.first=9"]
    assert main(["prepare", "--tasks", "toy", "--cfg-options", *options]) == 0
    data = tmp_path / "cache" / "toy" / "test" / "data.json"
    assert json.loads(data.read_text(encoding="utf-8")) == [{"question_id": 9}]


def test_prepare_goes_on_after_a_task_that_fails(
    task_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = task_folder.parent / "broken"
    broken.mkdir()
    (broken / "broken.py").write_text(
        (task_folder / "toy.py").read_text(encoding="utf-8").replace("'toy'", "'broken'"), encoding="utf-8"
    )
    (broken / "process.py").write_text("def process(cfg): 1 / 0\n", encoding="utf-8")
    assert main(["prepare", "--tasks", "broken", "toy"]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("toy: ")
    assert "error: broken: " in captured.err
    assert "ZeroDivisionError" in captured.err


def test_prepare_says_when_there_is_nothing_to_prepare(
    task_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (task_folder / "ready.py").write_text(
        "dataset = dict(type='VqaBaseDataset', name='ready', data_root='data')\n", encoding="utf-8"
    )
    assert main(["prepare", "--tasks", "tasks/toy/ready.py"]) == 0
    assert capsys.readouterr().out == "ready: uses data_root; there is nothing to prepare\n"


def test_prepare_of_an_unknown_task_is_refused(task_folder: Path, refusal: Any) -> None:
    assert "--tasks toyy: no such file, folder or task. Did you mean 'toy'?" in refusal(
        "prepare", "--tasks", "toyy"
    )
