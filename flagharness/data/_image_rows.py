"""Rows whose cells hold pictures: each picture stored as it comes by, its path left in the row."""

from __future__ import annotations

import ast
import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from flagharness.data._download import download_media
from flagharness.data._media_store import MediaStore
from flagharness.errors import DataError, listing
from flagharness.media import check_image, sniff

logger = logging.getLogger(__name__)

IMAGE_COLUMNS = ("image", "images", "image_base64", "image_path")
"""Where a row holds its pictures; the first that is there and not empty counts."""
UNREADABLE = "unreadable-picture"
"""The ``img_path`` of a row whose picture is broken: no such file, so the row is never asked without it."""
_MAX_REFERENCE = 64
"""A longer ``image`` text holds a picture; one of at most so many characters names another row."""
_MAX_PATH = 1024


class ImageTable(NamedTuple):
    """The rows of a table whose pictures are stored."""

    rows: list[dict[str, Any]]
    """In the order of the file: all cells but those of IMAGE_COLUMNS, and ``img_path``: one path (str) or several
    (list), relative to the store's root."""

    skipped: list[dict[str, str]]
    """``index`` and ``reason`` of every row that shows no picture."""


def store_images(
    rows: Iterable[dict[str, Any]], store: MediaStore, where: str, folder: Path, *, text_rows: bool = False
) -> ImageTable:
    """Store the pictures of rows, named by index; memory never holds more than one row's.

    A cell holds base64 of a picture file; bytes, or ``{"bytes": ..., "path": ...}`` as Hugging Face writes them; a
    path; a link, which is fetched; or a list of these, also one written as text. Any other text of at most 64
    characters in ``image`` is the ``index`` of another row, before or after, whose pictures are used again.

    Args:
        rows: Each with an ``index`` (text).
        where: The table, for messages.
        folder: What relative paths start from.
        text_rows: Keep rows that show no picture, with an empty list as ``img_path``.

    Returns:
        The rows, and those left out because they show no picture at all. A row whose picture is broken stays, with
        an ``img_path`` that does not exist and the reason as ``data_error``: it belongs to the denominator, and the
        run says so before it asks. Both kinds are logged.

    Raises:
        DataError: If an index comes twice; if a reference points nowhere or to another reference; if no row is left.
    """
    kept: list[dict[str, Any]] = []
    stored: dict[str, list[str]] = {}
    references: dict[str, str] = {}
    linked: dict[str, list[str]] = {}
    without: dict[str, str] = {}
    broken: dict[str, str] = {}
    for row in rows:
        index = row["index"]
        if any(index in seen for seen in (stored, references, linked, without, broken)):
            raise DataError(f"{where}: index {index!r} comes twice; every row needs an index of its own.")
        for ours in ("img_path", "data_error"):  # what these say is for us to find out
            row.pop(ours, None)
        column, cell = _image_cell(row)
        for name in IMAGE_COLUMNS:
            row.pop(name, None)
        kept.append(row)
        try:
            if column is None and text_rows:
                stored[index] = []
            elif column is None:
                without[index] = "the row has neither image nor image_path"
            elif links := _links(cell):
                linked[index] = links
            elif _is_reference(column, cell):
                references[index] = cell
            else:
                stored[index] = _store(_pictures(cell, column, folder), index, store)
        except DataError as error:
            broken[index] = str(error)
    _fetch(linked, store, stored, broken)
    _check_references(where, references, lambda index: index in stored or index in broken)
    for index, target in references.items():
        if target in stored:
            stored[index] = stored[target]
        else:
            broken[index] = f"it uses the picture of row {target!r}, which cannot be used"
    _report(where, len(stored), without, broken)
    for row in kept:
        index = row["index"]
        if index in stored:
            row["img_path"] = stored[index][0] if len(stored[index]) == 1 else stored[index]
        elif index in broken:
            row.update(img_path=UNREADABLE, data_error=broken[index])
    return ImageTable(
        [row for row in kept if "img_path" in row],
        [{"index": index, "reason": reason} for index, reason in without.items()],
    )


def reference_of(row: Mapping[str, Any]) -> str | None:
    """Return the index of the row whose pictures this one uses, None if it has its own or none."""
    column, cell = _image_cell(row)
    return cell if _is_reference(column, cell) and not _links(cell) else None


def _image_cell(row: Mapping[str, Any]) -> tuple[str | None, Any]:
    """Return the column that holds a row's pictures, and its cell."""
    cells = {name: _reference_text(row[name]) for name in IMAGE_COLUMNS if name in row}
    return next(((name, cell) for name, cell in cells.items() if cell), (None, None))


def _is_reference(column: str | None, cell: Any) -> bool:
    return column == "image" and isinstance(cell, str) and len(cell) <= _MAX_REFERENCE


_LINK = re.compile(r"https?://\S+")
_STARTS_WITH_LINK = re.compile(r"\[?\s*[\"']?https?://")


