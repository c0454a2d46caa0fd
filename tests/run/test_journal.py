"""The journal: nothing that was answered is ever lost, nothing half-written is ever read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flagharness.run import Journal, Prediction, dump_line


def _hash(number: int) -> str:
    return f"{number:032x}"


def _good(question_id: str, answer: str, number: int = 0, **fields: Any) -> Prediction:
    return Prediction(question_id=question_id, answer=answer, request_hash=_hash(number), **fields)


def _bad(question_id: str, number: int = 0, **fields: Any) -> Prediction:
    error = {"type": "timeout", "message": "no reply", "http_status": None, "attempts": 3}
    return Prediction(
        question_id=question_id, status="error", error=error, request_hash=_hash(number), **fields
    )


@contextmanager
def _open(folder: Path) -> Iterator[Journal]:
    journal = Journal(folder)
    try:
        yield journal
    finally:
        journal.close()


def _write(folder: Path, *predictions: Prediction) -> None:
    with _open(folder) as journal:
        for prediction in predictions:
            journal.append(prediction)


def _answer(journal: Journal, question_id: str, inference: int = 0) -> str | None:
    location = journal.latest(question_id, inference)
    return journal.read(location).answer if location else None


def test_an_empty_folder_or_none_is_an_empty_journal(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        with _open(folder) as journal:
            assert len(journal) == 0
            assert journal.inferences() == 0
            assert journal.latest("1") is None
            assert journal.find(_hash(1)) is None
    assert list(tmp_path.iterdir()) == []


def test_what_was_appended_can_be_read_at_once_and_by_the_next_process(tmp_path: Path) -> None:
    prediction = _good(
        "q/1",
        "B",
        number=7,
        question="<image 1>?",
        reason="because",
        usage={"completion_tokens": 3},
        finish_reason="stop",
        latency_s=0.25,
        response_id="r",
        inference=2,
        model="m",
        refused=True,
        attempts=[{"type": "timeout"}],
    )
    with _open(tmp_path) as journal:
        location = journal.append(prediction)
        assert journal.read(location) == prediction
    with _open(tmp_path) as journal:
        found = journal.find(_hash(7))
        assert found == location
        assert journal.read(location) == prediction
        assert (len(journal), journal.inferences()) == (1, 3)


def test_a_line_is_on_disk_as_soon_as_append_returns(tmp_path: Path) -> None:
    with _open(tmp_path) as journal:
        journal.append(_good("1", "A"))
        text = (tmp_path / "journal.jsonl").read_text(encoding="utf-8")
        assert json.loads(text)["answer"] == "A"
        assert text.endswith("\n")


def test_the_next_process_goes_on_in_the_same_file(tmp_path: Path) -> None:
    _write(tmp_path, _good("1", "A"))
    _write(tmp_path, _good("2", "B"))
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
    with _open(tmp_path) as journal:
        assert (_answer(journal, "1"), _answer(journal, "2")) == ("A", "B")


def test_of_two_good_answers_the_later_wins(tmp_path: Path) -> None:
    with _open(tmp_path) as journal:
        journal.append(_good("1", "old", number=1))
        journal.append(_good("1", "new", number=1))
        assert _answer(journal, "1") == "new"
    with _open(tmp_path) as journal:
        assert _answer(journal, "1") == "new"
        found = journal.find(_hash(1))
        assert found is not None
        assert journal.read(found).answer == "new"


def test_answers_to_different_requests_for_one_question_are_all_found(tmp_path: Path) -> None:
    _write(tmp_path, _good("1", "old prompt", number=1), _good("1", "new prompt", number=2))
    with _open(tmp_path) as journal:
        answers = [journal.read(journal.find(_hash(n))).answer for n in (1, 2)]  # type: ignore[arg-type]
        assert answers == ["old prompt", "new prompt"]
        assert _answer(journal, "1") == "new prompt"


@pytest.mark.parametrize("order", ["error first", "error last"])
def test_an_error_never_hides_a_good_answer(tmp_path: Path, order: str) -> None:
    predictions = [_good("1", "A", number=1), _bad("1", number=1)]
    _write(tmp_path, *(predictions if order == "error last" else reversed(predictions)))
    with _open(tmp_path) as journal:
        assert _answer(journal, "1") == "A"
        assert journal.find(_hash(1)) is not None
        assert journal.has_answer("1")


def test_an_error_alone_is_kept_but_answers_nothing(tmp_path: Path) -> None:
    _write(tmp_path, _bad("1", number=1))
    with _open(tmp_path) as journal:
        location = journal.latest("1")
        assert location is not None
        assert journal.read(location).error == _bad("1").error
        assert journal.find(_hash(1)) is None
        assert not journal.has_answer("1")
        assert len(journal) == 1


def test_inferences_are_kept_apart(tmp_path: Path) -> None:
    _write(tmp_path, _good("1", "A", number=1), _good("1", "B", number=2, inference=1))
    with _open(tmp_path) as journal:
        assert [_answer(journal, "1", k) for k in (0, 1, 2)] == ["A", "B", None]
        assert journal.inferences() == 2


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "一只猫 🐱",
        "a\nb\r\nc\u2028d\x85e",
        '{"question_id": 1}',
        "\x00\x1f",
        "x" * 1_000_000,
        "é" * 500_000,
    ],
    ids=["empty", "unicode", "line ends", "json", "control", "1 MB", "1 MB of two bytes"],
)
def test_any_text_comes_back_as_it_was(tmp_path: Path, answer: str) -> None:
    _write(tmp_path, _good("1", answer), _good("2", "next", number=1))
    with _open(tmp_path) as journal:
        assert _answer(journal, "1") == answer
        assert _answer(journal, "2") == "next"


# --- damage ---------------------------------------------------------------------------------------------------


def test_a_torn_last_line_is_dropped_and_only_that_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _write(tmp_path, _good("1", "A", 1), _good("2", "B", 2))
    file = tmp_path / "journal.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    with _open(tmp_path) as journal:
        assert (_answer(journal, "1"), _answer(journal, "2")) == ("A", None)
        assert journal.torn_lines == 1
    assert caplog.messages == [
        f"{file}: 1 line(s) that hold no prediction (cut short by a crash?) were dropped."
    ]


def test_a_line_appended_after_a_torn_one_can_be_read(tmp_path: Path) -> None:
    _write(tmp_path, _good("1", "A", 1), _good("2", "B", 2))
    file = tmp_path / "journal.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    _write(tmp_path, _good("2", "again", 2), _good("3", "C", 3))
    with _open(tmp_path) as journal:
        assert [_answer(journal, q) for q in "123"] == ["A", "again", "C"]
        assert journal.torn_lines == 1


def test_a_last_line_that_only_lacks_its_newline_is_kept(tmp_path: Path) -> None:
    _write(tmp_path, _good("1", "A", 1))
    file = tmp_path / "journal.jsonl"
    file.write_bytes(file.read_bytes()[:-1])
    _write(tmp_path, _good("2", "B", 2))
    with _open(tmp_path) as journal:
        assert [_answer(journal, q) for q in "12"] == ["A", "B"]
        assert journal.torn_lines == 0


@pytest.mark.parametrize(
    "damage",
    [
        b'{"question_id": "2", "ans\n',
        b"\x00\x00\x00\n",
        b"\xff\xfe\n",
        b'{"question_id": "2", "request_hash": "zz"}\n',
    ],
)
def test_a_damaged_line_in_the_middle_costs_only_itself(tmp_path: Path, damage: bytes) -> None:
    lines = [dump_line(_good(q, q.upper(), n).to_json()) for n, q in enumerate("abc")]
    (tmp_path / "journal.jsonl").write_bytes(b"".join([lines[0], damage, *lines[1:]]))
    with _open(tmp_path) as journal:
        assert [_answer(journal, q) for q in "abc"] == ["A", "B", "C"]
        assert journal.torn_lines == 1


def test_empty_lines_are_no_damage(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(b"\n\n" + dump_line(_good("1", "A").to_json()) + b"\n")
    with _open(tmp_path) as journal:
        assert _answer(journal, "1") == "A"
        assert journal.torn_lines == 0


def test_a_line_half_written_to_a_full_disk_does_not_spoil_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_write = os.write
    calls: list[int] = []

    def full_disk(descriptor: int, data: bytes) -> int:
        calls.append(len(data))
        if len(calls) == 1:
            return real_write(descriptor, bytes(data)[:10])
        raise OSError(28, "No space left on device")

    with _open(tmp_path) as journal:
        journal.append(_good("1", "A", 1))
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", full_disk)
            with pytest.raises(OSError, match="No space"):
                journal.append(_good("2", "B", 2))
        assert journal.latest("2") is None
        location = journal.append(_good("3", "C", 3))
        assert journal.read(location).answer == "C"
    with _open(tmp_path) as journal:
        assert [_answer(journal, q) for q in "123"] == ["A", None, "C"]


def test_a_write_in_pieces_makes_one_whole_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real_write(descriptor, bytes(data)[:7]))
    _write(tmp_path, _good("1", "A", 1), _good("2", "B", 2))
    with _open(tmp_path) as journal:
        assert [_answer(journal, q) for q in "12"] == ["A", "B"]


# --- several files, several readers ---------------------------------------------------------------------------


def test_all_journal_files_of_the_folder_count_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "journal-a.jsonl").write_bytes(
        dump_line(_good("1", "of a", 1).to_json()) + dump_line(_good("2", "of a", 2).to_json())
    )
    (tmp_path / "journal-b.jsonl").write_bytes(dump_line(_good("2", "of b", 2).to_json()))
    with _open(tmp_path) as journal:
        assert [_answer(journal, q) for q in "12"] == ["of a", "of b"]
        location = journal.append(_good("3", "own", 3))
        assert journal.read(location).answer == "own"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "journal-a.jsonl",
        "journal-b.jsonl",
        "journal.jsonl",
    ]


def test_a_torn_line_is_told_of_the_file_that_holds_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"question_id"')
    (tmp_path / "b.jsonl").write_bytes(dump_line(_good("1", "A").to_json()))
    with _open(tmp_path) as journal:
        assert journal.torn_lines == 1
    assert caplog.messages == [
        f"{tmp_path / 'a.jsonl'}: 1 line(s) that hold no prediction (cut short by a crash?) were dropped."
    ]


def test_closing_twice_or_unused_is_harmless(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.close()
    journal.append(_good("1", "A"))
    journal.close()
    journal.close()


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    def descriptors() -> set[str]:
        return {
            os.readlink(f"/proc/self/fd/{number}")
            for number in os.listdir("/proc/self/fd")
            if _is_link(number)
        }

    def _is_link(number: str) -> bool:
        return os.path.islink(f"/proc/self/fd/{number}")

    with _open(tmp_path) as journal:
        journal.read(journal.append(_good("1", "A")))
        assert any(str(tmp_path) in name for name in descriptors())
    assert not any(str(tmp_path) in name for name in descriptors())


# --- laws -----------------------------------------------------------------------------------------------------

_TEXT = st.text(max_size=20)
_NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.dictionaries(_TEXT, st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _TEXT, max_size=3)


@st.composite
def _predictions(draw: st.DrawFn) -> Prediction:
    failed = draw(st.booleans())
    return Prediction(
        question_id=draw(_TEXT),
        question=draw(_TEXT),
        answer="" if failed else draw(_TEXT),
        reason=draw(_TEXT),
        usage=draw(st.none() | _JSON),
        status="error" if failed else "ok",
        error=draw(_JSON) if failed else None,
        finish_reason=draw(st.none() | _TEXT),
        latency_s=draw(_NUMBERS),
        response_id=draw(st.none() | _TEXT),
        request_hash=draw(st.none() | st.integers(0, 5).map(_hash)),
        inference=draw(st.integers(0, 3)),
        model=draw(st.none() | st.text(min_size=1, max_size=5)),
        refused=draw(st.booleans()),
        attempts=draw(st.lists(_JSON, max_size=2)),
    )


@given(st.lists(_predictions(), max_size=8))
@settings(max_examples=60)
def test_any_list_of_predictions_is_read_back_as_it_was_written(predictions: list[Prediction]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with _open(folder) as journal:
            locations = [journal.append(prediction) for prediction in predictions]
            assert [journal.read(location) for location in locations] == predictions
        with _open(folder) as again:
            assert [again.read(location) for location in locations] == predictions
            assert len(again) == len({(p.question_id, p.inference) for p in predictions})
            newest: dict[tuple[str, int], Prediction] = {}
            for prediction in predictions:
                key = (prediction.question_id, prediction.inference)
                if prediction.ok or key not in newest or not newest[key].ok:
                    newest[key] = prediction
            for (question_id, inference), prediction in newest.items():
                location = again.latest(question_id, inference)
                assert location is not None
                assert again.read(location) == prediction


def test_cut_at_any_byte_every_whole_line_is_found_and_the_next_append_can_be_read(tmp_path: Path) -> None:
    lines = [
        dump_line(_good(q, answer, n).to_json()) for n, (q, answer) in enumerate([("1", "é"), ("2", "B")])
    ]
    whole = b"".join(lines)
    file = tmp_path / "journal.jsonl"
    for cut in range(len(whole) + 1):
        file.write_bytes(whole[:cut])
        # A line that lacks only its newline is whole.
        expected = ["é" if cut >= len(lines[0]) - 1 else None, "B" if cut >= len(whole) - 1 else None]
        with _open(tmp_path) as journal:
            assert [_answer(journal, "1"), _answer(journal, "2")] == expected
            journal.append(_good("3", "next", 9))
        with _open(tmp_path) as journal:
            assert [_answer(journal, q) for q in "123"] == [*expected, "next"]


@given(st.lists(_predictions(), min_size=1, max_size=4), st.integers(0, 10_000))
@settings(max_examples=60)
def test_a_cut_anywhere_costs_at_most_the_line_that_was_cut(
    predictions: list[Prediction], where: int
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with _open(folder) as journal:
            locations = [journal.append(prediction) for prediction in predictions]
        file = folder / "journal.jsonl"
        whole = file.read_bytes()
        cut = where % (len(whole) + 1)
        file.write_bytes(whole[:cut])
        extra = _good("extra", "readable", 99)
        with _open(folder) as journal:
            extra_at = journal.append(extra)
        with _open(folder) as journal:
            for location, prediction in zip(locations, predictions, strict=True):
                if location.offset + location.length <= cut:
                    assert journal.read(location) == prediction
            assert journal.read(extra_at) == extra
            assert journal.find(_hash(99)) == extra_at
