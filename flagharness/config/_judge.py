"""The judge config: which models decide about answers, how they are reached, and how often they are asked."""

from __future__ import annotations

import dataclasses
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from flagharness.config._find import bundled_folder
from flagharness.config._model import ModelConfig
from flagharness.config._url import chat_completions_url, secrets_in_url, without_credentials
from flagharness.config._values import PLACEHOLDER, Values, all_forms, header_value, without_secrets
from flagharness.errors import ConfigError, did_you_mean

logger = logging.getLogger(__name__)

SHORT_NAMES = {
    "gpt-4-turbo": "gpt-4-1106-preview",
    "gpt-4-0613": "gpt-4-0613",
    "gpt-4-0125": "gpt-4-0125-preview",
    "gpt-4-0409": "gpt-4-turbo-2024-04-09",
    "chatgpt-1106": "gpt-3.5-turbo-1106",
    "chatgpt-0125": "gpt-3.5-turbo-0125",
    "gpt-4o": "gpt-4o-2024-05-13",
    "gpt-4o-0806": "gpt-4o-2024-08-06",
    "gpt-4o-1120": "gpt-4o-2024-11-20",
    "gpt-4o-mini": "gpt-4o-mini-2024-07-18",
}
"""Short names of judge models and the dated models they mean (open-compass/VLMEvalKit,
``vlmeval/dataset/utils/judge_util.py``): a name that moves makes a number that nobody can reproduce."""
PROMPT_VARIABLE = "MMDR_JUDGE_PROMPT"
DEFAULT_JUDGE = "judges/judge.yaml"
DEFAULT_VARIABLE = "JUDGE_MODEL"
"""The environment variable that must be set before the shipped judge config is used without being asked for."""
_OPENAI_HOST = "api.openai.com"
_TAKES_NO_TEMPERATURE = re.compile(r"(?:.*/)?(?:o[1-9]\b|gpt-5)", re.IGNORECASE)
_OF_ONE_JUDGE = (
    "id",
    "model_name",
    "api_base",
    "base_url",
    "key",
    "nproc",
    "retry",
    "retry_wait_max",
    "timeout",
    "judge_max_tokens",
    "temperature",
    "response_format",
    "extra_body",
    "extra_headers",
    "price",
)
_OF_ALL_JUDGES = (
    "judges",
    "aggregate",
    "min_valid",
    "ask_again",
    "max_failure_rate",
    "judge_prompt",
    "prompt_file",
)


@dataclass(frozen=True)
class JudgeModel:
    """One judge: a model config made from the keys of the judge config.

    Attributes:
        id: What its folder, its verdicts and its results are called by.
        requested: The model name as written; ``model.model_name`` is what a short name stands for.
        model: How it is reached and sampled, without any limit on the output.
        max_tokens: The limit on the output, under the name that the model takes.
    """

    id: str
    requested: str
    model: ModelConfig
    max_tokens: Mapping[str, int]

    @property
    def host(self) -> str:
        return urlsplit(self.model.endpoints[0]).netloc.rpartition("@")[2]

    @property
    def base(self) -> str:
        """The endpoint without anything secret."""
        return without_credentials(self.model.endpoints[0])


@dataclass(frozen=True)
class JudgeConfig:
    """A judge config, read and checked. Without judges only rules decide.

    Attributes:
        judges: In the order of the file; the first breaks ties.
        min_valid: How many of them must give a verdict for there to be one.
        judge_prompt: The judge family asked for; None for the benchmark's own.
        prompt_text: Another prompt text for the family (``prompt_file``).
        ask_again: How often a reply that cannot be read is asked for again.
        max_failure_rate: The share of answers without a verdict up to which a result still counts as complete.
        options: All other keys, for the evaluator.
        source: The config as written, placeholders unresolved and literal secrets removed.
    """

    judges: tuple[JudgeModel, ...] = ()
    min_valid: int = 1
    judge_prompt: str | None = None
    prompt_text: str | None = field(default=None, repr=False)
    ask_again: int = 1
    max_failure_rate: float = 0.0
    options: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict, repr=False)
    where: str = "judge config"

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(secret for judge in self.judges for secret in judge.model.secrets)

    @property
    def label(self) -> str:
        """What this judge's result files are told apart by."""
        names = "+".join(judge.id for judge in self.judges) or "rules"
        return re.sub(r"[^\w.+-]+", "_", names)[:100]


def load_judge_config(source: str | Path | Mapping[str, Any], folder: Path | None = None) -> JudgeConfig:
    """Read and check a judge config.

    Args:
        source: A YAML or JSON file, the name of a shipped one, or its keys.
        folder: What a relative path is relative to, before the working directory.

    Raises:
        ConfigError: It cannot be read or used; names the key, never a secret.
    """
    if isinstance(source, Mapping):
        return _check(dict(source), "judge", folder or Path.cwd())
    path = _find(str(source), folder)
    return _check(_read_yaml(path), str(path), path.parent)


