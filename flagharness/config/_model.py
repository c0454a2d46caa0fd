"""The model config: how a model is reached and sampled."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from flagharness.config._find import bundled_folder
from flagharness.config._url import chat_completions_url, secrets_in_url
from flagharness.config._values import PLACEHOLDER, Values, all_forms, header_value, without_secrets
from flagharness.errors import ConfigError, did_you_mean

logger = logging.getLogger(__name__)

_HTTP_TYPES = ("http", "gpt", "openai")
_OTHER_PROTOCOLS = ("claude", "gemini", "hunyuan")
_WITHOUT_EFFECT = ("use_cache", "chat_name", "model_path", "server_port")
_BBOX_SPACES = ("norm1000", "norm1", "pixel")  # a test holds them to those of `flagharness.extract`
_BBOX_SPACES_TEXT = f"one of {', '.join(_BBOX_SPACES)}"
_SAMPLING = ("temperature", "top_p", "max_tokens", "seed", "stop", "reasoning", "thinking", "provider")


@dataclass(frozen=True)
class ModelConfig:
    """One model, as the JSON file describes it. What is not set is not sent.

    Times are in seconds, image sizes in bytes and pixels.
    """

    model_name: str
    endpoints: tuple[str, ...] = field(default=(), repr=False)
    """Full chat-completions URLs; empty for an in-process model."""
    api_key: str | None = field(default=None, repr=False)
    model_type: str = "http"
    """"http", or ``file.py:Class`` / ``package.module:Class`` for an in-process model."""
    model_args: Mapping[str, Any] = field(default_factory=dict, repr=False)
    num_workers: int = 8
    """Requests in flight."""
    num_infers: int = 1
    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Body fields beside model and messages: temperature, max_tokens, ... and all of ``extra_body``."""
    system_prompt: str | None = None
    stream: bool = False
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    max_image_size: int | None = None
    max_long_side: int | None = None
    min_short_side: int | None = None
    max_num_frames: int | None = None
    """Most frames of a video, evenly spread; 16 where ``fps`` is not set either."""
    fps: float | None = None
    """Frames of a video a second."""
    video_mode: str = "frames"
    """"frames", or "file": the video itself, for endpoints that take ``video_url`` parts."""
    frame_times: bool = False
    """Whether a text before each frame says when it is shown."""
    audio_mode: str = "input_audio"
    """"input_audio", or "audio_url" for endpoints that want that."""
    timeout: float = 600.0
    max_retries: int = 5
    retry_wait_max: float = 60.0
    reasoning_tags: tuple[str, str] = ("<think>", "</think>")
    answer_tag: str | None = None
    bbox_space: str = "norm1000"
    """The coordinates in which this model states boxes: "norm1000", "norm1" or "pixel"."""
    price: Mapping[str, float] | None = None
    """What a million tokens cost: ``input``, ``output``."""
    output_dir: str | None = None
    source: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """The config as written, placeholders unresolved and literal secrets removed: what a run records."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values that must never reach a file or a log."""
    base_folder: Path = Path()
    """What a relative ``file.py`` of ``model_type`` is relative to."""

    @property
    def in_process(self) -> bool:
        return self.model_type not in _HTTP_TYPES


def load_model_config(source: str | None, overrides: Mapping[str, Any] | None = None) -> ModelConfig:
    """Read and check a model config.

    Args:
        source: Path of a JSON file, a bare name of one in ``model_configs/``, or JSON text; None when the
            command line says everything.
        overrides: Command-line values; None means not given, every other value (0 too) wins.

    Raises:
        ConfigError: Unreadable, of a wrong type, or incomplete; names the key.
    """
    values, where, folder = _read(source)
    given = {key: value for key, value in (overrides or {}).items() if value is not None}
    if "url" in given:
        values.pop("base_url", None)
    values.update(given)
    return _check(values, where, folder)


