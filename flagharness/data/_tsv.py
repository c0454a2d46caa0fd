"""Tables with one question a row and the pictures in a cell."""

from __future__ import annotations

import ast
import csv
import json
import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flagharness.data._media_store import MediaStore
from flagharness.errors import DataError, did_you_mean, listing
from flagharness.media import check_image, sniff

logger = logging.getLogger(__name__)

_MAX_REFERENCE = 64
"""A longer ``image`` cell holds a picture; one of at most so many characters names another row."""


def read_tsv(
    path: str | Path, required: Sequence[str] = (), *, delimiter: str = "\t"
) -> Iterator[dict[str, str]]:
    """Read a table row by row; every cell is the text that stands in the file.

    Nothing is guessed: "NA", "None" and "001" stay as they are, an empty cell is "". Cells may be quoted with
    ``"`` (doubled inside), and a quoted cell may hold tabs and newlines. The file is UTF-8 whatever the locale
    says, a byte order mark is allowed, blank lines are passed over. Memory holds one row at a time.

    Args:
        path: The file; its first row names the columns.
        required: Columns that must be there. Checked at the call, before the first row is asked for.
        delimiter: What separates two cells.

    Returns:
        One dictionary a row, with all columns.

    Raises:
        DataError: At the call if the file cannot be read, a required column is missing or a column is named
            twice; while reading if a row has too few or too many cells, a quote is not closed or a byte is not
            UTF-8. The message names the file and the line.
    """
    path = Path(path)
    csv.field_size_limit(max(csv.field_size_limit(), 2**31 - 1))  # a picture in a cell is megabytes long
    header = next(_records(path, delimiter), (1, []))[1]
    missing = [column for column in required if column not in header]
    if missing:
        raise DataError(
            f"{path}: column {', '.join(map(repr, missing))} is missing.{did_you_mean(missing[0], header)} "
            f"Columns: {', '.join(header) or 'none'}"
        )
    if len(set(header)) < len(header):
        twice = sorted({column for column in header if header.count(column) > 1})
        raise DataError(f"{path}: column {', '.join(map(repr, twice))} is named twice; rename one of each.")
    return _rows(path, header, delimiter)


def _rows(path: Path, header: list[str], delimiter: str) -> Iterator[dict[str, str]]:
    records = _records(path, delimiter)
    next(records, None)
    for line, cells in records:
        if len(cells) != len(header):
            raise DataError(
                f"{path}, line {line}: {len(cells)} cells where the header has {len(header)} "
                f"(the row begins {cells[0][:40]!r}). A cell that holds a newline or the separator must be quoted."
            )
        yield dict(zip(header, cells, strict=True))


def _records(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the first line, cells) of every row that is not blank, the header included."""
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            # strict: a quote that is never closed would otherwise swallow the rest of the file.
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            for cells in reader:
                if cells:
                    yield line, cells
                line = reader.line_num + 1
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, in or after line {line}: not UTF-8 ({error.reason}). Convert the file."
        ) from error
    except csv.Error as error:
        raise DataError(
            f"{path}, line {line}: {error}. A cell that begins with a quote must end with one, and quotes inside "
            "it are doubled."
        ) from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error


UNREADABLE = "unreadable-picture"
"""The ``img_path`` of a row whose picture is broken: no such file, so the row is never asked without it."""


class ImageTable(NamedTuple):
    """The rows of a table whose pictures are stored."""

    rows: list[dict[str, Any]]
    """In the order of the file: all cells but ``image`` and ``image_path``, and ``img_path``: one path (str) or
    several (list), relative to the store's root."""

    skipped: list[dict[str, str]]
    """``index`` and ``reason`` of every row that has neither image nor image_path."""


