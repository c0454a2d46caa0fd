"""Where the media of a sample stand in its text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count

from flagharness.errors import DataError

MEDIA_KINDS = ("image", "video", "audio")
"""The kinds of media, in the order in which those that no mark names are sent."""
_MARK = re.compile(rf"<({'|'.join(MEDIA_KINDS)})\s*([0-9]{{1,9}})?>")

Place = tuple[str, int]
"""A medium: its kind, and its number among those of its kind, from 0."""


def split_marks(text: str, numbers: Mapping[str, int]) -> list[str | Place]:
    """Cut a prompt at its media marks, in the order in which text and media are to be sent.

    ``<image 2>`` (or ``<image2>``) stands for the second picture, ``<video 1>`` and ``<audio 1>`` for the first video
    and sound; naming one again sends it again. In a text without numbered marks of a kind the k-th bare ``<image>``
    stands for picture k; a bare ``<video>`` or ``<audio>`` is text where the sample has none. Media that no mark
    names come first, in their order: pictures, videos, sounds. Text of nothing but whitespace is dropped. The text's
    leading whitespace goes as well where media were put in front of it, or where all media come before it; other text
    is kept to the letter.

    Args:
        text: The prompt.
        numbers: How many media of each kind the sample has.

    Returns:
        Texts and media. No mark is left in the texts.

    Raises:
        DataError: If a mark has no medium, or bare and numbered marks of a kind are mixed.

    Example:
        >>> split_marks("<image 2> or <image 1>: which is larger?", {"image": 2})
        [('image', 1), ' or ', ('image', 0), ': which is larger?']
        >>> split_marks("Is <audio 1> in it?", {"video": 1, "audio": 1})
        [('video', 0), 'Is ', ('audio', 0), ' in it?']
    """
    pieces: list[str | Place] = []
    end = 0
    marks = [mark for mark in _MARK.finditer(text) if mark[1] == "image" or mark[2] or numbers.get(mark[1])]
    numbered = {mark[1] for mark in marks if mark[2]}
    bare_numbers = {kind: count(1) for kind in MEDIA_KINDS}
    for mark in marks:
        kind = mark[1]
        if kind in numbered and not mark[2]:
            raise DataError(f"the text has both {mark[0]} and numbered {kind} marks: number all of them")
        number = int(mark[2] or next(bare_numbers[kind]))
        if not 1 <= number <= numbers.get(kind, 0):
            which = mark[0] if mark[2] else f"{mark[0]} number {number}"
            raise DataError(
                f"the text has the mark {which}, but the sample has {numbers.get(kind, 0)} {kind}(s)"
            )
        pieces += [text[end : mark.start()], (kind, number - 1)]
        end = mark.end()
    pieces.append(text[end:])
    every = [(kind, index) for kind in MEDIA_KINDS for index in range(numbers.get(kind, 0))]
    return _tidied([place for place in every if place not in pieces], pieces)


def _tidied(unnamed: list[Place], pieces: list[str | Place]) -> list[str | Place]:
    kept = [piece for piece in pieces if not isinstance(piece, str) or piece.strip()]
    texts = [place for place, piece in enumerate(kept) if isinstance(piece, str)]
    follows_unnamed = bool(unnamed) and texts[:1] == [0]
    follows_all = len(kept) > 1 and texts == [len(kept) - 1]
    if follows_unnamed or follows_all:
        kept[texts[0]] = str(kept[texts[0]]).lstrip()
    return [*unnamed, *kept]
