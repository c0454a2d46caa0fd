"""Model configs: types and ranges, values that look like nothing, secrets, URLs, unknown keys."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.config import ModelConfig, bundled_folder, chat_completions_url, load_model_config
from flagharness.errors import ConfigError
from flagharness.extract import BBOX_SPACES

_URL = "http://127.0.0.1:8000/v1"
_REQUIRED = {"model_name": "toy", "url": _URL}


@pytest.fixture(autouse=True)
def _no_key_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def _load(**values: Any) -> ModelConfig:
    return load_model_config(json.dumps({**_REQUIRED, **values}))


def _refusal(**values: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        _load(**values)
    return str(caught.value)


# --- types and ranges -----------------------------------------------------------------------------------------


def test_what_is_not_set_has_its_default_and_is_not_sent() -> None:
    config = _load()
    assert config.sampling == {}
    assert (config.num_workers, config.num_infers, config.max_retries) == (8, 1, 5)
    assert (config.timeout, config.retry_wait_max) == (600.0, 60.0)
    assert (config.stream, config.system_prompt, config.api_key) == (False, None, None)
    assert (config.max_image_size, config.max_long_side, config.min_short_side) == (None, None, None)
    assert config.reasoning_tags == ("<think>", "</think>")
    assert not config.in_process


def test_the_spaces_of_boxes_are_those_that_extraction_reads() -> None:
    assert [_load(bbox_space=space).bbox_space for space in BBOX_SPACES] == list(BBOX_SPACES)
    assert f"one of {', '.join(BBOX_SPACES)}" in _refusal(bbox_space="norm100")


_WRONG_TYPES: dict[str, list[Any]] = {
    "model_name": [3, True, ["a"], {}],
    "model_type": [3, ["http"]],
    "api_key": [3, True, ["a"]],
    "model_args": ["a", 3, ["a"]],
    "num_workers": ["8", 8.0, True, [8]],
    "num_infers": ["1", 1.5, True],
    "max_tokens": ["1", 1.5, True],
    "seed": ["1", 1.5, True],
    "temperature": ["0", True, [0]],
    "top_p": ["0", True],
    "stop": [3, True, {}, [1], ["a", None]],
    "reasoning": [3, True, ["high"]],
    "thinking": [3, True, "on", []],
    "provider": [3, True, []],
    "extra_body": ["a", 3, []],
    "extra_headers": ["a", 3, ["a"], {"A": 1}, {"A": None}],
    "system_prompt": [3, True, ["a"], {}],
    "stream": [0, 1, "true", "false", []],
    "max_image_size": ["1", 1.5, True],
    "max_long_side": ["1", 1.5, True],
    "min_short_side": ["1", 1.5, True],
    "timeout": ["1", True, []],
    "retry_time": ["300", True, []],
    "max_retries": ["1", 1.5, True],
    "retry_wait_max": ["1", True, []],
    "reasoning_tags": ["<think>", ["<think>"], ["a", "b", "c"], ["a", ""], ["a", 1], {}],
    "answer_tag": [3, True, []],
    "output_dir": [3, True, []],
    "url": [3, True, {"a": "b"}, [3], [""], ["http://a/v1", 3]],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in _WRONG_TYPES.items() for value in values]
)
def test_a_value_of_the_wrong_type_is_refused_by_name(key: str, value: Any) -> None:
    message = _refusal(**{key: value})
    assert message.startswith("--cfg: `")
    assert f"`{key}` must be " in message


_TOO_SMALL = {
    "num_workers": [0, -1],
    "num_infers": [0, -1],
    "max_tokens": [0, -5],
    "max_image_size": [0, -1],
    "max_long_side": [0, -1],
    "min_short_side": [0, -1],
    "max_retries": [-1],
    "temperature": [-0.1],
    "top_p": [-0.1],
    "timeout": [0, -1, 0.0001],
    "retry_time": [0, -1],
    "retry_wait_max": [-1, -0.5],
}


@pytest.mark.parametrize(
    ("key", "value"), [(key, value) for key, values in _TOO_SMALL.items() for value in values]
)
def test_a_number_out_of_range_is_refused_by_name_and_value(key: str, value: float) -> None:
    message = _refusal(**{key: value})
    assert f"`{key}` must be a" in message
    assert "number of at least" in message
    assert f"got {value!r}" in message


@pytest.mark.parametrize("key", ["temperature", "top_p", "timeout", "retry_wait_max"])
@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused(key: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f"`{key}` must be a (finite )?number"):
        load_model_config(f'{{"model_name": "toy", "url": "{_URL}", "{key}": {text}}}')


@given(
    st.sampled_from(sorted({*_WRONG_TYPES} - {"model_name"})),
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
        max_leaves=4,
    ),
)
def test_any_value_is_either_taken_or_refused_as_a_config_error(key: str, value: Any) -> None:
    with suppress(ConfigError):
        _load(**{key: value})


@pytest.mark.parametrize("key", sorted({*_WRONG_TYPES} - {"model_name", "url"}))
def test_null_means_not_set(key: str) -> None:
    assert _load(**{key: None}).__dict__ | {"source": {}} == _load().__dict__ | {"source": {}}


def test_a_model_without_name_is_refused() -> None:
    for values in ({"url": _URL}, {"url": _URL, "model_name": ""}, {"url": _URL, "model_name": None}):
        with pytest.raises(ConfigError, match="`model_name` is missing"):
            load_model_config(json.dumps(values))


def test_an_endpoint_model_without_url_is_refused_with_an_example() -> None:
    with pytest.raises(ConfigError, match=r"no `url`.*http://127\.0\.0\.1:8000/v1"):
        load_model_config('{"model_name": "toy"}')


# --- zero, false and the empty text keep their meaning --------------------------------------------------------


def test_zeros_are_kept_and_sent() -> None:
    config = _load(temperature=0, top_p=0.0, seed=0, max_retries=0, retry_wait_max=0)
    assert config.sampling == {"temperature": 0, "top_p": 0.0, "seed": 0}
    assert (config.max_retries, config.retry_wait_max) == (0, 0.0)


def test_false_and_empty_texts_are_kept() -> None:
    config = _load(stream=False, system_prompt="", stop="", answer_tag="", output_dir="")
    assert (config.stream, config.system_prompt, config.answer_tag, config.output_dir) == (False, "", "", "")
    assert config.sampling == {"stop": ""}


def test_empty_lists_and_objects_are_kept() -> None:
    assert _load(stop=[], reasoning={}, provider={}, thinking={}).sampling == {
        "stop": [],
        "reasoning": {},
        "provider": {},
        "thinking": {},
    }


def test_an_empty_key_is_no_key() -> None:
    assert _load(api_key="").api_key is None


def test_zero_from_the_command_line_wins_over_the_file() -> None:
    text = json.dumps({**_REQUIRED, "temperature": 0.7})
    assert load_model_config(text, {"temperature": 0.0}).sampling == {"temperature": 0.0}


def test_what_the_command_line_does_not_say_leaves_the_file_alone() -> None:
    text = json.dumps({**_REQUIRED, "temperature": 0.7, "num_workers": 3})
    config = load_model_config(text, {"temperature": None, "num_workers": None, "model_name": None})
    assert (config.sampling, config.num_workers, config.model_name) == ({"temperature": 0.7}, 3, "toy")


def test_a_url_from_the_command_line_wins_over_both_spellings() -> None:
    for key in ("url", "base_url"):
        text = json.dumps({"model_name": "toy", key: "http://file/v1"})
        config = load_model_config(text, {"url": "http://line/v1"})
        assert config.endpoints == ("http://line/v1/chat/completions",)


def test_the_command_line_alone_is_enough() -> None:
    config = load_model_config(None, {"model_name": "toy", "url": _URL, "num_infers": 3})
    assert (config.model_name, config.num_infers) == ("toy", 3)


def test_a_command_line_value_is_checked_too() -> None:
    with pytest.raises(ConfigError, match="command line: `num_infers` must be a whole number of at least 1"):
        load_model_config(None, {"model_name": "toy", "url": _URL, "num_infers": 0})


def test_the_same_number_written_as_int_or_float_is_one_setting() -> None:
    whole, fraction = _load(temperature=0, top_p=1), _load(temperature=0.0, top_p=1.0)
    assert repr(whole.sampling) == repr(fraction.sampling)


# --- what is sent ---------------------------------------------------------------------------------------------


def test_extra_body_is_laid_over_the_other_settings() -> None:
    config = _load(max_tokens=10, extra_body={"max_tokens": None, "max_completion_tokens": 10, "top_k": 1})
    assert config.sampling == {"max_tokens": None, "max_completion_tokens": 10, "top_k": 1}


@pytest.mark.parametrize("key", ["model", "messages", "stream"])
def test_extra_body_may_not_set_what_has_a_key_of_its_own(key: str) -> None:
    assert f"extra_body may not set `{key}`" in _refusal(extra_body={key: "x"})


def test_retry_time_is_another_name_of_timeout() -> None:
    assert _load(retry_time=30).timeout == 30.0
    assert _load(retry_time=30, timeout=5).timeout == 5.0


# --- kinds of models ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["http", "gpt", "openai"])
def test_endpoints_have_three_names(kind: str) -> None:
    assert not _load(model_type=kind).in_process


@pytest.mark.parametrize("kind", ["my_model.py:MyModel", "package.module:MyModel"])
def test_an_in_process_model_needs_no_url(kind: str) -> None:
    config = load_model_config(json.dumps({"model_name": "toy", "model_type": kind, "model_args": {"a": 1}}))
    assert config.in_process
    assert (config.endpoints, config.model_args) == ((), {"a": 1})


@pytest.mark.parametrize("kind", ["claude", "gemini", "hunyuan"])
def test_other_protocols_are_refused_with_the_way_out(kind: str) -> None:
    assert "OpenAI-compatible endpoint" in _refusal(model_type=kind)


def test_an_unknown_kind_is_refused_with_examples() -> None:
    assert "neither 'http' nor the place of a class such as 'my_model.py:MyModel'" in _refusal(
        model_type="htpp"
    )


def test_a_backend_to_launch_is_refused_with_the_way_out() -> None:
    assert "Start the server yourself" in _refusal(backend="vllm")
    assert _load(backend="", extra_args="--tp 2").model_name == "toy"


# --- the environment and secrets ------------------------------------------------------------------------------


def test_a_placeholder_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", "sk-test-FAKE123")
    monkeypatch.setenv("TOY_HOST", "h:1")
    config = _load(api_key="${TOY_KEY}", url="http://${TOY_HOST}/v1", extra_headers={"X-Key": "k ${TOY_KEY}"})
    assert config.api_key == "sk-test-FAKE123"
    assert config.endpoints == ("http://h:1/v1/chat/completions",)
    assert config.extra_headers == {"X-Key": "k sk-test-FAKE123"}


@pytest.mark.parametrize(("value", "state"), [(None, "not set"), ("", "empty")])
def test_a_placeholder_without_a_value_is_refused(
    monkeypatch: pytest.MonkeyPatch, value: str | None, state: str
) -> None:
    monkeypatch.delenv("TOY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TOY_KEY", value)
    message = _refusal(api_key="${TOY_KEY}")
    assert f"`api_key` reads the environment variable TOY_KEY, which is {state}" in message


_SECRET = "sk-test-FAKE123"


@pytest.mark.parametrize(
    "values",
    [
        {"api_key": _SECRET},
        {"api_key": "${TOY_KEY}"},
        {"api_key": "pre-${TOY_KEY}"},
        {"extra_headers": {"X-Api-Key": _SECRET, "X-Title": "toy"}},
        {"extra_headers": {"X-Api-Key": "${TOY_KEY}"}},
        {"url": f"http://user:{_SECRET}@127.0.0.1/v1"},
        {"url": f"http://127.0.0.1/v1?api-key={_SECRET}&x=1"},
        {"url": ["http://127.0.0.1/v1", f"http://127.0.0.1/v1?access_token={_SECRET}"]},
        {"base_url": f"http://user:{_SECRET}@127.0.0.1/v1", "url": None},
        {"model_args": {"deep": {"hf_token": _SECRET}}},
    ],
)
def test_a_secret_stands_neither_in_the_record_nor_in_the_repr(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, Any]
) -> None:
    monkeypatch.setenv("TOY_KEY", _SECRET)
    config = _load(**values)
    assert _SECRET not in json.dumps(dict(config.source))
    assert _SECRET not in repr(config)


@pytest.mark.parametrize(
    "values",
    [
        {"api_key": _SECRET},
        {"api_key": "${TOY_KEY}"},
        {"extra_headers": {"X-Api-Key": _SECRET}},
        {"extra_headers": {"X-Api-Key": "${TOY_KEY}"}},
        {"url": f"http://user:{_SECRET}@127.0.0.1/v1"},
        {"url": f"http://127.0.0.1/v1?api-key={_SECRET}&x=1"},
    ],
)
def test_a_secret_is_known_so_that_it_can_be_kept_out_of_messages(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, Any]
) -> None:
    monkeypatch.setenv("TOY_KEY", _SECRET)
    assert _SECRET in _load(**values).secrets


def test_the_record_keeps_placeholders_and_what_is_no_secret() -> None:
    config = _load(
        url="http://user:pass@127.0.0.1:8000/v1?api-key=abcd&version=2",
        extra_headers={"X-Key": "abcd"},
        model_args={"path": "/m", "token": "abcd"},
    )
    assert config.source == {
        "model_name": "toy",
        "url": "http://***@127.0.0.1:8000/v1?api-key=***&version=2",
        "extra_headers": {"X-Key": "***"},
        "model_args": {"path": "/m", "token": "***"},
    }


def test_a_placeholder_stays_in_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", _SECRET)
    config = _load(api_key="${TOY_KEY}", extra_headers={"X-Key": "${TOY_KEY}"})
    assert config.source == {**_REQUIRED, "api_key": "${TOY_KEY}", "extra_headers": {"X-Key": "${TOY_KEY}"}}


def test_a_refused_key_is_not_shown() -> None:
    assert "FAKE" not in _refusal(api_key=["sk-test-FAKE123"])


def test_a_refused_url_is_shown_without_its_credentials() -> None:
    message = _refusal(url=f"ftp://user:{_SECRET}@host/v1?key={_SECRET}")
    assert _SECRET not in message
    assert "is not an http:// or https:// URL" in message


@pytest.mark.parametrize(
    ("url", "gets_it"),
    [
        ("https://api.openai.com/v1", True),
        ("https://API.OpenAI.com/v1/chat/completions", True),
        ("https://api.openai.com:443/v1", True),
        ("https://api.openai.com.evil.org/v1", False),
        ("https://evil.org/api.openai.com", False),
        ("https://evil-api.openai.com/v1", False),
        ("https://openai.com/v1", False),
        ("https://api.openai.com@evil.org/v1", False),
        ("http://127.0.0.1:8000/v1", False),
        (["https://api.openai.com/v1", "https://evil.org/v1"], False),
    ],
)
def test_only_openai_itself_gets_the_key_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, url: Any, gets_it: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", _SECRET)
    config = _load(url=url)
    assert config.api_key == (_SECRET if gets_it else None)
    assert (_SECRET in config.secrets) is gets_it
    assert "api_key" not in config.source


def test_a_key_of_the_config_is_not_replaced_by_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", _SECRET)
    assert _load(url="https://api.openai.com/v1", api_key="mine").api_key == "mine"


def test_the_newline_of_a_key_that_was_read_from_a_file_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", f"{_SECRET}\n")
    config = _load(api_key="${TOY_KEY}", extra_headers={"X-Key": "${TOY_KEY}"})
    assert (config.api_key, config.extra_headers) == (_SECRET, {"X-Key": _SECRET})


def test_a_key_or_header_that_http_cannot_carry_is_refused_unshown() -> None:
    for values in ({"api_key": "sk-ключ"}, {"api_key": "a\nb"}, {"extra_headers": {"X-Key": "a\r\nb"}}):
        message = _refusal(**values)
        assert "holds a character that no HTTP header can carry" in message
        assert "ключ" not in message


# --- URLs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://h:8000", "http://h:8000/v1/chat/completions"),
        ("http://h:8000/", "http://h:8000/v1/chat/completions"),
        ("http://h:8000/v1", "http://h:8000/v1/chat/completions"),
        ("http://h:8000/v1/", "http://h:8000/v1/chat/completions"),
        ("http://h:8000/v1/chat/completions", "http://h:8000/v1/chat/completions"),
        ("http://h:8000/v1/chat/completions/", "http://h:8000/v1/chat/completions"),
        (" https://h/api/v3 ", "https://h/api/v3/chat/completions"),
        ("https://h/v1?api-version=1", "https://h/v1/chat/completions?api-version=1"),
        ("https://h/v1/chat/completions?a=b#c", "https://h/v1/chat/completions?a=b"),
        ("http://[::1]:8000", "http://[::1]:8000/v1/chat/completions"),
        ("HTTPS://Host/v1", "https://Host/v1/chat/completions"),
        ("http://user:pass@h/v1", "http://user:pass@h/v1/chat/completions"),
    ],
)
def test_base_urls_and_full_urls_reach_the_same_path(url: str, asked: str) -> None:
    assert chat_completions_url(url) == asked
    assert chat_completions_url(asked) == asked


@pytest.mark.parametrize(
    "url",
    [
        "h:8000/v1",
        "127.0.0.1:8000",
        "/v1",
        "",
        "ftp://h/v1",
        "http://",
        "http:///v1",
        "http://[::1",
        "http://h:x1/v1",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="is not a"):
        chat_completions_url(url, "--url")


def test_a_list_of_endpoints_is_kept_in_order() -> None:
    assert _load(url=["http://a/v1", "http://b"]).endpoints == (
        "http://a/v1/chat/completions",
        "http://b/v1/chat/completions",
    )


def test_base_url_is_the_other_spelling_of_url() -> None:
    config = load_model_config('{"model_name": "toy", "base_url": "http://h/v1"}')
    assert config.endpoints == ("http://h/v1/chat/completions",)


# --- keys that nothing reads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "nearest"),
    [("temprature", "temperature"), ("max_token", "max_tokens"), ("numworkers", "num_workers")],
)
def test_a_mistyped_key_is_warned_of_with_the_nearest_known_name(
    caplog: pytest.LogCaptureFixture, key: str, nearest: str
) -> None:
    _load(**{key: 1})
    assert caplog.messages == [f"--cfg: nothing reads `{key}`. Did you mean '{nearest}'?"]


def test_a_foreign_key_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    _load(warm_up=True)
    assert caplog.messages == ["--cfg: nothing reads `warm_up`."]


@pytest.mark.parametrize("key", ["use_cache", "chat_name", "model_path", "server_port"])
def test_a_known_key_without_effect_is_said_to_have_none_unless_it_asks_for_nothing(
    caplog: pytest.LogCaptureFixture, key: str
) -> None:
    _load(**{key: 0})
    assert caplog.messages == []
    _load(**{key: 1})
    assert caplog.messages == [f"--cfg: `{key}` has no effect in this version."]


def test_how_videos_and_sounds_are_sent() -> None:
    config = _load()
    assert (config.max_num_frames, config.fps, config.frame_times) == (None, None, False)
    assert (config.video_mode, config.audio_mode) == ("frames", "input_audio")
    config = _load(max_num_frames=8, fps=0.5, video_mode="file", audio_mode="audio_url", frame_times=True)
    assert (config.max_num_frames, config.fps, config.frame_times) == (8, 0.5, True)
    assert (config.video_mode, config.audio_mode) == ("file", "audio_url")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("max_num_frames", 0),
        ("max_num_frames", 1.5),
        ("fps", 0),
        ("fps", "2"),
        ("video_mode", "url"),
        ("audio_mode", True),
        ("frame_times", "yes"),
    ],
)
def test_what_no_video_or_sound_can_be_sent_by_is_refused(key: str, value: Any) -> None:
    assert f"`{key}`" in _refusal(**{key: value})


# --- where a config comes from --------------------------------------------------------------------------------


def test_a_file_is_read_and_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(_REQUIRED), encoding="utf-8-sig")
    config = load_model_config(str(path))
    assert (config.model_name, config.base_folder) == ("toy", tmp_path)
    path.write_text(json.dumps({**_REQUIRED, "num_infers": "x"}), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"toy\.json: `num_infers`"):
        load_model_config(str(path))


def test_broken_json_is_told_with_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_text('{\n  "model_name": "toy",\n  "url" "x"\n}\n', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_model_config(str(path))
    assert str(caught.value).startswith(f"{path}:3:9: not valid JSON: Expecting ':' delimiter.")
    with pytest.raises(ConfigError, match=r"--cfg:1:15: not valid JSON"):
        load_model_config('{"model_name" }')


def test_json_that_is_no_object_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(ConfigError, match="a model config is one JSON object, got list"):
        load_model_config(str(path))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "toy.json"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot read the model config"):
        load_model_config(str(path))


def test_a_missing_file_is_refused_with_the_shipped_ones(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"no such file\. Did you mean 'otsu_counter'\? Shipped: .*otsu_counter"
    ):
        load_model_config(str(tmp_path / "otsu_countr.json"))


def test_a_shipped_config_is_found_by_its_bare_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("otsu_counter", "otsu_counter.json", "model_configs/otsu_counter.json"):
        assert load_model_config(name).in_process


def test_every_shipped_config_loads_without_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for path in bundled_folder("model_configs").glob("*.json"):
        for name in re.findall(r"\$\{(\w+)\}", path.read_text(encoding="utf-8")):
            monkeypatch.setenv(name, "sk-test-FAKE123")
        assert load_model_config(str(path)).model_name
    assert caplog.messages == []
