"""Judge configs: the keys and what they mean, placeholders, keys that go to one host alone, refusals."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flagharness.config import JudgeConfig, default_judge_config, load_judge_config
from flagharness.errors import ConfigError

URL = "https://judge.example/v1/chat/completions"
OPENAI = "https://api.openai.com/v1/chat/completions"
NAMES = ("JUDGE_MODEL", "JUDGE_API_BASE", "JUDGE_API_KEY", "OPENAI_API_KEY", "MMDR_JUDGE_PROMPT")


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


def load(**keys: Any) -> JudgeConfig:
    return load_judge_config({"model_name": "m", "api_base": URL, **keys})


@pytest.fixture
def refusal() -> Callable[..., str]:
    def refused(keys: Any = None, **more: Any) -> str:
        with pytest.raises(ConfigError) as caught:
            load_judge_config(keys) if keys is not None else load(**more)
        return str(caught.value)

    return refused


def test_what_is_not_set_is_as_documented() -> None:
    config = load()
    (judge,) = config.judges
    assert (judge.id, judge.requested, judge.model.endpoints) == ("m", "m", (URL,))
    assert judge.model.api_key is None
    assert (judge.model.num_workers, judge.model.max_retries, judge.model.timeout) == (4, 3, 300.0)
    assert (dict(judge.model.sampling), dict(judge.max_tokens)) == (
        {"temperature": 0.0},
        {"max_tokens": 2048},
    )
    assert (config.min_valid, config.ask_again, config.max_failure_rate) == (1, 1, 0.0)
    assert (config.judge_prompt, config.prompt_text, dict(config.options)) == (None, None, {})


@pytest.mark.parametrize(
    ("short", "dated"),
    [
        ("gpt-4o", "gpt-4o-2024-05-13"),
        ("gpt-4o-0806", "gpt-4o-2024-08-06"),
        ("gpt-4o-1120", "gpt-4o-2024-11-20"),
        ("gpt-4o-mini", "gpt-4o-mini-2024-07-18"),
        ("gpt-4-turbo", "gpt-4-1106-preview"),
        ("chatgpt-0125", "gpt-3.5-turbo-0125"),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-08-06"),
        ("Qwen/Qwen3-32B", "Qwen/Qwen3-32B"),
    ],
)
def test_short_names_mean_dated_models(short: str, dated: str) -> None:
    (judge,) = load(model_name=short).judges
    assert (judge.requested, judge.model.model_name) == (short, dated)


@pytest.mark.parametrize("name", ["o1", "o3-mini", "o4-mini-2025", "gpt-5", "gpt-5-mini", "openai/gpt-5"])
def test_models_that_think_get_another_limit_and_no_temperature(name: str) -> None:
    (judge,) = load(model_name=name, judge_max_tokens=900).judges
    assert dict(judge.max_tokens) == {"max_completion_tokens": 900}
    assert "temperature" not in judge.model.sampling


@pytest.mark.parametrize("name", ["gpt-4o", "omni-1", "o", "llama-o3", "qwen-gpt-5"])
def test_others_do_not(name: str) -> None:
    (judge,) = load(model_name=name).judges
    assert dict(judge.max_tokens) == {"max_tokens": 2048}
    assert judge.model.sampling["temperature"] == 0.0


# --- keys ---


@pytest.mark.parametrize("key", [{}, {"key": "empty"}, {"key": ""}])
def test_on_the_official_host_the_usual_variable_is_read(
    key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    (judge,) = load(api_base=OPENAI, **key).judges
    assert judge.model.api_key == "sk-of-openai"
    assert "sk-of-openai" in judge.model.secrets


@pytest.mark.parametrize(
    "base",
    [
        URL,
        "https://api.openai.com.evil.example/v1/chat/completions",
        "https://evil.example/api.openai.com/v1/chat/completions",
        "https://api.openai.com@evil.example/v1/chat/completions",
        "http://127.0.0.1:8000/v1/chat/completions",
    ],
)
def test_no_other_host_ever_gets_it(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    (judge,) = load(api_base=base).judges
    assert judge.model.api_key is None
    assert "sk-of-openai" not in json.dumps(judge.model.endpoints)


def test_any_key_text_is_sent_as_written() -> None:
    assert load(key="no-prefix-at-all").judges[0].model.api_key == "no-prefix-at-all"
    assert load(api_base=OPENAI, key="other").judges[0].model.api_key == "other"


def test_without_any_key_the_official_host_is_refused(refusal: Callable[..., str]) -> None:
    assert "reads OPENAI_API_KEY, which is not set" in refusal(api_base=OPENAI)


def test_a_key_does_not_follow_to_another_endpoint() -> None:
    judges = [{"model_name": "a"}, {"model_name": "b", "api_base": "https://b.example/v1/chat/completions"}]
    config = load_judge_config({"api_base": URL, "key": "sk-of-a", "judges": judges})
    assert [judge.model.api_key for judge in config.judges] == ["sk-of-a", None]


# --- placeholders ---


def test_placeholders_come_from_the_environment_and_are_stored_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("JUDGE_MODEL", "gpt-4o")
    monkeypatch.setenv("JUDGE_API_BASE", URL)
    monkeypatch.setenv("JUDGE_API_KEY", "sk-secret-1")
    config = load_judge_config("judge.yaml")
    (judge,) = config.judges
    assert (judge.model.model_name, judge.model.api_key) == ("gpt-4o-2024-05-13", "sk-secret-1")
    assert config.source["model_name"] == "${JUDGE_MODEL}"
    assert config.source["key"] == "${JUDGE_API_KEY}"
    assert "sk-secret-1" not in json.dumps(dict(config.source)) + repr(config)


def test_a_literal_key_is_not_stored() -> None:
    config = load(key="sk-secret-2", extra_headers={"X-Key": "sk-secret-3"})
    assert "sk-secret" not in json.dumps(dict(config.source)) + repr(config)


@pytest.mark.parametrize("value", [None, ""])
def test_a_variable_that_is_not_set_is_named_with_its_key(
    value: str | None, monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., str]
) -> None:
    if value is not None:
        monkeypatch.setenv("JUDGE_API_KEY", value)
    said = refusal(key="${JUDGE_API_KEY}")
    assert "key" in said
    assert "JUDGE_API_KEY" in said


@pytest.mark.parametrize("value", ["null", "None", " ", "~"])
def test_rules_only_is_never_had_by_accident(
    value: str, monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., str]
) -> None:
    monkeypatch.setenv("JUDGE_MODEL", value)
    assert "model_name" in refusal(model_name="${JUDGE_MODEL}")
    assert "model_name" in refusal(model_name=value)


def test_null_means_rules_only() -> None:
    assert load(model_name=None).judges == ()
    assert load_judge_config("judge_no_judge").judges == ()
    assert dict(load_judge_config("judge_no_judge.yaml").options) == {"score_mode": "constant"}


def test_the_shipped_judge_is_taken_unasked_only_where_the_environment_names_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert default_judge_config() is None
    monkeypatch.setenv("JUDGE_MODEL", "m")
    monkeypatch.setenv("JUDGE_API_BASE", URL)
    monkeypatch.setenv("JUDGE_API_KEY", "k")
    config = default_judge_config()
    assert config is not None
    assert config.judges[0].model.model_name == "m"


# --- several judges ---


def test_several_judges_share_keys_and_may_have_their_own() -> None:
    config = load_judge_config(
        {
            "api_base": URL,
            "nproc": 2,
            "judges": [{"model_name": "a"}, {"model_name": "a", "id": "warm", "temperature": 1}, {"model_name": "b"}],
        }
    )  # fmt: skip
    assert [judge.id for judge in config.judges] == ["a", "warm", "b"]
    assert [judge.model.num_workers for judge in config.judges] == [2, 2, 2]
    assert [judge.model.sampling["temperature"] for judge in config.judges] == [0.0, 1, 0.0]
    assert (config.min_valid, config.label) == (2, "a+warm+b")


# --- files ---


def test_yaml_and_json_files_are_read_and_a_path_is_relative_to_the_task(tmp_path: Path) -> None:
    (tmp_path / "j.yaml").write_text(f"model_name: m\napi_base: {URL}\nnproc: 7\n", encoding="utf-8")
    (tmp_path / "j.json").write_text(json.dumps({"model_name": "m", "api_base": URL}), encoding="utf-8")
    assert load_judge_config("j.yaml", tmp_path).judges[0].model.num_workers == 7
    assert load_judge_config(tmp_path / "j.json").judges[0].model.num_workers == 4


def test_a_prompt_file_lies_beside_the_config(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("Q {{question}} R {{reference}} A {{answer}}", encoding="utf-8")
    (tmp_path / "j.yaml").write_text(
        f"model_name: m\napi_base: {URL}\nprompt_file: p.txt\n", encoding="utf-8"
    )
    assert load_judge_config(tmp_path / "j.yaml").prompt_text == "Q {{question}} R {{reference}} A {{answer}}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model_name: [m\n", "not valid YAML"),
        ("model_name: m\nmodel_name: n\n", "`model_name` is given twice"),
        ("- m\n", "a list of `key: value` lines"),
        ("", "a list of `key: value` lines"),
        ("!!python/object/apply:os.system ['true']\n", "not valid YAML"),
    ],
)
def test_a_file_that_is_none_is_refused_with_its_name(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "j.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"j\.yaml") as caught:
        load_judge_config(tmp_path / "j.yaml")
    assert said in str(caught.value)


def test_an_unknown_file_is_told_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no such file.*Shipped: judge.yaml, judge_no_judge.yaml"):
        load_judge_config("judg.yaml")


# --- refusals ---


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"api_base": "https://judge.example/v1"}, "Did you mean https://judge.example/v1/chat/completions?"),
        ({"api_base": "https://u:pw@judge.example/v1"}, "must be the full chat-completions URL"),
        ({"api_base": None}, "`api_base` is missing"),
        ({"api_base": "ftp://x/chat/completions"}, "api_base"),
        ({"nproc": 0}, "nproc"),
        ({"nproc": "8"}, "nproc"),
        ({"retry": -1}, "retry"),
        ({"judge_max_tokens": 1.5}, "judge_max_tokens"),
        ({"temperature": "cold"}, "temperature"),
        ({"max_failure_rate": 2}, "max_failure_rate"),
        ({"response_format": "xml"}, "'json' or 'none'"),
        ({"extra_body": {"messages": []}}, "without `messages`"),
        ({"key": "sk\nX: y"}, "key"),
        ({"aggregate": "mean"}, "'majority'"),
        ({"judges": [{"model_name": "a"}]}, "exclude each other"),
        ({"model_name": None, "judges": []}, "`judges` is empty"),
        ({"model_name": None, "judges": "a"}, "must be a list"),
        ({"model_name": None, "judges": [{"model_name": "a"}, {"model_name": "a"}]}, "both called 'a'"),
        ({"model_name": None, "judges": [{"model_name": "a", "nprc": 2}]}, "Did you mean 'nproc'?"),
        ({"model_name": None, "judges": [{"model_name": "a"}], "min_valid": 2}, "min_valid"),
        ({"prompt_file": "none.txt"}, "prompt_file none.txt: cannot be read"),
        ({"price": {"input": -1}}, "price"),
    ],
)
def test_what_cannot_be_used_is_refused_by_its_key(
    keys: dict[str, Any], said: str, refusal: Callable[..., str]
) -> None:
    told = refusal(**keys)
    assert said in told
    assert "pw" not in told


@pytest.mark.parametrize("name", ["../x/..", "a/b", "/etc/passwd", "a b"])
def test_an_id_is_a_name_and_never_a_path(name: str) -> None:
    (judge,) = load(id=name).judges
    assert "/" not in judge.id
    assert judge.id not in (".", "..")


def test_a_config_without_a_model_is_refused(refusal: Callable[..., str]) -> None:
    assert "`model_name` is missing. Did you mean 'model_nam'?" in refusal({"model_nam": "m"})


def test_other_keys_go_to_the_evaluator_and_near_misses_are_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        config = load(use_verifier=True, judge_promt="hle", score_mode="constant")
    assert dict(config.options) == {"use_verifier": True, "judge_promt": "hle", "score_mode": "constant"}
    assert (
        "`judge_promt` is no key of ours and goes to the evaluator. Did you mean 'judge_prompt'?"
        in caplog.text
    )
    assert "score_mode" not in caplog.text
    assert "use_verifier" not in caplog.text
