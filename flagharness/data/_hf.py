"""Rows of Hugging Face data sets and of local files, with media as the original bytes."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flagharness.data._annotations import read_json_rows
from flagharness.data._sources import note_source
from flagharness.data._tsv import read_tsv
from flagharness.errors import DataError, did_you_mean

_TABLE_ENDINGS = (".parquet", ".jsonl", ".json", ".csv", ".tsv")
_ROWS_AT_ONCE = 32  # rows of a parquet file in memory; each may hold a picture of megabytes


class SourceInfo(NamedTuple):
    """A source that lies on this machine."""

    path: Path
    """A file, a folder, or a pattern of files."""

    revision: str | None
    """The commit of a hub data set, None for files of one's own."""


def resolve_source(
    source: str | Path, revision: str | None = None, *, allow_patterns: Sequence[str] | None = None
) -> SourceInfo:
    """Find a source on this machine, fetching it from the hub first if it is the id of a data set there.

    What exists as a file or folder is local, whatever it is called. A hub data set is fetched once and taken from
    the hub's cache afterwards; with ``HF_HUB_OFFLINE=1``, or when the hub cannot be reached, from there alone.
    The revision found is noted for the manifest of the data that is being prepared.

    Args:
        source: A file, a folder, a pattern with ``*``, or a hub id such as "org/name".
        revision: Branch, tag or commit of the hub data set; default: its main branch.
        allow_patterns: Fetch only these files of the hub data set, such as ``["data/test-*"]``.

    Raises:
        DataError: If there is no such file and no such data set, or it cannot be had.
    """
    path = Path(source).expanduser()
    if path.exists() or glob.has_magic(str(source)):
        info = SourceInfo(path, None)
    elif re.fullmatch(r"[\w-][\w.-]*/[\w-][\w.-]*", str(source)) and path.suffix not in _TABLE_ENDINGS:
        folder = _hub_snapshot(str(source), revision, allow_patterns)
        info = SourceInfo(folder, folder.name)
    else:
        raise DataError(f"{source}: no such file or folder, and not the id of a hub data set ('org/name').")
    note_source(str(source), info.revision)
    return info


def _hub_snapshot(repo_id: str, revision: str | None, allow_patterns: Sequence[str] | None) -> Path:
    """Return the folder of a hub data set in the hub's cache; it is named by the commit."""
    from huggingface_hub import snapshot_download

    patterns = list(allow_patterns) if allow_patterns is not None else None
    try:
        return Path(
            snapshot_download(repo_id, repo_type="dataset", revision=revision, allow_patterns=patterns)
        )
    except Exception as error:  # network and access errors of several libraries, without a common base
        reason = str(error).strip().splitlines()
        raise DataError(
            f"Data set '{repo_id}' (revision {revision or 'main'}) can neither be fetched from the hub nor found "
            f"in its cache: {type(error).__name__}: {reason[0].rstrip('.') if reason else ''}. "
            "Check the id, the network and, for a data set behind a form, HF_TOKEN; or get the files another "
            "way and name them: --cfg-options dataset.config.dataset_path=/path/to/files."
        ) from error


