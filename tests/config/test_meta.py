"""What a config says of its benchmark, read without running it; and the names that lead to it."""

from __future__ import annotations

from pathlib import Path

import pytest

import flagharness.config._find as find_module
from flagharness.config import all_task_configs, find_task_config, read_meta
from flagharness.errors import ConfigError

_TASK = "dataset = dict(type='VqaBaseDataset', name='x')\nevaluator = dict(type='BaseEvaluator')\n"


def _config(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_TASK + text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "meta"),
    [
        ("meta = dict(rows=3, aliases=['X'])", {"rows": 3, "aliases": ["X"]}),
        ("meta = {'rows': -3, 'published': [dict(model='a', accuracy=1.5)]}",
         {"rows": -3, "published": [{"model": "a", "accuracy": 1.5}]}),
        ("meta = dict(nested=dict(a=(1, 'b')), none=None, yes=True)",
         {"nested": {"a": [1, "b"]}, "none": None, "yes": True}),
        ("raise SystemExit('this file must not run')", {}),
        ("", {}),
    ],
)  # fmt: skip
def test_meta_is_read_without_running_the_file(tmp_path: Path, text: str, meta: dict[str, object]) -> None:
    assert read_meta(_config(tmp_path / "x.py", text)) == meta


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rows = 3\nmeta = dict(rows=rows)", "x.py:4: `meta` must be a dict of plain values"),
        ("meta = dict(rows=len('abc'))", "plain values"),
        ("meta = dict([('rows', 3)])", "anything but key=value"),
        ("meta = dict(**{'rows': 3})", "anything but key=value"),
        ("meta = dict(a={[1]: 2})", "plain values"),
        ("meta = {**{'a': 1}}", "unpacked"),
        ("meta = [1]", "`meta` must be a dict, got list"),
        ("meta = (", "x.py"),
    ],
)
def test_meta_that_cannot_be_read_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_meta(_config(tmp_path / "x.py", text))
    assert said in str(caught.value)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shipped"
    _config(folder / "fsc" / "fsc.py", "meta = dict(aliases=['FSC_val', 'Fsc'])")
    _config(folder / "broken" / "broken.py", "meta = dict(aliases=[print])")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(find_module, "bundled_folder", lambda name: folder)
    return folder


def test_a_task_answers_to_folder_config_and_other_names(shipped: Path) -> None:
    wanted = shipped / "fsc" / "fsc.py"
    assert [find_task_config(name) for name in ("fsc", "FSC_val", "Fsc")] == [wanted] * 3


def test_a_folder_of_data_does_not_hide_the_task_of_its_name(shipped: Path) -> None:
    Path("FSC_val").mkdir()
    assert find_task_config("FSC_val") == shipped / "fsc" / "fsc.py"
    with pytest.raises(ConfigError, match="holds no task config"):
        find_task_config("./FSC_val/")


def test_a_mistyped_alias_is_answered_with_the_nearest(shipped: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'FSC_val'"):
        find_task_config("FSC_vall")


def test_an_alias_of_two_tasks_is_refused_with_both(shipped: Path) -> None:
    _config(shipped / "other" / "other.py", "meta = dict(aliases=['Fsc'])")
    with pytest.raises(ConfigError, match=r"several configs have this name: .*fsc\.py, .*other\.py"):
        find_task_config("Fsc")


def test_a_folder_of_ones_own_hides_the_shipped_one_of_its_name(shipped: Path) -> None:
    mine = _config(Path("tasks/fsc/fsc.py").absolute(), "meta = dict(aliases=['FSC_val'])")
    assert find_task_config("fsc") == find_task_config("FSC_val") == mine
    assert [path for path in all_task_configs() if path.stem == "fsc"] == [mine]
