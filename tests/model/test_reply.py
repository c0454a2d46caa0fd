"""Reading what an endpoint answered: every shape is a response or a fault, never a crash."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.model import Fault, Response
from flagharness.model._reply import error_message, read_reply, read_stream, split_reasoning, sse_data

_TAGS = ("<think>", "</think>")


def _body(message: Any = None, finish_reason: Any = "stop", **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"id": "r1", "model": "toy-1", "choices": [choice], "usage": {"completion_tokens": 3}, **fields}


def _read(body: Any, tags: tuple[str, str] = _TAGS) -> Response:
    return read_reply(body if isinstance(body, bytes) else json.dumps(body).encode(), tags)


def _fault(body: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        _read(body)
    return caught.value


# --- good replies ---------------------------------------------------------------------------------------------


def test_an_ordinary_reply_is_read_whole() -> None:
    assert _read(_body({"role": "assistant", "content": "B"})) == Response(
        answer="B",
        usage={"completion_tokens": 3},
        finish_reason="stop",
        response_id="r1",
        model="toy-1",
    )


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("B", "B"),
        (" B\n", " B\n"),
        ([{"type": "text", "text": "The answer "}, {"type": "text", "text": "is B"}], "The answer is B"),
        ([{"type": "image_url"}, "x", None, {"type": "text", "text": "B"}, {"text": 3}], "B"),
        ("0", "0"),
        ("图\u2028", "图\u2028"),
    ],
)
def test_content_may_be_text_or_parts(content: Any, answer: str) -> None:
    assert _read(_body({"content": content})).answer == answer


@pytest.mark.parametrize(
    ("fields", "reason", "answer"),
    [
        ({"reasoning_content": "A?", "content": "B"}, "A?", "B"),
        ({"reasoning": "A?", "content": "B"}, "A?", "B"),
        ({"reasoning_content": "A?", "reasoning": "twice", "content": "B"}, "A?", "B"),
        ({"reasoning_content": None, "reasoning": "A?", "content": "B"}, "A?", "B"),
        ({"content": "<think>A?</think>\n\nB"}, "A?", "B"),
        ({"reasoning_content": "field", "content": "<think>tag</think>B"}, "field\ntag", "B"),
        ({"reasoning": {"effort": 1}, "content": "B"}, "", "B"),
    ],
)
def test_reasoning_never_stands_in_the_answer(fields: dict[str, Any], reason: str, answer: str) -> None:
    response = _read(_body(fields))
    assert (response.reason, response.answer) == (reason, answer)


def test_other_tags_can_be_set() -> None:
    tags = ("<|beginning_of_thinking|>", "<|end_of_thinking|>")
    response = _read(_body({"content": f"{tags[0]}A?{tags[1]}B"}), tags)
    assert (response.reason, response.answer) == ("A?", "B")


def test_a_refusal_is_an_answer_that_is_marked() -> None:
    response = _read(_body({"content": None, "refusal": "I cannot help with that."}))
    assert (response.answer, response.refused) == ("I cannot help with that.", True)


@pytest.mark.parametrize("content", [None, "", "half an ans"])
def test_a_content_filter_is_a_refusal_and_no_reason_to_try_again(content: str | None) -> None:
    response = _read(_body({"content": content}, finish_reason="content_filter"))
    assert (response.answer, response.refused, response.finish_reason) == (
        content or "",
        True,
        "content_filter",
    )


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": "long text"},
        {"content": "<think>long text"},
        {"content": None},
        None,
    ],
)
def test_a_reply_cut_by_the_token_limit_is_an_answer_however_empty(message: Any) -> None:
    response = _read(_body(message, finish_reason="length"))
    assert (response.answer, response.finish_reason) == ("", "length")
    assert response.reason in ("long text", "")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("usage", None),
        ("usage", [1]),
        ("usage", "3"),
        ("id", 3),
        ("id", None),
        ("model", None),
        ("model", {}),
    ],
)
def test_odd_extras_are_left_out(key: str, value: Any) -> None:
    response = _read({**_body({"content": "B"}), key: value})
    assert response.answer == "B"
    assert getattr(response, {"id": "response_id"}.get(key, key)) is None


def test_an_error_field_that_is_empty_is_no_error() -> None:
    for nothing in (None, {}, "", []):
        assert _read(_body({"content": "B"}, error=nothing)).answer == "B"


# --- bad replies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "the reply is not JSON: "),
        (b"<html>502</html>", "the reply is not JSON: <html>502</html>"),
        (b'{"choices": [', "the reply is not JSON: "),
        (b"\xff\xfe", "the reply is not JSON: "),
        (b"[]", "the reply is not a JSON object: []"),
        (b'"B"', 'the reply is not a JSON object: "B"'),
        (b"null", "the reply is not a JSON object: null"),
        (b"{}", "HTTP 200, but the reply has no choices: {}"),
        (b'{"choices": []}', 'HTTP 200, but the reply has no choices: {"choices": []}'),
        (b'{"choices": null}', "HTTP 200, but the reply has no choices: "),
        (b'{"choices": {"a": 1}}', "HTTP 200, but the reply has no choices: "),
        (b'{"choices": [null]}', "HTTP 200, but the reply has no choices: "),
        (b'{"choices": ["B"]}', "HTTP 200, but the reply has no choices: "),
        (
            b'{"status":"FAILED","error":"supplier"}',
            'the reply carries an error: {"status":"FAILED","error":"supplier"}',
        ),
        (
            b'{"error": {"message": "x"}, "choices": [{"message": {"content": "B"}}]}',
            "the reply carries an error: ",
        ),
        (
            b'{"choices": [{"error": {"code": 502}, "message": {"content": "B"}}]}',
            "the choice carries an error: ",
        ),
        (
            b'{"choices": [{"finish_reason": "error", "message": {"content": "B"}}]}',
            "the choice carries an error: ",
        ),
    ],
)
def test_a_200_that_is_no_reply_is_a_fault_worth_another_attempt(body: bytes, message: str) -> None:
    fault = _fault(body)
    assert (fault.kind, fault.http_status, fault.retry, fault.fatal) == ("bad_response", 200, True, False)
    assert message in fault.message


def test_a_bad_body_is_shown_up_to_200_bytes() -> None:
    fault = _fault(b'{"status": "FAILED", "detail": "' + b"x" * 1000)
    assert fault.message == 'the reply is not JSON: {"status": "FAILED", "detail": "' + "x" * 168


@pytest.mark.parametrize(
    "message", [{"content": None}, {"content": ""}, {"content": []}, {}, None, "B", {"content": 3}]
)
@pytest.mark.parametrize("finish_reason", ["stop", None, "tool_calls"])
def test_a_reply_without_content_is_an_empty_response(message: Any, finish_reason: str | None) -> None:
    fault = _fault(_body(message, finish_reason))
    assert (fault.kind, fault.retry, fault.fatal) == ("empty_response", True, False)
    assert fault.finish_reason == finish_reason
    assert fault.usage == {"completion_tokens": 3}


def test_the_reasoning_of_an_empty_response_is_kept() -> None:
    fault = _fault(_body({"content": None, "reasoning_content": "x" * 3000 + "end"}))
    assert fault.partial == "x" * 1997 + "end"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["choices", "message", "content", "error", "delta", "finish_reason", "text", "usage"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=10,
    )
)
def test_any_json_is_a_response_or_a_fault_whole_or_streamed(value: Any) -> None:
    body = json.dumps(value).encode()
    for read in (lambda: read_reply(body, _TAGS), lambda: read_stream([body, b"[DONE]"], _TAGS)):
        with suppress(Fault):
            assert isinstance(read().answer, str)


# --- reasoning inside the text --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "reason", "answer"),
    [
        ("The answer is B", "", "The answer is B"),
        (" B ", "", " B "),
        ("", "", ""),
        ("<think>A?</think>B", "A?", "B"),
        ("<think>\nA?\n</think>\n\nB\n", "A?", "B"),
        ("A?</think>B", "A?", "B"),
        ("<think></think>B", "", "B"),
        ("<think>A?</think>", "A?", ""),
        ("<think>A or", "A or", ""),
        ("I say B <think>but", "but", "I say B"),
        ("<think>a</think> b <think>c</think> D", "a</think> b <think>c", "D"),
        ("<THINK>A?</THINK>B", "", "<THINK>A?</THINK>B"),
        ("x < 3 and think", "", "x < 3 and think"),
    ],
)
def test_reasoning_ends_at_the_last_closing_tag(content: str, reason: str, answer: str) -> None:
    assert split_reasoning(content, _TAGS) == (reason, answer)


@given(st.text())
def test_text_without_a_tag_is_never_changed(text: str) -> None:
    if "<think>" not in text and "</think>" not in text:
        assert split_reasoning(text, _TAGS) == ("", text)


@given(st.text(), st.text(), st.text())
def test_what_stands_before_the_closing_tag_never_reaches_the_answer(
    before: str, reason: str, answer: str
) -> None:
    if "think>" not in answer:
        assert split_reasoning(f"{before}<think>{reason}</think>{answer}", _TAGS)[1] == answer.strip()


# --- streams --------------------------------------------------------------------------------------------------


def _delta(finish_reason: str | None = None, **delta: Any) -> str:
    return "data: " + json.dumps(
        {
            "id": "r1",
            "model": "toy-1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        }
    )


def _stream(*lines: str) -> Response:
    return read_stream(sse_data("\n".join(lines).encode()), _TAGS)


def _stream_fault(*lines: str) -> Fault:
    with pytest.raises(Fault) as caught:
        _stream(*lines)
    return caught.value


_USAGE = 'data: {"choices": [], "usage": {"completion_tokens": 2}}'
_DONE = "data: [DONE]"


def test_a_stream_is_put_together() -> None:
    response = _stream(
        _delta(role="assistant", content=""),
        _delta(reasoning_content="A"),
        _delta(reasoning_content="?"),
        _delta(content="The answer "),
        _delta(content="is B", finish_reason="stop"),
        _USAGE,
        _DONE,
    )
    assert response == Response(
        answer="The answer is B",
        reason="A?",
        usage={"completion_tokens": 2},
        finish_reason="stop",
        response_id="r1",
        model="toy-1",
    )


def test_odd_frames_are_passed_over() -> None:
    response = _stream(
        "retry: 3000",
        ": ping",
        "id: 7",
        "event: message",
        "",
        "data:",
        "data: ",
        _delta(content="B"),
        'data: {"choices": null}',
        'data: {"choices": [null, "x", {}, {"delta": null}, {"delta": "B"}, {"delta": {"content": null}}]}',
        'data: {"usage": null}',
        "data:" + _delta(finish_reason="stop")[6:],
        _DONE,
        _delta(content="after the end"),
    )
    assert response.answer == "B"


@pytest.mark.parametrize(
    "end", [[_delta(finish_reason="stop")], [_DONE], [_delta(finish_reason="stop"), _DONE]]
)
def test_either_sign_of_the_end_is_enough(end: list[str]) -> None:
    assert _stream(_delta(content="B"), *end).answer == "B"


@pytest.mark.parametrize("lines", [[], [_delta(content="The answer")], [": ping"], [_USAGE]])
def test_a_cut_stream_is_a_failed_attempt_and_never_a_short_answer(lines: list[str]) -> None:
    fault = _stream_fault(*lines)
    assert (fault.kind, fault.retry) == ("bad_response", True)
    assert fault.message == "the stream was cut before it was finished"
    assert fault.partial == ("The answer" if "The answer" in "".join(lines) else "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            'data: {"error": {"message": "overloaded"}}',
            'the stream carries an error: {"error": {"message": "overloaded"}}',
        ),
        ("data: [1]", "the stream carries an error: [1]"),
        ("data: {broken", "the reply is not JSON: {broken"),
        (_delta(finish_reason="error"), "the choice carries an error"),
    ],
)
def test_an_error_in_a_stream_is_a_failed_attempt(line: str, message: str) -> None:
    fault = _stream_fault(_delta(content="half"), line, _DONE)
    assert (fault.kind, fault.retry) == ("bad_response", True)
    assert message in fault.message


def test_an_empty_stream_that_ends_well_is_an_empty_response() -> None:
    assert (
        _stream_fault(_delta(role="assistant"), _delta(finish_reason="stop"), _DONE).kind == "empty_response"
    )


def test_a_stream_cut_by_the_token_limit_inside_its_reasoning_is_an_empty_answer() -> None:
    response = _stream(_delta(reasoning="A or"), _delta(finish_reason="length"), _DONE)
    assert (response.answer, response.reason, response.finish_reason) == ("", "A or", "length")


def test_a_refusal_may_be_streamed() -> None:
    response = _stream(_delta(refusal="I "), _delta(refusal="cannot."), _delta(finish_reason="stop"))
    assert (response.answer, response.refused) == ("I cannot.", True)


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=6))
def test_a_stream_and_a_whole_reply_of_the_same_text_are_read_alike(pieces: list[str]) -> None:
    text = "".join(pieces)
    whole = _read(_body({"content": text}, usage=None))
    streamed = _stream(*[_delta(content=piece) for piece in pieces], _delta(finish_reason="stop"), _DONE)
    assert streamed == whole


# --- error bodies ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"error": {"message": "wrong key", "type": "x"}}', "wrong key"),
        (b'{"error": "wrong key"}', "wrong key"),
        (b'{"error": {"code": 7}}', '{"code":7}'),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"detail": [{"msg": "field required"}]}', '[{"msg":"field required"}]'),
        (b'{"message": "slow down"}', "slow down"),
        (b'{"object": "error", "message": "too long", "code": 40303}', "too long"),
        (b'{"a": 1}', '{"a": 1}'),
        (b"[1]", "[1]"),
        (b"Bad Gateway\n", "Bad Gateway"),
        (b"", "(empty body)"),
        (b"\xff", "\ufffd"),
        (b'{"error": {"message": "' + b"x" * 2000 + b'"}}', "x" * 1000),
    ],
)
def test_the_human_part_of_an_error_body_is_found(body: bytes, message: str) -> None:
    assert error_message(body) == message
