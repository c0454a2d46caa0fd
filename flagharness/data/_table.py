"""Tables with one question a row: the TSV files of VLMEvalKit and its family, and the same rows in other files."""

from __future__ import annotations

import glob
import hashlib
import logging
import math
import os
import random
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, NamedTuple

from flagharness.data._cells import sample_positions
from flagharness.data._hf import SourceInfo, iter_hf_rows, resolve_source
from flagharness.data._image_rows import ImageTable, reference_of, store_images
from flagharness.data._media_store import MediaStore
from flagharness.data._sources import note_source
from flagharness.data._write import split_folder, write_annotations, write_json
from flagharness.errors import DataError, did_you_mean, listing

logger = logging.getLogger(__name__)

TABLE_ENDINGS = (".tsv", ".parquet", ".jsonl", ".json", ".csv")
SKIPPED = "skipped.json"

RowOf = Callable[[dict[str, Any]], Mapping[str, Any] | None]
Adapt = Callable[[dict[str, Any]], Mapping[str, Any] | None]


def process_table(
    cfg: Any,
    row_of: RowOf,
    *,
    required: Sequence[str] = (),
    images: bool = True,
    text_rows: bool = False,
    adapt: Adapt | None = None,
    shuffle: bool = False,
) -> None:
    """Turn a benchmark's table into data.json and media; what a ``process(cfg)`` of such a benchmark calls.

    Where the table comes from, the first that is there:

    1. ``cfg.dataset_path``, beside process.py or from the working directory, as a file (TSV, parquet, JSONL, JSON,
       CSV) or as a folder that holds ``{cfg.table}.tsv`` (or another of these endings) or is laid out as data sets on
       the hub are;
    2. ``$LMUData/{cfg.table}.tsv``;
    3. ``cfg.dataset_path`` as the id of a hub data set: its file ``{cfg.table}.tsv``, or its split ``cfg.split``
       if ``cfg.table`` is not set.

    ``cfg.md5`` (the first digits are enough) is compared with the table's; another one is logged, not refused, and
    the manifest holds what was found. Rows that show no picture at all are left out, logged, and named in
    ``skipped.json``; a row whose picture is broken stays, as a data error.

    ``cfg.sample``, ``dict(n=300, of=1800, seed=42)``, takes a fixed subset: the rows that pandas'
    ``sample(n=300, random_state=42)`` draws, in the order of the table; a table of ``n`` rows is the subset already.

    Args:
        cfg: What ``process`` got.
        row_of: Makes the annotation of one row. It gets all cells, ``index`` (text; the row's number from 0 where
            the table has none), ``source_row`` (that number) and ``img_path``; the annotation has index (as
            ``question_id``) and ``img_path`` unless it says otherwise. None leaves the row out. A ValueError says
            what is wrong with the row.
        required: Columns that must be there.
        images: Whether rows have pictures at all.
        text_rows: Whether rows without a picture are kept, with an empty ``img_path``.
        adapt: Makes of a row of the source one with the columns of the table, before anything of it is read; None
            leaves the row out.
        shuffle: Store the rows in an order drawn once and for all, so that the first 32 of a table that is sorted by
            category show something of each.

    Raises:
        DataError: The table cannot be had or read, or naming every row that ``row_of`` refused.
    """
    out_dir = split_folder(cfg)
    rows, skipped = _read(cfg, MediaStore(out_dir), required, images, text_rows, adapt)
    annotations: list[dict[str, Any]] = []
    problems = []
    for number, row in enumerate(rows, start=1):
        try:
            made = row_of(dict(row))
        except _FAULTS as error:
            problems.append(f"row {number} (index {row['index']!r}): {_explained(error)}")
            continue
        if made is not None:
            kept: dict[str, Any] = {key: row[key] for key in ("img_path", "data_error") if key in row}
            annotations.append({"question_id": row["index"], **kept, **made})
    if problems:
        raise DataError(f"{cfg.dataset_path}: {len(problems)} rows are not as expected:\n{listing(problems)}")
    if shuffle:
        random.Random(0).shuffle(annotations)
    if skipped:
        write_json(out_dir / SKIPPED, skipped)
    write_annotations(out_dir, annotations)


