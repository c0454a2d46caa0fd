"""Finding task configs: by path, by folder, by name, from any working directory."""

from __future__ import annotations

from pathlib import Path

import pytest

import flagharness.config._find as find_module
from flagharness.config import all_task_configs, bundled_folder, find_task_config
from flagharness.errors import ConfigError

_CONFIG = "dataset = dict(type='VqaBaseDataset', name='x')\nevaluator = dict(type='BaseEvaluator')\n"
_BASE = "dataset = dict(prompt_template=dict(post_prompt='x'))\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a ``tasks`` folder; the shipped tasks lie elsewhere."""
    shipped = tmp_path / "shipped"
    _write(shipped / "countqa" / "countqa.py", _CONFIG)
    _write(shipped / "countqa" / "process.py", "def process(cfg): ...\n")
    monkeypatch.setattr(find_module, "bundled_folder", lambda name: shipped)
    here = tmp_path / "here"
    _write(here / "tasks" / "mine" / "mine.py", _CONFIG)
    _write(here / "tasks" / "mine" / "post_prompt.py", _BASE)
    _write(here / "tasks" / "single" / "single_val.py", _CONFIG)
    _write(here / "tasks" / "single" / "post_prompt.py", _BASE)
    _write(here / "tasks" / "many" / "many_val.py", "_base_ = 'post_prompt.py'\n" + _CONFIG)
    _write(here / "tasks" / "many" / "many_test.py", _CONFIG)
    _write(here / "tasks" / "many" / "post_prompt.py", _BASE)
    _write(here / "tasks" / "empty" / "notes.py", "x = 1\n")
    monkeypatch.chdir(here)
    return tmp_path


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _refusal(name: str) -> str:
    with pytest.raises(ConfigError) as caught:
        find_task_config(name)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("tasks/mine/mine.py", "here/tasks/mine/mine.py"),
        ("./tasks/mine/mine.py", "here/tasks/mine/mine.py"),
        ("tasks/mine/../many/many_test.py", "here/tasks/many/many_test.py"),
        ("tasks/mine", "here/tasks/mine/mine.py"),
        ("tasks/single/", "here/tasks/single/single_val.py"),
        ("mine", "here/tasks/mine/mine.py"),
        ("single", "here/tasks/single/single_val.py"),
        ("single_val", "here/tasks/single/single_val.py"),
        ("many_test", "here/tasks/many/many_test.py"),
        ("countqa", "shipped/countqa/countqa.py"),
        ("tasks/countqa/countqa.py", "shipped/countqa/countqa.py"),
        ("tasks/countqa", "shipped/countqa/countqa.py"),
    ],
)
def test_a_task_is_found_by_path_folder_or_name(root: Path, name: str, found: str) -> None:
    assert find_task_config(name) == root / found


def test_a_path_to_a_file_is_taken_whatever_the_file_holds(root: Path) -> None:
    assert find_task_config("tasks/mine/post_prompt.py") == root / "here/tasks/mine/post_prompt.py"


def test_an_absolute_path_works_from_anywhere(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    config = root / "here" / "tasks" / "mine" / "mine.py"
    assert find_task_config(str(config)) == config


def test_shipped_tasks_are_found_from_another_working_directory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert find_task_config("countqa") == root / "shipped" / "countqa" / "countqa.py"
    assert "Known tasks: countqa." in _refusal("mine")


def test_a_task_of_the_working_directory_comes_before_a_shipped_one_of_its_name(root: Path) -> None:
    _write(root / "here" / "tasks" / "countqa" / "countqa.py", _CONFIG)
    assert find_task_config("countqa") == root / "here" / "tasks" / "countqa" / "countqa.py"


def test_a_folder_with_several_configs_lists_them(root: Path) -> None:
    for name in ("many", "tasks/many"):
        message = _refusal(name)
        assert "holds several task configs" in message
        folder = root / "here" / "tasks" / "many"
        assert message.splitlines()[1:] == [f"  {folder / 'many_test.py'}", f"  {folder / 'many_val.py'}"]


def test_a_folder_without_a_config_is_refused(root: Path) -> None:
    assert "holds no task config" in _refusal("empty")


def test_a_config_name_in_two_folders_lists_both(root: Path) -> None:
    _write(root / "here" / "tasks" / "other" / "single_val.py", _CONFIG)
    message = _refusal("single_val")
    assert "several configs have this name" in message
    assert str(root / "here/tasks/single/single_val.py") in message
    assert str(root / "here/tasks/other/single_val.py") in message


def test_an_unknown_name_is_answered_with_the_nearest_and_all_known(root: Path) -> None:
    message = _refusal("countq")
    assert message.startswith("--tasks countq: no such file, folder or task. Did you mean 'countqa'?")
    assert "Known tasks: countqa, many, mine, single." in message


def test_an_unknown_path_is_answered_with_its_nearest_neighbour(root: Path) -> None:
    message = _refusal("tasks/many/many_vall.py")
    assert "no such file" in message
    assert "Did you mean 'tasks/many/many_val.py'?" in message


def test_the_list_of_tasks_holds_configs_and_no_helper(root: Path) -> None:
    names = [path.relative_to(root).as_posix() for path in all_task_configs()]
    assert names == [
        "here/tasks/many/many_test.py",
        "here/tasks/many/many_val.py",
        "here/tasks/mine/mine.py",
        "here/tasks/single/single_val.py",
        "shipped/countqa/countqa.py",
    ]


def test_the_list_of_tasks_does_not_run_the_files(root: Path) -> None:
    _write(root / "here" / "tasks" / "loud" / "loud.py", _CONFIG + "raise SystemExit(1)\n")
    _write(root / "here" / "tasks" / "broken" / "broken.py", "dataset = (\n")
    names = [path.name for path in all_task_configs()]
    assert "loud.py" in names
    assert "broken.py" not in names


def test_the_shipped_folders_exist() -> None:
    assert (bundled_folder("tasks") / "countqa" / "countqa.py").is_file()
    assert list(bundled_folder("model_configs").glob("*.json"))
