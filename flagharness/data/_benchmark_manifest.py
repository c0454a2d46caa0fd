"""Benchmark manifests: one JSON file that says where the rows of a benchmark lie, how a prompt is made of them and
how replies are scored.

The form, shortened::

    {"name": "Signs", "release_date": "2026-07-07",
     "subsets": {"main": {
        "language": ["en"], "modalities": ["single_image_start"], "task_type": "short_answer_qa",
        "score_pipeline": ["exact-match", "rule-match"], "score_params": {"string_match": "contains"},
        "score_protocol": {"reference": "...", "note": "..."},
        "prompt_template": "<image>{{ question }}",
        "mapping_from_source": {
            "media": {"from": "image", "type": "list", "min_items": 1, "max_items": 1},
            "id": {"from": "id"}, "question": {"from": "question"}, "answer": {"from": "answer", "optional": true},
            "extra": {"kind": {"from": "category"}, "place": {"town": {"from": "town"}}},
            "source": {"format": "json", "url": {"test": "https://..."}}}}}}

A field of ``mapping_from_source`` names a column of the source (``from``) and may say more: ``type`` (one of
FIELD_TYPES), ``min_items`` and ``max_items`` of a list, ``optional``, ``note``. A block in ``extra`` without ``from``
is a group of fields. In the template ``{{ name }}`` stands for a mapped field (``{{ place.town }}`` for one of a
group) and ``<image>`` for the pictures; there is nothing else to a template.

`process_manifest` makes data.json from such a file, and the evaluator ``ManifestEvaluator`` scores by its rules. A
task is a folder with the manifest, a ``process.py``::

    from flagharness.data import process_manifest

    def process(cfg):
        process_manifest(cfg)

and a config; ``score_pipeline`` and ``string_match`` are those of the manifest::

    config = dict(
        dataset_path="org/signs",
        manifest="manifest.json",
        subset="main",
        split="test",
        processed_dataset_path="signs",
        processor="process.py",
    )
    dataset = dict(type="VqaBaseDataset", config=config, name="signs")
    evaluator = dict(type="ManifestEvaluator", score_pipeline=["exact-match", "rule-match"], string_match="contains")
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagharness.errors import ConfigError, did_you_mean, listing

logger = logging.getLogger(__name__)

FIELD_TYPES = ("string", "integer", "number", "boolean", "list")
SCORE_STAGES = ("exact-match", "rule-match")
STRING_MATCHES = ("contains", "equals")

_MANIFEST_KEYS = ("name", "release_date", "subsets")
_SUBSET_KEYS = (
    "language",
    "modalities",
    "task_type",
    "score_pipeline",
    "score_params",
    "score_protocol",
    "prompt_template",
    "prompt_template_source",
    "mapping_from_source",
    "source",
)
_MAPPING_KEYS = ("media", "id", "question", "answer", "extra", "source")
_FIELD_KEYS = ("from", "type", "min_items", "max_items", "optional", "note")
_PLACE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
IMAGE_MARK = "<image>"


@dataclass(frozen=True)
class SourceField:
    """Where one field of a row comes from."""

    column: str
    """``from``: the column of the source."""
    type: str | None = None
    """One of FIELD_TYPES; None where the manifest says none."""
    min_items: int | None = None
    max_items: int | None = None
    optional: bool = False


@dataclass(frozen=True)
class BenchmarkSubset:
    """One subset of a manifest, checked."""

    name: str
    prompt_template: str
    fields: Mapping[str, SourceField]
    """By name: ``id``, ``question``, ``answer``, and those of ``extra``, groups with a dot: ``place.town``."""
    media: SourceField | None = None
    language: Sequence[str] = ()
    modalities: Sequence[str] = ()
    task_type: str | None = None
    score_pipeline: Sequence[str] = ()
    string_match: str | None = None
    score_protocol: Mapping[str, Any] = field(default_factory=dict)
    source: Mapping[str, Any] = field(default_factory=dict)
    """``format`` and ``url`` (one, or one a split), as they stand in the file."""


@dataclass(frozen=True)
class BenchmarkManifest:
    """A manifest file, checked."""

    name: str
    release_date: str | None
    subsets: Mapping[str, BenchmarkSubset]

    def subset(self, name: str | None = None) -> BenchmarkSubset:
        """Return a subset by its name; without a name the only one.

        Raises:
            ConfigError: There is no such subset, or no name was given and there are several.
        """
        if name is None and len(self.subsets) == 1:
            return next(iter(self.subsets.values()))
        if name is not None and name in self.subsets:
            return self.subsets[name]
        asked = "name one in config.subset" if name is None else f"there is no subset '{name}'"
        near = did_you_mean(name, self.subsets) if name else ""
        raise ConfigError(f"manifest {self.name}: {asked}.{near} Subsets: {', '.join(self.subsets)}.")


def read_benchmark_manifest(path: str | Path) -> BenchmarkManifest:
    """Read and check a manifest file.

    Keys that describe a benchmark and that nothing reads are logged; unknown keys of the mapping are refused, for a
    row without what they were meant to say would be another row.

    Raises:
        ConfigError: The file cannot be read, or naming everything that is wrong with it by its place, as in
            ``subsets.main.mapping_from_source.media.min_items``.
    """
    path = Path(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_without_twins)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the manifest: {error.strerror or error}.") from error
    except ValueError as error:  # not UTF-8, not JSON, a key twice
        raise ConfigError(f"{path}: the manifest is not JSON: {error}.") from error
    problems: list[str] = []
    manifest = _manifest(_Block(value, "", problems, path))
    if problems:
        raise ConfigError(f"{path}: {len(problems)} problems:\n{listing(problems)}")
    return manifest


def template_fields(template: str) -> list[str]:
    """Return the names that a prompt template uses.

    Example:
        >>> template_fields("<image>{{ question }} ({{place.town}})")
        ['question', 'place.town']
    """
    return [name.strip() for name in _PLACE.findall(template)]


def fill_template(template: str, value_of: Callable[[str], str]) -> str:
    """Put values into a prompt template; what they hold is not read as a template again.

    Example:
        >>> fill_template("<image>{{ question }}?", {"question": "How {{ many }}"}.__getitem__)
        '<image>How {{ many }}?'
    """
    return _PLACE.sub(lambda place: value_of(place[1].strip()), template)


class _Block:
    """An object inside the manifest: reads its keys and notes what is wrong with them, place by place."""

    def __init__(self, value: Any, place: str, problems: list[str], file: Path) -> None:
        self.place, self.problems, self.file = place, problems, file
        self.is_object = isinstance(value, dict)
        self.values: dict[str, Any] = value if isinstance(value, dict) else {}
        if not self.is_object:
            self.problem(None, f"must be an object, got {_shown(value)}")

    def problem(self, key: str | None, what: str) -> None:
        place = ".".join(part for part in (self.place, key) if part) or "the manifest"
        self.problems.append(f"{place}: {what}")

    def known(self, keys: Sequence[str], *, refuse: bool = False) -> None:
        for key in self.values:
            if key not in keys:
                what = f"nothing reads this key.{did_you_mean(key, keys)} Known: {', '.join(keys)}."
                if refuse:
                    self.problem(key, what)
                else:
                    logger.warning("%s: %s: %s", self.file, f"{self.place}.{key}".lstrip("."), what)

    def get(self, key: str, kind: type, what: str, *, required: bool = False) -> Any:
        """Return the value of a key if it has the type, else None; ``bool`` is no ``int``."""
        value = self.values.get(key)
        if value is None:
            if required and self.is_object:
                self.problem(key, f"is missing.{did_you_mean(key, self.values)}")
        elif not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool) or value == "":
            self.problem(key, f"must be {what}, got {_shown(value)}")
            return None
        return value

    def text(self, key: str, *, required: bool = False) -> Any:
        return self.get(key, str, "a text", required=required)

    def word(self, key: str, known: Sequence[str]) -> str | None:
        word = self.text(key)
        return self._one_of(key, word, known) if word is not None else None

    def texts(self, key: str, known: Sequence[str] | None = None) -> list[str]:
        values = self.get(key, list, "a list of texts") or []
        if not all(isinstance(value, str) and value for value in values):
            self.problem(key, f"must be a list of texts, got {_shown(values)}")
            return []
        if known is None:
            return list(values)
        return [word for i, value in enumerate(values) if (word := self._one_of(f"{key}[{i}]", value, known))]

    def block(self, key: str, *, required: bool = False) -> _Block | None:
        value = self.get(key, dict, "an object", required=required)
        return None if value is None else self.at(key, value)

    def at(self, key: str, value: Any) -> _Block:
        return _Block(value, f"{self.place}.{key}".lstrip("."), self.problems, self.file)

    def _one_of(self, key: str, word: str, known: Sequence[str]) -> str | None:
        if word in known:
            return word
        self.problem(key, f"'{word}' is not known.{did_you_mean(word, known)} Known: {', '.join(known)}.")
        return None


def _manifest(block: _Block) -> BenchmarkManifest:
    block.known(_MANIFEST_KEYS)
    release_date = block.text("release_date")
    if release_date and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", release_date):
        block.problem("release_date", f"must be a date such as 2026-07-07, got {release_date!r}")
    subsets = block.block("subsets", required=True)
    if subsets and not subsets.values:
        block.problem("subsets", "holds no subset")
    return BenchmarkManifest(
        name=block.text("name", required=True) or "",
        release_date=release_date,
        subsets={name: _subset(name, subsets.at(name, value)) for name, value in subsets.values.items()}
        if subsets
        else {},
    )


def _subset(name: str, block: _Block) -> BenchmarkSubset:
    block.known(_SUBSET_KEYS)
    mapping = block.block("mapping_from_source", required=True)
    fields, media = _mapping(mapping) if mapping else ({}, None)
    template = block.text("prompt_template", required=True) or ""
    _check_template(block, template, fields, media)
    pipeline = block.texts("score_pipeline", SCORE_STAGES)
    params = block.block("score_params")
    if params:
        params.known(("string_match",))
    match = params.word("string_match", STRING_MATCHES) if params else None
    if "rule-match" in pipeline and not (params and "string_match" in params.values):
        block.problem("score_params.string_match", f"rule-match needs one of {', '.join(STRING_MATCHES)}")
    if "source" in block.values and mapping and "source" in mapping.values:
        block.problem("source", "stands in mapping_from_source too; keep one")
    sources = [found for owner in (mapping, block) if owner and (found := owner.block("source"))]
    for source in sources:
        _check_source(source)
    return BenchmarkSubset(
        name=name,
        prompt_template=template,
        fields=fields,
        media=media,
        language=block.texts("language"),
        modalities=block.texts("modalities"),
        task_type=block.text("task_type"),
        score_pipeline=pipeline,
        string_match=match,
        score_protocol=block.get("score_protocol", dict, "an object") or {},
        source=sources[0].values if sources else {},
    )


def _mapping(block: _Block) -> tuple[dict[str, SourceField], SourceField | None]:
    block.known(_MAPPING_KEYS, refuse=True)
    fields = {
        name: _field(found)
        for name in ("id", "question", "answer")
        if (found := block.block(name)) is not None
    }
    extra = block.block("extra")
    for name, value in _extra_fields(extra) if extra else ():
        if name in fields:
            block.problem(f"extra.{name}", f"there is a field {name} outside of extra too")
        fields[name] = value
    media = block.block("media")
    return fields, _field(media) if media else None


def _extra_fields(block: _Block, prefix: str = "") -> Iterator[tuple[str, SourceField]]:
    for name, value in block.values.items():
        inner = block.at(name, value)
        if isinstance(inner.values.get("from"), str) or not inner.values:
            yield prefix + name, _field(inner)
        elif "from" in inner.values or not any(isinstance(part, dict) for part in inner.values.values()):
            _field(inner)  # a field without a proper `from`: says what is wrong with it
        else:
            yield from _extra_fields(inner, f"{prefix}{name}.")


def _field(block: _Block) -> SourceField:
    block.known(_FIELD_KEYS, refuse=True)
    kind = block.word("type", FIELD_TYPES)
    limits = {}
    for key in ("min_items", "max_items"):
        limits[key] = block.get(key, int, "a whole number of at least 0")
        if limits[key] is not None and limits[key] < 0:
            block.problem(key, f"must be a whole number of at least 0, got {limits[key]}")
        if limits[key] is not None and block.values.get("type") != "list":
            block.problem(key, "counts the items of a list, but the field's type is not 'list'")
    low, high = limits["min_items"], limits["max_items"]
    if low is not None and high is not None and low > high:
        block.problem("min_items", f"is {low}, more than max_items, {high}")
    block.text("note")
    return SourceField(
        column=block.text("from", required=True) or "",
        type=kind,
        min_items=low,
        max_items=high,
        optional=bool(block.get("optional", bool, "true or false")),
    )


def _check_template(
    block: _Block, template: str, fields: Mapping[str, SourceField], media: SourceField | None
) -> None:
    usable = [name for name in fields if name != "answer"]
    for name in template_fields(template):
        if name == "answer":
            block.problem("prompt_template", "{{ answer }} would tell the model the truth")
        elif name not in usable:
            block.problem(
                "prompt_template",
                f"there is no field '{name}'.{did_you_mean(name, usable)} Known: {', '.join(usable) or 'none'}.",
            )
    left = _PLACE.sub("", template)
    for mark in ("{{", "}}", "{%", "{#"):
        if mark in left:
            block.problem("prompt_template", f"{mark!r} is not understood; only {{{{ name }}}} is")
            break
    if IMAGE_MARK in template and media is None:
        block.problem("prompt_template", f"has the mark {IMAGE_MARK}, but mapping_from_source has no media")


def _check_source(block: _Block) -> None:
    block.known(("format", "url"))
    block.text("format")
    url = block.values.get("url")
    urls = list(url.values()) if isinstance(url, dict) else [] if url is None else [url]
    if not all(isinstance(one, str) and one for one in urls):
        block.problem("url", f"must be a text, or an object with one text a split, got {_shown(url)}")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise ValueError(f"the key {key!r} stands twice in one object")
        values[key] = value
    return values


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
