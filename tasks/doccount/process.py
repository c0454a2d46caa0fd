"""DocCount: released prompts and pictures as they are, each picture held against its released SHA-256."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from flagharness.data import MediaStore, iter_hf_rows, split_folder, write_annotations
from flagharness.errors import DataError, did_you_mean, listing

REQUIRED = ("sample_id", "prompt", "answer", "image", "sha256", "target_class")
"""Fields without which a row cannot be asked, checked or scored; the others are kept where the release has them."""
NO_PICTURE = "no-picture"
"""The ``img_path`` of a row whose picture is none: no such file, and the row says why in ``data_error``."""


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    A row whose picture is not the released one is kept with a ``data_error``: the run names it and refuses, or with
    --skip-bad-rows does not ask it and counts it as wrong.

    Raises:
        DataError: A column is missing (names those found), or naming every row without an id of its own, prompt,
            class, whole number as answer, or SHA-256.
    """
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    row_of_id: dict[str, int] = {}
    columns: dict[str, str] = {}
    for number, record in enumerate(
        iter_hf_rows(cfg.dataset_path, cfg.split, revision=cfg.get("revision")), start=1
    ):
        columns = columns or find_columns(cfg.columns, list(record), str(cfg.dataset_path))
        fields = {field: record.get(column) for field, column in columns.items()}
        sample_id = str(fields["sample_id"])
        found = field_problems(fields)
        first = row_of_id.setdefault(sample_id, number)
        if first != number:
            found.append(f"its sample_id is that of row {first} too")
        if found:
            problems.append(f"row {number} (sample_id {sample_id!r}): {'; '.join(found)}")
            continue
        rows.append(annotation(fields, store))
    if problems:
        broken = [f"{row['question_id']!r}: {row['data_error']}" for row in rows if "data_error" in row]
        also = f"\nPictures that are not as released:\n{listing(broken)}" if broken else ""
        raise DataError(
            f"{cfg.dataset_path}: {len(problems)} rows are not as released:\n{listing(problems)}{also}"
        )
    write_annotations(out_dir, rows)


def find_columns(names: Mapping[str, Sequence[str]], present: Sequence[str], source: str) -> dict[str, str]:
    """Return the column of each field: the first of its names that the source has.

    Raises:
        DataError: A required field has none.

    Example:
        >>> names = {**{field: [field] for field in REQUIRED}, "answer": ["answer", "n"]}
        >>> find_columns(names, ["n", *(field for field in REQUIRED if field != "answer")], "x")["answer"]
        'n'
    """
    found = {}
    missing = []
    for field, accepted in names.items():
        column = next((name for name in accepted if name in present), None)
        if column is not None:
            found[field] = column
        elif field in REQUIRED:
            missing.append(f"{field} (accepted: {', '.join(accepted)}).{did_you_mean(accepted[0], present)}")
    if missing:
        raise DataError(
            f"{source}: no column for:\n{listing(missing)}\nColumns found: {', '.join(present)}. Name the right one: "
            f"--cfg-options 'config.columns.FIELD=[\"its name\"]'."
        )
    return found


def field_problems(fields: Mapping[str, Any]) -> list[str]:
    """Return what keeps a record from becoming a row; its picture is looked at later."""
    problems = [
        f"{name} is missing" for name in ("sample_id", "prompt", "target_class") if not _text(fields[name])
    ]
    if not isinstance(fields["prompt"], str):
        problems.append("prompt is no text")
    if count_of(fields["answer"]) is None:
        problems.append(f"answer {fields['answer']!r} is no whole number")
    if not re.fullmatch(r"[0-9a-f]{64}", sha256_of(fields["sha256"])):
        problems.append(f"sha256 {str(fields['sha256'])[:80]!r} is no SHA-256")
    return problems


def annotation(fields: Mapping[str, Any], store: MediaStore) -> dict[str, Any]:
    """Return the row of a record, its picture stored."""
    sample_id, image = str(fields["sample_id"]), fields["image"]
    row = {
        "question_id": sample_id,
        "question": fields["prompt"],
        "question_type": "count",
        "answer": count_of(fields["answer"]),
        "img_path": NO_PICTURE,
        "img_sha256": sha256_of(fields["sha256"]),
        "target_class": str(fields["target_class"]),
    }
    for source, name in (("class_definition", "class_definition"), ("question", "counting_question")):
        if fields.get(source) is not None:
            row[name] = fields[source]
    data = image.get("bytes") if isinstance(image, Mapping) else image
    if not isinstance(data, bytes) or not data:
        return {**row, "data_error": f"the row has no picture: {type(image).__name__} without bytes"}
    digest = hashlib.sha256(data).hexdigest()
    if digest != row["img_sha256"]:
        row["data_error"] = f"the picture's SHA-256 is {digest}, released as {row['img_sha256']}"
    try:
        row["img_path"] = store.add(data, sample_id)
    except DataError as error:
        row.setdefault("data_error", str(error))
    return row


def count_of(answer: Any) -> int | None:
    """Return an answer as a number; None if it is no whole number of at least 0.

    Example:
        >>> count_of(7), count_of("12"), count_of(7.5), count_of(True), count_of(-1), count_of(None)
        (7, 12, None, None, None, None)
    """
    text = "" if isinstance(answer, bool) else str(answer).strip()
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def sha256_of(value: Any) -> str:
    """Return a digest in lower case, without the name of its kind.

    Example:
        >>> sha256_of("SHA256:AB12")
        'ab12'
    """
    return str(value).strip().lower().removeprefix("sha256:")


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()
