"""Rows of hub data sets, folders and files, without a network."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from flagharness.data import iter_hf_rows, resolve_source
from flagharness.data._sources import record_sources
from flagharness.errors import DataError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def picture(colour: int, file_format: str = "JPEG") -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (8, 8), colour).save(buffer, file_format)
    return buffer.getvalue()


def write_parquet(path: Path, colours: list[int]) -> Path:
    """Write rows with an Image column, as the library that made the hub's files does."""
    features = datasets.Features(
        {
            "id": datasets.Value("string"),
            "image": datasets.Image(),
            "images": datasets.List(datasets.Image()),
            "answer": datasets.Value("int32"),
        }
    )
    rows = {
        "id": [f"{colour:03}" for colour in colours],
        "image": [{"bytes": picture(colour), "path": None} for colour in colours],
        "images": [[{"bytes": picture(colour, "PNG"), "path": "p.png"}] * (colour % 3) for colour in colours],
        "answer": colours,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    datasets.Dataset.from_dict(rows, features=features).to_parquet(path)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_parquet(tmp_path / "set" / "data" / "test-00000-of-00002.parquet", [0, 1, 2])
    write_parquet(tmp_path / "set" / "data" / "test-00001-of-00002.parquet", [3])
    write_parquet(tmp_path / "set" / "data" / "validation-00000-of-00001.parquet", [9])
    return tmp_path / "set"


def test_pictures_come_as_the_bytes_of_the_source(folder: Path) -> None:
    rows = list(iter_hf_rows(folder, "test"))
    assert [row["id"] for row in rows] == ["000", "001", "002", "003"]
    assert [row["image"]["bytes"] for row in rows] == [picture(colour) for colour in range(4)]
    assert [len(row["images"]) for row in rows] == [0, 1, 2, 0]
    assert rows[1]["images"] == [{"bytes": picture(1, "PNG"), "path": "p.png"}]
    assert [row["answer"] for row in iter_hf_rows(folder, "validation")] == [9]


def test_only_the_columns_asked_for_are_read(folder: Path) -> None:
    assert list(iter_hf_rows(str(folder), "validation", columns=["answer", "id"])) == [
        {"answer": 9, "id": "009"}
    ]


def test_a_missing_split_names_those_that_exist(folder: Path) -> None:
    with pytest.raises(DataError, match=r"no split 'tset'. Did you mean 'test'\? Splits: test, validation"):
        iter_hf_rows(folder, "tset")


def test_a_missing_column_names_the_file_and_those_that_are_there(folder: Path) -> None:
    with pytest.raises(DataError) as caught:
        list(iter_hf_rows(folder, "test", columns=["id", "anwser"]))
    message = str(caught.value)
    assert "test-00000-of-00002.parquet: column 'anwser' is missing. Did you mean 'answer'?" in message
    assert "Columns: id, image, images, answer" in message


def test_configurations_are_chosen_by_name(folder: Path) -> None:
    (folder / "README.md").write_text(
        "---\nconfigs:\n"
        "- config_name: easy\n  data_files:\n  - split: test\n    path: data/validation-*\n"
        "- config_name: hard\n  data_files:\n  - split: test\n    path: data/test-*\n---\n"
    )
    assert [row["answer"] for row in iter_hf_rows(folder, "test", name="easy", columns=["answer"])] == [9]
    assert len(list(iter_hf_rows(folder, "test", name="hard"))) == 4
    with pytest.raises(DataError, match="'easy', 'hard'"):
        iter_hf_rows(folder, "test")
    with pytest.raises(DataError, match="'easy', 'hard'"):
        iter_hf_rows(folder, "test", name="medium")


def test_a_data_set_script_is_never_run(folder: Path) -> None:
    (folder / "set.py").write_text("raise SystemExit('ran')")
    with pytest.raises(DataError, match=r"not a data set that can be read: .*script"):
        iter_hf_rows(folder, "test")


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="not a data set that can be read"):
        iter_hf_rows(tmp_path / "empty", "test")


def test_a_folder_of_pictures_gives_their_bytes(tmp_path: Path) -> None:
    train = tmp_path / "pictures" / "train"
    train.mkdir(parents=True)
    for colour in range(3):
        (train / f"{colour}.png").write_bytes(picture(colour, "PNG"))
    lines = [json.dumps({"file_name": f"{colour}.png", "answer": colour}) for colour in range(3)]
    (train / "metadata.jsonl").write_text("\n".join(lines))
    rows = list(iter_hf_rows(tmp_path / "pictures", "train", columns=["answer", "image"]))
    assert {row["answer"]: row["image"]["bytes"] for row in rows} == {
        colour: picture(colour, "PNG") for colour in range(3)
    }


