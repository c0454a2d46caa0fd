"""VisBrowse-Bench: one to three pictures a question, from the table or from the authors' encrypted file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from flagharness.data import decrypt, process_table, short_answer_row, texts_of

PICTURES = "VisBrowse_Bench_images"
"""Where the authors' repository keeps its pictures."""


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer, or one that cannot be decrypted.
    """
    clone = Path(str(cfg.dataset_path)).expanduser().absolute().parent.parent / PICTURES
    process_table(cfg, row_of, required=["question", "answer"], adapt=partial(adapt, clone=clone))


def adapt(row: dict[str, Any], clone: Path) -> dict[str, Any]:
    """Return a row of the authors' file under the table's names; its pictures are links, or names of files.

    Args:
        clone: Where the pictures lie if the file lies in a clone of the authors' repository.
    """
    if "canary" not in row or "index" in row:
        return row
    files = [name.rpartition("/")[2] for name in row["image"]]
    pictures = [
        f"../{PICTURES}/{file}" if (clone / file).is_file() else name
        for file, name in zip(files, row["image"], strict=True)
    ]
    kept = {key: row[key] for key in ("question", "answer", "canary", "domain", "sub_domain")}
    return {"index": row["id"], "image_path": pictures, "is_encrypted": True, **kept}


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; its answers are the parts of one answer, and all of them are required."""
    answers = texts_of(row["answer"])
    if row.get("is_encrypted"):
        row = {**row, "question": decrypt(row["question"], row["canary"])}
        answers = [decrypt(answer, row["canary"]) for answer in answers]
    return short_answer_row(
        row, answers, mode="all", sub_task=row.get("domain"), sub_domain=row.get("sub_domain")
    )
