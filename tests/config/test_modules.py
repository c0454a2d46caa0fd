"""Importing a task's own Python files: each task by itself, without a trace in the rest of the process."""

from __future__ import annotations

import builtins
import dataclasses
import pickle
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from flagharness.config import TaskModules
from flagharness.errors import ConfigError

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of a task folder; returns its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


_PROCESS = """
    from helpers import clean
    import helpers as module

    def process(cfg):
        import helpers
        from helpers import clean as inside
        return clean(cfg), helpers.clean(cfg), inside(cfg), module is helpers
"""


def test_siblings_are_found_at_the_top_and_inside_functions(write: Write) -> None:
    write("helpers.py", "def clean(text): return text.strip()\n")
    process = TaskModules().load(write("process.py", _PROCESS)).process
    assert process(" a ") == ("a", "a", "a", True)


def test_two_tasks_each_get_their_own_helpers(write: Write) -> None:
    processes = []
    for number in (1, 2):
        write(f"{number}/helpers.py", f"def clean(text): return text + '{number}'\n")
        processes.append(TaskModules().load(write(f"{number}/process.py", _PROCESS)).process)
    assert [process("x") for process in processes] == [("x1", "x1", "x1", True), ("x2", "x2", "x2", True)]


def test_a_sibling_of_a_sibling_is_found_and_loaded_once(write: Write) -> None:
    write("deep.py", "LOADED = []\n")
    write("helpers.py", "import deep\ndeep.LOADED.append('helpers')\n")
    main = write(
        "process.py", "import deep\nimport helpers\nfrom helpers import deep as same\nSAME = same is deep\n"
    )
    module = TaskModules().load(main)
    assert module.SAME
    assert module.deep.LOADED == ["helpers"]


def test_siblings_may_import_each_other_in_a_circle(write: Write) -> None:
    write("one.py", "import two\nNAME = 'one'\n")
    write("two.py", "import one\ndef name(): return one.NAME\n")
    assert TaskModules().load(write("process.py", "import one, two\nfound = two.name()\n")).found == "one"


def test_the_relative_form_works_too(write: Write) -> None:
    write("helpers.py", "NUMBER = 3\n")
    assert TaskModules().load(write("process.py", "from .helpers import NUMBER\n")).NUMBER == 3


def test_a_file_is_run_once_per_task(write: Write) -> None:
    file = write("process.py", "STATE = []\n")
    modules = TaskModules()
    assert modules.load(file) is modules.load(file.parent / "." / "process.py")
    assert TaskModules().load(file) is not modules.load(file)


def test_neither_the_path_nor_the_bare_names_are_touched(write: Write) -> None:
    write("helpers.py", "def clean(text): return text\n")
    path_before, modules_before = list(sys.path), dict(sys.modules)
    importer_before = builtins.__import__
    TaskModules().load(write("process.py", _PROCESS)).process("x")
    assert sys.path == path_before
    assert builtins.__import__ is importer_before
    new = set(sys.modules) - set(modules_before)
    assert all(name.startswith("flagharness_task_") for name in new)
    assert all(sys.modules[name] is module for name, module in modules_before.items())


def test_a_sibling_named_like_an_installed_module_is_that_tasks_own_affair(write: Write) -> None:
    write("json.py", "NAME = 'ours'\n")
    write("evaluate.py", "import json\nNAME = json.NAME\n")
    modules = TaskModules()
    assert modules.load(write("process.py", "from json import NAME\n")).NAME == "ours"
    import json

    assert json.loads("1") == 1


def test_installed_packages_are_imported_as_ever(write: Write) -> None:
    module = TaskModules().load(
        write("process.py", "import os.path\nimport json.decoder as d\nimport numpy as np\n")
    )
    assert module.os.path.join("a", "b") == "a/b"
    assert module.d.JSONDecoder().decode("1") == 1
    assert module.np.zeros(2).sum() == 0


def test_the_file_of_a_module_is_known_to_it(write: Write) -> None:
    file = write("evaluate.py", "from pathlib import Path\nHERE = Path(__file__).parent\n")
    module = TaskModules().load(file)
    assert file.parent.resolve() == module.HERE


def test_dataclasses_and_pickling_work(write: Write) -> None:
    file = write("evaluate.py", "import dataclasses\n@dataclasses.dataclass\nclass Point:\n    x: int = 1\n")
    point = TaskModules().load(file).Point(3)
    assert dataclasses.asdict(pickle.loads(pickle.dumps(point))) == {"x": 3}  # noqa: S301 - our own bytes


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"process\.py: no such file"):
        TaskModules().load(tmp_path / "process.py")


def test_a_file_that_is_no_python_file_is_refused(write: Write) -> None:
    with pytest.raises(ConfigError, match="not a Python file"):
        TaskModules().load(write("process.txt", "x = 1\n"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("\nx = (\n", ":2: SyntaxError: '(' was never closed"),
        ("import json\n\njson.loads('[')\n", ":3: JSONDecodeError: "),
        ("def f():\n    1 / 0\nf()\n", ":2: ZeroDivisionError: division by zero"),
        ("import no_such_module\n", ":1: ModuleNotFoundError: "),
    ],
)
def test_a_fault_is_told_with_file_and_line_also_in_a_sibling(write: Write, text: str, place: str) -> None:
    helpers = write("helpers.py", text)
    for file in (helpers, write("process.py", "import helpers\n")):
        with pytest.raises(ConfigError) as caught:
            TaskModules().load(file)
        assert str(caught.value).startswith(f"{helpers}{place}")


def test_a_file_that_failed_is_tried_anew_after_the_repair(write: Write) -> None:
    modules = TaskModules()
    file = write("process.py", "1 / 0\n")
    with pytest.raises(ConfigError):
        modules.load(file)
    write("process.py", "x = 12345\n")
    assert modules.load(file).x == 12345
