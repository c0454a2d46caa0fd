"""MMSearch-Plus: one to five pictures a question, from the table or from the authors' encrypted data set."""

from __future__ import annotations

from typing import Any

from flagharness.data import decrypt, process_table, short_answer_row, texts_of

PASSPHRASE = "MMSearch-Plus"
KEPT = ("category", "difficulty", "subtask")


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row without a question or a true answer, or one that cannot be decrypted.
    """
    process_table(cfg, row_of, required=["question", "answer"], adapt=adapt)


def adapt(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the authors' data set under the table's names, its pictures in their order."""
    if "num_images" not in row:
        return row
    pictures = [row.get(f"img_{number}") for number in range(1, int(row["num_images"]) + 1)]
    kept = {key: row.get(key) for key in ("question", "answer", *KEPT)}
    return {"image": pictures, "is_encrypted": True, **kept}


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row; each of its answers alone is right."""
    answers = texts_of(row["answer"])
    if row.get("is_encrypted"):
        row = {**row, "question": decrypt(row["question"], PASSPHRASE)}
        answers = [decrypt(answer, PASSPHRASE) for answer in answers]
    return short_answer_row(
        row,
        answers,
        sub_task=row.get("category"),
        difficulty=row.get("difficulty"),
        subtask=row.get("subtask"),
    )