def options_of(row: Mapping[str, Any]) -> list[str]:
    """Return the options in the columns A, B, C ... of a row; an empty cell is no option.

    Raises:
        ValueError: Fewer than two options, or one missing before the last.

    Example:
        >>> options_of({"A": "red", "B": "blue", "C": ""})
        ['red', 'blue']
    """
    cells = [
        str(row[letter] if row.get(letter) is not None else "") for letter in ascii_uppercase if letter in row
    ]
    while cells and not cells[-1].strip():
        cells.pop()
    if len(cells) < 2:
        raise ValueError(f"{len(cells)} options in the columns A, B, ...; a choice has at least two")
    if not all(cell.strip() for cell in cells):
        raise ValueError(f"option {ascii_uppercase[[bool(c.strip()) for c in cells].index(False)]} is empty")
    return cells


def letter_of(answer: Any, options: int) -> str:
    """Return the truth of a choice as a letter.

    Raises:
        ValueError: It is none, or the row has no such option.

    Example:
        >>> letter_of(" b ", 4)
        'B'
    """
    letter = str(answer).strip().upper()
    known = ascii_uppercase[:options]
    if len(letter) != 1 or letter not in known:
        raise ValueError(f"answer {answer!r} is none of the letters A to {known[-1]}")
    return letter


def local_table(config: Mapping[str, Any], beside: Path) -> Path | None:
    """Return the table on this machine that a config would read, if there is one.

    Args:
        beside: The folder of process.py; a relative ``dataset_path`` starts there, else in the working directory.
    """
    table = config.get("table")
    given = Path(str(config.get("dataset_path") or "")).expanduser()
    for path in (beside / given, Path.cwd() / given):
        if path.is_file():
            return path
        if path.is_dir() and given.parts:
            names = [path / f"{table}{ending}" for ending in TABLE_ENDINGS] if table else []
            return next((file for file in names if file.is_file()), path)
    root = os.environ.get("LMUData")  # noqa: SIM112
    file = Path(root).expanduser() / f"{table}.tsv" if root and table else None
    return file if file is not None and file.is_file() else None


def _read(
    cfg: Any, store: MediaStore, required: Sequence[str], images: bool, text_rows: bool, adapt: Adapt | None
) -> ImageTable:
    table = cfg.get("table")
    file = local_table(cfg, Path(cfg.get("processor") or ".").parent)
    if file is None and table:
        found = _hub_table(cfg, table)
        file = found.path / f"{table}.tsv"
        if not file.is_file():
            raise DataError(f"{cfg.dataset_path}: the data set has no file {file.name}.")
    source = file or cfg.dataset_path
    taken = _taken(cfg, source, required, adapt)
    every = iter_hf_rows(source, cfg.split, revision=cfg.get("revision"))
    rows = _with_index(every, required, str(source), adapt)
    if taken is not None:
        rows = (row for row in rows if row["source_row"] in taken.read)
    if file is not None and file.is_file():
        _note_digest(file, cfg.get("md5"))  # after the call above, which notes the file without it
    if not images:
        return ImageTable(list(rows), [])
    folder = file or (Path(source).parent if glob.has_magic(str(source)) else Path.cwd())
    folder = folder.parent if folder.is_file() else folder
    table_rows = store_images(rows, store, str(source), folder, text_rows=text_rows)
    if taken is None:
        return table_rows
    return table_rows._replace(rows=[row for row in table_rows.rows if row["source_row"] in taken.positions])


class _Taken(NamedTuple):
    """A fixed subset of a table."""

    positions: frozenset[int]
    read: frozenset[int]
    """The same, and the rows whose pictures they use."""


