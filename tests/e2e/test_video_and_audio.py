"""Videos and sounds: what reaches the endpoint, what is kept, and what is refused before it is asked."""

from __future__ import annotations

import base64
import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

BUNNY = Path(__file__).parents[1] / "data" / "bigbuckbunny.mp4"
WAV = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
MP3 = b"ID3\4\0\0\0\0\0\0" + b"\xff\xfb\x90\0" + bytes(60)


def row(number: int, question: str = "", **fields: Any) -> dict[str, Any]:
    return {
        "question_id": number,
        "question": question or f"Question {number}?",
        "question_type": "count",
        "answer": number,
        **fields,
    }


@pytest.fixture
def ask(
    make_task: Callable[..., Any],
    make_model: Callable[..., Path],
    run_here: Callable[..., Any],
    endpoint: Any,
    out: Path,
) -> Callable[..., Any]:
    """Return a function that asks rows, with a clip and two sounds beside them, and returns how it ended."""

    def run(rows: Any, *options: Any, dataset: str = "VqaBaseDataset", **model: Any) -> Any:
        template = {"type": "PromptTemplate", "post_prompt": ""}
        task = make_task(rows, type=dataset, prompt_template=template)
        shutil.copy(BUNNY, task.data / "clip.mp4")
        (task.data / "a.wav").write_bytes(WAV)
        (task.data / "b.mp3").write_bytes(MP3)
        return run_here("--tasks", task.config, "--cfg", make_model(**model), "--output-dir", out, *options)

    endpoint.script = lambda call: "0"
    return run


def types(call: Any) -> list[str]:
    return [part["type"] for part in call.parts]


def test_a_video_is_shown_in_frames_of_which_each_is_a_picture(
    ask: Callable[..., Any], endpoint: Any, files_of: Callable[..., Any]
) -> None:
    ran = ask([row(0, video_path="clip.mp4")], max_num_frames=4)
    assert ran.returncode == 0, ran.output
    (call,) = endpoint.calls
    assert types(call) == ["image_url"] * 4 + ["text"]
    assert [mime for mime, _ in call.images] == ["image/jpeg"] * 4
    assert {Image.open(io.BytesIO(data)).size for _, data in call.images} == {(160, 90)}
    (kept,) = files_of().predictions
    assert kept["frame_times"] == [[0.0, 1.76, 3.48, 5.24]]
    assert files_of().result["accuracy"] == 100.0


def test_16_frames_where_the_model_config_says_nothing(ask: Callable[..., Any], endpoint: Any) -> None:
    assert ask([row(0, video_path="clip.mp4")], dataset="VideoDataset").returncode == 0
    assert len(endpoint.calls[0].images) == 16


def test_frames_may_say_when_they_are_shown(ask: Callable[..., Any], endpoint: Any) -> None:
    ask([row(0, video_path="clip.mp4")], fps=0.5, frame_times=True)
    texts = [part["text"] for part in endpoint.calls[0].parts if part["type"] == "text"]
    assert texts == ["[0.0 s]", "[2.0 s]", "[4.0 s]", "Question 0?"]


def test_a_video_may_be_sent_as_it_is(ask: Callable[..., Any], endpoint: Any) -> None:
    ran = ask([row(0, video_path="clip.mp4")], video_mode="file")
    assert ran.returncode == 0, ran.output
    (video, text) = endpoint.calls[0].parts
    assert video["type"] == "video_url"
    head, _, data = video["video_url"]["url"].partition(",")
    assert (head, base64.b64decode(data)) == ("data:video/mp4;base64", BUNNY.read_bytes())
    assert text["text"] == "Question 0?"


@pytest.mark.parametrize(("file", "data", "name"), [("a.wav", WAV, "wav"), ("b.mp3", MP3, "mp3")])
def test_a_sound_is_sent_byte_for_byte(
    ask: Callable[..., Any], endpoint: Any, file: str, data: bytes, name: str
) -> None:
    ran = ask([row(0, audio_path=file)])
    assert ran.returncode == 0, ran.output
    sound = endpoint.calls[0].parts[0]
    assert sound == {
        "type": "input_audio",
        "input_audio": {"data": base64.b64encode(data).decode(), "format": name},
    }


def test_a_sound_may_be_a_url_part(ask: Callable[..., Any], endpoint: Any) -> None:
    ask([row(0, audio_path="a.wav")], audio_mode="audio_url")
    url = f"data:audio/wav;base64,{base64.b64encode(WAV).decode()}"
    assert endpoint.calls[0].parts[0] == {"type": "audio_url", "audio_url": {"url": url}}


