"""What process.py leaves behind: the data folder and the files in it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flagharness.data._annotations import check_rows
from flagharness.errors import DataError, listing


def split_folder(cfg: Any) -> Path:
    """Return ``{processed_dataset_path}/[{dataset_name}/]{split}``, made if need be.

    Args:
        cfg: What ``process`` got: the task's ``config`` with attribute access and ``get``. ``dataset_name`` is
            optional, ``split`` may be "".
    """
    folder = Path(cfg.processed_dataset_path, cfg.get("dataset_name") or "", cfg.get("split") or "")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_annotations(out_dir: str | Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Check all rows, then write them to ``data.json``, one a line, and return how many there are.

    The file is UTF-8 with readable letters of every script, and appears whole or not at all.

    Raises:
        DataError: If there is no row, or naming everything that `check_rows` finds and every row that JSON
            cannot hold (NaN, bytes, numpy values). Nothing is written then.
    """
    rows = list(rows)
    if not rows:
        raise DataError(f"{out_dir}: there is no row to write. Check the source and the split.")
    problems = check_rows(rows)
    if problems:
        raise DataError(f"{out_dir}: {len(problems)} problems in {len(rows)} rows:\n{listing(problems)}")
    lines = list(_json_lines(rows, f"{out_dir}"))
    _replace(Path(out_dir) / "data.json", "[\n" + ",\n".join(lines) + "\n]\n")
    return len(rows)


def write_json(path: str | Path, value: Any) -> None:
    """Write an indented UTF-8 JSON file, such as the list of rows that had to be left out.

    Raises:
        DataError: If JSON cannot hold the value.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2)
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: {error}") from error
    _replace(Path(path), text + "\n")


def _json_lines(rows: list[Mapping[str, Any]], where: str) -> Iterator[str]:
    problems = []
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    for number, row in enumerate(rows, start=1):
        try:
            line = encode(row)
            line.encode()  # half of a surrogate pair has no UTF-8
        except (TypeError, ValueError) as error:
            problems.append(f"row {number} (question_id {row['question_id']!r}): {error}")
        else:
            yield line
    if problems:
        raise DataError(f"{where}: JSON cannot hold these rows as they are:\n{listing(problems)}")


def _replace(path: Path, text: str) -> None:
    """Write under another name and rename: a reader sees all of the file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
