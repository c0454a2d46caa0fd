"""Where the pictures of a sample stand in its text."""

from __future__ import annotations

import re
from itertools import count

from flagharness.errors import DataError

_NUMBERED = re.compile(r"<image\s*([0-9]{1,9})>")
_ANY = re.compile(r"<image\s*([0-9]{1,9})?>")


def split_marks(text: str, num_images: int) -> list[str | int]:
    """Cut a prompt at its image marks, in the order in which text and pictures are to be sent.

    ``<image 2>`` (or ``<image2>``) stands for the second picture; naming it again sends it again. In a text
    without numbers the k-th bare ``<image>`` stands for picture k. Pictures that no mark names come first, in
    their order. Text of nothing but whitespace is dropped. The text's leading whitespace goes as well where
    pictures were put in front of it, or where all pictures come before it; other text is kept to the letter.

    Args:
        text: The prompt.
        num_images: How many pictures the sample has.

    Returns:
        Texts, and pictures as numbers from 0. No mark is left in the texts.

    Raises:
        DataError: If a mark has no picture, or bare and numbered marks are mixed.

    Example:
        >>> split_marks("<image 2> or <image 1>: which is larger?", 2)
        [1, ' or ', 0, ': which is larger?']
        >>> split_marks("What is this?", 1)
        [0, 'What is this?']
    """
    pieces: list[str | int] = []
    end = 0
    bare_numbers = count(1)
    is_numbered = _NUMBERED.search(text) is not None
    for mark in _ANY.finditer(text):
        if is_numbered and not mark[1]:
            raise DataError(f"the text has both {mark[0]} and numbered image marks: number all of them")
        number = int(mark[1] or next(bare_numbers))
        if not 1 <= number <= num_images:
            which = mark[0] if mark[1] else f"{mark[0]} number {number}"
            raise DataError(f"the text has the mark {which}, but the sample has {num_images} image(s)")
        pieces += [text[end : mark.start()], number - 1]
        end = mark.end()
    pieces.append(text[end:])
    unnamed = [number for number in range(num_images) if number not in pieces]
    return _tidied(unnamed, pieces)


def _tidied(unnamed: list[int], pieces: list[str | int]) -> list[str | int]:
    kept = [piece for piece in pieces if isinstance(piece, int) or piece.strip()]
    texts = [place for place, piece in enumerate(kept) if isinstance(piece, str)]
    follows_unnamed = bool(unnamed) and texts[:1] == [0]
    follows_all = len(kept) > 1 and texts == [len(kept) - 1]
    if follows_unnamed or follows_all:
        kept[texts[0]] = str(kept[texts[0]]).lstrip()
    return [*unnamed, *kept]
