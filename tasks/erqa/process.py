"""ERQA: pictures stand inside the question, at character offsets that a column gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from flagharness.data import letter_of, parse_list, process_table

LETTERS = "ABCD"
_MARK = re.compile(r"<image\s*[0-9]*>")
_CLOSING = re.compile(r"\s*\bPlease answer\b.*", re.DOTALL)


def process(cfg: Any) -> None:
    """Write data.json and the pictures.

    Raises:
        DataError: Naming every row that is no question with a truth that can be scored.
    """
    process_table(cfg, row_of, required=["question", "answer"])


def row_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return the annotation of a row, its pictures at their places in the question."""
    text = str(row["question"])
    if not text.strip():
        raise ValueError("the question is empty")
    pictures = 1 if isinstance(row["img_path"], str) else len(row["img_path"])
    answer = letter_of(row["answer"], len(LETTERS))
    options = listed_options(text)
    return {
        "question_id": str(row.get("question_id") or row["index"]),
        "question": with_marks(text, offsets_of(row.get("visual_indices")), pictures),
        "question_type": "multiple-choice",
        **({"options": options} if answer in LETTERS[: len(options)] else {}),
        "answer": answer,
        "category": row.get("question_type") or "",
    }


def with_marks(text: str, offsets: Sequence[int], pictures: int) -> str:
    """Write ``<image k>`` into a text at the offset of picture k; an offset past the end is the end.

    Where all offsets are 0, or there are not as many as pictures, the text is left alone: all pictures then come
    first, in their order.

    Raises:
        ValueError: The text itself holds such a mark, which could not be told from ours.

    Example:
        >>> with_marks("ab", [1, 0], 2), with_marks("ab", [0, 0], 2), with_marks("ab", [9, 1], 2)
        ('<image 2>a<image 1>b', 'ab', 'a<image 2>b<image 1>')
    """
    found = _MARK.search(text)
    if found:
        raise ValueError(f"the question holds {found[0]} as text, which would be taken for a picture's place")
    if len(offsets) != pictures or not any(offsets):
        return text
    pieces, end = [], 0
    for number, offset in sorted(enumerate(offsets, start=1), key=lambda pair: pair[1]):
        pieces += [text[end:offset], f"<image {number}>"]
        end = max(end, min(offset, len(text)))
    return "".join([*pieces, text[end:]])


def offsets_of(cell: Any) -> list[int]:
    """Return the offsets in a cell: a list, or one written as text; an empty cell has none.

    Raises:
        ValueError: It holds anything else.

    Example:
        >>> offsets_of("[0, 12]"), offsets_of([3]), offsets_of(""), offsets_of(None)
        ([0, 12], [3], [], [])
    """
    if cell is None or cell == "":
        return []
    values = parse_list(cell) if isinstance(cell, str) else list(cell)
    if values is None or any(not isinstance(value, int) or value < 0 for value in values):
        raise ValueError(f"visual_indices {cell!r} is no list of character offsets")
    return values


def listed_options(text: str) -> list[str]:
    """Return the options that follow the last ``Choices:`` of a question; none if they are not listed in this way.

    Example:
        >>> listed_options("What is next? Choices: A. Up. B. Down. Please answer directly with only the letter.")
        ['Up.', 'Down.']
        >>> listed_options("Which block? Choices: A. A. B. B. C. C. D. D.")
        ['A.', 'B.', 'C.', 'D.']
        >>> listed_options("What is next?")
        []
    """
    _, found, choices = text.rpartition("Choices:")
    choices = _CLOSING.sub("", choices) if found else ""
    starts, end = [], 0
    for letter in LETTERS:
        label = re.compile(rf"(?<!\S){letter}[.):](?:\s+|$)").search(choices, end)
        if label is None:
            break
        starts.append(label)
        end = label.end()
    ends = [*(label.start() for label in starts[1:]), len(choices)]
    options = [choices[label.end() : stop].strip() for label, stop in zip(starts, ends, strict=False)]
    return options if len(options) >= 2 and all(options) else []
