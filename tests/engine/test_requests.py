"""From a sample to the request for it."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from flagharness.config import ModelConfig, RequestRules, load_model_config
from flagharness.engine._requests import RequestBuilder, build_messages
from flagharness.errors import DataError
from flagharness.model import Media, Message
from flagharness.task import Sample


def _model(**values: Any) -> ModelConfig:
    return load_model_config(json.dumps({"model_name": "toy", "url": "http://h/v1", **values}))


def _builder(identity: str = "toy", **values: Any) -> RequestBuilder:
    return RequestBuilder(_model(**values), identity, RequestRules())


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "1.png"
    Image.new("RGB", (40, 20), "red").save(path)
    return path


_A, _B = Path("/a.png"), Path("/b.png")


@pytest.mark.parametrize(
    ("text", "images", "parts"),
    [
        ("q?", (), ("q?",)),
        ("q?", (_A,), (Media(_A), "q?")),
        ("q?", (_A, _B), (Media(_A), Media(_B), "q?")),
        ("<image 2> or <image 1>?", (_A, _B), (Media(_B), " or ", Media(_A), "?")),
        ("<image 1> is <image 1>", (_A,), (Media(_A), " is ", Media(_A))),
        ("x <image 2>", (_A, _B), (Media(_A), "x ", Media(_B))),
    ],
)
def test_pictures_stand_where_their_marks_are(
    text: str, images: tuple[Path, ...], parts: tuple[Any, ...]
) -> None:
    assert build_messages(Sample("1", text, images), None) == (Message("user", parts),)


def test_a_system_prompt_is_a_turn_of_its_own_and_an_empty_one_none() -> None:
    sample = Sample("1", "q?", ())
    assert build_messages(sample, "Be brief.") == (
        Message("system", ("Be brief.",)),
        Message("user", ("q?",)),
    )
    assert build_messages(sample, "") == build_messages(sample, None) == (Message("user", ("q?",)),)


def test_a_mark_without_its_picture_is_a_fault_of_the_data() -> None:
    with pytest.raises(DataError, match="<image 2>, but the sample has 1 image"):
        build_messages(Sample("1", "<image 2>?", (_A,)), None)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.png: cannot be read: No such file or directory"):
        _builder().read(Sample("1", "q?", (tmp_path / "nowhere.png",)))


def test_without_limits_the_files_own_bytes_are_sent_under_their_true_type(picture: Path) -> None:
    mislabelled = picture.rename(picture.with_name("1.jpg"))
    builder = _builder()
    encoded = builder.encode(builder.read(Sample("1", "q?", (mislabelled,))), 0)
    request, media_types = encoded.request, list(encoded.media_types)
    assert request.encoded == (mislabelled.read_bytes(),)
    assert media_types == ["image/png"]


def test_limits_of_the_model_config_are_applied(picture: Path) -> None:
    builder = _builder(max_long_side=10)
    request = builder.encode(builder.read(Sample("1", "q?", (picture,))), 0).request
    assert Image.open(io.BytesIO(request.encoded[0])).size == (10, 5)


def test_a_request_carries_what_was_asked_for(picture: Path) -> None:
    builder = _builder(temperature=0.5, system_prompt="Be brief.")
    question = builder.read(Sample("7", "q?", (picture, picture)))
    encoded = builder.encode(question, 3)
    request, media_types = encoded.request, list(encoded.media_types)
    assert (request.question_id, request.inference) == ("7", 3)
    assert request.messages == build_messages(question.sample, "Be brief.")
    assert request.sampling == {"temperature": 0.5}
    assert media_types == ["image/png"] * 2
    assert question.digests == (hashlib.sha256(picture.read_bytes()).hexdigest()[:32],) * 2


def _hash(picture: Path, inference: int = 0, identity: str = "toy", text: str = "q?", **values: Any) -> str:
    builder = _builder(identity, **values)
    return builder.hash(builder.read(Sample("1", text, (picture,) if picture else ())), inference)


@pytest.mark.parametrize(
    "change",
    [
        {"inference": 1},
        {"identity": "toy:digest"},
        {"text": "q??"},
        {"temperature": 0},
        {"max_tokens": 5},
        {"extra_body": {"top_k": 1}},
        {"system_prompt": "Be brief."},
        {"max_long_side": 10_000},
        {"max_image_size": 10},
        {"min_short_side": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_makes_another_answer_makes_another_hash(picture: Path, change: dict[str, Any]) -> None:
    assert _hash(picture, **change) != _hash(picture)


@pytest.mark.parametrize(
    "change",
    [
        {"url": "http://elsewhere/v1"},
        {"api_key": "sk-FAKE"},
        {"num_workers": 1},
        {"max_retries": 0},
        {"timeout": 1},
        {"stream": True},
        {"extra_headers": {"X-Title": "x"}},
        {"system_prompt": ""},
        {"extra_body": {}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_how_and_where_it_is_asked_does_not(picture: Path, change: dict[str, Any]) -> None:
    assert _hash(picture, **change) == _hash(picture)


def test_the_hash_follows_the_content_of_a_picture_and_not_its_place(picture: Path, tmp_path: Path) -> None:
    before = _hash(picture)
    copy = tmp_path / "elsewhere.bin"
    copy.write_bytes(picture.read_bytes())
    assert _hash(copy) == before
    picture.write_bytes(picture.read_bytes() + b"\x00")
    assert _hash(picture) != before


def test_zero_in_the_file_and_on_the_command_line_is_one_request(picture: Path) -> None:
    assert _hash(picture, temperature=0) == _hash(picture, temperature=0.0)