def _read(source: str | None) -> tuple[dict[str, Any], str, Path]:
    if source is None:
        return {}, "command line", Path.cwd()
    if source.lstrip().startswith("{"):
        return _object(source, "--cfg"), "--cfg", Path.cwd()
    path = Path(source).expanduser()
    if not path.is_file():
        ours = bundled_folder("model_configs") / (
            path.name if path.suffix == ".json" else f"{path.name}.json"
        )
        if path.is_absolute() or len(path.parts) > 2 or not ours.is_file():
            known = sorted(file.stem for file in bundled_folder("model_configs").glob("*.json"))
            raise ConfigError(
                f"--cfg {source}: no such file.{did_you_mean(path.stem, known)} Shipped: {', '.join(known)}."
            )
        path = ours
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"--cfg {source}: cannot read the model config: {error}") from error
    return _object(text, str(path)), str(path), path.resolve().parent


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        values = json.loads(text)
    except RecursionError as error:
        raise ConfigError(f"{where}: nested too deeply.") from error
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{where}:{error.lineno}:{error.colno}: not valid JSON: {error.msg}. A model config is one JSON object."
        ) from error
    try:
        orjson.dumps(values)  # what cannot be sent: half of a surrogate pair, a number beyond 64 bits
    except TypeError as error:
        raise ConfigError(f"{where}: holds a value that no request can carry: {error}") from error
    if "NaN" in text or "Infinity" in text:
        _refuse_not_finite(values, where)
    if not isinstance(values, dict):
        raise ConfigError(f"{where}: a model config is one JSON object, got {type(values).__name__}.")
    return values


def _refuse_not_finite(value: Any, where: str, key: str = "") -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise ConfigError(f"{where}: `{key}` must be a finite number, got {value}.")
    parts = value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    for name, part in parts:
        _refuse_not_finite(part, where, f"{key}.{name}".lstrip("."))


def _check(raw: dict[str, Any], where: str, folder: Path) -> ModelConfig:
    values = Values(raw, where)
    take, number, fail = values.take, values.number, values.fail
    name = take("model_name", str, "a string")
    if not name:
        raise ConfigError(f"{where}: `model_name` is missing. Set it in the model config or with --model.")
    model_type = take("model_type", str, "a string", "http")
    if model_type in _OTHER_PROTOCOLS:
        raise ConfigError(
            f"{where}: model_type '{model_type}' speaks its provider's own protocol, which this version does not. "
            f"Use the provider's OpenAI-compatible endpoint with model_type 'http'."
        )
    if model_type not in _HTTP_TYPES and not re.fullmatch(r"[^:].*:\w+", model_type):
        raise ConfigError(
            f"{where}: model_type {model_type!r} is neither 'http' nor the place of a class such as "
            f"'my_model.py:MyModel' or 'package.module:MyModel'."
        )
    if values.rest.pop("backend", None):
        raise ConfigError(
            f"{where}: `backend` (starting a local server) is not part of this version. Start the server yourself "
            f"and give its address as `url`."
        )
    values.rest.pop("extra_args", None)
    sampling = _sampling(values, where)
    bbox_space = take("bbox_space", str, _BBOX_SPACES_TEXT, "norm1000")
    if bbox_space not in _BBOX_SPACES:
        raise fail("bbox_space", _BBOX_SPACES_TEXT)
    config = ModelConfig(
        model_name=name,
        model_type=model_type,
        endpoints=_endpoints(values, where, needed=model_type in _HTTP_TYPES),
        api_key=header_value(take("api_key", str, "a string"), "api_key", where) or None,
        model_args=take("model_args", dict, "an object", {}),
        num_workers=number("num_workers", 1, 8, maximum=4096),
        num_infers=number("num_infers", 1, 1, maximum=1000),
        sampling=sampling,
        system_prompt=take("system_prompt", str, "a string"),
        stream=take("stream", bool, "true or false", False),
        extra_headers=values.headers(),
        max_image_size=number("max_image_size", 1, None),
        max_long_side=number("max_long_side", 1, None),
        min_short_side=number("min_short_side", 1, None),
        max_num_frames=number("max_num_frames", 1, None),
        fps=number("fps", 0.001, None, (int, float)),
        video_mode=_one_of(values, "video_mode", ("frames", "file")),
        frame_times=take("frame_times", bool, "true or false", False),
        audio_mode=_one_of(values, "audio_mode", ("input_audio", "audio_url")),
        timeout=number("timeout", 0.001, number("retry_time", 0.001, 600.0, (int, float)), (int, float)),
        max_retries=number("max_retries", 0, 5),
        retry_wait_max=number("retry_wait_max", 0, 60.0, (int, float)),
        reasoning_tags=_tags(values),
        answer_tag=take("answer_tag", str, "a string"),
        bbox_space=bbox_space,
        price=values.price(),
        output_dir=take("output_dir", str, "a string"),
        base_folder=folder,
    )
    for key, value in values.rest.items():
        if key in _WITHOUT_EFFECT:
            if value:
                logger.warning("%s: `%s` has no effect in this version.", where, key)
        else:
            logger.warning("%s: nothing reads `%s`.%s", where, key, did_you_mean(key, _KNOWN))
    if config.api_key and not PLACEHOLDER.search(str(raw.get("api_key", ""))):
        values.secrets.append(config.api_key)
    if config.api_key and any("@" in urlsplit(url).netloc for url in config.endpoints):
        raise ConfigError(f"{where}: `api_key` and credentials in `url` exclude each other.")
    config = _with_default_key(config, values.secrets)
    return dataclasses.replace(
        config,
        source=without_secrets(raw, ("url", "base_url")),
        secrets=all_forms(values.secrets),
    )


