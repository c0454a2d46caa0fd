"""CountQA: one record per picture with several questions becomes one row per question."""

from __future__ import annotations

import re
from typing import Any

from flagharness.data import MediaStore, iter_hf_rows, split_folder, write_annotations
from flagharness.errors import DataError, listing

COLUMNS = ["image", "questions", "answers", "is_focused", "categories"]


def process(cfg: Any) -> None:
    """Write data.json and each picture once, byte for byte as the source holds it.

    Raises:
        DataError: Naming every record whose picture is missing, whose questions and answers differ in number, or
            whose answer is no whole number.
    """
    out_dir = split_folder(cfg)
    store = MediaStore(out_dir)
    rows: list[dict[str, Any]] = []
    problems: list[str] = []
    records = iter_hf_rows(cfg.dataset_path, cfg.split, revision=cfg.get("revision"), columns=COLUMNS)
    for number, record in enumerate(records):
        found = record_problems(record)
        problems.extend(f"record {number}: {problem}" for problem in found)
        if not found:
            rows.extend(record_rows(number, record, store.add(record["image"]["bytes"], str(number))))
    if problems:
        raise DataError(f"{cfg.dataset_path}: records that are not as expected:\n{listing(problems)}")
    write_annotations(out_dir, rows)


def record_problems(record: dict[str, Any]) -> list[str]:
    """Return what keeps a record from becoming rows."""
    problems = []
    if not (record["image"] or {}).get("bytes"):
        problems.append("it has no picture")
    questions, answers = record["questions"] or [], record["answers"] or []
    if len(questions) != len(answers):
        problems.append(f"{len(questions)} questions but {len(answers)} answers")
    problems.extend(f"answer {answer!r} is no whole number" for answer in answers if count_of(answer) is None)
    return problems


def record_rows(number: int, record: dict[str, Any], img_path: str) -> list[dict[str, Any]]:
    """Return one row per question of a record."""
    return [
        {
            "question_id": f"{number}_{position}",
            "question": question,
            "question_type": "count",
            "answer": count_of(answer),
            "img_path": img_path,
            "sub_task": "focused" if record["is_focused"] else "not focused",
            "is_focused": record["is_focused"],
            "categories": record["categories"],
        }
        for position, (question, answer) in enumerate(
            zip(record["questions"], record["answers"], strict=True)
        )
    ]


def count_of(answer: Any) -> int | None:
    """Read an answer that the source writes as a number or as text.

    Example:
        >>> count_of("18"), count_of(0), count_of("many"), count_of("1.5")
        (18, 0, None, None)
    """
    text = str(answer).strip()
    return int(text) if re.fullmatch(r"[0-9]+", text) else None
