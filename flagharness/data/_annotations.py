"""The rows of data.json: reading them and telling what is wrong with them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from flagharness.errors import DataError, listing

QUESTION_TYPES = (
    "multiple-choice",
    "multiple-response",
    "yes-no",
    "fill-in-the-blank",
    "fill-blank",
    "cloze",
    "short-answer",
    "open",
    "bbox",
    "count",
    "number",
)
"""The question types with a meaning of their own. A task's own evaluator may score others."""

MEDIA_KEYS = ("img_path", "video_path", "audio_path")
"""The keys of a row that name media files: a path, a list of paths, or nothing."""

_WITH_OPTIONS = ("multiple-choice", "multiple-response")


def check_rows(rows: Sequence[Any]) -> list[str]:
    """Return everything that is wrong with the rows of a data.json, one line each, in the order of the rows.

    A row is an object with a ``question_id`` (text or integer) that no other row has, where 1 and "1" are the
    same. If they are there, ``question`` and ``question_type`` are texts, ``options`` is a list of texts (not an
    empty one for a choice question), and media paths are texts or lists of texts that are absolute or stay
    inside the data folder. Any other key may hold anything. Whether a question type can be scored is for the
    evaluator to say.

    Example:
        >>> check_rows([{"question_id": 1, "question": "?"}, {"question_id": "1", "img_path": "../a.png"}])
        ["row 2 (question_id '1'): question_id is that of row 1 too", \
"row 2 (question_id '1'): img_path '../a.png' leads out of the data folder"]
    """
    problems: list[str] = []
    first_row: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            problems.append(f"row {number}: expected an object, got {_kind(row)}")
            continue
        found = _row_problems(row)
        question_id = row.get("question_id")
        if _is_id(question_id):
            earlier = first_row.setdefault(str(question_id), number)
            if earlier != number:
                found.insert(0, f"question_id is that of row {earlier} too")
        problems.extend(f"row {number} (question_id {question_id!r}): {problem}" for problem in found)
    return problems


def _row_problems(row: Mapping[str, Any]) -> list[str]:
    problems: list[str] = []
    if "question_id" not in row:
        problems.append("question_id is missing")
    elif not _is_id(row["question_id"]):
        problems.append(f"question_id must be a text or an integer, got {_kind(row['question_id'])}")
    if not isinstance(row.get("question", ""), str):
        problems.append(f"question must be a text, got {_kind(row['question'])}")
    question_type = row.get("question_type")
    if question_type is not None and not isinstance(question_type, str):
        problems.append(f"question_type must be a text, got {_kind(question_type)}")
    options = row.get("options")
    if options is not None:
        if not isinstance(options, list) or not all(isinstance(option, str) for option in options):
            problems.append(f"options must be a list of texts, got {_kind(options)}")
        elif not options and question_type in _WITH_OPTIONS:
            problems.append(f"options is empty, but the question is {question_type}")
    for key in MEDIA_KEYS:
        value = row.get(key)
        if value is not None:
            problems.extend(_path_problems(key, value))
    return problems


def _path_problems(key: str, value: object) -> list[str]:
    paths = [
        path for path in (value if isinstance(value, list) else [value]) if isinstance(path, str) and path
    ]
    if len(paths) != (len(value) if isinstance(value, list) else 1):
        return [f"{key} must be a path or a list of paths, got {_kind(value)}"]
    return [
        f"{key} {path!r} {'holds a NUL character' if chr(0) in path else 'leads out of the data folder'}"
        for path in paths
        if "\0" in path or _leads_out(path)
    ]


def _leads_out(path: str) -> bool:
    """Whether a relative path climbs above the folder that it starts from, at any point."""
    if ".." not in path or path.startswith("/"):
        return False
    depth = 0
    for part in path.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def _is_id(value: object) -> bool:
    return (isinstance(value, int) and not isinstance(value, bool)) or (
        isinstance(value, str) and value != ""
    )


def _kind(value: object) -> str:
    """Name a JSON value for an error message: its type, and the value itself if it is short."""
    if value is None:
        return "null"
    if value == "":
        return "an empty text"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


def load_annotations(paths: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return the rows of one or several annotation files, one file after the other.

    Args:
        paths: ``.json`` files that hold a list of objects, or ``.jsonl`` files with one object a line. UTF-8.

    Raises:
        DataError: If a file cannot be read, is not JSON (with line and column), or holds something other than
            objects. What the objects hold is for `check_rows`.
    """
    return [row for path in paths for row in read_json_rows(path)]


def read_json_rows(path: str | Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a ``.json`` or ``.jsonl`` file, the latter with one line in memory.

    Raises:
        DataError: As `load_annotations`.
    """
    path = Path(path)
    try:
        if path.suffix == ".jsonl":
            yield from _json_lines(path)
        else:
            yield from _json_list(path)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error.reason}). Convert the file.") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise DataError(
                    f"{path}, line {number}, column {error.colno}: not JSON: {error.msg}"
                ) from error
            if not isinstance(row, dict):
                raise DataError(f"{path}, line {number}: expected an object, got {_kind(row)}")
            yield row


def _json_list(path: Path) -> list[dict[str, Any]]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig"))
    except json.JSONDecodeError as error:
        hint = " One object a line belongs into a file named .jsonl." if error.msg == "Extra data" else ""
        place = f"line {error.lineno}, column {error.colno}"
        raise DataError(f"{path}, {place}: not JSON: {error.msg}.{hint}") from error
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of objects, got {_kind(rows)}")
    wrong = [f"row {i}: {_kind(row)}" for i, row in enumerate(rows, start=1) if not isinstance(row, dict)]
    if wrong:
        raise DataError(f"{path}: expected a list of objects, but\n{listing(wrong)}")
    return rows
