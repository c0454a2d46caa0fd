"""What the cells of published tables need beside pictures: encrypted texts, lists of answers, fixed subsets."""

from __future__ import annotations

import base64
import binascii
import hashlib
from itertools import cycle
from typing import Any

from flagharness.data._image_rows import parse_list
from flagharness.errors import ConfigError


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
    try:
        data = base64.b64decode(cell, validate=True)
        key = hashlib.sha256(passphrase.encode()).digest()
        return bytes(byte ^ pad for byte, pad in zip(data, cycle(key), strict=False)).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError) as error:
        raise ValueError(f"cannot be decrypted, is the pass phrase right? {error}") from None


def texts_of(cell: Any) -> list[str]:
    """Return the texts of a cell: a list, a list written as text, a list in a list, or one text. Blank ones are none.

    Example:
        >>> texts_of('["NYC", "New York"]'), texts_of([["Paris"]]), texts_of("Rome"), texts_of(None), texts_of(7)
        (['NYC', 'New York'], ['Paris'], ['Rome'], [], ['7'])
    """
    if cell is None:
        return []
    if isinstance(cell, str):
        listed = parse_list(cell) if cell.lstrip().startswith("[") else None
        cell = [cell] if listed is None else listed
    if isinstance(cell, (list, tuple)):
        return [
            text
            for item in cell
            for text in (texts_of(item) if isinstance(item, (list, tuple)) else [str(item)])
            if text.strip()
        ]
    return [str(cell)]


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