def default_judge_config() -> JudgeConfig | None:
    """Return the shipped judge config where the environment names a judge, else None."""
    return load_judge_config(DEFAULT_JUDGE) if os.environ.get(DEFAULT_VARIABLE) else None


def _find(source: str, folder: Path | None) -> Path:
    given = Path(source).expanduser()
    shipped = bundled_folder("model_configs")
    candidates = [*([folder / given] if folder else []), given, shipped / given, shipped / "judges" / given]
    candidates.append(shipped / "judges" / f"{given}.yaml")
    for path in candidates:
        if path.is_file():
            return path.resolve()
    known = sorted(file.name for file in (shipped / "judges").glob("*.yaml"))
    raise ConfigError(
        f"--judge-config {source}: no such file.{did_you_mean(given.name, known)} Shipped: {', '.join(known)}."
    )


def _read_yaml(path: Path) -> dict[str, Any]:
    import yaml

    class Loader(yaml.SafeLoader):
        """Refuses a key that is given twice: YAML readers silently take the last."""

        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for key in keys:
                if keys.count(key) > 1:
                    raise ConfigError(f"{path}: `{key}` is given twice.")
            return super().construct_mapping(node, deep)

    try:
        values = yaml.load(path.read_text(encoding="utf-8-sig"), Loader)
    except (OSError, UnicodeDecodeError, TypeError, RecursionError) as error:
        raise ConfigError(f"{path}: cannot read the judge config: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ConfigError(
            f"{path}{place}: not valid YAML: {getattr(error, 'problem', None) or 'unreadable'}."
        ) from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in values):
        raise ConfigError(f"{path}: a judge config is a list of `key: value` lines.")
    return values


