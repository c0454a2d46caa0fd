"""What holds for the whole package: it loads fast, says what it exports, and its rooms keep their distance."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import flagharness

_ROOT = Path(flagharness.__file__).parent
_FILES = sorted(_ROOT.rglob("*.py"))
_PUBLIC = sorted(
    name
    for _, name, _ in pkgutil.walk_packages([str(_ROOT)], "flagharness.")
    if not any(part.startswith("_") for part in name.split("."))
    and (_ROOT.parent / name.replace(".", "/")).is_dir()
)
_HEAVY = (
    "datasets",
    "pycocotools",
    "openai",
    "matplotlib",
    "cv2",
    "mmengine",
    "numpy",
    "PIL",
    "requests",
    "torch",
)


@pytest.mark.parametrize(
    "code",
    [
        "import flagharness.cli",
        "import flagharness.cli; flagharness.cli._run_parser().format_help()",
        "import flagharness.cli, contextlib, io\n"
        "with contextlib.redirect_stderr(io.StringIO()):\n    assert flagharness.cli.main(['lsit']) == 2",
    ],
    ids=["import", "help", "mistyped command"],
)
def test_the_command_line_answers_without_loading_anything_heavy(code: str) -> None:
    script = f"{code}\nimport sys\nsys.stdout.write(' '.join(m for m in {_HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_public_packages_are_found() -> None:
    assert {"flagharness.config", "flagharness.run", "flagharness.metric"} <= set(_PUBLIC)


def _natural(name: str) -> tuple[object, ...]:
    return tuple(int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", name))


def _isort_style(name: str) -> tuple[int, tuple[object, ...]]:
    """The order of RUF022: constants, then classes, then the rest, each naturally sorted."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, _natural(name)


@pytest.mark.parametrize("name", _PUBLIC)
def test_all_lists_every_imported_name_once_and_in_order(name: str) -> None:
    module = importlib.import_module(name)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    }
    assert set(module.__all__) == imported
    assert list(module.__all__) == sorted(set(module.__all__), key=_isort_style)
    assert all(hasattr(module, exported) for exported in module.__all__)


@pytest.mark.parametrize("name", _PUBLIC)
def test_a_public_name_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    undocumented = [
        exported
        for exported in module.__all__
        if isinstance(getattr(module, exported), (type, FunctionType))
        and not (getattr(module, exported).__doc__ or "").strip()
    ]
    assert undocumented == []


def _imports(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("room", ["extract", "metric"])
def test_pure_rooms_import_nothing_of_the_project_but_themselves(room: str) -> None:
    files = [file for file in _FILES if file.is_relative_to(_ROOT / room)]
    assert files
    for file in files:
        ours = {name for name in _imports(file) if name.split(".")[0] == "flagharness"}
        assert all(
            name == f"flagharness.{room}" or name.startswith(f"flagharness.{room}.") for name in ours
        ), file


def test_nobody_imports_a_private_module_of_another_room() -> None:
    trespasses = []
    for file in _FILES:
        room = file.relative_to(_ROOT).parts[0]
        for name in _imports(file):
            parts = name.split(".")
            if (
                parts[0] == "flagharness"
                and any(part.startswith("_") for part in parts[1:])
                and parts[1] != room
            ):
                trespasses.append(f"{file.relative_to(_ROOT)}: {name}")
    assert trespasses == []


_MAY_IMPORT = {
    "config": {"errors", "registry"},
    "prompt": {"errors", "registry"},
    "media": {"errors"},
    "run": {"errors"},
    "model": {"errors", "config", "run"},
    "judge": {"errors", "config", "media", "model", "run"},
    "data": {"errors", "registry", "config", "prompt", "media"},
    "evaluator": {"errors", "registry", "extract", "judge", "metric", "prompt", "run"},
}


@pytest.mark.parametrize("room", sorted(_MAY_IMPORT))
def test_arrows_between_rooms_point_one_way(room: str) -> None:
    for file in (file for file in _FILES if file.is_relative_to(_ROOT / room)):
        rooms = {name.split(".")[1] for name in _imports(file) if name.startswith("flagharness.")}
        assert rooms - {room} <= _MAY_IMPORT[room], file


def _calls(file: Path) -> set[str]:
    return {
        node.func.id
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def test_nothing_is_printed_evaluated_or_executed() -> None:
    found = {
        f"{file.relative_to(_ROOT)}: {name}"
        for file in _FILES
        for name in _calls(file) & {"print", "eval", "exec"}
    }
    assert found == set()


def test_no_exception_is_swallowed_whole() -> None:
    found = []
    for file in _FILES:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                bare = node.type is None
                broad = isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")
                silent = all(isinstance(statement, ast.Pass) for statement in node.body)
                if bare or (broad and silent):
                    found.append(f"{file.relative_to(_ROOT)}:{node.lineno}")
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    assert [
        file for file in _FILES if not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ] == []


def test_type_hints_are_shipped() -> None:
    assert (_ROOT / "py.typed").is_file()
