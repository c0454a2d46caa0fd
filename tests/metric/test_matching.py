"""Whether a short answer says the same as the truth: by rule, never by similarity."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.metric import answers_match, normalize_answer


@pytest.mark.parametrize(
    ("prediction", "truth"),
    [
        # case, punctuation, spaces, articles, emphasis
        ("YES", "yes"),
        ("left", "Left"),
        ("the left", "left"),
        ("A dog.", "dog"),
        ("  Red   car ", "red car"),
        ("**cat**", "cat"),
        ('"cat"', "cat"),
        ("(cat)", "cat"),
        ("`cat`", "cat"),
        ("Straße", "STRASSE"),
        ("ＡＢＣ１２", "abc12"),
        ("左边。", "左边"),
        ("“左边”", "左边"),
        ("a", "A"),
        ("The", "the"),
        ("Black.", ["black"] * 10),
        ("kitten", ["cat", "kitten"]),
        ("cat", ("dog", "cat")),
        # one short sentence that states it
        ("It is on the left", "left"),
        ("The sign says STOP.", "stop"),
        ("There are about 12", 12),
        ("on the left", "left"),
        ("To the left.", "left"),
        ("about 12", 12),
        ("It's blue.", "blue"),
        ("I think it's blue", "blue"),
        ("是红色", "红色"),
        ("这辆车是红色的。", "红色"),
        ("这辆车是红色的。", "红色的"),
        ("Yes, it is.", "yes"),
        ("No, it isn't", "no"),
        # numbers
        ("12", 12),
        ("12.0", 12),
        ("12.", 12),
        ("1,000", 1000),
        ("1,234,567", "1234567"),
        ("-5", -5),
        ("\u22125", -5),
        ("+5", 5),
        (".5", 0.5),
        ("-.5", "-0.5"),
        ("3.140", "3.14"),
        ("1e5", 100000),
        ("1e-07", 1e-07),
        ("٣", 3),
        ("#5", 5),
        # scales and lists
        ("1.5 million", 1500000),
        ("5 Million people", "5,000,000"),
        ("5万", 50000),
        ("5千克", 5),
        ("3 dozen", "36"),
        ("(1,2)", "(1, 2)"),
        ("1, 2", "(1,2)"),
        ("（1，2）", "(1, 2)"),
        ("[100,200]", "(100, 200)"),
        ("1,2,3", "[1, 2, 3]"),
        ("dog,cat", "dog, cat"),
        ("C#", "C#"),
        # a unit on one side, or the same on both
        ("12 cm", 12),
        ("12", "12 cm"),
        ("12cm", "12 cm"),
        ("12 CM.", "12 cm"),
        ("50%", 50),
        ("50", "50%"),
        ("$5", "5"),
        ("20 °C", 20),
        ("5 km/h", 5),
        ("3 m²", "3 m2"),
        ("2018年", 2018),
        ("3 apples", 3),
    ],
)
def test_these_say_the_same(prediction: str, truth: Any) -> None:
    assert answers_match(prediction, truth)


@pytest.mark.parametrize(
    ("prediction", "truth"),
    [
        # near misses are misses
        ("2018", "2019"),
        ("1235", "1234"),
        ("3.15", "3.14"),
        ("1000", "100"),
        ("decrease", "increase"),
        ("cats", "cat"),
        ("cat", ["dog", "hen"]),
        ("cat", []),
        ("", "cat"),
        ("red", "red car"),
        # a sentence that says more, or the opposite
        ("It is not left", "left"),
        ("It is left or right", "left"),
        ("It is dark left", "left"),
        ("Left is where it is not", "left"),
        ("3 or 4", 3),
        ("I don't think it is left", "left"),
        ("I am not sure if it's left", "left"),
        ("不是红色", "红色"),
        ("是红色或蓝色", "红色"),
        ("是不是红色", "红色"),
        ("Yes and no", "yes"),
        ("No, it is yes", "no"),
        ("No. 5", "no"),
        ("The answer is not yes", "yes"),
        # units that differ
        ("12 m", "12 cm"),
        ("50%", "50 cm"),
        # a digit more is not a unit
        ("3/4", 3),
        ("10^6", 10),
        ("1e5", 1),
        ("2x3", 2),
        (".5", 5),
        ("1,00", 100),
        ("1.000.000", 1),
        ("5", "-5"),
        ("-", ""),
        ("5 million", 5),
        ("5万", 5),
        ("5 dozen", 5),
        ("100 hundred", 100),
        ("(1, 2)", "(2, 1)"),
        ("(1, 2)", "(1, 2, 3)"),
        ("(1, 2)", 12),
        ("C#", "C"),
        ("C", "C#"),
    ],
)
def test_these_do_not(prediction: str, truth: Any) -> None:
    assert not answers_match(prediction, truth)


@given(st.text())
def test_a_text_matches_itself_unless_it_is_blank(text: str) -> None:
    assert answers_match(text, text) == bool(text.strip())


_SHORT = st.text("0123456789.,e+-cm%/^$ ", max_size=8) | st.text(st.characters(exclude_categories=("Z", "C")))


@given(_SHORT, _SHORT)
def test_without_a_sentence_matching_does_not_depend_on_which_side_is_the_truth(one: str, other: str) -> None:
    assert answers_match(one, other) == answers_match(other, one)


@given(st.text(), st.lists(st.text(), max_size=4))
def test_several_truths_match_if_one_of_them_does(text: str, truths: list[str]) -> None:
    assert answers_match(text, truths) == any(answers_match(text, truth) for truth in truths)


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_whole_numbers_match_only_themselves_with_or_without_separators(one: int, other: int) -> None:
    assert answers_match(f"{one:,}", one)
    assert answers_match(str(one), other) == (one == other)


@given(st.text())
def test_the_normal_form_has_no_edges_and_no_runs_of_spaces(text: str) -> None:
    form = normalize_answer(text)
    assert form == form.strip()
    assert "  " not in form
