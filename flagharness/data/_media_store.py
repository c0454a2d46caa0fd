"""Media files of one data folder: original bytes under safe names with the true extension."""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from pathlib import Path

from flagharness.errors import DataError
from flagharness.media import sniff

_MEDIA_ENDING = re.compile(
    r"\.(jpe?g|png|gif|webp|bmp|tiff?|avif|heic|mp4|mov|webm|mkv|avi|flv|ogv|wav|mp3|m4a|flac|ogg)$",
    re.IGNORECASE,
)
_MAX_STEM_BYTES = 160  # file systems allow 255 bytes a name; the rest is for a suffix and the extension


class MediaStore:
    """Writes media below ``root/folder`` and gives back the paths that belong into data.json.

    One store per folder: it remembers which name got which file, so two names never share one. Safe to use
    from several threads.

    Args:
        root: The folder that holds data.json. Made when the first medium is added.
        folder: Name of the media folder in it; "" for ``root`` itself.
    """

    def __init__(self, root: str | Path, folder: str = "img") -> None:
        self.root = Path(root)
        self.folder = folder
        self._known: dict[str, tuple[str, bytes]] = {}  # name -> (path, digest of the bytes)
        self._taken: set[str] = set()
        self._lock = threading.Lock()

    def add(self, data: bytes, name: str) -> str:
        """Write one medium, byte for byte, and return its path relative to ``root`` (with ``/``).

        Args:
            data: The encoded file.
            name: What the medium is called in the source: an id, a file name or a path. Characters that do not
                belong into a file name become ``_``; a media extension is replaced by the true one; a
                different name that would end up in the same file gets a suffix made from the name.

        Returns:
            The path. The same name with the same bytes again gives the same path.

        Raises:
            DataError: If the bytes are no known medium, or the name came before with other bytes.
        """
        media_type = sniff(data)
        if media_type is None:
            raise DataError(
                f"Medium '{name}' is none: its {len(data)} bytes begin with {data[:16]!r}, "
                "which is no known image, video or audio format. Check the source of this row."
            )
        digest = hashlib.blake2b(data, digest_size=16).digest()
        with self._lock:
            if name in self._known:
                path, known_digest = self._known[name]
                if known_digest == digest:
                    return path
                raise DataError(
                    f"Medium '{name}' was stored as {path} before, with other bytes. "
                    "Give each medium a name of its own, such as the row's id."
                )
            path = self._free_path(name, media_type.extension)
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            self._known[name] = (path, digest)
        return path

    def _free_path(self, name: str, extension: str) -> str:
        stem = safe_stem(name)
        path, salt = _join(self.folder, stem + extension), name
        while path.casefold() in self._taken:  # casefold: some file systems do not tell "A" from "a"
            salt = hashlib.sha256(salt.encode("utf-8", "surrogatepass")).hexdigest()
            path = _join(self.folder, f"{stem}-{salt[:10]}{extension}")
        self._taken.add(path.casefold())
        return path


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def safe_stem(name: str) -> str:
    """Return a file name stem for any text: letters and digits of every script, ``-``, ``_`` and inner points.

    Example:
        >>> safe_stem("../val 2014/图 1.JPG"), safe_stem("v1.5_final"), safe_stem("..")
        ('val_2014_图_1', 'v1.5_final', '_')
    """
    stem = unicodedata.normalize("NFC", _MEDIA_ENDING.sub("", name))
    stem = re.sub(r"[^\w.-]+", "_", stem).lstrip("._").rstrip(".")
    stem = stem.encode("utf-8", "ignore")[:_MAX_STEM_BYTES].decode("utf-8", "ignore")
    return stem or "_"