def test_all_kinds_stand_where_their_marks_are(ask: Callable[..., Any], endpoint: Any) -> None:
    question = "Is <audio 2> heard in <video 1>, as <image 1> shows 0, or <audio 1>?"
    media = {"video_path": "clip.mp4", "audio_path": ["a.wav", "b.mp3"], "img_path": ["0.png", "1.png"]}
    ran = ask([row(0, question, **media)], video_mode="file")
    assert ran.returncode == 0, ran.output
    shown = [part.get("text", part["type"]) for part in endpoint.calls[0].parts]
    # the second picture has no mark, so it comes first
    assert shown == [
        "image_url",
        "Is ",
        "input_audio",
        " heard in ",
        "video_url",
        ", as ",
        "image_url",
        " shows 0, or ",
        "input_audio",
        "?",
    ]
    assert endpoint.calls[0].parts[2]["input_audio"]["format"] == "mp3"


def test_media_without_marks_come_first(ask: Callable[..., Any], endpoint: Any) -> None:
    media = {"video_path": ["clip.mp4", "clip.mp4"], "audio_path": "a.wav", "img_path": "0.png"}
    ask([row(0, **media)], max_num_frames=2)
    assert types(endpoint.calls[0]) == ["image_url"] * 5 + ["input_audio", "text"]


def test_other_frames_or_another_file_are_asked_again_and_the_same_are_not(
    ask: Callable[..., Any], endpoint: Any
) -> None:
    rows = [row(0, video_path="clip.mp4"), row(1, audio_path="a.wav")]
    ask(rows, max_num_frames=2)
    assert len(endpoint.calls) == 2
    ask(rows, max_num_frames=2)
    assert len(endpoint.calls) == 2
    ask(rows, max_num_frames=3)
    assert len(endpoint.calls) == 3  # the sound is what it was
    ask(rows, max_num_frames=3, audio_mode="audio_url")
    assert len(endpoint.calls) == 4
    ask(rows, video_mode="file", audio_mode="audio_url")
    assert len(endpoint.calls) == 5


def test_bad_files_are_all_told_before_anything_is_asked(ask: Callable[..., Any], endpoint: Any) -> None:
    rows = [
        row(0, video_path="gone.mp4"),
        row(1, video_path="a.wav"),
        row(2, audio_path="clip.mp4"),
        row(3, question="<video 2> and 3?", video_path="clip.mp4"),
        row(4, question="<audio 1> and 4?"),
        row(5, video_path="clip.mp4"),
    ]
    ran = ask(rows)
    assert ran.returncode == 1
    for said in (
        "row 1 (question_id '0'): ",
        "gone.mp4: does not exist",
        "a.wav: is a sound file (audio/wav), not a video",
        "clip.mp4: is a video file (video/mp4), not a sound",
        "the text has the mark <video 2>, but the sample has 1 video(s)",
        "the text has the mark <audio 1>, but the sample has 0 audio(s)",
        "5 of 6 rows cannot be asked; nothing was sent",
    ):
        assert said in ran.stderr
    assert endpoint.calls == []


def test_a_bare_video_tag_in_a_text_alone_is_text(ask: Callable[..., Any], endpoint: Any) -> None:
    ask([row(0, "What does <video> mean in HTML, 0?")])
    assert endpoint.calls[0].body["messages"][0]["content"] == "What does <video> mean in HTML, 0?"


def test_a_dry_run_counts_them(ask: Callable[..., Any], out: Path, endpoint: Any) -> None:
    rows = [row(0, video_path="clip.mp4", audio_path="a.wav"), row(1, img_path="1.png")]
    ran = ask(rows, "--dry-run", max_num_frames=2)
    assert ran.returncode == 0, ran.output
    assert "toy: 1 videos and 1 sounds among them" in ran.stdout
    first = json.loads((out / "toy" / "dry_run" / "request_1.json").read_bytes())
    assert [part["type"] for part in first["messages"][0]["content"]] == [
        "image_url",
        "image_url",
        "input_audio",
        "text",
    ]
    assert endpoint.calls == []


def test_a_clip_of_which_no_frame_can_be_decoded_is_told(
    ask: Callable[..., Any], endpoint: Any, tmp_path: Path
) -> None:
    data = bytearray(BUNNY.read_bytes())
    start = data.index(b"mdat") + 4
    end = start + int.from_bytes(data[start - 8 : start - 4], "big") - 8
    data[start:end] = bytes(end - start)
    folder = tmp_path / "tasks" / "toy" / "data"
    folder.mkdir(parents=True)
    (folder / "cut.mp4").write_bytes(data)
    ran = ask([row(0, video_path="clip.mp4"), row(1, video_path="cut.mp4")], max_num_frames=4)
    assert ran.returncode == 1
    assert "cut.mp4: cannot be" in ran.stderr
    assert endpoint.calls == []
