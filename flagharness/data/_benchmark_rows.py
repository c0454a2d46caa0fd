"""From the rows of a source to data.json, by a benchmark manifest."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flagharness.data._benchmark_manifest import (
    IMAGE_MARK,
    BenchmarkSubset,
    SourceField,
    fill_template,
    read_benchmark_manifest,
)
from flagharness.data._hf import iter_hf_rows
from flagharness.data._image_rows import parse_list, store_images
from flagharness.data._media_store import MediaStore
from flagharness.data._table import local_table
from flagharness.data._write import split_folder, write_annotations
from flagharness.errors import ConfigError, DataError, did_you_mean, listing

RESERVED = frozenset(
    (
        "question_id",
        "question",
        "question_type",
        "answer",
        "options",
        "img_path",
        "img_sha256",
        "video_path",
        "audio_path",
        "data_error",
        "data_root",
    )
)
"""Keys with a meaning in data.json. A field of ``extra`` that is called like one is stored as ``source_<name>``."""

Adapt = Callable[[dict[str, Any]], Mapping[str, Any]]


def process_manifest(cfg: Any, *, adapt: Adapt | None = None, shuffle: bool = False) -> None:
    """Make data.json and media by a benchmark manifest; what the ``process(cfg)`` of such a task calls.

    Read from ``cfg``: ``manifest`` (a path, from process.py's folder unless it is absolute), ``subset`` (not needed
    if there is one only), ``dataset_path`` (a file or folder beside process.py or in the working directory, or a hub
    id), ``split``, ``revision``.

    A row of data.json has ``question_id`` (the field ``id``; the row's number from 0 where the source has no such
    column), ``question`` (the filled template with its image mark, repeated for each of several pictures),
    ``answer`` (text, number or list of alternatives), ``question_type`` "short-answer" (texts are compared),
    ``img_path``, and the fields of ``extra`` under their own names, groups as objects (see RESERVED). Texts of TSV
    and CSV cells that spell a value of the type that the manifest names become this value.

    Args:
        cfg: What ``process`` got.
        adapt: Makes of a row of the source one with the columns that the manifest names.
        shuffle: As `process_table`.

    Raises:
        ConfigError: The manifest cannot be used.
        DataError: The source cannot be read or lacks a column, or naming every row that lacks a field, has one of
            the wrong type or with too few or too many items, or has the id of another. A row whose picture is broken
            is kept, as a data error.
    """
    out_dir = split_folder(cfg)
    beside = Path(cfg.get("processor") or ".").parent
    if not isinstance(cfg.get("manifest"), str):
        raise ConfigError(f"config.manifest must name a benchmark manifest, got {cfg.get('manifest')!r}.")
    subset = read_benchmark_manifest(beside / Path(cfg.manifest).expanduser()).subset(cfg.get("subset"))
    file = local_table(cfg, beside)
    source = file or cfg.dataset_path
    rows = iter_hf_rows(source, cfg.split, revision=cfg.get("revision"))
    mapping = _Mapping(subset, str(source))
    shown = mapping.rows(map(adapt, rows) if adapt else rows)
    found: dict[str, dict[str, Any]] = {}
    try:
        if subset.media is None:
            list(shown)
        else:
            folder = file or Path.cwd()
            folder = folder.parent if folder.is_file() else folder
            table = store_images(shown, MediaStore(out_dir), str(source), folder)
            found = {str(row.pop("index")): row for row in table.rows}
    finally:
        mapping.check()  # what is wrong with the rows comes before what came of it
    annotations = [{**row, **found.get(row["question_id"], {})} for row in mapping.annotations]
    if shuffle:
        random.Random(0).shuffle(annotations)
    write_annotations(out_dir, annotations)


class _Mapping:
    """Maps rows one by one: keeps the annotations, hands the pictures on, collects what is wrong."""

    def __init__(self, subset: BenchmarkSubset, source: str) -> None:
        self._subset = subset
        self._source = source
        self._row_of_id: dict[str, int] = {}
        self._numbered = "id" not in subset.fields
        self.annotations: list[dict[str, Any]] = []
        self.problems: list[str] = []

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield ``index`` and ``image`` (a list) of every row that shows a picture."""
        for number, row in enumerate(rows):
            if number == 0:
                self._check_columns(row)
            annotation, pictures, problems = self._row(number, row)
            if problems:
                self.problems.extend(f"row {number + 1}: {problem}" for problem in problems)
                continue
            self.annotations.append(annotation)
            if pictures:
                yield {"index": annotation["question_id"], "image": pictures}

    def check(self) -> None:
        if self.problems:
            raise DataError(
                f"{self._source}: {len(self.problems)} fields are not as the manifest says:\n{listing(self.problems)}"
            )

    def _check_columns(self, row: Mapping[str, Any]) -> None:
        fields = {**self._subset.fields, **({"media": self._subset.media} if self._subset.media else {})}
        self._numbered = self._numbered or fields["id"].column not in row
        missing = [
            f"column '{wanted.column}' (field {name}) is missing.{did_you_mean(wanted.column, row)}"
            for name, wanted in fields.items()
            if not wanted.optional and wanted.column not in row and name != "id"
        ]
        if missing:
            raise DataError(f"{self._source}: {' '.join(missing)} Columns: {', '.join(row)}")

    def _row(self, number: int, row: Mapping[str, Any]) -> tuple[dict[str, Any], list[Any], list[str]]:
        problems: list[str] = []
        values: dict[str, Any] = {}
        for name, wanted in self._subset.fields.items():
            if name == "id" and self._numbered:
                continue
            try:
                value = _value(name, wanted, row.get(wanted.column))
            except ValueError as error:
                problems.append(f"{name} (column '{wanted.column}'): {error}")
            else:
                if value is not None:
                    values[name] = value
        pictures: list[Any] = []
        if self._subset.media:
            media = self._subset.media
            pictures = _items(row.get(media.column))
            try:
                if pictures or not media.optional:
                    _check_number(media, len(pictures))
            except ValueError as error:
                problems.append(f"media (column '{media.column}'): {error}")
        question_id = str(number) if self._numbered else str(values.get("id", ""))
        if not problems:
            first = self._row_of_id.setdefault(question_id, number)
            if first != number:
                problems.append(f"id {question_id!r} is that of row {first + 1} too")
        annotation: dict[str, Any] = {"question_id": question_id, "question_type": "short-answer"}
        if not problems:
            try:
                annotation["question"] = _prompt(self._subset.prompt_template, values, len(pictures))
            except ValueError as error:
                problems.append(f"prompt: {error}")
        if "answer" in values:
            annotation["answer"] = values["answer"]
        for name, value in values.items():
            if name not in ("id", "question", "answer"):
                _put(annotation, name, value)
        return annotation, pictures, problems