def _one_of(values: Values, key: str, known: tuple[str, ...]) -> str:
    words = " or ".join(f"'{word}'" for word in known)
    given = values.take(key, str, words, known[0])
    if given not in known:
        raise values.fail(key, words)
    return str(given)


def _sampling(values: Values, where: str) -> dict[str, Any]:
    take, number = values.take, values.number
    checked = {
        "temperature": number("temperature", 0, None, (int, float)),
        "top_p": number("top_p", 0, None, (int, float)),
        "max_tokens": number("max_tokens", 1, None),
        "seed": number("seed", -(2**53), None),
        "stop": take("stop", (str, list), "a string or a list of strings"),
        "reasoning": take("reasoning", (dict, str), "an object"),
        "thinking": take("thinking", dict, "an object"),
        "provider": take("provider", (dict, str), "an object"),
    }
    stop = checked["stop"]
    if isinstance(stop, list) and not all(isinstance(text, str) for text in stop):
        raise ConfigError(f"{where}: `stop` must be a string or a list of strings, got {stop!r}.")
    body = {key: value for key, value in checked.items() if value is not None}
    extra = take("extra_body", dict, "an object", {})
    for reserved in ("model", "messages", "stream"):
        if reserved in extra:
            raise ConfigError(
                f"{where}: extra_body may not set `{reserved}`; use the key of the model config."
            )
    body.update(extra)
    return body


def _endpoints(values: Values, where: str, needed: bool) -> tuple[str, ...]:
    key = "url" if values.rest.get("url") else "base_url"
    given = values.rest.get(key)
    values.rest.pop("url", None)
    values.rest.pop("base_url", None)
    urls = [given] if isinstance(given, str) else given or []
    if not isinstance(urls, list) or not all(isinstance(url, str) and url for url in urls):
        raise ConfigError(f"{where}: `{key}` must be a URL or a list of URLs, got {given!r}.")
    if not urls and needed:
        raise ConfigError(
            f"{where}: no `url`. Set the endpoint in the model config or with --url, for example "
            f"http://127.0.0.1:8000/v1."
        )
    resolved = [values.resolved(url, key) for url in urls]
    endpoints = tuple(chat_completions_url(url, where) for url in resolved)
    for url in endpoints:
        values.secrets.extend(secrets_in_url(url))
    return endpoints


def _tags(values: Values) -> tuple[str, str]:
    tags = values.rest.pop("reasoning_tags", None)
    if tags is None:
        return ("<think>", "</think>")
    if not isinstance(tags, list) or len(tags) != 2 or not all(isinstance(t, str) and t for t in tags):
        raise values.fail("reasoning_tags", 'a list of two strings such as ["<think>", "</think>"]')
    return (tags[0], tags[1])


def _with_default_key(config: ModelConfig, secrets: list[str]) -> ModelConfig:
    # Only OpenAI itself gets OPENAI_API_KEY: any other host would be handed somebody else's secret.
    hosts = {urlsplit(url).hostname for url in config.endpoints}
    key = os.environ.get("OPENAI_API_KEY")
    if config.api_key is None and key and hosts == {"api.openai.com"}:
        secrets.append(key)
        return dataclasses.replace(config, api_key=key)
    return config


_KNOWN = (
    *(f.name for f in dataclasses.fields(ModelConfig) if f.name not in ("endpoints", "sampling", "source")),
    *("url", "base_url", "extra_body", "retry_time", "backend", "extra_args"),
    *_SAMPLING,
    *_WITHOUT_EFFECT,
)