def _links(cell: Any) -> list[str]:
    """Return the links of a cell that holds links alone, else none."""
    if isinstance(cell, str) and not _STARTS_WITH_LINK.match(cell):
        return []
    values = parse_list(cell) if isinstance(cell, str) and cell.startswith("[") else cell
    values = values if isinstance(values, (list, tuple)) else [values]
    links = [value.strip() for value in values if isinstance(value, str)]
    return links if len(links) == len(values) and all(map(_LINK.fullmatch, links)) else []


def _fetch(
    linked: Mapping[str, list[str]], store: MediaStore, stored: dict[str, list[str]], broken: dict[str, str]
) -> None:
    if not linked:
        return
    urls = list(dict.fromkeys(url for links in linked.values() for url in links))
    found = {each.url: each for each in download_media(urls, store)}
    for index, links in linked.items():
        paths = [path for url in links if (path := found[url].path) is not None]
        if len(paths) == len(links):
            stored[index] = paths
        else:
            gone = [found[url] for url in links if found[url].path is None]
            broken[index] = "; ".join(f"{each.url}: {shorten(each.reason, 160)}" for each in gone)


def _reference_text(cell: Any) -> Any:
    """Return the index that a cell names as a number, or as a text with space around it, as a plain text."""
    if isinstance(cell, int) and not isinstance(cell, bool):
        return str(cell)
    return cell.strip() if isinstance(cell, str) and len(cell) <= _MAX_REFERENCE else cell


def decode_image_cell(cell: str) -> list[bytes]:
    """Return the picture files in a cell: base64 of one file, or a list (JSON or Python spelling) of several.

    Raises:
        DataError: If a text is not base64, or is base64 of something that is no medium.
    """
    return [_decode(text) for text in _listed(cell)]


class _Named(NamedTuple):
    """A picture, under the name it has in the source if it has one of its own."""

    data: bytes
    name: str | None = None


def _pictures(cell: Any, column: str, folder: Path) -> list[_Named]:
    values = _listed(cell) if isinstance(cell, str) else cell if isinstance(cell, (list, tuple)) else [cell]
    return [_picture(value, column, folder) for value in values]


def _picture(value: Any, column: str, folder: Path) -> _Named:
    if isinstance(value, Mapping):
        value = value.get("bytes") or value.get("path")
        column = "image_path" if isinstance(value, str) else column
    if isinstance(value, (bytes, bytearray)):
        if sniff(bytes(value)) is None:
            raise DataError(f"the image cell holds no picture: its bytes begin with {bytes(value[:8])!r}")
        return _Named(bytes(value))
    if not isinstance(value, str) or not value:
        raise DataError(f"the image cell holds no picture but {type(value).__name__} {str(value)[:40]!r}")
    file = folder / value if len(value) <= _MAX_PATH and "\0" not in value else None
    if column == "image_path" or (file is not None and _is_file(file)):
        if file is None:
            raise DataError(f"the cell is no path: {value[:40]!r}...")
        problem = check_image(file)
        if problem:
            raise DataError(f"{file} {problem}")
        return _Named(file.read_bytes(), value)
    return _Named(_decode(value))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # base64 may look like a path whose parts are longer than a file system allows
        return False


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
    value = parse_list(cell)
    if value and all(isinstance(item, str) for item in value):
        return value
    raise DataError(f"the cell begins like a list, but is none of texts: {cell[:40]}...")


def parse_list(cell: str) -> list[Any] | None:
    """Return the list that a cell spells in JSON or in Python, None if it spells none.

    Example:
        >>> parse_list('["a", "b"]'), parse_list("['a', 1]"), parse_list("a, b")
        (['a', 'b'], ['a', 1], None)
    """
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, list):
            return value
    return None


def _store(pictures: Sequence[_Named], index: str, store: MediaStore) -> list[str]:
    # "\0" becomes "_" in the file name, yet "7\0" + "1" is another name than that of a row "7_1".
    names = [index] if len(pictures) == 1 else [f"{index}\0{i}" for i in range(1, len(pictures) + 1)]
    paths = [
        store.add(picture.data, picture.name or name) for picture, name in zip(pictures, names, strict=True)
    ]
    problems = [problem for path in paths if (problem := check_image(store.root / path))]
    if problems:
        for path in paths:
            (store.root / path).unlink()
        raise DataError(f"the picture {problems[0]}")
    return paths


def _check_references(where: str, references: dict[str, str], is_target: Callable[[str], bool]) -> None:
    problems = [
        f"row {index!r} uses the picture of row {target!r}, which "
        + (
            "is itself a reference"
            if target in references
            else "does not exist (a cell so short is an index; it is no base64 of a picture)"
        )
        for index, target in references.items()
        if not is_target(target)
    ]
    if problems:
        raise DataError(f"{where}: image cells that lead to no picture:\n{listing(problems)}")


def _report(where: str, usable: int, without: dict[str, str], broken: dict[str, str]) -> None:
    lines = listing(f"row {index!r}: {reason}" for index, reason in {**broken, **without}.items())
    if not usable:
        raise DataError(f"{where}: no row has a picture that can be used.\n{lines}")
    if lines:
        logger.warning(
            "%s: %d rows have their picture, %d a broken one, %d none (left out):\n%s",
            where, usable, len(broken), len(without), lines,
        )  # fmt: skip
    else:
        logger.info("%s: %d rows prepared", where, usable)
