"""Boxes read out of replies of every form."""

from __future__ import annotations

import json
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.extract import Box, extract_boxes

A, B = (1.0, 2.0, 3.0, 4.0), (5.0, 6.0, 7.0, 8.0)
_FENCED = '```json\n[\n\t{"bbox_2d": [1, 2, 3, 4], "label": "dog"}\n]\n```'


def _read(text: str) -> tuple[list[tuple[tuple[float, ...], str | None]] | None, str]:
    found = extract_boxes(text)
    return None if found.value is None else [(box.xyxy, box.label) for box in found.value], found.rule


@pytest.mark.parametrize(
    ("reply", "boxes", "rule"),
    [
        (_FENCED, [(A, "dog")], "json"),
        ("Here they are:\n" + _FENCED + "\nThat is all.", [(A, "dog")], "json"),
        ('```json\n[{"bbox_2d": [1, 2, 3, 4], "label": "dog"}, {"bbox_2d": [5, 6', [(A, "dog")], "objects"),
        ('[{"bbox_2d":[1,2,3,4],"label":"dog"},{"bbox_2d":[5,6,7', [(A, "dog")], "objects"),
        ('[{"label":"dog","attr":{"a":1},"bbox_2d":[1,2,3,4]},{"attr":{},"label":"cat","bbox_2d":[5,6,7,8]},{"lab',
         [(A, "dog"), (B, "cat")], "objects"),
        ('{"objects": [{"bbox_2d":[1,2,3,4],"label":"dog"} {"bbox_2d":[5,6,7,8],"label":"cat"}]}',
         [(A, "dog"), (B, "cat")], "objects"),
        ("[[1,2,3,4],[5,6,7,8]]", [(A, None), (B, None)], "json"),
        ("[[1,2,3,4],[5,6,7", [(A, None)], "lists"),
        ("[1,2,3,4]", [(A, None)], "json"),
        ("[{'bbox_2d': [1,2,3,4], 'label': 'dog'}]", [(A, "dog")], "literal"),
        ('[{"bbox_2d":[1,2,3,4],"label":"dog",}]', [(A, "dog")], "literal"),
        ('{"objects":[{"bbox_2d":[1,2,3,4],"label":"dog"}]}', [(A, "dog")], "json"),
        ('{"bbox_2d":[1,2,3,4],"label":"dog"}\n{"bbox_2d":[5,6,7,8],"label":"cat"}',
         [(A, "dog"), (B, "cat")], "objects"),
        ('[{"bbox_2d":[1,2,3,4],"label":"dog"} {"bbox_2d":[5,6,7,8],"label":"cat"}]',
         [(A, "dog"), (B, "cat")], "objects"),
        ('{"bbox_2d":[[1,2,3,4],[5,6,7,8]],"label":"dog"}', [(A, "dog"), (B, "dog")], "json"),
        ('{"dog":[[1,2,3,4],[5,6,7,8]]}', [(A, None), (B, None)], "json"),
        ('[{"bbox_2d":["1","2","3","4"]}]', [(A, None)], "json"),
        ('[{"bbox_2d":[1.5,2,3,4]}]', [((1.5, 2.0, 3.0, 4.0), None)], "json"),
        ('[{"bbox_2d":"[1, 2, 3, 4]", "label": "dog"}]', [(A, "dog")], "json"),
        ('[{"bbox_2d":[1,2,3]},{"bbox_2d":[1,2,3,4]}]', [(A, None)], "json"),
        ("I see [2] dogs: [[1,2,3,4]]", [(A, None)], "lists"),
        ("At (1, 2, 3, 4) and (5, 6, 7, 8).", [(A, None), (B, None)], "lists"),
        ("[1,2,3,4], [5,6,7,8]", [(A, None), (B, None)], "literal"),
        ("<think>maybe [9,9,9,9]</think>[[1,2,3,4]]", [(A, None)], "json"),
        ("<answer>[1,2,3,4]</answer>", [(A, None)], "json"),
        ("First [9,9,9,9].\n<answer>[1,2,3,4]", [(A, None)], "json"),
        ("```\n[9,9,9,9]\n```\nBetter:\n```\n[1,2,3,4]\n```", [(A, None)], "json"),
        ('[{"label": "dog", "boxes": [[1,2,3,4]]}]', [(A, "dog")], "json"),
        ('[{"bbox": [1,2,3,4], "name": "dog"}, {"box_2d": [5,6,7,8], "class": "cat"}]',
         [(A, "dog"), (B, "cat")], "json"),
        ("[3, 4, 1, 2]", [((3.0, 4.0, 1.0, 2.0), None)], "json"),
        ("[1,2,3,4] [1,2,3,4]", [(A, None), (A, None)], "lists"),
        ("[-5, 2, 3, 4]", [((-5.0, 2.0, 3.0, 4.0), None)], "json"),
        ("1, 2, 3, 4", [(A, None)], "literal"),
        ("1, 2, 3, 4,", [(A, None)], "literal"),
        ('[{"bbox_2d":" ( 1, 2, 3, 4 ) "}]', [(A, None)], "json"),
        ("[{'bbox_2d': [1,2,3,4], 'label': 'caf\\u00e9'}]", [(A, "café")], "literal"),
        ("[{'bbox_2d': [1,2,3,4], 'label': 'dog\\'s'}]", [(A, "dog's")], "literal"),
        ("<|box_start|>(133,42),(560,870)<|box_end|>", [((133.0, 42.0, 560.0, 870.0), None)], "box_tokens"),
        ("<|object_ref_start|>dog<|object_ref_end|><|box_start|>(1,2),(3,4)<|box_end|> and "
         "<|object_ref_start|>cat<|object_ref_end|><|box_start|>(5,6),(7,8)<|box_end|>",
         [(A, "dog"), (B, "cat")], "box_tokens"),
        ("<ref>dog</ref><box>[[1,2,3,4],[5,6,7,8]]</box>", [(A, "dog"), (B, "dog")], "box_tokens"),
        ("<box>1e2,2e2,5e2,6e2</box>", [((100.0, 200.0, 500.0, 600.0), None)], "box_tokens"),
        ("[]", [], "empty_list"),
        ("```json\n[]\n```", [], "empty_list"),
        ("{}", [], "empty_list"),
        ("There is no dog in this image: [ ]", [], "empty_list"),
    ],
)  # fmt: skip
def test_boxes_are_read(reply: str, boxes: list[tuple[tuple[float, ...], str | None]], rule: str) -> None:
    assert _read(reply) == (boxes, rule)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("There are none.", "unparsed"),
        ("", "no_response"),
        ("  \n", "no_response"),
        ("null", "unparsed"),
        ("[[]]", "unparsed"),
        ('[{"bbox_2d":[1,2,3,NaN]}]', "unparsed"),
        ('[{"bbox_2d":[1,2,3,1e999]}]', "unparsed"),
        ('[{"bbox_2d":[true,false,true,true]}]', "unparsed"),
        ("[[1,2,3,4,0.9]]", "unparsed"),
        ("[1,2,3,4,5,6,7,8]", "unparsed"),
        ("(1,2),(3,4)", "unparsed"),
        ("[(0.1,0.1)]", "unparsed"),
        ('[{"point_2d":[5,6],"label":"dog"}]', "unparsed"),
        ("<|box_start|>(1,2)<|box_end|>", "unparsed"),
        ("<|box_start|>(1,2),(3,4),(5,6)<|box_end|>", "unparsed"),
        ("<|box_start|>" + "1" * 72 + "<|box_end|>", "unparsed"),
        ("<box>1.2.3.4,5,6,7</box>", "unparsed"),
        ("<think>maybe [9,9,9,9]", "unfinished_reasoning"),
        ("<think>maybe [9,9,9,9]</think>", "no_response"),
    ],
)
def test_what_states_no_box_is_no_box(reply: str, why: str) -> None:
    assert _read(reply) == (None, why)


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 300_000,
        "{" * 300_000,
        '{"a":' * 100_000,
        "[" * 100_000 + "]" * 100_000,
        "```" * 100_000,
        "{x" * 50_000 + "}" * 50_000,
        "1," * 300_000,
        "[1,2,3," * 100_000,
        "<box>" * 60_000,
        "<|box_start|>" + "1" * 300_000,
        "<ref>" * 60_000 + "<box>1,2,3,4</box",
        "(" + "9" * 300_000 + ",1,1,1)",
        '{"bbox": "' + " " * 100_000 + 'x"}',
        '{"bbox": "1,2,3,4' + " " * 100_000 + 'x"}',
        "{}" * 300_000,
        "{a}" * 300_000,
        "[" + "-" * 100_000 + "1]",
        "(1" + "+1" * 50_000 + ")",
    ],
)
def test_hostile_replies_are_read_to_the_end(hostile: str) -> None:
    assert extract_boxes(hostile).value is None


