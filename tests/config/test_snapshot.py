"""A resolved configuration as plain JSON: functions by name and digest, secrets removed."""

from __future__ import annotations

import functools
import json
import linecache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.config import REMOVED, load_task_config, snapshot, source_digest


def _named(annotation: dict[str, Any]) -> str:
    return str(annotation["question"])


class _Callable:
    def __call__(self) -> None: ...


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.5, 0.5),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        ("text", "text"),
        ((1, 2), [1, 2]),
        ({"b", "a", "c"}, ["a", "b", "c"]),
        (frozenset({2, 1}), [1, 2]),
        (Path("/a/b"), "/a/b"),
        ({1: {"x": {True}}}, {"1": {"x": [True]}}),
        (np.int64(3), 3),
        (np.float32(1.5), 1.5),
        (np.float64("nan"), "nan"),
        (np.bool_(True), True),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (np.array([0.5, np.nan]), [0.5, "nan"]),
        (np.str_("a"), "a"),
        (complex(1, 2), "(1+2j)"),
    ],
)
def test_a_value_becomes_json_data(value: Any, expected: Any) -> None:
    shown = snapshot({"key": value})["key"]
    assert shown == expected
    assert type(json.loads(json.dumps(shown, allow_nan=False))) is type(expected)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.frozensets(st.integers()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    )
)
def test_every_snapshot_can_be_written_as_strict_json_and_is_its_own_snapshot(value: Any) -> None:
    shown = snapshot(value)
    assert snapshot(json.loads(json.dumps(shown, allow_nan=False))) == shown


def test_a_function_is_shown_by_name_and_digest() -> None:
    assert snapshot(_named) == {
        "callable": f"{__name__}._named",
        "source_sha256": source_digest(_named),
    }


def test_a_class_is_shown_by_name_and_digest() -> None:
    shown = snapshot(_Callable)
    assert shown["callable"] == f"{__name__}._Callable"
    assert len(shown["source_sha256"]) == 64


def test_an_object_that_can_be_called_is_shown_without_an_address() -> None:
    assert snapshot(_Callable())["callable"] == f"{__name__}._Callable"
    assert snapshot(functools.partial(_named)) == {"callable": "functools.partial", "source_sha256": None}


def _digests(path: Path, text: str) -> dict[str, str]:
    path.write_text("dataset = dict(type='X', name='x')\n" + text, encoding="utf-8")
    linecache.checkcache(str(path))
    shown = snapshot(load_task_config(path).dataset)
    return {key: value["source_sha256"] for key, value in shown.items() if isinstance(value, dict)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return x.upper()", "return x.lower()"),
        ("return x + 1", "return x + 2"),
        ("return [y for y in x if y]", "return [y for y in x if not y]"),
        ("return GLOBAL(x)", "return LOCAL(x)"),
    ],
)
def test_the_digest_of_a_function_of_a_config_changes_with_its_source(
    tmp_path: Path, before: str, after: str
) -> None:
    path = tmp_path / "toy.py"
    code = "def prompt(x):\n    {}\ndataset['prompt'] = prompt\ndataset['short'] = lambda x: ({})\n"
    first = _digests(path, code.format(before, before.removeprefix("return ")))
    second = _digests(path, code.format(after, after.removeprefix("return ")))
    assert first["prompt"] != second["prompt"]
    assert first["short"] != second["short"]
    assert first == _digests(path, code.format(before, before.removeprefix("return ")))


def test_the_digest_of_a_function_does_not_depend_on_where_it_stands(tmp_path: Path) -> None:
    code = "def prompt(x):\n    return x\ndataset['prompt'] = prompt\n"
    (tmp_path / "other").mkdir()
    first = _digests(tmp_path / "toy.py", code)
    assert first == _digests(tmp_path / "other" / "toy.py", "\n\n# a comment\n" + code)


def _sourceless(text: str) -> FunctionType:
    [code] = [c for c in compile(text, "<nowhere>", "eval").co_consts if isinstance(c, CodeType)]
    return FunctionType(code, {})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x + 1", "x + 2"),
        ("x.upper()", "x.lower()"),
        ("[y for y in x if y]", "[y for y in x if not y]"),
        ("(lambda y: y + 1)(x)", "(lambda y: y + 2)(x)"),
        ("x in {'a', 'b'}", "x in {'a', 'c'}"),
    ],
)
def test_a_function_without_source_text_is_told_apart_by_its_bytecode(one: str, other: str) -> None:
    first = source_digest(_sourceless(f"lambda x: {one}"))
    assert first == source_digest(_sourceless(f"lambda x: {one}"))
    assert first != source_digest(_sourceless(f"lambda x: {other}"))


def test_what_has_neither_source_nor_bytecode_has_no_digest() -> None:
    assert source_digest(len) is None


@pytest.mark.parametrize(
    "key",
    [
        "api_key",
        "API_KEY",
        "api-key",
        "x-api-key",
        "token",
        "hf_token",
        "secret",
        "Authorization",
        "password",
        "db_password",
    ],
)
def test_a_value_under_a_name_of_a_secret_is_removed(key: str) -> None:
    assert snapshot({"deep": [{key: "sk-1234"}]}) == {"deep": [{key: REMOVED}]}
    assert snapshot({key: {"any": "thing"}}) == {key: REMOVED}


@pytest.mark.parametrize(
    "values",
    [
        {"api_key": "${MY_KEY}"},
        {"api_key": None},
        {"api_key": ""},
        {"max_tokens": 5, "tokenizer": "x", "monkey": "y", "secretary": "z"},
    ],
)
def test_what_is_no_secret_stays(values: dict[str, Any]) -> None:
    assert snapshot(values) == values