def _value(name: str, wanted: SourceField, cell: Any) -> Any:
    """Return a cell as the manifest wants it, None for an optional one that is not there.

    Raises:
        ValueError: It is not as the manifest says.
    """
    if cell is None or (cell in ("", []) and name in ("id", "question", "answer")):
        if wanted.optional:
            return None
        raise ValueError("is missing")
    kind = wanted.type or {"id": "id", "question": "string", "answer": "answer"}.get(name)
    value = _typed(kind, cell)
    if isinstance(value, list):
        _check_number(wanted, len(value))
    return value


def _typed(kind: str | None, cell: Any) -> Any:
    if isinstance(cell, str):
        cell = _spelled(kind, cell)
    fits = {
        None: True,
        "id": isinstance(cell, (str, int)) and not isinstance(cell, bool),
        "answer": all(
            isinstance(one, (str, int, float)) for one in (cell if isinstance(cell, list) else [cell])
        ),
        "string": isinstance(cell, str),
        "integer": isinstance(cell, int) and not isinstance(cell, bool),
        "number": isinstance(cell, (int, float)) and not isinstance(cell, bool),
        "boolean": isinstance(cell, bool),
        "list": isinstance(cell, list),
    }
    if not fits[kind]:
        wanted = {"id": "text or integer", "answer": "text, number or list of them"}.get(str(kind), kind)
        raise ValueError(f"expected {wanted}, got {type(cell).__name__} {str(cell)[:60]!r}")
    return cell


def _spelled(kind: str | None, text: str) -> Any:
    """Return the value of a type that a text spells, as the cells of TSV and CSV files do; else the text."""
    plain = text.strip()
    if kind == "list" and plain.startswith("["):
        listed = parse_list(plain)
        return text if listed is None else listed
    if kind in ("integer", "number") and re.fullmatch(r"[+-]?[0-9]{1,18}", plain):
        return int(plain)
    if kind == "number" and re.fullmatch(r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?", plain):
        return float(plain)
    if kind == "boolean" and plain.lower() in ("true", "false"):
        return plain.lower() == "true"
    return text


def _items(cell: Any) -> list[Any]:
    """Return the pictures of a cell, which may hold one, a list, or a list that is written as text."""
    if isinstance(cell, str) and cell.startswith("["):
        listed = parse_list(cell)
        cell = cell if listed is None else listed
    return list(cell) if isinstance(cell, (list, tuple)) else [cell] if cell else []


def _check_number(wanted: SourceField, items: int) -> None:
    if wanted.min_items is not None and items < wanted.min_items:
        raise ValueError(f"{items} items, fewer than min_items, {wanted.min_items}")
    if wanted.max_items is not None and items > wanted.max_items:
        raise ValueError(f"{items} items, more than max_items, {wanted.max_items}")


def _prompt(template: str, values: Mapping[str, Any], pictures: int) -> str:
    """Fill the template; one image mark stands for all pictures, several for one each.

    Raises:
        ValueError: A field that the template names is not there or cannot stand in a text, or there are several
            marks, but not as many as pictures.
    """
    marks = template.count(IMAGE_MARK)
    if marks == 1:
        template = template.replace(IMAGE_MARK, IMAGE_MARK * pictures)
    elif marks not in (0, pictures):
        raise ValueError(f"the template has {marks} {IMAGE_MARK} marks, the row {pictures} pictures")

    def text_of(name: str) -> str:
        value = values.get(name)
        if value is None or isinstance(value, (list, dict)):
            raise ValueError(
                f"the template names {name}, which is {'not there' if value is None else 'no text'}"
            )
        return str(value)

    return fill_template(template, text_of)


def _put(annotation: dict[str, Any], name: str, value: Any) -> None:
    first, *rest = name.split(".")
    keys = [f"source_{first}" if first in RESERVED else first, *rest]
    here = annotation
    for key in keys[:-1]:
        here = here.setdefault(key, {})
    here[keys[-1]] = value
