"""PixMo-Count: pictures from the web, those that are gone dropped in the open."""

from __future__ import annotations

import doctest
import hashlib
import importlib.util
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from flagharness.data import load_annotations

FOLDER = Path(__file__).parents[2] / "tasks" / "pixmo_count"


class Web:
    """A web server with pictures; ``asked`` counts the requests for each."""

    def __init__(self, pictures: dict[str, bytes]) -> None:
        self.asked: Counter[str] = Counter()
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked[self.path] += 1
                picture = pictures.get(self.path)
                busy = self.path == "/busy.png" and web.asked[self.path] == 1
                self.send_response(500 if busy else 404 if picture is None else 200)
                if busy:
                    self.send_header("Retry-After", "0")
                body = b"" if picture is None or busy else picture
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


PICTURES = ("/a.png", "/b.png", "/busy.png", "/changed.png")


@pytest.fixture
def web(png: Callable[..., bytes]) -> Iterator[Web]:
    server = Web({path: png(n) for n, path in enumerate(PICTURES)})
    yield server
    server.close()


@pytest.fixture
def records(web: Web, png: Callable[..., bytes]) -> list[dict[str, Any]]:
    """Six records: two of one picture, one busy at first, one changed since, one gone."""

    def record(path: str, count: int, label: str, data: bytes) -> dict[str, Any]:
        return {
            "image_url": web.url + path,
            "image_sha256": hashlib.sha256(data).hexdigest(),
            "count": count,
            "points": [],
            "label": label,
        }

    return [
        record("/a.png", 2, "airplanes", png(0)),
        record("/b.png", 10, "people", png(1)),
        record("/gone.png", 3, "cups", png(9)),
        record("/a.png", 4, "wheels", png(0)),
        record("/changed.png", 5, "dogs", png(8)),
        record("/busy.png", 6, "cats", png(2)),
    ]


def test_a_run_keeps_what_can_be_had_and_says_what_cannot(
    run_benchmark: Callable[..., Any],
    golden_requests: Callable[..., None],
    write_parquet: Callable[..., Path],
    records: list[dict[str, Any]],
    web: Web,
    endpoint: Any,
    tmp_path: Path,
) -> None:
    replies = {"airplanes": "2", "people": "There are 9.", "wheels": "four", "cats": endpoint.fails(400)}
    run = run_benchmark(
        "PixmoCount_val",
        write_parquet("pixmo.parquet", records),
        lambda call: replies[call.text.split()[2]],
        name="pixmo_count",
    )
    # Right: airplanes. Errors 0, 1, 4 (a number word) and 6 (refused).
    result = run.files.result
    assert (run.ran.returncode, result["accuracy"], result["n"], result["mae"]) == (3, 25.0, 4, 2.75)
    assert run.files.counts == {"total": 4, "answered": 3, "request_errors": 1, "parse_failures": 1}
    assert result["note"] == "the data holds 4 rows, the benchmark 534"
    assert len(result["obtained_by"]["data_digest"]) == 32
    assert "3 of 5 media kept, gone:" in run.ran.stderr
    assert "4 of 6 rows kept" in run.ran.stderr
    assert "pixmo_count: the data lacks rows of 2 media that could not be had" in run.ran.stderr
    golden_requests("pixmo_count", run.calls[:2])

    folder = tmp_path / "cache" / "PixmoCount" / "validation"
    entries = json.loads((folder / "dropped.json").read_text())
    dropped = {entry["url"].rpartition("/")[2]: entry["reason"] for entry in entries}
    assert dropped["gone.png"] == "HTTP 404"
    assert dropped["changed.png"].startswith("the bytes have SHA-256")
    assert web.asked == {"/a.png": 1, "/b.png": 1, "/busy.png": 2, "/changed.png": 1, "/gone.png": 1}
    rows = load_annotations([folder / "data.json"])
    assert [row["question_id"] for row in rows] == ["0", "1", "3", "5"]
    assert rows[0]["img_path"] == rows[2]["img_path"]
    assert {**rows[1], "img_path": ""} == {
        "question_id": "1",
        "question": "How many people are there in the image? If the same instance appears more than once, it should "
        "be counted as multiple instances. Your final answer should be a single integer.",
        "question_type": "count",
        "answer": 10,
        "img_path": "",
        "sub_task": "10",
        "label": "people",
    }


def test_a_row_whose_address_has_another_digest_in_a_later_record_is_dropped(
    run_benchmark: Callable[..., Any],
    write_parquet: Callable[..., Path],
    records: list[dict[str, Any]],
    tmp_path: Path,
) -> None:
    stale = {**records[0], "image_sha256": "0" * 64}
    run = run_benchmark("pixmo_count", write_parquet("pixmo.parquet", [stale, records[3]]), lambda call: "4")
    assert (run.ran.returncode, run.files.result["accuracy"], run.files.result["n"]) == (0, 100.0, 1)
    folder = tmp_path / "cache" / "PixmoCount" / "validation"
    assert [row["question_id"] for row in load_annotations([folder / "data.json"])] == ["1"]
    reason = "another record gives its SHA-256, not " + "0" * 64
    assert json.loads((folder / "dropped.json").read_text()) == [
        {"url": stale["image_url"], "reason": reason}
    ]


def test_no_picture_at_all_is_an_error(
    run_benchmark: Callable[..., Any],
    write_parquet: Callable[..., Path],
    records: list[dict[str, Any]],
    endpoint: Any,
) -> None:
    run = run_benchmark("pixmo_count", write_parquet("pixmo.parquet", [records[2]]), lambda call: "3")
    assert run.ran.returncode == 1
    assert "0 of 1 rows kept" in run.ran.stderr
    assert endpoint.calls == []


def test_the_digest_of_the_data_depends_on_the_rows_that_were_kept(
    run_benchmark: Callable[..., Any],
    write_parquet: Callable[..., Path],
    records: list[dict[str, Any]],
    files_of: Callable[..., Any],
) -> None:
    digests = []
    for kept in (records[:2], records[:2], records[:1]):
        source = write_parquet("pixmo.parquet", kept)
        run = run_benchmark("pixmo_count", source, lambda call: "2", "--overwrite")
        digests.append(run.files.result["obtained_by"]["data_digest"])
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"count": -1}, "record 0: count -1 is no whole number"),
        ({"label": " "}, "record 0: label is ' '"),
        ({"image_sha256": None}, "record 0: image_sha256 is None"),
    ],
)
def test_records_that_are_not_as_expected_are_named_before_anything_is_fetched(
    run_benchmark: Callable[..., Any],
    write_parquet: Callable[..., Path],
    records: list[dict[str, Any]],
    web: Web,
    change: dict[str, Any],
    said: str,
) -> None:
    source = write_parquet("pixmo.parquet", [{**records[0], **change}, records[1]])
    run = run_benchmark("pixmo_count", source, lambda call: "2")
    assert run.ran.returncode == 1
    assert said in run.ran.stderr
    assert not web.asked


def test_the_examples_in_process_py_hold() -> None:
    spec = importlib.util.spec_from_file_location("pixmo_count_process", FOLDER / "process.py")
    assert spec is not None
    assert spec.loader is not None
    task = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(task)
    assert doctest.testmod(task) == (0, 1)
