"""Loading task configs: bases, imports, prompts with braces, overrides, and what is said when a file is wrong."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import load_task_config
from flagharness.errors import ConfigError

Write = Callable[[str, str], Path]

_DATASET = 'dataset = dict(type="VqaBaseDataset", name="toy")\n'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of a task folder; returns its path."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


def _refusal(path: Path, overrides: dict[str, Any] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        load_task_config(path, overrides)
    return str(caught.value)


# --- bases ----------------------------------------------------------------------------------------------------


def _write_base(write: Write) -> None:
    write(
        "pieces.py",
        """
        import re

        LIMIT = 7
        KINDS = {"count", "number"}

        def post_prompt(annotation, **kwargs):
            return f"At most {LIMIT}: " + re.sub("x", "y", annotation["question"])

        dataset = dict(
            prompt_template=dict(type="PromptTemplate", pre_prompt="Look.", post_prompt=post_prompt),
            kinds=KINDS,
            clean=lambda text: text.strip(),
        )
        """,
    )


@pytest.mark.parametrize("base", ['"pieces.py"', '"./pieces.py"', '["pieces.py"]', '["./pieces.py"]'])
def test_functions_lambdas_sets_and_constants_of_a_base_survive_the_merge(write: Write, base: str) -> None:
    _write_base(write)
    config = load_task_config(write("toy.py", f"_base_ = {base}\n{_DATASET}"))
    template = config.dataset["prompt_template"]
    assert template["post_prompt"]({"question": "box"}) == "At most 7: boy"
    assert config.dataset["kinds"] == {"count", "number"}
    assert config.dataset["clean"](" a ") == "a"
    assert (config.name, config.dataset["type"]) == ("toy", "VqaBaseDataset")


def test_child_dicts_are_merged_into_those_of_the_base_at_every_depth(write: Write) -> None:
    _write_base(write)
    child = write(
        "toy.py",
        """
        _base_ = "pieces.py"
        dataset = dict(type="VqaBaseDataset", name="toy", prompt_template=dict(pre_prompt="Listen."))
        """,
    )
    template = load_task_config(child).dataset["prompt_template"]
    assert template["pre_prompt"] == "Listen."
    assert template["type"] == "PromptTemplate"
    assert callable(template["post_prompt"])


def test_a_base_may_have_a_base(write: Write) -> None:
    write("first.py", "dataset = dict(prompt_template=dict(pre_prompt='1'))\n")
    write("second.py", "_base_ = 'first.py'\nevaluator = dict(type='BaseEvaluator')\n")
    config = load_task_config(write("toy.py", f"_base_ = 'second.py'\n{_DATASET}"))
    assert config.dataset["prompt_template"] == {"pre_prompt": "1"}
    assert config.evaluator == {"type": "BaseEvaluator"}


def test_a_base_may_lie_in_another_folder(write: Write) -> None:
    write("other/pieces.py", "dataset = dict(anno_file='x.json')\n")
    config = load_task_config(write("toy/toy.py", f"_base_ = '../other/pieces.py'\n{_DATASET}"))
    assert config.dataset["anno_file"] == "x.json"


def test_the_result_is_made_of_plain_dicts(write: Write) -> None:
    config = load_task_config(write("toy.py", _DATASET + "dataset['config'] = dict(deep=dict(er=1))\n"))
    assert type(config.dataset) is dict
    assert type(config.dataset["config"]["deep"]) is dict


# --- imports --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["", '_base_ = "pieces.py"\n'], ids=["alone", "with a base"])
@pytest.mark.parametrize(
    "line", ["import os", "import re", "import json", "import os.path as osp", "from pathlib import Path"]
)
def test_a_config_may_import_from_the_standard_library(write: Write, base: str, line: str) -> None:
    write("pieces.py", "import os\ndataset = dict(anno_file=os.path.join('a', 'b.json'))\n")
    config = load_task_config(write("toy.py", f"{base}{line}\n{_DATASET}"))
    assert config.name == "toy"


def test_a_config_may_read_the_environment_in_python(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_ROOT", "/data/toy")
    path = write("toy.py", f"import os\n{_DATASET}dataset['data_root'] = os.getenv('TOY_ROOT')\n")
    assert load_task_config(path).dataset["data_root"] == "/data/toy"


def test_two_configs_with_helpers_of_one_name_each_get_their_own(write: Write) -> None:
    for number in (1, 2):
        write(f"task{number}/helpers.py", f"NUMBER = {number}\n")
        write(f"task{number}/toy.py", f"from helpers import NUMBER\n{_DATASET}dataset['number'] = NUMBER\n")
    folder = write("unused", "").parent
    numbers = [load_task_config(folder / f"task{n}" / "toy.py").dataset["number"] for n in (1, 2, 1)]
    assert numbers == [1, 2, 1]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("toy_helpers.py", "from toy_helpers import NUMBER"),
        ("toy_package/__init__.py", "from toy_package import NUMBER"),
        ("toy_package/inner.py", "from toy_package.inner import NUMBER"),
    ],
)
def test_importing_a_neighbour_leaves_no_trace(write: Write, file: str, line: str) -> None:
    write(file, "NUMBER = 1\n")
    path_before, modules_before = list(sys.path), set(sys.modules)
    config = load_task_config(write("toy.py", f"{line}\n{_DATASET}dataset['number'] = NUMBER\n"))
    assert config.dataset["number"] == 1
    assert sys.path == path_before
    assert not {name for name in set(sys.modules) - modules_before if name.startswith("toy_")}


def test_a_neighbour_hides_a_loaded_module_of_its_name_only_while_the_config_is_read(write: Write) -> None:
    import packaging

    write("packaging.py", "NUMBER = 'ours'\n")
    path = write("toy.py", f"from packaging import NUMBER\n{_DATASET}dataset['number'] = NUMBER\n")
    assert load_task_config(path).dataset["number"] == "ours"
    assert sys.modules["packaging"] is packaging


def test_a_config_that_fails_leaves_no_trace_either(write: Write) -> None:
    write("toy_helpers.py", "NUMBER = 1\n")
    path_before = list(sys.path)
    _refusal(write("toy.py", "import toy_helpers\n1 / 0\n"))
    assert sys.path == path_before
    assert "toy_helpers" not in sys.modules


# --- text that looks like a template --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "{{question}}",
        "{{ question }}",
        r"Put it in \boxed{{}}.",
        r"\boxed{}",
        "{{fileDirname}} {{ fileBasename }}",
        "{{ and }}",
        "{{$}} {{ $ x }}",
    ],
)
def test_braces_in_a_prompt_are_left_as_they_are(write: Write, text: str) -> None:
    config = load_task_config(write("toy.py", f"{_DATASET}dataset['prompt'] = {text!r}\n"))
    assert config.dataset["prompt"] == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{$TOY_ROOT}}/img", "/data/toy/img"),
        ("{{ $TOY_ROOT:/nowhere }}", "/data/toy"),
        ("{{$TOY_UNSET:/a b}}", "/a b"),
        ("{{$TOY_UNSET: }}", ""),
        ("{{$TOY_UNSET:}}", ""),
        ("{{$TOY_EMPTY:x}}", ""),
    ],
)
def test_an_environment_variable_is_filled_in(
    write: Write, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    monkeypatch.setenv("TOY_ROOT", "/data/toy")
    monkeypatch.setenv("TOY_EMPTY", "")
    monkeypatch.delenv("TOY_UNSET", raising=False)
    path = write("toy.py", f"{_DATASET}dataset['deep'] = [dict(x=({text!r},))]\n")
    assert load_task_config(path).dataset["deep"] == [{"x": (expected,)}]


def test_an_unset_variable_without_default_is_named_with_its_key(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOY_UNSET", raising=False)
    path = write("toy.py", f"{_DATASET}dataset['config'] = dict(roots=['a', '{{{{$TOY_UNSET}}}}'])\n")
    message = _refusal(path)
    assert message.startswith(f"{path}: dataset.config.roots[1] reads the environment variable TOY_UNSET")
    assert "{{$TOY_UNSET:default}}" in message


# --- files that cannot be read --------------------------------------------------------------------------------


def test_a_syntax_error_is_told_with_file_and_line(write: Write) -> None:
    path = write("toy.py", f"{_DATASET}\nx = (\n")
    assert _refusal(path) == f"{path}:3: SyntaxError: '(' was never closed"


def test_an_exception_is_told_with_file_and_line(write: Write) -> None:
    path = write("toy.py", f"{_DATASET}\n\nx = 1 / 0\n")
    assert _refusal(path) == f"{path}:4: ZeroDivisionError: division by zero"


def test_a_module_that_is_not_installed_is_told_with_file_and_line(write: Write) -> None:
    path = write("toy.py", f"import no_such_module\n{_DATASET}")
    assert _refusal(path) == f"{path}:1: ModuleNotFoundError: No module named 'no_such_module'"


def test_an_exception_inside_the_library_is_told_with_the_line_that_called_it(write: Write) -> None:
    path = write("toy.py", f"import json\n{_DATASET}json.loads('[')\n")
    assert _refusal(path).startswith(f"{path}:3: JSONDecodeError: ")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("x = 1\ny = (\n", 2, "SyntaxError: '(' was never closed"),
        ("x = 1\n\ny = 1 / 0\n", 3, "ZeroDivisionError: division by zero"),
        ("y = {}['a']\n", 1, "KeyError: 'a'"),
    ],
)
def test_a_fault_of_a_base_is_told_with_the_file_and_line_of_the_base(
    write: Write, text: str, line: int, problem: str
) -> None:
    base = write("common/pieces.py", text)
    write("toy/between.py", "_base_ = '../common/pieces.py'\n")
    message = _refusal(write("toy/toy.py", f"_base_ = ['between.py']\n{_DATASET}"))
    assert message == f"{base}:{line}: {problem}"


def test_a_fault_of_a_neighbour_is_told_with_the_file_and_line_of_the_neighbour(write: Write) -> None:
    helpers = write("toy_helpers.py", "\n1 / 0\n")
    message = _refusal(write("toy.py", f"import toy_helpers\n{_DATASET}"))
    assert message == f"{helpers}:2: ZeroDivisionError: division by zero"


def test_a_missing_base_is_named(write: Write) -> None:
    path = write("toy.py", f"_base_ = 'nowhere.py'\n{_DATASET}")
    message = _refusal(path)
    assert message.startswith(f"{path}: ")
    assert "nowhere.py" in message


def test_two_bases_with_one_key_are_both_named(write: Write) -> None:
    write("post_prompt.py", "dataset = dict(a=1)\n")
    write("split.py", "dataset = dict(b=1)\n")
    path = write("toy.py", f"_base_ = ['post_prompt.py', 'split.py']\n{_DATASET}")
    message = _refusal(path)
    assert message.startswith(f"{path}: ")
    assert "`dataset` in post_prompt.py and in split.py" in message


def test_the_lazy_form_is_refused_with_advice(write: Write) -> None:
    path = write(
        "toy.py",
        f"from mmengine.config import read_base\nwith read_base():\n    from .x import *\n{_DATASET}",
    )
    message = _refusal(path)
    assert "read_base" in message
    assert '`_base_ = "file.py"`' in message


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.py"
    path.write_bytes(b"\xff\xfe")
    assert _refusal(path).startswith(f"{path}: cannot read the task config: ")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "cannot read the task config" in _refusal(tmp_path / "toy.py")


# --- what a task config must say ------------------------------------------------------------------------------


def test_a_file_without_dataset_is_no_task_config(write: Write) -> None:
    assert "no `dataset` in this file" in _refusal(write("post_prompt.py", "x = dict()\n"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dataset = []", "`dataset` must be a dict, got list"),
        ("dataset = dict(name='toy')", "dataset.type must be a non-empty string, got None"),
        ("dataset = dict(type='X')", "dataset.name must be a non-empty string, got None"),
        ("dataset = dict(type='X', name='')", "dataset.name must be a non-empty string, got ''"),
        ("dataset = dict(type='X', name=3)", "dataset.name must be a non-empty string, got 3"),
        (_DATASET + "evaluator = 'BaseEvaluator'", "`evaluator` must be a dict, got str"),
        (_DATASET + "evaluator = dict()", "evaluator.type must name a class, got None"),
        (_DATASET + "register_evaluator = ['e.py']", "`register_evaluator` must be a dict, got list"),
        (_DATASET + "register_dataset = {'d.py': 3}", "'d.py': 3 is not one"),
        (_DATASET + "meta = 'x'", "`meta` must be a dict, got str"),
    ],
)
def test_a_value_of_the_wrong_type_is_refused(write: Write, text: str, problem: str) -> None:
    path = write("toy.py", text + "\n")
    message = _refusal(path)
    assert message.startswith(f"{path}: ")
    assert problem in message


@pytest.mark.parametrize("name", ["a/b", "..", ".", "/etc", "a\\b", " toy", "toy ", "a\nb", "a\x00b"])
def test_a_name_that_cannot_be_a_folder_name_is_refused(write: Write, name: str) -> None:
    path = write("toy.py", f"dataset = dict(type='VqaBaseDataset', name={name!r})\n")
    assert "cannot be a folder name" in _refusal(path)


@pytest.mark.parametrize("name", ["toy", "toy-1.5", "计数", "a b", "a..b", "..."])
def test_any_other_name_is_taken(write: Write, name: str) -> None:
    assert load_task_config(write("toy.py", f"dataset = dict(type='X', name={name!r})\n")).name == name


def test_a_task_without_evaluator_is_a_task(write: Write) -> None:
    assert load_task_config(write("toy.py", _DATASET)).evaluator is None


# --- keys that nothing reads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "nearest"),
    [("evalutor", "evaluator"), ("register_evaluators", "register_evaluator"), ("datasets", "dataset")],
)
def test_a_mistyped_top_level_key_is_warned_of_with_the_nearest_known_name(
    write: Write, caplog: pytest.LogCaptureFixture, key: str, nearest: str
) -> None:
    path = write("toy.py", f"{_DATASET}{key} = dict(type='X')\n")
    load_task_config(path)
    assert caplog.messages == [f"{path}: nothing reads `{key}`. Did you mean '{nearest}'?"]


def test_names_that_a_config_needs_for_itself_are_not_warned_of(
    write: Write, caplog: pytest.LogCaptureFixture
) -> None:
    load_task_config(write("toy.py", f"{_DATASET}task_name = 'vqa'\nLIMIT = 3\nsubjects = dict(a=1)\n"))
    assert caplog.messages == []


# --- values laid over the file --------------------------------------------------------------------------------


def test_overrides_reach_any_depth_and_make_missing_dicts(write: Write) -> None:
    path = write("toy.py", f"{_DATASET}dataset['config'] = dict(split='test', keep=1)\n")
    config = load_task_config(
        path, {"dataset.config.split": "val", "dataset.name": "new", "evaluator.type": "E"}
    )
    assert config.dataset["config"] == {"split": "val", "keep": 1}
    assert config.name == "new"
    assert config.evaluator == {"type": "E"}


def test_an_override_is_checked_like_the_file(write: Write) -> None:
    assert "cannot be a folder name" in _refusal(write("toy.py", _DATASET), {"dataset.name": "../x"})


def test_an_override_below_something_that_is_no_dict_is_refused(write: Write) -> None:
    message = _refusal(write("toy.py", _DATASET), {"dataset.name.x": 1})
    assert message.startswith("--cfg-options dataset.name.x: 'name' in ")
