"""Tables with pictures in their cells."""

from __future__ import annotations

import base64
import csv
import io
import json
import logging
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from flagharness.data import MediaStore, decode_image_cell, read_image_tsv, read_tsv
from flagharness.errors import DataError


def picture(seed: int, file_format: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.frombytes("L", (16, 16), random.Random(seed).randbytes(256)).save(buffer, file_format)
    return buffer.getvalue()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def write_table(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([header, *rows])
    return path


def test_every_cell_is_the_text_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(
        "index\tanswer\tA\tB\n001\tNA\tNone\tnull\n1e3\t\tnan\t 7 \n", encoding="utf-8", newline=""
    )
    assert list(read_tsv(path)) == [
        {"index": "001", "answer": "NA", "A": "None", "B": "null"},
        {"index": "1e3", "answer": "", "A": "nan", "B": " 7 "},
    ]


def test_quoted_cells_hold_tabs_newlines_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes(b'index\tquestion\r\n1\t"two\nlines\tand ""quotes"""\r\n\r\n2\t5" wide\r\n')
    assert list(read_tsv(path)) == [
        {"index": "1", "question": 'two\nlines\tand "quotes"'},
        {"index": "2", "question": '5" wide'},
    ]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes("index\tq\n1\t图🐱\n".encode("utf-8-sig"))
    assert list(read_tsv(path, ["index"])) == [{"index": "1", "q": "图🐱"}]


def test_another_separator_reads_csv(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n1,"x,y"\n')
    assert list(read_tsv(path, delimiter=",")) == [{"a": "1", "b": "x,y"}]


def test_a_missing_column_is_told_at_the_call(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.tsv", ["index", "question", "awnser"], [["1"]])
    with pytest.raises(DataError) as caught:
        read_tsv(path, ["index", "answer"])
    assert str(caught.value) == (
        f"{path}: column 'answer' is missing. Did you mean 'awnser'? Columns: index, question, awnser"
    )


def test_an_empty_file_has_no_columns(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("")
    assert list(read_tsv(tmp_path / "t.tsv")) == []
    with pytest.raises(DataError, match="Columns: none"):
        read_tsv(tmp_path / "t.tsv", ["index"])


def test_a_column_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.tsv", ["index", "A", "A"], [])
    with pytest.raises(DataError, match="column 'A' is named twice"):
        read_tsv(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('index\tq\n1\t"a\nb"\n2\n', "line 4: 1 cells where the header has 2 (the row begins '2')"),
        ("index\tq\n1\ta\tb\n", "line 2: 3 cells where the header has 2"),
        ('index\tq\n1\ta\n2\t"never closed\n3\tb\n', "line 3: unexpected end of data"),
        ('index\tq\n1\t"Stop" is where?\n', "line 2: '\t' expected after '\"'"),
    ],
)
def test_a_broken_row_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(DataError) as caught:
        list(read_tsv(path))
    assert f"{path}, {message}" in str(caught.value)


def test_other_encodings_and_missing_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(b"index\tq\n1\t\xe9\n")
    with pytest.raises(DataError, match=r"t\.tsv, in or after line 1: not UTF-8"):
        list(read_tsv(tmp_path / "t.tsv"))
    with pytest.raises(DataError, match=r"none\.tsv: cannot be read"):
        read_tsv(tmp_path / "none.tsv")


_CELLS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.lists(st.lists(_CELLS, min_size=2, max_size=2), max_size=8))
def test_what_the_csv_module_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("tsv") / "t.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    assert [[row["a"], row["b"]] for row in read_tsv(path)] == rows


def test_memory_holds_one_row_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    with path.open("w") as file:
        file.write("index\timage\n")
        for number in range(40):
            file.write(f"{number}\t{'A' * 500_000}\n")
    tracemalloc.start()
    try:
        assert sum(len(row["image"]) for row in read_tsv(path)) == 20_000_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6_000_000


def test_a_cell_holds_one_picture_or_a_list_of_them() -> None:
    one, two = picture(1), picture(2, "JPEG")
    assert decode_image_cell(b64(one)) == [one]
    assert decode_image_cell(json.dumps([b64(one), b64(two)])) == [one, two]
    assert decode_image_cell(str([b64(one), b64(two)])) == [one, two]
    assert decode_image_cell(f"data:image/png;base64,{b64(one)}") == [one]


def test_line_breaks_inside_base64_are_passed_over() -> None:
    assert decode_image_cell(base64.encodebytes(picture(1)).decode()) == [picture(1)]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (b64(picture(1))[:-3], "not base64"),
        ("é" * 70, "not base64"),
        (b64(b"not a picture, but long enough not to be taken for a reference"), "holds no picture"),
        ("[]", "begins like a list"),
        ("[1, 2]", "begins like a list"),
        ("[__import__('os').getcwd()]", "begins like a list"),
        ("['abc'", "begins like a list"),
    ],
)
def test_a_cell_without_a_picture_is_told(cell: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        decode_image_cell(cell)


def test_pictures_are_stored_and_rows_point_to_them(tmp_path: Path) -> None:
    path = write_table(
        tmp_path / "t.tsv",
        ["index", "image", "question", "answer"],
        [
            ["early", "5", "uses a later row", "1"],
            ["5", b64(picture(5)), "one", "2"],
            ["6", str([b64(picture(6)), b64(picture(7, "JPEG"))]), "two", "3"],
            ["7", "6", "uses an earlier row", "4"],
            ["6_1", b64(picture(8)), "a name like the first of row 6", "5"],
        ],
    )
    table = read_image_tsv(path, MediaStore(tmp_path / "out"), ["question", "answer"])
    assert table.skipped == []
    assert [row["index"] for row in table.rows] == ["early", "5", "6", "7", "6_1"]
    early, five, six, seven, other = (row["img_path"] for row in table.rows)
    assert early == five == "img/5.png"
    assert six == seven == ["img/6_1.png", "img/6_2.jpg"]
    assert other not in (*six, five)
    stored = {name: (tmp_path / "out" / name).read_bytes() for name in [five, *six, other]}
    assert list(stored.values()) == [picture(5), picture(6), picture(7, "JPEG"), picture(8)]
    assert table.rows[1] == {"index": "5", "question": "one", "answer": "2", "img_path": "img/5.png"}


def test_rows_with_broken_pictures_stay_and_are_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = picture(2, "JPEG")
    path = write_table(
        tmp_path / "t.tsv",
        ["index", "image"],
        [
            ["good", b64(picture(1))],
            ["cut text", b64(picture(1))[:-3]],
            ["cut file", b64(whole[: len(whole) // 2])],
            ["half a list", str([b64(picture(3)), b64(whole[: len(whole) // 2])])],
            ["page", b64(b"<!DOCTYPE html>" + bytes(60))],
            ["refers to one of them", "cut text"],
            ["nothing", ""],
            ["also good", b64(picture(4))],
        ],
    )
    with caplog.at_level(logging.WARNING):
        table = read_image_tsv(path, MediaStore(tmp_path / "out"))
    broken = ["cut text", "cut file", "half a list", "page", "refers to one of them"]
    assert [row["index"] for row in table.rows] == ["good", *broken, "also good"]
    reasons = {
        row["index"]: row["data_error"] for row in table.rows if row["img_path"] == "unreadable-picture"
    }
    assert list(reasons) == broken
    assert [entry["index"] for entry in table.skipped] == ["nothing"]
    assert "not base64" in reasons["cut text"]
    assert "the picture " in reasons["cut file"]
    assert "holds no picture" in reasons["page"]
    assert "row 'cut text', which cannot be used" in reasons["refers to one of them"]
    assert "neither image nor image_path" in table.skipped[0]["reason"]
    assert "2 rows have their picture, 5 a broken one, 1 none (left out)" in caplog.text
    assert "row 'page'" in caplog.text
    assert sorted(file.name for file in (tmp_path / "out" / "img").iterdir()) == ["also_good.png", "good.png"]


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("99", "row '1' uses the picture of row '99', which does not exist"),
        ("2", "row '1' uses the picture of row '2', which is itself a reference"),
        ("1", "row '1' uses the picture of row '1', which is itself a reference"),
    ],
)
def test_a_reference_must_lead_to_a_picture(tmp_path: Path, cell: str, message: str) -> None:
    path = write_table(
        tmp_path / "t.tsv", ["index", "image"], [["0", b64(picture(0))], ["1", cell], ["2", "0"]]
    )
    with pytest.raises(DataError) as caught:
        read_image_tsv(path, MediaStore(tmp_path / "out"))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_cell_of_64_characters_is_a_reference_and_one_of_65_a_picture(tmp_path: Path) -> None:
    key = "k" * 64
    path = write_table(tmp_path / "t.tsv", ["index", "image"], [[key, b64(picture(0))], ["1", key]])
    rows = read_image_tsv(path, MediaStore(tmp_path / "out")).rows
    assert rows[0]["img_path"] == rows[1]["img_path"]
    path = write_table(tmp_path / "u.tsv", ["index", "image"], [["0", b64(picture(0))], ["1", "k" * 65]])
    assert "not base64" in read_image_tsv(path, MediaStore(tmp_path / "out2")).rows[1]["data_error"]


def test_pictures_named_by_path_are_taken_from_beside_the_table(tmp_path: Path) -> None:
    (tmp_path / "images" / "b").mkdir(parents=True)
    (tmp_path / "images" / "a.png").write_bytes(picture(1))
    (tmp_path / "images" / "b" / "a.png").write_bytes(picture(2))
    path = write_table(
        tmp_path / "t.tsv",
        ["index", "image_path"],
        [
            ["1", "images/a.png"],
            ["2", "['images/a.png', 'images/b/a.png']"],
            ["3", "images/none.png"],
            ["4", "t.tsv"],
        ],
    )
    table = read_image_tsv(path, MediaStore(tmp_path / "out"))
    assert table.rows[0]["img_path"] == "img/images_a.png"
    assert table.rows[1]["img_path"] == ["img/images_a.png", "img/images_b_a.png"]
    assert [row["index"] for row in table.rows if "data_error" in row] == ["3", "4"]
    assert "none.png does not exist" in table.rows[2]["data_error"]
    other = read_image_tsv(
        write_table(tmp_path / "u.tsv", ["index", "image_path"], [["1", "a.png"]]),
        MediaStore(tmp_path / "out2"),
        image_root=tmp_path / "images",
    )
    assert (tmp_path / "out2" / other.rows[0]["img_path"]).read_bytes() == picture(1)


def test_an_index_that_comes_twice_is_refused(tmp_path: Path) -> None:
    path = write_table(
        tmp_path / "t.tsv", ["index", "image"], [["1", b64(picture(1))], ["1", b64(picture(2))]]
    )
    with pytest.raises(DataError, match="index '1' comes twice"):
        read_image_tsv(path, MediaStore(tmp_path / "out"))


def test_a_table_without_any_picture_is_refused(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.tsv", ["index", "image"], [["1", ""], ["2", "x" * 70]])
    with pytest.raises(DataError, match=r"no row has a picture(.|\n)*row '2'(.|\n)*row '1'"):
        read_image_tsv(path, MediaStore(tmp_path / "out"))
