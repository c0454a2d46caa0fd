"""What the cells of published tables need beside pictures: encrypted texts, answers of every form, fixed subsets."""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from flagharness.data._image_rows import parse_list
from flagharness.errors import ConfigError

_BASE64 = re.compile(r"[A-Za-z0-9+/]{32,}={0,2}")


def decrypt(cell: str, passphrase: str) -> str:
    """Return a text that was encrypted against leaking into training data.

    The scheme of MMSearch-Plus, MM-BrowseComp and VisBrowse-Bench: base64 of the UTF-8 text XORed with the SHA-256
    digest of the pass phrase, repeated.

    Raises:
        ValueError: The cell is no such text, or the pass phrase is wrong.

    Example:
        >>> decrypt("fBGTQgk=", "key")
        'Paris'
    """
    if not isinstance(cell, str):
        raise ValueError(f"cannot be decrypted: it is no text but {cell!r:.40}")
    try:
        data = base64.b64decode(cell, validate=True)
        key = hashlib.sha256(passphrase.encode()).digest()
        return bytes(byte ^ pad for byte, pad in zip(data, cycle(key), strict=False)).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"cannot be decrypted, is the pass phrase right? {error}") from None


def text_of(cell: Any, what: str) -> str:
    """Return the text of a cell that holds one text or number; "" where it holds nothing.

    Args:
        what: What the cell is, for the error.

    Raises:
        ValueError: It holds something else, such as a list.

    Example:
        >>> text_of("Rome", "the answer"), text_of(7, "the answer"), text_of(float("nan"), "the answer")
        ('Rome', '7', '')
    """
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if not isinstance(cell, (str, int, float)):
        raise ValueError(f"{what} is no text but {cell!r:.60}")
    return str(cell)


def texts_of(cell: Any) -> list[str]:
    """Return the texts of a cell: a list, a list written as text, a list in a list, or one text. Blank ones are none.

    Raises:
        ValueError: It holds what is neither a text nor a number, such as a record.

    Example:
        >>> texts_of('["NYC", "New York"]'), texts_of([["Paris"]]), texts_of("Rome"), texts_of(None), texts_of(7)
        (['NYC', 'New York'], ['Paris'], ['Rome'], [], ['7'])
    """
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        listed = parse_list(cell)
        cell = cell if listed is None else listed
    texts = []
    for item in cell if isinstance(cell, (list, tuple)) else [cell]:
        texts += texts_of(item) if isinstance(item, (list, tuple)) else [text_of(item, "a value")]
    return [text for text in texts if text.strip()]


def verl_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row of a parquet file in the form of veRL (a prompt, pictures and a reward) with a table's columns.

    Any other row is returned as it is.
    """
    if "reward_model" not in row:
        return row
    reward = row["reward_model"]
    return {
        "images": row["images"],
        "question": row["prompt"][0]["content"].removeprefix("<image>").strip(),
        "answer": reward["ground_truth"],
        "candidate_answers": reward.get("candidate_answers"),
    }


def short_answer_row(
    row: Mapping[str, Any], answers: Sequence[Any], *, mode: str = "any", **others: Any
) -> dict[str, Any]:
    """Return the annotation of a free question: question, answers, where the row came from, and what else is given.

    ``answer`` is what people are shown: the first of several alternatives, or all required parts.

    Args:
        row: As ``row_of`` of :func:`flagharness.data.process_table` gets it.
        answers: The true answers; one that is a list is a list of required parts, a blank one is none.
        mode: "any": each answer alone is right; "all": all of them are required.
        others: Further keys; empty ones are left out.

    Raises:
        ValueError: There is no question or no answer, or the question is still encrypted.

    Example:
        >>> row = short_answer_row({"question": "Which city?", "source_row": 3}, ["NYC", "New York"], area="news")
        >>> row["answer"], row["answers"], row["answer_mode"], row["source_row"], row["area"]
        ('NYC', ['NYC', 'New York'], 'any', 3, 'news')
    """
    question = text_of(row.get("question"), "the question")
    if not question.strip():
        raise ValueError("the question is empty")
    if _BASE64.fullmatch(question.strip()):
        raise ValueError(f"the question is encrypted: {question[:20]}...")
    known = [answer if isinstance(answer, list) else text_of(answer, "an answer") for answer in answers]
    known = [answer for answer in known if isinstance(answer, list) or answer.strip()]
    if not known:
        raise ValueError("no true answer")
    shown = ["; ".join(answer) if isinstance(answer, list) else answer for answer in known]
    return {
        "question": question,
        "question_type": "short-answer",
        "answer": "; ".join(shown) if mode == "all" else shown[0],
        "answers": known,
        "answer_mode": mode,
        "source_row": row["source_row"],
        **{key: value for key, value in others.items() if value not in (None, "", [])},
    }


def sample_positions(rows: int, size: int, seed: int) -> list[int]:
    """Return the positions that pandas' ``DataFrame.sample(n=size, random_state=seed)`` draws, in drawn order.

    Raises:
        ConfigError: There are not so many rows.

    Example:
        >>> sample_positions(1800, 300, 42)[:5]
        [1591, 943, 869, 162, 1271]
    """
    import numpy

    if not 0 < size <= rows:
        raise ConfigError(f"cannot draw {size} of {rows} rows.")
    return [int(position) for position in numpy.random.RandomState(seed).permutation(rows)[:size]]
