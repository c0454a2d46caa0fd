from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.errors import DataError
from flagharness.prompt import Place, split_marks


def _split(text: str, num_images: int) -> list[str | int]:
    """Return the pieces of a text with pictures alone, each as its number."""
    return [
        piece if isinstance(piece, str) else piece[1] for piece in split_marks(text, {"image": num_images})
    ]


_FILE = Path(__file__).parents[1] / "data" / "hard_cases" / "media.json"
_CASES = [case for case in json.loads(_FILE.read_text(encoding="utf-8")) if "text" in case["input"]]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_prompt_fault_people_met(case: dict[str, Any]) -> None:
    assert _split(**case["input"]) == case["expected"]["pieces"]


@pytest.mark.parametrize(
    ("text", "num_images", "expected"),
    [
        ("What is this?", 0, ["What is this?"]),
        ("  What is this? ", 0, ["  What is this? "]),
        ("", 0, []),
        ("What is this?", 1, [0, "What is this?"]),
        ("\n What is this? ", 2, [0, 1, "What is this? "]),
        ("<image 1> What is this?", 1, [0, "What is this?"]),
        ("<image 1>\n<image 2>\nWhich is larger?", 2, [0, 1, "Which is larger?"]),
        ("Look: <image 1>", 1, ["Look: ", 0]),
        ("Look: <image 1>\n", 1, ["Look: ", 0]),
        ("<image1> or <image2>", 2, [0, " or ", 1]),
        ("<image 2><image 1>", 2, [1, 0]),
        ("<image 1>", 1, [0]),
        ("", 2, [0, 1]),
        # named again: sent again
        ("<image 1> and <image 1>", 1, [0, " and ", 0]),
        # not named by a mark: first
        ("  Compare <image 2> with it.", 2, [0, "Compare ", 1, " with it."]),
        ("<image 2> Compare.", 3, [0, 2, 1, "Compare."]),
        # bare marks count up
        ("<image>\n<image>\nWhich is larger?", 2, [0, 1, "Which is larger?"]),
        ("Is <image> like <image>?", 3, [2, "Is ", 0, " like ", 1, "?"]),
        # no marks
        ("a < b, <images>, <Image 1>, <image one>", 0, ["a < b, <images>, <Image 1>, <image one>"]),
    ],
)
def test_pieces_stand_in_the_order_of_the_text(text: str, num_images: int, expected: list[str | int]) -> None:
    assert _split(text, num_images) == expected


@pytest.mark.parametrize(
    ("text", "num_images", "message"),
    [
        ("<image 3>", 2, "the mark <image 3>, but the sample has 2 image"),
        ("<image 0>", 2, "the mark <image 0>, but the sample has 2 image"),
        ("<image 1> What?", 0, "the mark <image 1>, but the sample has 0 image"),
        ("<image> <image>", 1, "the mark <image> number 2, but the sample has 1 image"),
        ("<image 1> <image>", 2, "both <image> and numbered image marks"),
        ("<image> <image 1>", 2, "both <image> and numbered image marks"),
    ],
)
def test_mark_without_a_picture_is_an_error(text: str, num_images: int, message: str) -> None:
    with pytest.raises(DataError, match=message):
        _split(text, num_images)


def _text_of(pieces: Sequence[str | int]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


_WORDS = st.text(alphabet="ab <>image1\n", max_size=12).filter(lambda text: "<image" not in text)


@given(st.lists(_WORDS | st.integers(1, 4), max_size=12), st.integers(4, 6))
def test_no_picture_and_no_text_is_lost(parts: list[str | int], num_images: int) -> None:
    text = "".join(part if isinstance(part, str) else f"<image {part}>" for part in parts)
    pieces = _split(text, num_images)
    assert set(range(num_images)) <= set(pieces)
    unmarked = re.sub(r"<image\s*\d+>", "", text)
    assert "".join(_text_of(pieces).split()) == "".join(unmarked.split())
    named = [int(number) - 1 for number in re.findall(r"<image\s*(\d+)>", text)]
    sent = [piece for piece in pieces if isinstance(piece, int)]
    unnamed = [number for number in range(num_images) if number not in named]
    assert sent == unnamed + named
    assert pieces[: len(unnamed)] == unnamed
    assert all(not re.search(r"<image\s*\d+>", piece) for piece in pieces if isinstance(piece, str))


@pytest.mark.parametrize(
    ("text", "numbers", "expected"),
    [
        ("q?", {"video": 1}, [("video", 0), "q?"]),
        ("q?", {"audio": 1, "video": 1, "image": 1}, [("image", 0), ("video", 0), ("audio", 0), "q?"]),
        ("<video 2> or <video 1>?", {"video": 2}, [("video", 1), " or ", ("video", 0), "?"]),
        ("<video> then <audio>", {"video": 1, "audio": 1}, [("video", 0), " then ", ("audio", 0)]),
        # each kind counts for itself: bare marks of one beside numbered marks of another
        ("<image><video 1><image>", {"image": 2, "video": 1}, [("image", 0), ("video", 0), ("image", 1)]),
        ("<audio1> is <audio 1>", {"audio": 1}, [("audio", 0), " is ", ("audio", 0)]),
        ("What is <video> in HTML?", {"image": 1}, [("image", 0), "What is <video> in HTML?"]),
    ],
)
def test_videos_and_sounds_have_marks_of_their_own(
    text: str, numbers: dict[str, int], expected: list[str | Place]
) -> None:
    assert split_marks(text, numbers) == expected


@pytest.mark.parametrize(
    ("text", "numbers", "message"),
    [
        ("<video 1>?", {}, "the mark <video 1>, but the sample has 0 video"),
        ("<audio 2>?", {"audio": 1, "image": 2}, "the mark <audio 2>, but the sample has 1 audio"),
        ("<video> <video>", {"video": 1}, "the mark <video> number 2, but the sample has 1 video"),
        ("<video> <video 1>", {"video": 2}, "both <video> and numbered video marks"),
    ],
)
def test_a_mark_without_its_video_or_sound_is_an_error(
    text: str, numbers: dict[str, int], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        split_marks(text, numbers)