def _check(raw: dict[str, Any], where: str, folder: Path) -> JudgeConfig:
    shared = Values(raw, where)
    listed = shared.rest.pop("judges", None)
    if "model_name" not in raw and listed is None:
        near = did_you_mean("model_name", raw)
        raise ConfigError(f"{where}: `model_name` is missing.{near} Write `model_name: null` for rules only.")
    if listed is not None and (
        not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed)
    ):
        raise ConfigError(f"{where}: `judges` must be a list of judges, each with its own keys.")
    if listed is not None and raw.get("model_name") is not None:
        raise ConfigError(f"{where}: `model_name` and `judges` exclude each other.")
    aggregate = shared.take("aggregate", str, "'majority'", "majority")
    if aggregate != "majority":
        raise shared.fail("aggregate", "'majority'")
    own = {key: shared.rest.pop(key) for key in _OF_ONE_JUDGE if key in shared.rest}
    if listed is not None:
        judges = tuple(_judge(_over(own, each), f"{where}: judges[{i}]") for i, each in enumerate(listed))
        if not judges:
            raise ConfigError(f"{where}: `judges` is empty. Write `model_name: null` for rules only.")
    else:
        judges = () if own["model_name"] is None else (_judge(own, where),)
    ids = [judge.id for judge in judges]
    if len(set(ids)) < len(ids):
        raise ConfigError(
            f"{where}: two judges are both called '{max(ids, key=ids.count)}'; give each an `id`."
        )
    config = JudgeConfig(
        judges=judges,
        min_valid=shared.number("min_valid", 1, len(judges) // 2 + 1, maximum=max(1, len(judges))),
        judge_prompt=shared.take("judge_prompt", str, "the name of a judge family"),
        prompt_text=_prompt_text(shared.take("prompt_file", str, "a file"), folder, where),
        ask_again=shared.number("ask_again", 0, 1, maximum=20),
        max_failure_rate=shared.number("max_failure_rate", 0, 0.0, (int, float), maximum=1),
        source=recorded_judge(raw, where),
        where=where,
    )
    for key in shared.rest:
        near = did_you_mean(key, (*_OF_ONE_JUDGE, *_OF_ALL_JUDGES, "score_mode"))
        if near and key != "score_mode":
            logger.warning("%s: `%s` is no key of ours and goes to the evaluator.%s", where, key, near)
    return dataclasses.replace(
        config, options={key: shared.resolved(v, key) for key, v in shared.rest.items()}
    )


def _over(shared: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Lay a judge's own keys over those that all share; a key never follows to another endpoint."""
    elsewhere = "api_base" in own and own["api_base"] != shared.get("api_base")
    inherited = {
        k: v for k, v in shared.items() if not (elsewhere and k in ("key", "extra_headers")) and k != "id"
    }
    return {**inherited, **own}


def _judge(raw: Mapping[str, Any], where: str) -> JudgeModel:
    values = Values(raw, where)
    requested = _model_name(values, raw)
    resolved = SHORT_NAMES.get(requested, requested)
    base_url = values.take("base_url", str, "a URL")  # FlagEvalMM's key: a base or a full URL
    api_base = values.take("api_base", str, "a full chat-completions URL")
    if base_url and not api_base:
        api_base = chat_completions_url(base_url, f"{where}: base_url")
    if not api_base:
        raise ConfigError(
            f"{where}: `api_base` is missing: the full URL, such as https://{_OPENAI_HOST}/v1/chat/completions."
        )
    url = chat_completions_url(api_base, f"{where}: api_base")
    if not urlsplit(api_base.strip()).path.rstrip("/").endswith("/chat/completions"):
        raise ConfigError(
            f"{where}: `api_base` must be the full chat-completions URL; {without_credentials(api_base)} does not "
            f"end in /chat/completions. Did you mean {without_credentials(url)}?"
        )
    values.secrets.extend(secrets_in_url(url))
    key = header_value(values.take("key", str, "a string"), "key", where)
    if urlsplit(url).hostname == _OPENAI_HOST and key in ("", "empty"):
        key = os.environ.get("OPENAI_API_KEY", "").strip()
        if not key:
            raise ConfigError(
                f"{where}: a judge on {_OPENAI_HOST} without `key` reads OPENAI_API_KEY, which is not set. Export it "
                f"first."
            )
        values.secrets.append(key)
    elif key and not PLACEHOLDER.search(str(raw.get("key", ""))):
        values.secrets.append(key)
    sampling = _sampling(values, resolved)
    limit = values.number("judge_max_tokens", 1, 2048)
    thinks = _TAKES_NO_TEMPERATURE.match(resolved) is not None
    identity = values.take("id", str, "a name", resolved)
    if not re.fullmatch(r"[^/\\\x00-\x1f]+", identity.replace("/", "_")) or identity.strip(". ") == "":
        raise values.fail("id", "a name that can be that of a folder")
    model = ModelConfig(
        model_name=resolved,
        endpoints=(url,),
        api_key=key or None,
        num_workers=values.number("nproc", 1, 4, maximum=4096),
        sampling=sampling,
        extra_headers=values.headers(),
        timeout=values.number("timeout", 0.001, 300.0, (int, float)),
        max_retries=values.number("retry", 0, 3, maximum=1000),
        retry_wait_max=values.number("retry_wait_max", 0, 60.0, (int, float)),
        price=values.price(),
    )
    if values.rest:
        unknown = next(iter(values.rest))
        raise ConfigError(f"{where}: no judge has `{unknown}`.{did_you_mean(unknown, _OF_ONE_JUDGE)}")
    return JudgeModel(
        id=re.sub(r"[^\w.@-]+", "_", identity),
        requested=requested,
        model=dataclasses.replace(model, secrets=all_forms(values.secrets)),
        max_tokens={"max_completion_tokens" if thinks else "max_tokens": limit},
    )


def _model_name(values: Values, raw: Mapping[str, Any]) -> str:
    name = values.take("model_name", str, "the name of a model")
    if name is None or name.strip().lower() in ("", "null", "none", "~"):
        read = PLACEHOLDER.search(str(raw.get("model_name") or ""))
        found = f" (the environment says {name!r})" if read else ""
        raise values.fail(
            "model_name", f"the name of a model{found}; only `model_name: null` means rules only"
        )
    return str(name.strip())


def _sampling(values: Values, model_name: str) -> dict[str, Any]:
    temperature = values.number("temperature", 0, None, (int, float))
    if temperature is None and not _TAKES_NO_TEMPERATURE.match(model_name):
        temperature = 0.0
    form = values.take("response_format", str, "'json' or 'none'", "none")
    if form not in ("json", "none"):
        raise values.fail("response_format", "'json' or 'none'")
    extra = values.take("extra_body", dict, "an object", {})
    for reserved in ("model", "messages", "stream"):
        if reserved in extra:
            raise values.fail("extra_body", f"an object without `{reserved}`")
    return {
        **({} if temperature is None else {"temperature": temperature}),
        **({"response_format": {"type": "json_object"}} if form == "json" else {}),
        **extra,
    }


def _prompt_text(file: str | None, folder: Path, where: str) -> str | None:
    if file is None:
        return None
    path = Path(file).expanduser()
    path = path if path.is_absolute() or not (folder / path).is_file() else folder / path
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{where}: prompt_file {file}: cannot be read: {error}") from error


def recorded_judge(raw: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Return a judge config as it can be stored: placeholders unresolved, literal secrets removed."""
    shown = without_secrets(raw, ("api_base", "base_url"))
    if isinstance(raw.get("judges"), list):
        shown["judges"] = [without_secrets(each, ("api_base", "base_url")) for each in raw["judges"]]
    if isinstance(raw.get("prompt_file"), str) and Path(where).is_absolute():
        beside = Path(where).parent / Path(raw["prompt_file"]).expanduser()
        shown["prompt_file"] = str(beside) if beside.is_file() else raw["prompt_file"]
    return shown
