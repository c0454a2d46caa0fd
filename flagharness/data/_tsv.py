"""Tables of text cells, and those with one question a row and the pictures in a cell."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from flagharness.data._image_rows import ImageTable, store_images
from flagharness.data._media_store import MediaStore
from flagharness.errors import DataError, did_you_mean


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


def read_image_tsv(
    path: str | Path, store: MediaStore, required: Sequence[str] = (), *, image_root: str | Path | None = None
) -> ImageTable:
    """Read a table with pictures and store each picture as it comes by.

    The column ``image`` holds base64 of a picture file, a list of such texts, or (at most 64 characters) the
    ``index`` of another row, before or after, whose pictures are used again. A row without it has ``image_path``:
    a path or a list of paths.

    Args:
        path: The table; a column ``index`` is required.
        store: Where the pictures go, named by index.
        required: Further columns that must be there.
        image_root: What relative paths of ``image_path`` start from; default: the folder of the table.

    Raises:
        DataError: As `read_tsv` and `store_images`.
    """
    path = Path(path)
    folder = path.parent if image_root is None else Path(image_root)
    return store_images(read_tsv(path, ["index", *required]), store, str(path), folder)
