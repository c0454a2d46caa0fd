"""Benchmark tables: where they come from, and what becomes of their rows."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flagharness.data import letter_of, options_of, process_table
from flagharness.data._sources import record_sources
from flagharness.errors import DataError

ROWS = [
    {"index": "0", "question": "How many?", "answer": "NA"},
    {"index": "7", "question": "And\there?", "answer": "007"},
]


def _config(tmp_path: Path, **values: Any) -> Any:
    settings = {
        "processed_dataset_path": str(tmp_path / "out"),
        "split": "val",
        "dataset_path": "org/none",
        **values,
    }
    return SimpleNamespace(**settings, get=lambda key, default=None: settings.get(key, default))


def _row_of(row: dict[str, Any]) -> Mapping[str, Any]:
    return {"question": row["question"], "answer": row["answer"]}


def _made(tmp_path: Path, split: str = "val") -> list[dict[str, Any]]:
    return list(json.loads((tmp_path / "out" / split / "data.json").read_text(encoding="utf-8")))


@pytest.fixture
def picture() -> Callable[[int], bytes]:
    from io import BytesIO

    from PIL import Image

    def draw(number: int) -> bytes:
        file = BytesIO()
        Image.new("RGB", (9, 9), (number, 0, 0)).save(file, "PNG")
        return file.getvalue()

    return draw


@pytest.fixture
def tsv(picture: Callable[[int], bytes]) -> Callable[[Path], Path]:
    def write(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = ["index\timage\tquestion\tanswer"]
        lines += [f'{row["index"]}\t{base64.b64encode(picture(n)).decode()}\t"{row["question"]}"\t{row["answer"]}'
                  for n, row in enumerate(ROWS)]  # fmt: skip
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def _parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    import pyarrow
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows]), path)
    return path


EXPECTED = [
    {"question_id": "0", "img_path": "img/0.png", "question": "How many?", "answer": "NA"},
    {"question_id": "7", "img_path": "img/7.png", "question": "And\there?", "answer": "007"},
]


@pytest.mark.parametrize("place", ["file", "folder", "LMUData"])
def test_a_tsv_is_found_wherever_it_may_lie(
    tmp_path: Path, tsv: Callable[[Path], Path], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tsv(tmp_path / "elsewhere" / "Bench_val.tsv")
    source = {"file": str(file), "folder": str(file.parent), "LMUData": "org/none"}[place]
    if place == "LMUData":
        monkeypatch.setenv("LMUData", str(file.parent))
    process_table(_config(tmp_path, dataset_path=source, table="Bench_val"), _row_of)
    assert _made(tmp_path) == EXPECTED


def test_a_path_that_is_named_comes_before_the_folder_of_all_benchmarks(
    tmp_path: Path, tsv: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LMUData", str(tmp_path / "lmu"))
    (tmp_path / "lmu").mkdir()
    (tmp_path / "lmu" / "B.tsv").write_text("index\tquestion\n1\tx\n")
    process_table(_config(tmp_path, dataset_path=str(tsv(tmp_path / "B.tsv")), table="B"), _row_of)
    assert _made(tmp_path) == EXPECTED


def test_without_any_file_the_hub_is_named_and_how_to_bring_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LMUData", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(DataError, match=r"org/none.*dataset_path=/path/to/files"):
        process_table(_config(tmp_path, table="B"), _row_of)


@pytest.mark.parametrize("cell", ["bytes", "struct", "base64", "path", "list"])
def test_the_same_rows_may_come_as_parquet_with_pictures_in_any_form(
    tmp_path: Path, picture: Callable[[int], bytes], cell: str
) -> None:
    def image(number: int) -> Any:
        data = picture(number)
        (tmp_path / "src").mkdir(exist_ok=True)
        (tmp_path / "src" / f"{number}.png").write_bytes(data)
        return {
            "bytes": data,
            "struct": {"bytes": data, "path": None},
            "base64": base64.b64encode(data).decode(),
            "path": f"./{number}.png",
            "list": [{"bytes": data, "path": "x.png"}],
        }[cell]

    column = {"base64": "image_base64", "path": "image_path", "list": "images"}.get(cell, "image")
    rows = [{"index": int(row["index"]), **row, column: image(n)} for n, row in enumerate(ROWS)]
    file = _parquet(tmp_path / "src" / "b.parquet", rows)
    process_table(_config(tmp_path, dataset_path=str(file)), _row_of)
    made = _made(tmp_path)
    assert [{**row, "img_path": 0} for row in made] == [{**row, "img_path": 0} for row in EXPECTED]
    stored = [(tmp_path / "out" / "val" / row["img_path"]).read_bytes() for row in made]
    assert stored == [picture(0), picture(1)]


def test_rows_without_an_index_are_numbered_from_0(tmp_path: Path, picture: Callable[[int], bytes]) -> None:
    file = _parquet(
        tmp_path / "b.parquet", [{"question": "?", "answer": "1", "image": picture(n)} for n in (1, 2)]
    )
    process_table(_config(tmp_path, dataset_path=str(file)), _row_of)
    assert [row["question_id"] for row in _made(tmp_path)] == ["0", "1"]


def test_rows_that_show_nothing_are_left_out_and_named(
    tmp_path: Path, picture: Callable[[int], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    rows = [
        {"question": "?", "answer": "1", "image": picture(1)},
        {"question": "?", "answer": "1", "image": None},
    ]
    with caplog.at_level(logging.WARNING, logger="flagharness"):
        process_table(_config(tmp_path, dataset_path=str(_parquet(tmp_path / "b.parquet", rows))), _row_of)
    assert len(_made(tmp_path)) == 1
    skipped = json.loads((tmp_path / "out" / "val" / "skipped.json").read_text())
    assert skipped == [{"index": "1", "reason": "the row has neither image nor image_path"}]
    assert "1 none (left out)" in caplog.text


def test_a_row_whose_picture_is_broken_stays_as_a_data_error(
    tmp_path: Path, picture: Callable[[int], bytes]
) -> None:
    rows = [{"question": "?", "answer": "1", "image": picture(1)},
            {"question": "?", "answer": "1", "image": picture(2)[:40]},
            {"question": "?", "answer": "1", "image": b"no picture"}]  # fmt: skip
    process_table(_config(tmp_path, dataset_path=str(_parquet(tmp_path / "b.parquet", rows))), _row_of)
    assert ["data_error" in row for row in _made(tmp_path)] == [False, True, True]


def test_all_rows_that_are_not_as_expected_are_named_at_once(
    tmp_path: Path, tsv: Callable[[Path], Path]
) -> None:
    def refuse(row: dict[str, Any]) -> Mapping[str, Any]:
        raise ValueError(f"answer {row['answer']!r} is no letter")

    with pytest.raises(DataError) as caught:
        process_table(_config(tmp_path, dataset_path=str(tsv(tmp_path / "b.tsv"))), refuse)
    assert "2 rows are not as expected" in str(caught.value)
    assert "row 2 (index '7'): answer '007' is no letter" in str(caught.value)


@pytest.mark.parametrize("kind", ["tsv", "parquet"])
def test_a_missing_column_is_named_with_those_that_are_there(
    tmp_path: Path, tsv: Callable[[Path], Path], picture: Callable[[int], bytes], kind: str
) -> None:
    file = tsv(tmp_path / "b.tsv") if kind == "tsv" else _parquet(
        tmp_path / "b.parquet", [{"question": "?", "image": picture(1)}]
    )  # fmt: skip
    with pytest.raises(DataError, match=r"column 'questoin' is missing\. Did you mean 'question'\?"):
        process_table(_config(tmp_path, dataset_path=str(file)), _row_of, required=["questoin"])


def test_another_md5_is_said_and_kept_and_the_table_used(
    tmp_path: Path, tsv: Callable[[Path], Path], caplog: pytest.LogCaptureFixture
) -> None:
    file = tsv(tmp_path / "b.tsv")
    with caplog.at_level(logging.WARNING, logger="flagharness"), record_sources() as sources:
        process_table(_config(tmp_path, dataset_path=str(file), md5="00000000"), _row_of)
    assert "begins with 00000000" in caplog.text
    (found,) = [value for value in sources.values() if value and value.startswith("md5:")]
    assert len(found) == len("md5:") + 32
    caplog.clear()
    process_table(_config(tmp_path, dataset_path=str(file), md5=found[4:12].upper()), _row_of)
    assert "MD5" not in caplog.text
    assert len(_made(tmp_path)) == 2


def test_shuffled_rows_are_the_same_rows_in_the_same_new_order_each_time(
    tmp_path: Path, picture: Callable[[int], bytes]
) -> None:
    rows = [{"index": n, "question": "?", "answer": "1", "image": picture(n)} for n in range(40)]
    file = _parquet(tmp_path / "b.parquet", rows)
    orders = []
    for split in ("a", "b"):
        process_table(_config(tmp_path, dataset_path=str(file), split=split), _row_of, shuffle=True)
        orders.append([int(row["question_id"]) for row in _made(tmp_path, split)])
    assert orders[0] == orders[1] != list(range(40))
    assert sorted(orders[0]) == list(range(40))


def test_rows_may_be_text_alone(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"question": "?", "answer": 1}\n')
    process_table(_config(tmp_path, dataset_path=str(tmp_path / "b.jsonl")), _row_of, images=False)
    assert _made(tmp_path) == [{"question_id": "0", "question": "?", "answer": 1}]


def test_a_row_may_be_left_out_and_may_have_an_id_of_its_own(
    tmp_path: Path, tsv: Callable[[Path], Path]
) -> None:
    def second_only(row: dict[str, Any]) -> Mapping[str, Any] | None:
        return {"question_id": "mine"} if row["index"] == "7" else None

    process_table(_config(tmp_path, dataset_path=str(tsv(tmp_path / "b.tsv"))), second_only)
    assert _made(tmp_path) == [{"question_id": "mine", "img_path": "img/7.png"}]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"A": "x"}, "1 options"),
        ({"A": "", "B": ""}, "0 options"),
        ({"A": "x", "B": "", "C": "z"}, "option B is empty"),
        ({"A": "x", "B": None, "C": "z"}, "option B is empty"),
        ({}, "0 options"),
    ],
)
def test_options_that_are_none_are_refused(row: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        options_of(row)


def test_an_option_is_the_text_that_stands_there() -> None:
    assert options_of({"A": "None", "B": "NA", "C": 0, "D": "", "E": ""}) == ["None", "NA", "0"]


@pytest.mark.parametrize("answer", ["E", "", "AB", "0", None, 2])
def test_a_truth_that_is_no_letter_of_the_row_is_refused(answer: Any) -> None:
    with pytest.raises(ValueError, match="none of the letters A to D"):
        letter_of(answer, 4)


@pytest.mark.parametrize(("cell", "kept"), [(0, ["0", "1"]), ("0", ["0", "1"]), (" 0 ", ["0", "1"])])
def test_a_reference_may_be_a_number_or_have_space_around_it(
    tmp_path: Path, picture: Callable[[int], bytes], cell: Any, kept: list[str]
) -> None:
    rows = [{"index": 0, "question": "?", "answer": "1", "image": base64.b64encode(picture(0)).decode()},
            {"index": 1, "question": "?", "answer": "1", "image": cell}]  # fmt: skip
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    process_table(_config(tmp_path, dataset_path=str(tmp_path / "b.jsonl")), _row_of)
    assert [row["question_id"] for row in _made(tmp_path)] == kept
    assert len({row["img_path"] for row in _made(tmp_path)}) == 1


def test_columns_of_our_own_names_say_nothing(tmp_path: Path, picture: Callable[[int], bytes]) -> None:
    rows = [{"question": "?", "answer": "1", "image": picture(1), "img_path": "img/9.png", "data_error": "none"},
            {"question": "?", "answer": "1", "image": None, "img_path": "img/0.png", "data_error": ""}]  # fmt: skip
    process_table(_config(tmp_path, dataset_path=str(_parquet(tmp_path / "b.parquet", rows))), _row_of)
    assert _made(tmp_path) == [{"question_id": "0", "img_path": "img/0.png", "question": "?", "answer": "1"}]


def test_an_index_that_pandas_made_a_float_of_is_the_number(
    tmp_path: Path, picture: Callable[[int], bytes]
) -> None:
    rows = [{"index": index, "question": "?", "answer": "1", "image": picture(n)}
            for n, index in enumerate((7.0, float("nan")))]  # fmt: skip
    process_table(_config(tmp_path, dataset_path=str(_parquet(tmp_path / "b.parquet", rows))), _row_of)
    assert [row["question_id"] for row in _made(tmp_path)] == ["7", "1"]


def test_commas_in_a_tsv_are_told(tmp_path: Path) -> None:
    (tmp_path / "b.tsv").write_text('index,question,answer\t\n1,"a",2\tx\n')
    with pytest.raises(DataError, match=r"b\.tsv: column 'answer' is missing.*separated by tabs"):
        process_table(_config(tmp_path, dataset_path=str(tmp_path / "b.tsv")), _row_of, required=["answer"])


def test_links_are_fetched_once_and_one_that_leads_nowhere_is_a_data_error(
    tmp_path: Path, picture: Callable[[int], bytes], file_server: Callable[[Mapping[str, bytes]], str]
) -> None:
    base = file_server({"/a.png": picture(1), "/b.png": picture(2), "/page": b"<html>sorry</html>"})
    cells = [f"{base}/a.png", f"['{base}/a.png', '{base}/b.png']", f"{base}/gone.png", f"{base}/page"]
    rows = [{"index": n, "question": "?", "answer": "x", "image": cell} for n, cell in enumerate(cells)]
    source = tmp_path / "t.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    process_table(_config(tmp_path, dataset_path=str(source)), _row_of)
    one, two, gone, page = _made(tmp_path)
    folder = tmp_path / "out" / "val"
    assert (folder / one["img_path"]).read_bytes() == picture(1)
    assert [(folder / path).read_bytes() for path in two["img_path"]] == [picture(1), picture(2)]
    assert two["img_path"][0] == one["img_path"]
    assert "gone.png: HTTP 404" in gone["data_error"]
    assert f"{base}/page" in page["data_error"]


def test_a_table_may_be_several_files(tmp_path: Path, picture: Callable[[int], bytes]) -> None:
    for name, question in (("part1.jsonl", "one?"), ("part2.jsonl", "two?")):
        (tmp_path / "p").mkdir(exist_ok=True)
        (tmp_path / "p" / f"{name}.png").write_bytes(picture(len(question)))
        row = {"question": question, "answer": "x", "image_path": f"{name}.png"}
        (tmp_path / "p" / name).write_text(json.dumps(row) + "\n", encoding="utf-8")
    process_table(_config(tmp_path, dataset_path=str(tmp_path / "p" / "part*.jsonl")), _row_of)
    assert [(row["question_id"], row["question"]) for row in _made(tmp_path)] == [
        ("0", "one?"),
        ("1", "two?"),
    ]


def test_a_fixed_subset_brings_the_pictures_it_borrows(
    tmp_path: Path, picture: Callable[[int], bytes]
) -> None:
    rows = [
        {
            "index": n,
            "question": f"{n}?",
            "answer": "x",
            "image": base64.b64encode(picture(1)).decode() if n == 0 else "0",
        }
        for n in range(10)
    ]
    source = tmp_path / "t.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sample = {"n": 3, "of": 10, "seed": 42}
    process_table(_config(tmp_path, dataset_path=str(source), sample=sample), _row_of)
    # numpy.random.RandomState(42).permutation(10) begins 8, 1, 5
    assert [row["question_id"] for row in _made(tmp_path)] == ["1", "5", "8"]
    assert {row["img_path"] for row in _made(tmp_path)} == {"img/0.png"}
