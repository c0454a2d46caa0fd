"""HallusionBench: the table, the hub's rows, or the original HallusionBench.json with its folder of pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flagharness.data import (
    MediaStore,
    iter_hf_rows,
    load_annotations,
    process_table,
    split_folder,
    store_images,
    write_annotations,
    write_json,
)
from flagharness.errors import DataError, listing

GROUPS = {
    "figure_rows": ("category", "subcategory", "set_id", "figure_id"),
    "question_rows": ("category", "subcategory", "set_id", "question_number"),
}
"""What makes a figure and a question group. The subcategory alone does not do: ``ocr`` is one of both categories."""
_INDEX_COLUMNS = ["category", "subcategory", "set_id", "figure_id", "question_id"]
_ORIGINAL_COLUMNS = [*_INDEX_COLUMNS, "visual_input", "question", "gt_answer", "filename"]
_INDEX = re.compile(r"(?:.*_)?(VD|VS)_([A-Za-z]+)_([0-9]+)_([0-9]+)_([0-9]+)")
_ANSWERS = {"0": "No", "1": "Yes", "no": "No", "yes": "Yes"}


def process(cfg: Any) -> None:
    """Write data.json, the pictures, and in skipped.json the rows that have none.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    out_dir = split_folder(cfg)
    original = original_file(Path(cfg.dataset_path).expanduser())
    if original is None:
        process_table(cfg, row_of, required=["question"])
    else:
        _process_original(original, out_dir, cfg.split)
    # How large a group is can only be said of all rows; the evaluator tells by it that a run saw half of one.
    write_annotations(out_dir, with_group_sizes(load_annotations([out_dir / "data.json"])))


def original_file(path: Path) -> Path | None:
    """Return the original annotation file that a path names, itself or by its folder."""
    file = path / "HallusionBench.json" if path.is_dir() else path
    return file if file.name == "HallusionBench.json" and file.is_file() else None


def _process_original(file: Path, out_dir: Path, split: str) -> None:
    records: list[dict[str, Any]] = [
        {**record, "index": index_of(record), "image_path": record["filename"]}
        for record in iter_hf_rows(file, split, columns=_ORIGINAL_COLUMNS)
    ]
    unpacked = file.parent / "hallusion_bench"  # how the archive of the pictures unpacks
    folder = unpacked if unpacked.is_dir() else file.parent
    table = store_images(records, MediaStore(out_dir), str(file), folder)
    rows: list[dict[str, Any]] = []
    problems = []
    for record in table.rows:
        kept: dict[str, Any] = {key: record[key] for key in ("img_path", "data_error") if key in record}
        try:
            rows.append({**kept, **row_of(record)})
        except ValueError as error:
            problems.append(f"row {record['index']!r}: {error}")
    if problems:
        raise DataError(f"{file}: {len(problems)} rows are not as expected:\n{listing(problems)}")
    write_json(out_dir / "skipped.json", table.skipped)
    write_annotations(out_dir, rows)


def index_of(record: dict[str, Any]) -> str:
    """Return the id of an original record, as the table writes it after its prefix.

    Example:
        >>> index_of({"category": "VD", "subcategory": "ocr", "set_id": "1", "figure_id": "0", "question_id": "2"})
        'VD_ocr_1_0_2'
    """
    return "_".join(str(record[column]) for column in _INDEX_COLUMNS)


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; with a column ``gt_answer`` it is an original or a hub row, else a table's."""
    is_table = "gt_answer" not in row
    index = row["index"] if is_table else index_of(row)
    found = _INDEX.fullmatch(index)
    if found is None:
        raise ValueError(
            f"index {index!r} does not end in <VD or VS>_<subcategory>_<set>_<figure>_<question>"
        )
    given = str(row["answer"] if is_table else row["gt_answer"]).strip()
    answer = _ANSWERS.get(given.lower())
    if answer is None:
        raise ValueError(f"answer {given!r} is neither yes nor no")
    category, subcategory, set_id, figure_id, question_number = found.groups()
    return {
        "question_id": index,
        "question": row["question"],
        "question_type": "yes-no",
        "answer": answer,
        "category": category,
        "subcategory": subcategory,
        "l2-category": f"{category}_{subcategory}",
        "set_id": set_id,
        "figure_id": figure_id,
        "question_number": question_number,
        **({"visual_input": row["visual_input"]} if row.get("visual_input") else {}),
    }


def with_group_sizes(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with the number of rows that share their figure and their question."""
    seen: dict[tuple[Any, ...], str] = {}
    for row in rows:
        question = tuple(row[key] for key in dict.fromkeys(key for keys in GROUPS.values() for key in keys))
        earlier = seen.setdefault(question, row["question_id"])
        if earlier != row["question_id"]:
            raise DataError(f"rows {earlier!r} and {row['question_id']!r} are one question about one figure.")
    groups = {name: [tuple(row[key] for key in keys) for row in rows] for name, keys in GROUPS.items()}
    sizes = {name: Counter(members) for name, members in groups.items()}
    return [
        {**row, **{name: sizes[name][groups[name][number]] for name in GROUPS}}
        for number, row in enumerate(rows)
    ]
