"""The ``request`` block of a task config."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flagharness.config import RequestRules, load_task_config
from flagharness.errors import ConfigError


def _load(tmp_path: Path, request: str) -> RequestRules:
    path = tmp_path / "t.py"
    path.write_text(
        f"dataset = dict(type='VqaBaseDataset', name='t')\nrequest = {request}\n", encoding="utf-8"
    )
    return load_task_config(path).request


def test_without_a_block_nothing_is_prescribed(tmp_path: Path) -> None:
    assert _load(tmp_path, "dict()") == RequestRules() == RequestRules({}, False, True, False)


def test_the_block_is_read(tmp_path: Path) -> None:
    rules = _load(tmp_path, "dict(sampling=dict(temperature=1), verbatim=True, system_prompt=False)")
    assert rules == RequestRules({"temperature": 1}, verbatim=True, system_prompt=False)


@pytest.mark.parametrize(
    ("request_block", "said"),
    [
        ("dict(sampling=[1])", "request.sampling must be a dict, got [1]"),
        ("dict(verbatim=1)", "request.verbatim must be True or False, got 1"),
        ("dict(sampeling=dict())", "Did you mean 'sampling'?"),
        ("5", "`request` must be a dict, got int"),
        ("dict(sampling=dict(messages=[]))", "request.sampling: 'messages' is not for a task to set"),
        ("dict(sampling=dict(n=3))", "'n' is not for a task to set"),
        ("dict(sampling={1: 2})", "1 is not for a task to set"),
        ("dict(sampling=dict(temprature=1))", "Did you mean 'temperature'?"),
        ("dict(sampling=dict(top_p=float('nan')))", "request.sampling.top_p: no request can carry nan"),
        ("dict(sampling=dict(stop={'a'}))", "request.sampling.stop: no request can carry {'a'}"),
    ],
)
def test_what_is_not_a_rule_is_refused(tmp_path: Path, request_block: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, request_block)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("model", "sent"),
    [
        ({}, {"temperature": 1, "max_tokens": 9}),
        ({"temperature": 0.0}, {"temperature": 0.0, "max_tokens": 9}),
        ({"max_tokens": 5, "seed": 1}, {"temperature": 1, "max_tokens": 5, "seed": 1}),
        ({"max_completion_tokens": 5}, {"temperature": 1, "max_completion_tokens": 5}),
    ],
)
def test_the_model_config_overrules_what_a_protocol_prescribes(
    model: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert RequestRules(sampling={"temperature": 1, "max_tokens": 9}).sampling_with(model) == sent
