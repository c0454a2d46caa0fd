"""Media under safe names, byte for byte."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from flagharness.data import MediaStore
from flagharness.data._media_store import safe_stem
from flagharness.errors import DataError


def picture(colour: int = 0, file_format: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.new("L", (2, 2), colour).save(buffer, file_format)
    return buffer.getvalue()


def test_the_bytes_are_stored_as_they_are(tmp_path: Path) -> None:
    data = picture() + b"something behind the end"
    path = MediaStore(tmp_path).add(data, "17")
    assert path == "img/17.png"
    assert (tmp_path / path).read_bytes() == data


@pytest.mark.parametrize(
    ("data", "ending"),
    [
        (picture(), "png"),
        (picture(file_format="JPEG"), "jpg"),
        (picture(file_format="WEBP"), "webp"),
        (picture(file_format="GIF"), "gif"),
        (picture(file_format="BMP"), "bmp"),
        (picture(file_format="TIFF"), "tif"),
        (b"\x00\x00\x00\x18ftypisom" + bytes(20), "mp4"),
        (b"\x00\x00\x00\x14ftypqt  " + bytes(20), "mov"),
        (b"\x1aE\xdf\xa3" + b"\x42\x82\x84webm", "webm"),
        (b"\x1aE\xdf\xa3" + b"\x42\x82\x88matroska", "mkv"),
        (b"RIFF\x10\x00\x00\x00AVI LIST", "avi"),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", "wav"),
        (b"ID3\x04" + bytes(20), "mp3"),
    ],
)
def test_the_extension_is_that_of_the_bytes_not_of_the_name(tmp_path: Path, data: bytes, ending: str) -> None:
    store = MediaStore(tmp_path, "media")
    assert store.add(data, "a.jpeg") == f"media/a.{ending}"


def test_a_cmyk_picture_is_stored_like_any_other(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.new("CMYK", (4, 4)).save(buffer, "JPEG")
    path = MediaStore(tmp_path).add(buffer.getvalue(), "cmyk.png")
    assert path == "img/cmyk.jpg"
    assert (tmp_path / path).read_bytes() == buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("a.png", "a"),
        ("a.b.JPEG", "a.b"),
        ("v1.5", "v1.5"),
        ("COCO/val 2014/1.jpg", "COCO_val_2014_1"),
        ("../../etc/passwd", "etc_passwd"),
        ("..\\x", "x"),
        ("/root", "root"),
        (".hidden", "hidden"),
        ("图片 1", "图片_1"),
        ("e\u0301", "é"),
        ("", "_"),
        ("..", "_"),
        (".png", "_"),
        ("a\0b\nc", "a_b_c"),
        ("https://x.org/a?b=c&d", "https_x.org_a_b_c_d"),
    ],
)
def test_names_become_safe(name: str, stem: str) -> None:
    assert safe_stem(name) == stem


def test_long_names_are_cut_to_what_a_file_system_takes(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    paths = [store.add(picture(colour), "图" * 500 + str(colour)) for colour in range(3)]
    assert len(set(paths)) == 3
    assert all((tmp_path / path).is_file() for path in paths)


def test_different_names_that_become_alike_get_different_files(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    names = ["a/b", "a_b", "a b", "A_B", "a_b.png", "a_b.jpg"]
    paths = {name: store.add(picture(number), name) for number, name in enumerate(names)}
    assert paths["a/b"] == "img/a_b.png"
    assert len({path.casefold() for path in paths.values()}) == len(names)
    for number, name in enumerate(names):
        assert (tmp_path / paths[name]).read_bytes() == picture(number)


def test_a_name_may_come_again_with_the_same_bytes_only(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    first = store.add(picture(1), "a")
    assert store.add(picture(1), "a") == first
    with pytest.raises(DataError, match=r"'a' was stored as img/a\.png before, with other bytes"):
        store.add(picture(2), "a")
    assert (tmp_path / first).read_bytes() == picture(1)


@pytest.mark.parametrize("data", [b"", b"<!DOCTYPE html>", b"plain text", b"BM but no bitmap header at all"])
def test_bytes_that_are_no_medium_are_refused_by_name(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DataError, match=r"'row 5' is none"):
        MediaStore(tmp_path).add(data, "row 5")
    assert list(tmp_path.iterdir()) == []


def test_the_root_itself_can_be_the_media_folder(tmp_path: Path) -> None:
    assert MediaStore(tmp_path, "").add(picture(), "a") == "a.png"


def test_many_threads_get_a_file_each(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    paths: list[str] = []
    threads = [
        threading.Thread(target=lambda n=number: paths.append(store.add(picture(n), "x/" * n + "y")))
        for number in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(paths)) == 16


@given(st.lists(st.text(), unique=True, max_size=20))
def test_every_name_gets_a_file_of_its_own_inside_the_folder(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    root = tmp_path_factory.mktemp("store")
    store = MediaStore(root)
    paths = [store.add(picture(number), name) for number, name in enumerate(names)]
    assert len({path.casefold() for path in paths}) == len(names)
    for number, path in enumerate(paths):
        assert (root / path).resolve().parent == (root / "img").resolve()
        assert (root / path).read_bytes() == picture(number)
