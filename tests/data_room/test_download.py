"""Media by URL, against a small server on this machine."""

from __future__ import annotations

import hashlib
import io
import json
import logging
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image

from flagharness.data import Download, MediaStore, download_media, write_dropped


def picture(colour: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (8, 8), colour).save(buffer, "PNG")
    return buffer.getvalue()


class Server(ThreadingHTTPServer):
    """Answers by path; ``script`` holds what the next requests of a path get before the usual answer."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.hits: Counter[str] = Counter()
        self.script: dict[str, list[tuple[int, dict[str, str]]]] = {}
        self.agents: set[str] = set()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.server.hits[self.path] += 1
        self.server.agents.add(self.headers["User-Agent"])
        if self.server.script.get(path):
            status, headers = self.server.script[path].pop(0)
            self.answer(status, b"not now", headers)
        elif path.startswith("/p/"):
            self.answer(200, picture(int(path.split("/")[2].partition(".")[0])))
        elif path == "/page":
            self.answer(200, b"<!DOCTYPE html><p>sorry</p>")
        elif path == "/moved":
            self.answer(302, b"", {"Location": "/p/9.png"})
        elif path == "/loop":
            self.answer(302, b"", {"Location": "/loop"})
        elif path == "/endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(bytes(65536))
            except OSError:
                self.close_connection = True
        elif path == "/cut":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(picture(1))
            self.close_connection = True
        else:
            self.answer(404, b"gone")

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def never(seconds: float) -> None:
    raise AssertionError(f"there was nothing to wait for, asked {seconds} s")


def test_media_come_in_the_order_of_the_urls(server: Server, tmp_path: Path) -> None:
    urls = [f"{server.url}/p/{colour}.png" for colour in (5, 3, 9, 1, 7)]
    downloads = download_media(urls, MediaStore(tmp_path), workers=4, sleep=never)
    assert [download.url for download in downloads] == urls
    for download, colour in zip(downloads, (5, 3, 9, 1, 7), strict=True):
        assert download.reason == ""
        assert download.path is not None
        assert download.path.startswith(f"img/{colour}-")
        assert (tmp_path / download.path).read_bytes() == picture(colour)
    assert all(agent.startswith("flagharness/") for agent in server.agents)


def test_one_url_is_fetched_once(server: Server, tmp_path: Path) -> None:
    url = f"{server.url}/p/4.png"
    first, other, again = download_media([url, f"{url}?size=2", url], MediaStore(tmp_path), sleep=never)
    assert first == again
    assert first.path != other.path
    assert server.hits == {"/p/4.png": 1, "/p/4.png?size=2": 1}


def test_an_empty_list_needs_no_network(tmp_path: Path) -> None:
    assert download_media([], MediaStore(tmp_path), sleep=never) == []


def test_redirects_are_followed_but_not_for_ever(server: Server, tmp_path: Path) -> None:
    moved, loop = download_media(
        [f"{server.url}/moved", f"{server.url}/loop"], MediaStore(tmp_path), sleep=never
    )
    assert moved.path is not None
    assert (tmp_path / moved.path).read_bytes() == picture(9)
    assert loop.path is None
    assert "TooManyRedirects" in loop.reason


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_passing_troubles_are_tried_again_with_growing_waits(
    server: Server, tmp_path: Path, status: int
) -> None:
    server.script["/p/1.png"] = [(status, {})] * 3
    waits: list[float] = []
    [download] = download_media([f"{server.url}/p/1.png"], MediaStore(tmp_path), sleep=waits.append)
    assert download.path is not None
    assert waits == [1, 2, 4]


def test_retry_after_is_honoured_up_to_a_minute(server: Server, tmp_path: Path) -> None:
    server.script["/p/1.png"] = [(429, {"Retry-After": wait}) for wait in ("7", "0", "86400", "soon")]
    waits: list[float] = []
    [download] = download_media([f"{server.url}/p/1.png"], MediaStore(tmp_path), sleep=waits.append)
    assert download.path is not None
    assert waits == [7, 0, 60, 8]


def test_the_tries_end(server: Server, tmp_path: Path) -> None:
    server.script["/p/1.png"] = [(503, {})] * 9
    waits: list[float] = []
    [download] = download_media(
        [f"{server.url}/p/1.png"], MediaStore(tmp_path), retries=2, sleep=waits.append
    )
    assert download == Download(f"{server.url}/p/1.png", None, "HTTP 503 (3 tries)")
    assert waits == [1, 2]
    assert server.hits["/p/1.png"] == 3


def test_a_refused_connection_is_tried_again(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    waits: list[float] = []
    [download] = download_media(
        [f"http://127.0.0.1:{port}/a.png"], MediaStore(tmp_path), retries=1, sleep=waits.append
    )
    assert download.path is None
    assert "ConnectionError" in download.reason
    assert waits == [1]


def test_a_server_that_says_nothing_times_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        [download] = download_media(
            [f"http://127.0.0.1:{port}/a.png"], MediaStore(tmp_path), retries=0, timeout_s=0.05, sleep=never
        )
    assert download.path is None
    assert "Timeout" in download.reason


def test_a_body_that_breaks_off_is_tried_again_and_never_stored(server: Server, tmp_path: Path) -> None:
    waits: list[float] = []
    [download] = download_media([f"{server.url}/cut"], MediaStore(tmp_path), retries=1, sleep=waits.append)
    assert download.path is None
    assert "(2 tries)" in download.reason
    assert waits == [1]
    assert not (tmp_path / "img").exists()


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/none.png", "HTTP 404"),
        ("/page", "none: its 27 bytes begin with b'<!DOCTYPE html><'"),
        ("/endless", "longer than 200000 bytes"),
    ],
)
def test_lasting_troubles_are_told_at_once(server: Server, tmp_path: Path, path: str, reason: str) -> None:
    [download] = download_media(
        [server.url + path], MediaStore(tmp_path), max_bytes=200_000, timeout_s=5, sleep=never
    )
    assert download.path is None
    assert reason in download.reason
    assert server.hits[path] == 1


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://127.0.0.1/a.png", "a.png", "", "http://", "http://["]
)
def test_only_web_addresses_are_fetched(tmp_path: Path, url: str) -> None:
    [download] = download_media([url], MediaStore(tmp_path), sleep=never)
    assert download.path is None
    assert download.reason


def test_the_digest_of_the_bytes_is_checked(server: Server, tmp_path: Path) -> None:
    right, wrong = f"{server.url}/p/1.png", f"{server.url}/p/2.png"
    digests = {right: hashlib.sha256(picture(1)).hexdigest().upper(), wrong: "0" * 64}
    kept, dropped = download_media([right, wrong], MediaStore(tmp_path), sha256=digests, sleep=never)
    assert kept.path is not None
    assert dropped.path is None
    assert hashlib.sha256(picture(2)).hexdigest() in dropped.reason
    assert len(list((tmp_path / "img").iterdir())) == 1


def test_what_is_gone_is_logged_and_written(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    urls = [f"{server.url}{path}" for path in ("/none", "/p/1.png", "/none", "/page")]
    with caplog.at_level(logging.WARNING):
        downloads = download_media(urls, MediaStore(tmp_path), sleep=never)
    assert "1 of 3 media kept" in caplog.text
    assert f"{server.url}/none: HTTP 404" in caplog.text
    assert write_dropped(tmp_path / "dropped.json", downloads) == 2
    rows = json.loads((tmp_path / "dropped.json").read_text(encoding="utf-8"))
    assert rows[0] == {"url": f"{server.url}/none", "reason": "HTTP 404"}
    assert [row["url"] for row in rows] == [f"{server.url}/none", f"{server.url}/page"]
