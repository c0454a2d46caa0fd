"""Faults of data preparation that people met, as rows of one data file."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from flagharness.data import MediaStore, iter_hf_rows, load_annotations, read_image_tsv, read_tsv
from flagharness.errors import DataError

_ROOT = Path(__file__).parents[2]
_FILE = _ROOT / "tests" / "data" / "hard_cases" / "data-prep.json"
_CASES = [case for case in json.loads(_FILE.read_text(encoding="utf-8")) if "do" in case["input"]]


def _picture(mode: str, file_format: str) -> bytes:
    buffer = io.BytesIO()
    Image.effect_noise((24, 24), 90).convert(mode).save(buffer, file_format)
    return buffer.getvalue()


def _table(folder: Path, columns: list[str], rows: list[list[str]]) -> Path:
    path = folder / "table.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows([columns, *rows])
    return path


def _store(case: dict[str, Any], folder: Path, *_: object) -> dict[str, Any]:
    data = _picture("CMYK", "JPEG")
    path = MediaStore(folder).add(data, case["name"])
    return {"path": path, "same_bytes": (folder / path).read_bytes() == data}


def _pictures(
    case: dict[str, Any], folder: Path, caplog: pytest.LogCaptureFixture, *_: object
) -> dict[str, Any]:
    png = _picture("L", "PNG")
    cells = {"PNG": png, "cut PNG": png[: len(png) // 2]}
    rows = [[index, base64.b64encode(cells[kind]).decode()] for index, kind in case["rows"]]
    table = read_image_tsv(_table(folder, case["columns"], rows), MediaStore(folder))
    return {
        "prepared": [row["index"] for row in table.rows],
        "broken": [row["index"] for row in table.rows if row["img_path"] == "unreadable-picture"],
        "log": told if (told := "2 rows have their picture, 1 a broken one") in caplog.text else caplog.text,
    }


def _read_offline(
    case: dict[str, Any], folder: Path, _: object, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    tries: list[object] = []
    monkeypatch.setattr(socket.socket, "connect", lambda *args: tries.append(args))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: tries.append(args))
    (folder / "test.jsonl").write_text("\n".join(map(json.dumps, case["rows"])), encoding="utf-8")
    return {"rows": list(iter_hf_rows(folder, "test")), "network_tries": len(tries)}


def _require(case: dict[str, Any], folder: Path, *_: object) -> dict[str, Any]:
    path = _table(folder, case["columns"], [])
    with pytest.raises(DataError) as caught:
        read_tsv(path, case["required"])
    assert str(path) in str(caught.value)
    return {
        "error": "column 'answer' is missing" if "column 'answer' is missing" in str(caught.value) else None
    }


def _copy_in_another_locale(case: dict[str, Any], folder: Path, *_: object) -> dict[str, Any]:
    path = _table(folder, case["columns"], case["rows"])
    code = (
        "import sys; from flagharness.data import read_tsv, write_annotations\n"
        "rows = ({'question_id': r['index'], 'question': r['question']} for r in read_tsv(sys.argv[1]))\n"
        "write_annotations(sys.argv[2], rows)"
    )
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(_ROOT)}
    subprocess.run([sys.executable, "-c", code, path, folder], env={**os.environ, **locale}, check=True)
    return {"rows": load_annotations([folder / "data.json"])}


_ACTIONS: dict[str, Callable[..., dict[str, Any]]] = {
    "store": _store,
    "pictures": _pictures,
    "read offline": _read_offline,
    "require": _require,
    "copy under LC_ALL=C": _copy_in_another_locale,
}


@pytest.mark.parametrize("case", _CASES, ids=lambda case: str(case["id"]))
def test_data_that_tripped_people_up_is_prepared_or_told(
    case: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _ACTIONS[case["input"]["do"]](case["input"], tmp_path, caplog, monkeypatch) == case["expected"]