def _taken(cfg: Any, source: Any, required: Sequence[str], adapt: Adapt | None) -> _Taken | None:
    """Return the subset that a config names, None for the whole table."""
    sample = cfg.get("sample")
    if not sample:
        return None
    every = iter_hf_rows(source, cfg.split, revision=cfg.get("revision"))
    places: dict[str, int] = {}
    uses: dict[int, str | None] = {}
    for row in _with_index(every, required, str(source), adapt):
        places[row["index"]] = row["source_row"]
        uses[row["source_row"]] = reference_of(row)
    rows = max(uses, default=-1) + 1
    if rows == sample["n"]:
        return None
    if rows != sample["of"]:
        raise DataError(
            f"{source}: {rows:,} rows; the subset of {sample['n']:,} is drawn from {sample['of']:,} in their "
            f"order, or is a table of its own."
        )
    positions = frozenset(sample_positions(rows, sample["n"], sample["seed"]))
    used = {places[index] for at in positions if (index := uses.get(at)) in places}
    return _Taken(positions, positions | used)


def _as_csv(where: str, row: Mapping[str, Any]) -> str:
    is_csv = where.endswith(".tsv") and len(row) == 2 and any("," in column for column in row)
    return (
        ". The columns of a .tsv file are separated by tabs; a file with commas is called .csv."
        if is_csv
        else ""
    )


def _note_digest(file: Path, expected: str | None) -> None:
    digest = hashlib.md5(usedforsecurity=False)
    with file.open("rb") as stream:
        while piece := stream.read(1 << 20):
            digest.update(piece)
    found = digest.hexdigest()
    note_source(str(file), f"md5:{found}")
    if expected and file.suffix == ".tsv" and not found.startswith(expected.lower()):
        logger.warning(
            "%s: MD5 is %s, that of the copy this task was written for begins with %s. It is used all the same; a "
            "score may not be comparable.", file, found, expected,
        )  # fmt: skip


def _hub_table(cfg: Any, table: str) -> SourceInfo:
    try:
        return resolve_source(cfg.dataset_path, cfg.get("revision"), allow_patterns=[f"{table}.tsv"])
    except DataError as error:
        root = os.environ.get("LMUData")  # noqa: SIM112
        looked = f"it is not in {root}" if root else "it is not set"
        raise DataError(
            f"{error} Or put {table}.tsv into the folder that LMUData names ({looked})."
        ) from error


_FAULTS = (ValueError, TypeError, KeyError, IndexError, AttributeError)
"""What the functions of a task raise at a cell that they did not expect."""


def _explained(error: Exception) -> str:
    if type(error) is ValueError:
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(frame.filename).name}:{frame.lineno})"


def _with_index(
    rows: Iterator[dict[str, Any]],
    required: Sequence[str],
    where: str,
    adapt: Adapt | None,
) -> Iterator[dict[str, Any]]:
    """Give every row ``source_row``, its number from 0, and an ``index`` (text): its own, else that number."""
    for number, original in enumerate(rows):
        row = original
        if adapt is not None:
            try:
                adapted = adapt(original)
            except _FAULTS as error:
                raise DataError(
                    f"{where}: row {number + 1} is not as this task reads it: {_explained(error)}. Columns: "
                    f"{', '.join(original)}"
                ) from error
            if adapted is None:
                continue
            row = dict(adapted)
        missing = [column for column in required if column not in row]
        if missing:
            raise DataError(
                f"{where}: column {', '.join(map(repr, missing))} is missing.{did_you_mean(missing[0], row)} "
                f"Columns: {', '.join(row)}{_as_csv(where, row)}"
            )
        index = row.get("index")
        if isinstance(index, float):  # as tables get that were once held by pandas
            index = int(index) if index.is_integer() else None if math.isnan(index) else index
        own = str(number) if index is None or index == "" else str(index)
        yield {**row, "index": own, "source_row": number}