def iter_hf_rows(
    source: str | Path,
    split: str,
    *,
    name: str | None = None,
    revision: str | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Read a data set row by row. Pictures, sound and video come as the bytes that the source holds.

    A media value is ``{"bytes": b"...", "path": "..." or None}``: nothing is decoded or encoded again. Tables are
    streamed, so memory does not grow with the data. Cells of csv and tsv files are texts (see `read_tsv`), those
    of the other files have the type that the file gives them. A script in the data set is never run.

    Args:
        source: As `resolve_source`; a folder is laid out as data sets on the hub are.
        split: One of the data set's splits. For a file or a pattern it is only a label.
        name: The configuration (subset), if there are several.
        revision: Branch, tag or commit of a hub data set.
        columns: Read only these.

    Raises:
        DataError: At the call if the source or the split does not exist; while reading if a file lacks one of the
            columns or is broken.
    """
    path = resolve_source(source, revision).path
    if path.is_dir():
        return _folder_rows(path, split, name, columns)
    files = (
        [Path(file) for file in sorted(glob.glob(str(path), recursive=True))] if not path.exists() else [path]
    )
    if not files:
        raise DataError(f"{source}: no file matches.")
    for file in files:
        if file.suffix not in _TABLE_ENDINGS:
            raise DataError(f"{file}: expected a file that ends in one of {', '.join(_TABLE_ENDINGS)}")
    return _table_rows(files, columns)


def _folder_rows(
    folder: Path, split: str, name: str | None, columns: Sequence[str] | None
) -> Iterator[dict[str, Any]]:
    """Find the files of a split by the rules of the hub; read tables here and leave the rest to `datasets`."""
    import tempfile

    from datasets import load_dataset_builder

    with tempfile.TemporaryDirectory() as unused_cache:
        try:
            builder = load_dataset_builder(str(folder), name=name, cache_dir=unused_cache)
        except (OSError, RuntimeError, ValueError) as error:
            raise DataError(f"{folder}: not a data set that can be read: {error}") from error
        by_split = {str(key): files for key, files in (builder.config.data_files or {}).items()}
        if split not in by_split:
            raise DataError(
                f"{folder}: there is no split '{split}'.{did_you_mean(split, by_split)} "
                f"Splits: {', '.join(sorted(by_split)) or 'none'}"
            )
        files = [Path(file) for file in by_split[split]]
        if all(file.suffix in _TABLE_ENDINGS and file.is_file() for file in files):
            return _table_rows(files, columns)
        return _streamed_rows(builder.as_streaming_dataset(split=split), folder, columns)


def _table_rows(files: Sequence[Path], columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    for file in files:
        if file.suffix == ".parquet":
            yield from _parquet_rows(file, columns)
        else:
            for row in _text_table(file):
                yield _pick(row, columns, file)


def _text_table(file: Path) -> Iterator[dict[str, Any]]:
    if file.suffix in (".jsonl", ".json"):
        return read_json_rows(file)
    return read_tsv(file, delimiter="\t" if file.suffix == ".tsv" else ",")


def _parquet_rows(file: Path, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(file) as table:
            _check_columns(table.schema_arrow.names, columns, file)
            for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns):
                yield from batch.to_pylist()
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{file}: broken parquet file: {error}") from error


def _streamed_rows(dataset: Any, folder: Path, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    """Rows of formats other than tables: folders of pictures, archives, WebDataset."""
    for row in dataset.decode(False):
        yield {key: _with_bytes(value) for key, value in _pick(row, columns, folder).items()}


def _with_bytes(value: Any) -> Any:
    """Replace what names a media file without holding it by the same with the bytes."""
    if isinstance(value, list):
        return [_with_bytes(item) for item in value]
    if (
        isinstance(value, dict)
        and value.keys() == {"bytes", "path"}
        and value["bytes"] is None
        and value["path"]
    ):
        from datasets.utils.file_utils import xopen

        with xopen(value["path"], "rb") as file:  # also "zip://a.png::/folder/train.zip"
            return {"bytes": file.read(), "path": value["path"]}
    return value


def _pick(row: Mapping[str, Any], columns: Sequence[str] | None, where: Path) -> dict[str, Any]:
    if columns is None:
        return dict(row)
    _check_columns(list(row), columns, where)
    return {column: row[column] for column in columns}


def _check_columns(present: Sequence[str], columns: Sequence[str] | None, where: Path) -> None:
    missing = [column for column in columns or () if column not in present]
    if missing:
        raise DataError(
            f"{where}: column {', '.join(map(repr, missing))} is missing.{did_you_mean(missing[0], present)} "
            f"Columns: {', '.join(present)}"
        )