@pytest.mark.parametrize("label", [r"\d", r"5\%", r"\underline", r"\777", r"\\d"])
def test_an_odd_escape_in_a_label_costs_no_box_and_no_warning(label: str) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        read = _read(f"[{{'bbox_2d': [1,2,3,4], 'label': '{label}'}}]")
    assert read == ([(A, label.replace("\\\\", "\\"))], "literal")
    assert said == []


def test_prose_with_numbers_costs_no_warning() -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert _read("2 of 4in screws, 0x1for each: [1,2,3,4]") == ([(A, None)], "json")
    assert said == []


def test_a_box_after_a_great_deal_of_noise_is_found() -> None:
    assert _read("{[" * 100_000 + " [1,2,3,4]") == ([(A, None)], "lists")


@given(
    st.lists(st.tuples(*[st.floats(-2000, 2000, allow_nan=False).map(lambda x: round(x, 3))] * 4), max_size=8)
)
def test_what_is_written_as_json_is_read_as_it_was(boxes: list[tuple[float, float, float, float]]) -> None:
    for text in (
        json.dumps([list(box) for box in boxes]),
        json.dumps([{"bbox_2d": list(box), "label": "x"} for box in boxes]),
    ):
        found = extract_boxes(f"```json\n{text}\n```").value
        assert found is not None
        assert [box.xyxy for box in found] == boxes


@given(st.text(alphabet='[]{}(),:"0123456789.- bx_2dlae\n`<>/|', max_size=80))
def test_any_text_gives_boxes_or_a_reason_and_a_span_that_lies_in_it(text: str) -> None:
    found = extract_boxes(text)
    if found.value is None:
        assert found.span is None
        return
    assert found.span is not None
    start, end = found.span
    assert 0 <= start < end <= len(text)
    assert all(isinstance(box, Box) for box in found.value)


@pytest.mark.parametrize(
    ("reply", "parsed"),
    [
        ("They are at [1,2,3,4].", "[1,2,3,4]"),
        ("<think>x</think> see ```json\n[[1,2,3,4]]\n``` ok", "[[1,2,3,4]]"),
        ("a [1,2,3,4] b [5,6,7,8] c", "[1,2,3,4] b [5,6,7,8]"),
    ],
)
def test_the_span_is_what_was_parsed(reply: str, parsed: str) -> None:
    found = extract_boxes(reply)
    assert found.span is not None
    assert reply[found.span[0] : found.span[1]] == parsed