def read_image_tsv(
    path: str | Path, store: MediaStore, required: Sequence[str] = (), *, image_root: str | Path | None = None
) -> ImageTable:
    """Read a table with pictures and store each picture as it comes by; memory never holds more than one row's.

    The column ``image`` holds base64 of a picture file, a list of such texts, or (at most 64 characters) the
    ``index`` of another row, before or after, whose pictures are used again. A row without it has ``image_path``:
    a path or a list of paths.

    Args:
        path: The table; a column ``index`` is required.
        store: Where the pictures go, named by index.
        required: Further columns that must be there.
        image_root: What relative paths of ``image_path`` start from; default: the folder of the table.

    Returns:
        The rows, and those left out because they show no picture at all. A row whose picture is broken stays, with
        an ``img_path`` that does not exist and the reason as ``data_error``: it belongs to the denominator, and the
        run says so before it asks. Both kinds are logged.

    Raises:
        DataError: As `read_tsv`; if an index comes twice; if a reference points nowhere or to another reference;
            if no row is left.
    """
    path = Path(path)
    folder = path.parent if image_root is None else Path(image_root)
    rows: list[dict[str, str]] = []
    stored: dict[str, list[str]] = {}
    references: dict[str, str] = {}
    without: dict[str, str] = {}
    broken: dict[str, str] = {}
    for row in read_tsv(path, ["index", *required]):
        index, cell, paths_cell = row["index"], row.pop("image", ""), row.pop("image_path", "")
        if any(index in seen for seen in (stored, references, without, broken)):
            raise DataError(f"{path}: index {index!r} comes twice; every row needs an index of its own.")
        rows.append(row)
        try:
            if len(cell) > _MAX_REFERENCE:
                stored[index] = _store_pictures(decode_image_cell(cell), index, store)
            elif cell:
                references[index] = cell
            elif paths_cell:
                stored[index] = [_store_file(folder / name, name, store) for name in _listed(paths_cell)]
            else:
                without[index] = "the row has neither image nor image_path"
        except DataError as error:
            broken[index] = str(error)
    _check_references(path, references, lambda index: index in stored or index in broken)
    for index, target in references.items():
        if target in stored:
            stored[index] = stored[target]
        else:
            broken[index] = f"it uses the picture of row {target!r}, which cannot be used"
    kept = []
    for row in rows:
        index = row["index"]
        if index in stored:
            kept.append({**row, "img_path": _one_or_list(stored[index])})
        elif index in broken:
            kept.append({**row, "img_path": UNREADABLE, "data_error": broken[index]})
    _report(path, len(stored), without, broken)
    return ImageTable(kept, [{"index": index, "reason": reason} for index, reason in without.items()])


def decode_image_cell(cell: str) -> list[bytes]:
    """Return the picture files in a cell: base64 of one file, or a list (JSON or Python spelling) of several.

    Raises:
        DataError: If a text is not base64, or is base64 of something that is no medium.
    """
    return [_decode(text) for text in _listed(cell)]


def _decode(text: str) -> bytes:
    import pybase64

    if text.startswith("data:"):
        text = text.partition(",")[2]
    try:
        data = pybase64.b64decode("".join(text.split()), validate=True)
    except ValueError as error:  # binascii.Error, and letters outside ASCII
        raise DataError(f"the image cell ({len(text)} characters) is not base64: {error}") from error
    if sniff(data) is None:
        raise DataError(f"the image cell holds no picture: its bytes begin with {data[:8]!r}")
    return data


def _listed(cell: str) -> list[str]:
    """Return the texts of a cell that may be a list written as text."""
    if not cell.startswith("["):
        return [cell]
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(cell)
        except (ValueError, SyntaxError):
            continue
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return value
    raise DataError(f"the cell begins like a list, but is none of texts: {cell[:40]}...")


def _store_pictures(pictures: Sequence[bytes], index: str, store: MediaStore) -> list[str]:
    # "\0" becomes "_" in the file name, yet "7\0" + "1" is another name than that of a row "7_1".
    names = [index] if len(pictures) == 1 else [f"{index}\0{i}" for i in range(1, len(pictures) + 1)]
    paths = [store.add(data, name) for data, name in zip(pictures, names, strict=True)]
    problems = [problem for path in paths if (problem := check_image(store.root / path))]
    if problems:
        for path in paths:
            (store.root / path).unlink()
        raise DataError(f"the picture {problems[0]}")
    return paths


def _store_file(file: Path, name: str, store: MediaStore) -> str:
    problem = check_image(file)
    if problem:
        raise DataError(f"{file} {problem}")
    return store.add(file.read_bytes(), name)


def _check_references(path: Path, references: dict[str, str], is_target: Callable[[str], bool]) -> None:
    problems = [
        f"row {index!r} uses the picture of row {target!r}, which "
        + ("is itself a reference" if target in references else "does not exist")
        for index, target in references.items()
        if not is_target(target)
    ]
    if problems:
        raise DataError(f"{path}: image cells that lead to no picture:\n{listing(problems)}")


def _one_or_list(paths: list[str]) -> str | list[str]:
    return paths[0] if len(paths) == 1 else paths


def _report(path: Path, usable: int, without: dict[str, str], broken: dict[str, str]) -> None:
    lines = listing(f"row {index!r}: {reason}" for index, reason in {**broken, **without}.items())
    if not usable:
        raise DataError(f"{path}: no row has a picture that can be used.\n{lines}")
    if lines:
        logger.warning(
            "%s: %d rows have their picture, %d a broken one, %d none (left out):\n%s",
            path, usable, len(broken), len(without), lines,
        )  # fmt: skip
    else:
        logger.info("%s: %d rows prepared", path, usable)
