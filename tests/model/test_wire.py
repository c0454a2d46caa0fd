"""Requests as bytes, and the hash that says whether two requests are the same."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.model import Media, Message, Part, Request, chat_body, media_of, request_hash


def _image(name: str = "a.png") -> Media:
    return Media(Path(name))


def _plain_json(
    model: str,
    messages: list[Message],
    encoded: list[tuple[str, bytes]],
    sampling: dict[str, Any],
    stream: bool,
) -> dict[str, Any]:
    """The same body, built the simple way."""
    media = iter(encoded)

    def part_of(part: Part) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        mime, data = next(media)
        return {
            "type": "image_url",
            "image_url": {"url": f"data:{mime};base64,{base64.b64encode(data).decode()}"},
        }

    turns = []
    for message in messages:
        texts = [part for part in message.parts if isinstance(part, str)]
        content = "".join(texts) if len(texts) == len(message.parts) else [part_of(p) for p in message.parts]
        turns.append({"role": message.role, "content": content})
    body = {"model": model, "messages": turns}
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return {key: value for key, value in {**body, **sampling}.items() if value is not None}


_PARTS = st.lists(st.text() | st.builds(_image), max_size=4).map(tuple)
_MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["system", "user", "assistant"]), _PARTS), min_size=1, max_size=3
)
_SAMPLING = st.dictionaries(
    st.text(max_size=5).filter(lambda key: key not in ("model", "messages", "stream", "stream_options")),
    st.none()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.lists(st.text()),
    max_size=3,
)


@given(st.text(), _MESSAGES, _SAMPLING, st.booleans(), st.data())
def test_the_body_equals_the_plain_json_whatever_the_texts_hold(
    model: str, messages: list[Message], sampling: dict[str, Any], stream: bool, data: st.DataObject
) -> None:
    count = len(media_of(messages))
    encoded = data.draw(
        st.lists(
            st.tuples(st.sampled_from(["image/png", "image/jpeg"]), st.binary()),
            min_size=count,
            max_size=count,
        )
    )
    body = chat_body(model, messages, encoded, sampling, stream)
    assert json.loads(body) == _plain_json(model, messages, encoded, sampling, stream)


def test_text_that_looks_like_the_splice_is_text() -> None:
    tricky = 'data:image/png;base64,AAAA"}}]} \\" {{}} ' + "0123456789abcdef" * 2
    message = Message("user", (tricky, _image(), tricky))
    body = json.loads(chat_body("m", [message], [("image/png", b"\x00\xff")], {}, False))
    content = body["messages"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image_url", "text"]
    assert [content[0]["text"], content[2]["text"]] == [tricky, tricky]
    assert content[1]["image_url"]["url"] == "data:image/png;base64,AP8="


def test_text_alone_is_sent_as_one_string() -> None:
    body = json.loads(chat_body("m", [Message("user", ("a", "b"))], [], {}, False))
    assert body == {"model": "m", "messages": [{"role": "user", "content": "ab"}]}


def test_a_large_image_arrives_whole() -> None:
    data = bytes(range(256)) * 8000
    body = json.loads(chat_body("m", [Message("user", (_image(),))], [("image/png", data)], {}, False))
    url = body["messages"][0]["content"][0]["image_url"]["url"]
    assert base64.b64decode(url.removeprefix("data:image/png;base64,")) == data


@pytest.mark.parametrize("count", [0, 2])
def test_a_wrong_number_of_media_is_our_own_mistake(count: int) -> None:
    with pytest.raises(ValueError, match=rf"{count} media for 1 places"):
        chat_body("m", [Message("user", (_image(),))], [("image/png", b"")] * count, {}, False)


@pytest.mark.parametrize(
    ("sampling", "stream", "extra"),
    [
        ({"temperature": 0, "seed": 0, "stop": ""}, False, {"temperature": 0, "seed": 0, "stop": ""}),
        ({"max_tokens": None, "max_completion_tokens": 9}, False, {"max_completion_tokens": 9}),
        ({}, True, {"stream": True, "stream_options": {"include_usage": True}}),
        ({"stream_options": None}, True, {"stream": True}),
        ({"stream_options": {"x": 1}}, True, {"stream": True, "stream_options": {"x": 1}}),
        ({"deep": {"null": None}}, False, {"deep": {"null": None}}),
    ],
)
def test_a_field_set_to_null_is_taken_out_and_zero_is_kept(
    sampling: dict[str, Any], stream: bool, extra: dict[str, Any]
) -> None:
    body = json.loads(chat_body("m", [Message("user", ("q",))], [], sampling, stream))
    assert {key: value for key, value in body.items() if key not in ("model", "messages")} == extra


def test_letters_are_sent_as_utf8() -> None:
    assert "图🐱".encode() in chat_body("m", [Message("user", ("图🐱",))], [], {}, False)


# --- the hash -------------------------------------------------------------------------------------------------

_SAME: dict[str, Any] = {
    "question_id": "1",
    "inference": 0,
    "model": "m",
    "messages": (Message("system", ("s",)), Message("user", (_image(), "q"))),
    "digests": ("d1",),
    "limits": [1, None, 500, None],
    "sampling": {"temperature": 0.5, "max_tokens": 9},
}


def test_a_hash_is_32_hex_digits_and_always_the_same() -> None:
    assert request_hash(**_SAME) == request_hash(**_SAME)
    assert len(bytes.fromhex(request_hash(**_SAME))) == 16


@pytest.mark.parametrize(
    "change",
    [
        {"question_id": "2"},
        {"inference": 1},
        {"model": "m2"},
        {"messages": (Message("system", ("s2",)), Message("user", (_image(), "q")))},
        {"messages": (Message("user", (_image(), "q")),)},
        {"messages": (Message("system", ("s",)), Message("user", (_image(), "q ")))},
        {"messages": (Message("system", ("s",)), Message("user", ("q", _image())))},
        {"messages": (Message("system", ("s",)), Message("assistant", (_image(), "q")))},
        {"messages": (Message("system", ("s",)), Message("user", (Media(Path("a.png"), "video"), "q")))},
        {"digests": ("d2",)},
        {"digests": ("d1", "d1")},
        {"limits": [1, None, 400, None]},
        {"limits": None},
        {"sampling": {"temperature": 0.6, "max_tokens": 9}},
        {"sampling": {"temperature": 0.5}},
        {"sampling": {"temperature": 0.5, "max_tokens": 9, "seed": 0}},
        {"sampling": {"temperature": 0.5, "max_tokens": None}},
    ],
    ids="-".join,
)
def test_the_hash_changes_with_everything_that_makes_an_answer(change: dict[str, Any]) -> None:
    assert request_hash(**{**_SAME, **change}) != request_hash(**_SAME)


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("system", ("s",)), Message("user", (_image("/elsewhere/b.png"), "q")))},
        {"sampling": {"max_tokens": 9, "temperature": 0.5}},
    ],
    ids=["place of the file", "order of the settings"],
)
def test_the_hash_does_not_change_with_anything_else(change: dict[str, Any]) -> None:
    assert request_hash(**{**_SAME, **change}) == request_hash(**_SAME)


def test_limits_do_not_matter_to_a_question_without_pictures() -> None:
    text = {**_SAME, "messages": (Message("user", ("q",)),), "digests": ()}
    assert request_hash(**text) == request_hash(**{**text, "limits": None})


# --- requests as models see them ------------------------------------------------------------------------------


def test_a_request_gives_its_images_in_order_and_its_user_text() -> None:
    messages = (
        Message("system", ("be brief",)),
        Message(
            "user", (_image("1.png"), "first ", Media(Path("v.mp4"), "video"), _image("2.png"), "second")
        ),
    )
    request = Request("1", 0, messages, (b"one", b"video", b"two"), {})
    assert request.images == [b"one", b"two"]
    assert request.text == "first <video 1><image 2>second"


def test_every_kind_has_a_part_of_its_own() -> None:
    parts = (
        Media(Path("v.mp4"), "video"),
        "in",
        Media(Path("a.wav"), "audio"),
        Media(Path("a.mp3"), "audio"),
        _image(),
    )
    encoded = [("video/mp4", b"v"), ("audio/wav", b"w"), ("audio/mpeg", b"m"), ("image/png", b"i")]
    body = json.loads(chat_body("m", [Message("user", parts)], encoded, {}, False))
    assert body["messages"][0]["content"] == [
        {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,dg=="}},
        {"type": "text", "text": "in"},
        {"type": "input_audio", "input_audio": {"data": "dw==", "format": "wav"}},
        {"type": "input_audio", "input_audio": {"data": "bQ==", "format": "mp3"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aQ=="}},
    ]
    body = json.loads(chat_body("m", [Message("user", parts)], encoded, {}, False, audio_as_url=True))
    assert [part["type"] for part in body["messages"][0]["content"]][2:4] == ["audio_url", "audio_url"]
    assert body["messages"][0]["content"][3]["audio_url"]["url"] == "data:audio/mpeg;base64,bQ=="
