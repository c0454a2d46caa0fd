"""Media that a source names by URL."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from flagharness.data._media_store import MediaStore
from flagharness.data._write import write_json
from flagharness.errors import DataError, listing

if TYPE_CHECKING:
    import requests

logger = logging.getLogger(__name__)

_RETRIED_STATUSES = frozenset({408, 425, 429, *range(500, 600)})
_LONGEST_WAIT_S = 60.0


class Download(NamedTuple):
    """What became of one URL."""

    url: str
    path: str | None
    """Path relative to the store's root; None if the medium could not be had."""
    reason: str
    """Why not; "" if it could."""


def download_media(
    urls: Sequence[str],
    store: MediaStore,
    *,
    sha256: Mapping[str, str] | None = None,
    max_bytes: int = 100_000_000,
    timeout_s: float = 30.0,
    retries: int = 4,
    workers: int = 8,
    sleep: Callable[[float], object] = time.sleep,
) -> list[Download]:
    """Fetch media and store them; what cannot be had is told, not raised.

    Connection faults, time-outs and the statuses 408, 425, 429 and 5xx are tried again after 1, 2, 4, ... seconds,
    or after what the server's Retry-After asks for, 60 s at most. Other statuses, contents that are no medium
    (a page that says sorry), too many bytes and a wrong digest are final.

    Args:
        urls: ``http`` or ``https`` only. One that comes several times is fetched once.
        store: Where the media go.
        sha256: For some or all URLs the hex digest that the bytes must have.
        max_bytes: Longest medium, in bytes; a longer one is given up while it comes in.
        timeout_s: Longest wait, in seconds, for the connection and for each piece of the body.
        retries: Further tries after the first.
        workers: Downloads at the same time.
        sleep: Waits so many seconds.

    Returns:
        One `Download` per URL, in the order given. The number kept and the reasons for the rest are logged.
    """
    import requests
    from requests.adapters import HTTPAdapter

    from flagharness import __version__

    distinct = list(dict.fromkeys(urls))
    with requests.Session() as session, ThreadPoolExecutor(workers) as pool:
        session.headers["User-Agent"] = f"flagharness/{__version__}"
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(pool_maxsize=workers))
        fetcher = _Fetcher(session, store, dict(sha256 or {}), max_bytes, timeout_s, retries, sleep)
        done = dict(zip(distinct, pool.map(fetcher.fetch, distinct), strict=True))
    dropped = [download for download in done.values() if download.path is None]
    if dropped:
        lines = listing(f"{download.url}: {download.reason}" for download in dropped)
        logger.warning("%d of %d media kept, gone:\n%s", len(done) - len(dropped), len(done), lines)
    return [done[url] for url in urls]


def write_dropped(path: str | Path, downloads: Sequence[Download]) -> int:
    """Write ``{"url", "reason"}`` of all that could not be had (each URL once) and return their number.

    Called ``dropped.json`` beside data.json, every run on the data says how many there are.
    """
    dropped = dict.fromkeys((item.url, item.reason) for item in downloads if item.path is None)
    write_json(path, [{"url": url, "reason": reason} for url, reason in dropped])
    return len(dropped)


def read_dropped(folder: Path) -> int:
    """Return how many media a data folder's ``dropped.json`` names; 0 where there is none."""
    try:
        dropped = json.loads((folder / "dropped.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return 0
    return len(dropped) if isinstance(dropped, list) else 0


class _Again(Exception):
    """This try failed in a way that another one may not; ``wait_s`` is what the server asked for."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


@dataclass(frozen=True)
class _Fetcher:
    session: requests.Session
    store: MediaStore
    sha256: Mapping[str, str]
    max_bytes: int
    timeout_s: float
    retries: int
    sleep: Callable[[float], object]

    def fetch(self, url: str) -> Download:
        """Try until the medium is stored or there is a final reason why not."""
        if not url.lower().startswith(("http://", "https://")):
            return Download(url, None, "not an http or https address")
        for attempt in range(self.retries + 1):
            try:
                return Download(url, self._store(url, self._body(url)), "")
            except DataError as error:
                return Download(url, None, str(error))
            except _Again as error:
                if attempt == self.retries:
                    return Download(url, None, f"{error} ({attempt + 1} tries)")
                wait_s = 2.0**attempt if error.wait_s is None else error.wait_s
                self.sleep(min(wait_s, _LONGEST_WAIT_S))
        raise AssertionError("the last try returns")

    def _body(self, url: str) -> bytes:
        import requests

        try:
            with self.session.get(url, stream=True, timeout=self.timeout_s) as response:
                if response.status_code in _RETRIED_STATUSES:
                    wait_s = retry_after_s(response.headers.get("Retry-After"), datetime.now(timezone.utc))
                    raise _Again(f"HTTP {response.status_code}", wait_s)
                if response.status_code != 200:
                    raise DataError(f"HTTP {response.status_code}")
                body = bytearray()
                for piece in response.iter_content(1 << 16):
                    body += piece
                    if len(body) > self.max_bytes:
                        raise DataError(f"longer than {self.max_bytes} bytes")
                return bytes(body)
        except (
            requests.ConnectionError,
            requests.Timeout,
            requests.exceptions.ChunkedEncodingError,
        ) as error:
            raise _Again(f"{type(error).__name__}: {error}") from error
        except (requests.RequestException, UnicodeError) as error:  # a malformed address, too many redirects
            raise DataError(f"{type(error).__name__}: {error}") from error

    def _store(self, url: str, body: bytes) -> str:
        expected = self.sha256.get(url)
        if expected is not None and (digest := hashlib.sha256(body).hexdigest()) != expected.lower():
            raise DataError(f"the bytes have SHA-256 {digest}, expected {expected.lower()}")
        return self.store.add(body, _name_of(url))


def _name_of(url: str) -> str:
    """Return a readable name that no other URL has."""
    last = urlsplit(url).path.rstrip("/").rpartition("/")[2]
    stem = last.rpartition(".")[0] or last or "medium"
    return f"{stem[:80]}-{hashlib.sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """Return the seconds that a Retry-After header asks to wait, None if it is absent or unreadable.

    Args:
        value: The header: a number of seconds or an HTTP date.
        now: The present, with time zone.

    Example:
        >>> now = datetime(2026, 1, 1, 12, 0, 0, tzinfo=timezone.utc)
        >>> retry_after_s("7", now), retry_after_s("Thu, 01 Jan 2026 12:00:30 GMT", now)
        (7.0, 30.0)
        >>> retry_after_s("soon", now) is None
        True
    """
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - now).total_seconds())