def test_one_file_is_a_source_and_its_split_is_only_a_label(folder: Path) -> None:
    file = folder / "data" / "test-00001-of-00002.parquet"
    assert [row["answer"] for row in iter_hf_rows(file, "anything")] == [3]


def test_a_pattern_reads_its_files_in_order(folder: Path) -> None:
    rows = iter_hf_rows(f"{folder}/data/*.parquet", "test", columns=["answer"])
    assert [row["answer"] for row in rows] == [0, 1, 2, 3, 9]
    with pytest.raises(DataError, match="no file matches"):
        iter_hf_rows(f"{folder}/data/*.jsonl", "test")


def test_json_lines_keep_their_types(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "001", "answer": 1, "when": "2026-01-01"},
        {"id": "2", "answer": "one", "more": [1, "x"]},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert list(iter_hf_rows(path, "test")) == rows
    assert list(iter_hf_rows(path, "test", columns=["answer"])) == [{"answer": 1}, {"answer": "one"}]
    with pytest.raises(DataError, match=r"rows\.jsonl: column 'more' is missing"):
        list(iter_hf_rows(path, "test", columns=["more"]))


def test_cells_of_csv_files_stay_texts_also_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "test.csv").write_text("id,answer\n001,NA\n")
    expected = [{"id": "001", "answer": "NA"}]
    assert list(iter_hf_rows(tmp_path / "set", "test")) == expected
    assert list(iter_hf_rows(tmp_path / "set" / "test.csv", "test")) == expected


def test_broken_and_unknown_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match=r"a\.parquet: broken parquet file"):
        list(iter_hf_rows(tmp_path / "a.parquet", "test"))
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(DataError, match=r"a\.xlsx: expected a file that ends in one of \.parquet"):
        iter_hf_rows(tmp_path / "a.xlsx", "test")


@pytest.mark.parametrize("source", ["none", "/none/here", "./a/b", "a/b/c", "org/rows.jsonl", "../x", "org/"])
def test_what_is_neither_there_nor_a_hub_id_is_told(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="no such file or folder"):
        resolve_source(source)


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("data", pa.binary())])
    with parquet.ParquetWriter(tmp_path / "big.parquet", schema, compression="none") as writer:
        for start in range(0, 1200, 100):
            writer.write_table(
                pa.table({"id": range(start, start + 100), "data": [os.urandom(20_000)] * 100}, schema=schema)
            )
    list(iter_hf_rows(tmp_path / "big.parquet", "test", columns=["id"]))  # imports are not to be measured
    tracemalloc.start()
    try:
        total = sum(len(row["data"]) for row in iter_hf_rows(tmp_path / "big.parquet", "test"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert total == 24_000_000
    assert peak < 4_000_000


def test_local_sources_have_no_revision_and_are_noted(folder: Path) -> None:
    with record_sources() as noted:
        info = resolve_source(folder)
        list(iter_hf_rows(folder, "test"))
    assert (info.path, info.revision) == (folder, None)
    assert noted == {str(folder): None}


def lay_out_hub_cache(home: Path) -> Path:
    """Make a hub cache by hand: blobs, and a snapshot of links to them."""
    repo = home / "hub" / "datasets--org--name"
    snapshot = repo / "snapshots" / COMMIT / "data"
    snapshot.mkdir(parents=True)
    blob = write_parquet(repo / "blobs" / "abc.parquet", [4, 5])
    blob.rename(repo / "blobs" / "abc")
    (snapshot / "test-00000-of-00001.parquet").symlink_to("../../../blobs/abc")
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(COMMIT)
    return repo / "snapshots" / COMMIT


OFFLINE_SCRIPT = """
import socket, sys
def refuse(*args, **kwargs):
    raise SystemExit("the network was tried")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
from flagharness.data import iter_hf_rows, resolve_source
from flagharness.errors import DataError
info = resolve_source("org/name", allow_patterns=["data/test-*"])
pinned = resolve_source("org/name", info.revision)
assert pinned == info
rows = list(iter_hf_rows("org/name", "test", columns=["answer"]))
try:
    iter_hf_rows("org/other", "test")
except DataError as error:
    print(error, file=sys.stderr)
print(info.path, info.revision, rows)
"""


def test_a_hub_data_set_comes_from_the_cache_without_a_network(tmp_path: Path) -> None:
    snapshot = lay_out_hub_cache(tmp_path / "home")
    environment = {
        **os.environ,
        "HF_HOME": str(tmp_path / "home"),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_DATASETS_CACHE"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE_SCRIPT],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{snapshot} {COMMIT} [{{'answer': 4}}, {{'answer': 5}}]"
    assert "Data set 'org/other' (revision main) can neither be fetched" in done.stderr
    assert "LocalEntryNotFoundError" in done.stderr
