"""Faults of configurations that people met, as rows of one data file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import load_model_config, load_task_config
from flagharness.errors import ConfigError

_FILE = Path(__file__).parents[1] / "data" / "hard_cases" / "config.json"
_CASES = json.loads(_FILE.read_text(encoding="utf-8"))


def _loaded(given: dict[str, Any], folder: Path) -> dict[str, Any]:
    if "model" in given:
        load_model_config(json.dumps(given["model"]))
        return {}
    for name, text in given["files"].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load_task_config(folder / given["load"]).dataset


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_config_fault_people_met(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in case["input"].get("environment", {}).items():
        monkeypatch.setenv(name, value)
    if "error" in case["expected"]:
        with pytest.raises(ConfigError) as caught:
            _loaded(case["input"], tmp_path)
        assert case["expected"]["error"] in str(caught.value)
    else:
        assert _loaded(case["input"], tmp_path) == case["expected"]["dataset"]
