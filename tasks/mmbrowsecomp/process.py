"""MM-BrowseComp: questions with and without pictures, from the table or from the authors' encrypted file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from flagharness.data import decrypt, process_table, short_answer_row, text_of, texts_of

PICTURES = "MMBC_images"
"""Where the authors' repository keeps its pictures."""
KEPT = ("category", "subtask", "level")


def process(cfg: Any) -> None:
    """Write data.json and the pictures. Rows without one stay: they are asked as text alone.

    Raises:
        DataError: Naming every row without a question or a true answer, or one that cannot be decrypted.
    """
    clone = Path(str(cfg.dataset_path)).expanduser().absolute().parent.parent / PICTURES
    process_table(
        cfg, row_of, required=["question", "answer"], text_rows=True, adapt=partial(adapt, clone=clone)
    )


def adapt(row: dict[str, Any], clone: Path) -> dict[str, Any]:
    """Return a row of the authors' file under the table's names; its pictures are links.

    Args:
        clone: Where the pictures lie if the file lies in a clone of the authors' repository.
    """
    if "canary" not in row or "index" in row:
        return row
    files = [link.rpartition("/")[2] for link in row["images"]]
    pictures = [
        f"../{PICTURES}/{file}" if (clone / file).is_file() else link
        for file, link in zip(files, row["images"], strict=True)
    ]
    kept = {key: row.get(key) for key in ("question", "answer", "checklist", "canary", *KEPT)}
    return {"index": row["id"], "image_path": pictures, "is_encrypted": True, **kept}


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; ``judge_question`` is the question without the request around it."""
    question, answer = text_of(row["question"], "the question"), row["answer"]
    checklist = texts_of(row.get("checklist"))
    if row.get("is_encrypted"):
        question, answer = decrypt(question, row["canary"]), decrypt(answer, row["canary"])
        checklist = [decrypt(item, row["canary"]) for item in checklist]
    return short_answer_row(
        {**row, "question": question},
        [answer],
        judge_question=bare_question(question),
        checklist=[" ".join(item.split()) for item in checklist],
        sub_task=row.get("category"),
        subtask=row.get("subtask"),
        level=row.get("level"),
    )


def bare_question(text: str) -> str:
    """Return what follows the word "Question:", which is all that the authors' judge is shown.

    Example:
        >>> bare_question("Give the answer and the way to it. Question: Who built it?"), bare_question("Who?")
        ('Who built it?', 'Who?')
    """
    _, mark, after = text.partition("Question:")
    return after.strip() if mark and after.strip() else text
