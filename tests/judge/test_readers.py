"""What each judge family reads in a reply: the forms it asks for, and those that have misled other readers."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagharness.judge import FAMILIES, JudgeQuestion, Unreadable, decided_by_rule, opinion_of
from flagharness.run import Prediction

QUESTION = JudgeQuestion(
    question="Where?",
    reference="Paris",
    answer="In Paris.",
    accepted=["Paris"],
    fields={
        "options": "A. red\nB. dark blue",
        "choices": {"A": "red", "B": "dark blue"},
        "checklist": "1. Names the city.\n2. Names the country.",
    },
)
OPEN = "judge_unparsed"


def grade(family: str, reply: str, finish_reason: str = "stop", *, refused: bool = False) -> str:
    record = Prediction("0", answer=reply, finish_reason=finish_reason, refused=refused)
    asked = dataclasses.replace(QUESTION, reference="A") if family == "option_extract" else QUESTION
    return opinion_of(FAMILIES[family], "judge", record, asked).status


def fields(family: str, reply: str) -> dict[str, Any]:
    return dict(FAMILIES[family].read(reply, QUESTION).fields)


# Both read "correct: yes or no", with an explanation before or after it.
TWO_LINES = [
    ("correct: yes\nreasoning: it is stated", "correct"),
    ("correct: no\nreasoning: another city", "incorrect"),
    ("Correct: Yes", "correct"),
    ("CORRECT: NO.", "incorrect"),
    ("**correct:** yes\n**reasoning:** fine", "correct"),
    ("**correct**: **no**", "incorrect"),
    ("`correct: yes`", "correct"),
    ("correct: [yes]", "correct"),
    ("correct: <yes>", "correct"),
    ("correct: “Yes”.", "correct"),
    ("correct：yes", "correct"),  # a full-width colon
    ("- correct: yes\n- reasoning: x", "correct"),
    ("1. correct: no\n2. reasoning: x", "incorrect"),
    ("### correct: yes", "correct"),
    ("correct:\nyes\nreasoning:\nfine", "correct"),
    ("```\ncorrect: yes\nreasoning: x\n```", "correct"),
    ('```json\n{"correct": "no", "reasoning": "x"}\n```', "incorrect"),
    ('Here is my verdict: {"correct": "yes", "reasoning": "it says so"}. Thank you.', "correct"),
    ('{"correct": true}', "correct"),
    ('{"Correct": "Yes", "reasoning": "x"', "correct"),  # the brace is missing
    ("<think>\ncorrect: yes\n</think>\ncorrect: no", "incorrect"),
    ("The user wants a verdict.</think>correct: no", "incorrect"),
    ("reasoning: the report names Paris, which is right.\ncorrect: yes", "correct"),
    ("reasoning: It is not correct to say yes here.\ncorrect: no", "incorrect"),
    ("correct: no (a lenient reader might say yes)", "incorrect"),
    ("correct: no, although one could argue yes", "incorrect"),
    ("correct: yes\nreasoning: the correct: no of another reader is wrong", "correct"),
    ("correct: no\n\nOn second thought:\n\ncorrect: yes", "correct"),  # the last line counts
    ("correct: \u200byes", "correct"),
    ("yes", "correct"),
    ("No.", "incorrect"),
    ("是", "correct"),
    ("correct: 正确", "correct"),
    ("correct: 否", "incorrect"),
    # no verdict, and so none is made up
    ("", OPEN),
    ("  \n", OPEN),
    ("correct: [yes/no]", OPEN),
    ("correct: <yes or no>\nreasoning: <why>", OPEN),
    ("correct: yes | no", OPEN),
    ("correct:", OPEN),
    ("correct: maybe", OPEN),
    ("correct: yesterday", OPEN),
    ("correct: nobody knows", OPEN),
    ("correct: not sure", OPEN),
    ("incorrect: yes, it is wrong", OPEN),
    ("incorrect: yes", OPEN),
    ("The report is correct.", OPEN),
    ("I would say yes.", OPEN),
    ("Not correct", OPEN),
    ("GRID: C", OPEN),
    ("I cannot tell", OPEN),
    ("> correct: yes", OPEN),  # a quotation
    ("correct: yes\nreasoning: the report says:\ncorrect: no\nwhich is odd", OPEN),
    ('{"correct": "yes"} {"correct": "no"}', OPEN),
    ('{"correct": "yes"}\ncorrect: no', OPEN),
    ("<think>correct: yes", OPEN),  # it never stopped thinking
    ("<think>correct: yes</think>", OPEN),
]


@pytest.mark.parametrize("family", ["judge_vdr", "judge_rs"])
@pytest.mark.parametrize(("reply", "status"), TWO_LINES)
def test_a_line_that_says_yes_or_no(family: str, reply: str, status: str) -> None:
    assert grade(family, reply) == status


@pytest.mark.parametrize(("reply", "status"), TWO_LINES)
def test_hle_reads_its_line_in_the_same_way(reply: str, status: str) -> None:
    assert grade("hle", reply) == status


@pytest.mark.parametrize(
    ("reply", "answer", "confidence"),
    [
        ("extracted_final_answer: Paris\nreasoning: x\ncorrect: yes\nconfidence: 85", "Paris", 85.0),
        (
            "**extracted_final_answer**: Paris\n**reasoning**: x\n**correct**: yes\n**confidence**: 85%",
            "Paris",
            85.0,
        ),
        ("Extracted Final Answer: Paris\ncorrect: yes\nConfidence: 7.5", "Paris", 7.5),
        ("extracted_final_answer: None\ncorrect: no", "None", 100.0),  # none stated counts as sure
        ("extracted_final_answer: x\ncorrect: no\nconfidence: 1000", "x", 100.0),
        (
            '{"extracted_final_answer": "Paris", "reasoning": "r", "correct": "yes", "confidence": 60}',
            "Paris",
            60.0,
        ),
        ("correct: yes\nconfidence: unknown", None, 100.0),
    ],
)
def test_hle_reads_answer_and_confidence(reply: str, answer: str | None, confidence: float) -> None:
    assert fields("hle", reply) == {"extracted_answer": answer, "confidence": confidence}


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("<think>Both say six.</think>\n<最终结果>\n\\boxed{Yes}\n</最终结果>", "correct"),
        ("<think>No?</think><最终结果>\\boxed{No}</最终结果>", "incorrect"),
        ("\\boxed{no}", "incorrect"),
        ("$\\boxed{\\text{Yes}}$", "correct"),
        ("\\boxed{**Yes**}", "correct"),
        ("\\boxed{No} ... no: \\boxed{Yes}", "correct"),  # the last box counts
        ("Yes", "correct"),
        ("\\boxed{Yes or No}", OPEN),
        ("\\boxed{}", OPEN),
        ("\\boxed{Yes", OPEN),
        ("The answers agree.", OPEN),
        ("<think>\\boxed{Yes}", OPEN),
        ("\\boxed{Yesterday}", OPEN),
    ],
)
def test_a_box_that_says_yes_or_no(reply: str, status: str) -> None:
    assert grade("realxbench", reply) == status


@pytest.mark.parametrize(
    ("reply", "status", "met"),
    [
        ("CHECKLIST_SCORE: 2/2\nCHECKLIST_RESULT: [1, 1]\nOVERALL_CORRECTNESS: YES", "correct", 2),
        ("CHECKLIST_SCORE: 1/2\nCHECKLIST_RESULT: [1, 0]\nOVERALL_CORRECTNESS: NO", "incorrect", 1),
        ("**CHECKLIST_SCORE:** 0/2\n**CHECKLIST_RESULT:** N/A\n**OVERALL_CORRECTNESS:** Yes.", "correct", 0),
        (
            "checklist_score: [1/2]\nchecklist_result: [0,1]\noverall_correctness: [NO]",
            "incorrect",
            1,
        ),
        ("CHECKLIST_SCORE: 1/2\nCHECKLIST_RESULT: [1, 1]\nOVERALL_CORRECTNESS: YES", "correct", None),
        ("CHECKLIST_SCORE: 1/3\nCHECKLIST_RESULT: [1, 0, 0]\nOVERALL_CORRECTNESS: YES", "correct", None),
        ("CHECKLIST_SCORE: 3/2\nOVERALL_CORRECTNESS: YES", "correct", None),
        ("OVERALL_CORRECTNESS: NO", "incorrect", None),
    ],
)
def test_the_checklist_has_to_agree_with_itself(reply: str, status: str, met: int | None) -> None:
    assert grade("mmbrowsecomp", reply) == status
    assert fields("mmbrowsecomp", reply) == {"checklist_met": met, "checklist_items": 2}


@pytest.mark.parametrize(
    "reply",
    [
        "CHECKLIST_SCORE: 2/2\nCHECKLIST_RESULT: [1, 1]",
        "OVERALL_CORRECTNESS: YES|NO",
        "OVERALL_CORRECTNESS: <YES or NO>",
        "The answer is overall correct: YES!",
    ],
)
def test_a_checklist_without_a_verdict_is_none(reply: str) -> None:
    assert grade("mmbrowsecomp", reply) == OPEN


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("yes", "correct"),
        ("Yes", "correct"),
        ("yes.", "correct"),
        ("**No**", "incorrect"),
        ("[no]", "incorrect"),
        ("<think>yes</think>no", "incorrect"),
        ("judgement: yes", "correct"),
        ("yes or no", OPEN),
        ("Yes, the two mean the same, no doubt.", OPEN),
        ("yes/no", OPEN),
        ("notice", OPEN),
    ],
)
def test_one_word(reply: str, status: str) -> None:
    assert grade("vbb", reply) == status


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ('{"0": "正确"}', "correct"),
        ('{"0": "错误"}', "incorrect"),
        ('{"0": "未尝试"}', "not_attempted"),
        ('```json\n{"0": "正确"}\n```', "correct"),
        ('{"0": "正确"', "correct"),
        ('{"0": "【正确】"}', "correct"),
        ('{"0": "**错误**"}', "incorrect"),
        ('{"answer_0": {"conclusion": "错误", "reason": "…"}}', "incorrect"),
        ('判断如下：{"0": "未尝试"}。', "not_attempted"),
        ('{"0": "correct"}', "correct"),
        ('{"0": "NOT_ATTEMPTED"}', "not_attempted"),
        ("A", "correct"),
        ("B", "incorrect"),
        ("C", "not_attempted"),
        ("正确", "correct"),
        ("不正确", "incorrect"),
        ("结论：错误", "incorrect"),
        ("<think>正确</think>错误", "incorrect"),
        ('{"0": "正确", "1": "错误"}', OPEN),
        ('{"0": "部分正确"}', OPEN),
        ('{"0": "<正确, 错误 or 未尝试>"}', OPEN),
        ('{"0": "正确, 错误 or 未尝试"}', OPEN),
        ('{"0": ""}', OPEN),
        ('{"0": 1}', OPEN),
        ("这个答案不完全正确", OPEN),
        ("A careful reader would agree.", OPEN),
    ],
)
def test_three_grades_in_chinese(reply: str, status: str) -> None:
    assert grade("simplevqa", reply) == status


LETTERS = [
    ("A", "correct"),
    ("B", "incorrect"),
    ("**A**", "correct"),
    ("[B]", "incorrect"),
    ("(A)", "correct"),
    ("A.", "correct"),
    ("\\boxed{A}", "correct"),
    ("A: CORRECT", "correct"),
    ("B: INCORRECT", "incorrect"),
    ("B - INCORRECT", "incorrect"),
    ("CORRECT", "correct"),
    ("INCORRECT", "incorrect"),
    ("incorrect.", "incorrect"),
    ("Grade: B", "incorrect"),
    ("The final grade is: A", "correct"),
    ("It names the city.\n\nA", "correct"),
    ("<think>A or B?</think>B", "incorrect"),
    ("A: INCORRECT", OPEN),
    ("A\nB", OPEN),
    ("A or B", OPEN),
    ("A: correct\nB: incorrect\nC: other", OPEN),
    ("A careful reader would agree.", OPEN),
    ("The answer is CORRECT in part", OPEN),
    ("D", OPEN),
    ("Because it names the city", OPEN),
    ("not correct", OPEN),
    ("<think>A", OPEN),
]


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        *LETTERS,
        ("C", "invalid"),
        ("INVALID", "invalid"),  # which holds the letter A, and no grade of that name
        ("C: INVALID", "invalid"),
        ("Invalid", "invalid"),
        ("NOT_ATTEMPTED", OPEN),
    ],
)
def test_correct_incorrect_or_invalid(reply: str, status: str) -> None:
    assert grade("freak", reply) == status


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        *LETTERS,
        ("C", "not_attempted"),
        ("NOT_ATTEMPTED", "not_attempted"),
        ("NOT ATTEMPTED", "not_attempted"),
        ("C: NOT_ATTEMPTED", "not_attempted"),
        ("INVALID", OPEN),
    ],
)
def test_correct_incorrect_or_not_attempted(reply: str, status: str) -> None:
    assert grade("simpleqa", reply) == status


@pytest.mark.parametrize(
    ("reply", "status", "extracted"),
    [
        ("A\tB", "correct", "B"),
        ("B\tthe red one", "incorrect", "the red one"),
        ("C\tN/A", "invalid", None),
        ("A\\tD", "correct", "D"),
        ("A | 3.5 m", "correct", "3.5 m"),
        ("B, 12", "incorrect", "12"),
        ("A: C", "correct", "C"),
        ("A 3.5", "correct", "3.5"),
        ("A (C)", "correct", "(C)"),
        ("**A**\t**B**", "correct", "B"),
        ("```\nA\tB\n```", "correct", "B"),
        ("A", "correct", None),
        ("C", "invalid", None),
        ("<think>B\tC</think>A\tB", "correct", "B"),
        ("A\tB\nThe response says so.", "correct", "B"),
    ],
)
def test_grade_and_extracted_answer(reply: str, status: str, extracted: str | None) -> None:
    assert grade("spatial_extract", reply) == status
    assert fields("spatial_extract", reply) == {"extracted_answer": extracted}


@pytest.mark.parametrize(
    "reply", ["", "A\tB\nB\tB", "A response like this", "D\tB", "The grade is good", "<grade>\t<answer>"]
)
def test_a_line_without_one_grade_is_none(reply: str) -> None:
    assert grade("spatial_extract", reply) == OPEN


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("reasoning: x\nverdict: correct", "correct"),
        ("verdict: incorrect", "incorrect"),
        ("**verdict:** INCORRECT", "incorrect"),
        ("reasoning: it is not incorrect\nverdict: correct", "correct"),
        ('{"reasoning": "x", "verdict": "incorrect"}', "incorrect"),
        ("INCORRECT", "incorrect"),
        ("verdict: correct or incorrect", OPEN),
        ("verdict: correctly answered", OPEN),
        ("not correct", OPEN),
        ("It is correct.", OPEN),
    ],
)
def test_correct_or_incorrect(reply: str, status: str) -> None:
    assert grade("binary", reply) == status


@pytest.mark.parametrize("family", ["extract_compare", "open_judgement"])
@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("judgement: 1", "correct"),
        ("Judgement: 0", "incorrect"),
        ("Reasoning: 10 of 10 words are the same.\nJudgement: 1", "correct"),
        ("**Judgement:** **0**", "incorrect"),
        ("extracted_answer: 1\njudgement: 0", "incorrect"),
        ("1", "correct"),
        ("judgement: 10", OPEN),
        ("judgement: 0/1", OPEN),
        ("0 (not 1)", OPEN),
        ("It deserves a 1.", OPEN),
    ],
)
def test_one_or_zero(family: str, reply: str, status: str) -> None:
    assert grade(family, reply) == status


@pytest.mark.parametrize(
    ("reply", "chosen"),
    [
        ("A", "A"),
        ("B.", "B"),
        ("**B**", "B"),
        ("(A)", "A"),
        ("B. dark blue", "B"),
        ("Dark Blue", "B"),
        ("Answer: A", "A"),
        ("The response describes the sea.\n\nB", "B"),
        ("<think>A? No.</think>B", "B"),
        ("none", None),
        ("None.", None),
    ],
)
def test_the_option_that_a_response_chooses(reply: str, chosen: str | None) -> None:
    assert fields("option_extract", reply) == {"extracted_answer": chosen}
    graded = {
        "A": "correct",
        "B": "incorrect",
        None: "invalid",
    }  # the truth is A, which the judge is not told
    assert grade("option_extract", reply) == graded[chosen]


@pytest.mark.parametrize(
    "reply", ["C", "A or B", "A\nB", "A. dark blue", "A dark one", "", "blue", 'Reply with "none".', "A/B"]
)
def test_no_option_is_made_up(reply: str) -> None:
    assert grade("option_extract", reply) == OPEN


# --- what holds for all of them ---

VERDICTS = {
    "judge_vdr": "correct: yes",
    "judge_rs": "correct: yes",
    "hle": "correct: yes",
    "realxbench": "\\boxed{Yes}",
    "mmbrowsecomp": "CHECKLIST_SCORE: 2/2\nCHECKLIST_RESULT: [1, 1]\nOVERALL_CORRECTNESS: YES",
    "vbb": "yes",
    "simplevqa": '{"0": "正确"}',
    "freak": "A",
    "spatial_extract": "A\tParis",
    "option_extract": "A",
    "binary": "reasoning: x\nverdict: correct",
    "extract_compare": "extracted_answer: Paris\njudgement: 1",
    "simpleqa": "A",
    "open_judgement": "Reasoning: x\nJudgement: 1",
}


def test_every_family_is_looked_at() -> None:
    assert VERDICTS.keys() == FAMILIES.keys()


@pytest.mark.parametrize(("family", "reply"), VERDICTS.items())
def test_a_reply_that_was_cut_off_is_no_verdict_even_with_one_in_it(family: str, reply: str) -> None:
    assert grade(family, reply) == "correct"
    assert grade(family, reply, "length") == OPEN
    assert grade(family, reply, refused=True) == OPEN


@pytest.mark.parametrize("family", FAMILIES)
def test_the_form_it_asks_for_is_no_verdict(family: str) -> None:
    assert grade(family, FAMILIES[family].form) == OPEN
    assert grade(family, FAMILIES[family].text(QUESTION)) == OPEN  # nor is the whole prompt, said back


@pytest.mark.parametrize(("family", "reply"), VERDICTS.items())
@pytest.mark.parametrize(
    "wrap",
    [
        "<think>It may be wrong: no, B, incorrect.</think>\n{}",
        "```\n{}\n```",
        "\n\n{}\n\n",
        "\ufeff{}",
        "{}</s>",
        "{}<|im_end|>",
    ],
)
def test_what_stands_around_a_verdict_does_not_matter(family: str, reply: str, wrap: str) -> None:
    assert grade(family, wrap.replace("{}", reply)) == "correct"


@pytest.mark.parametrize("family", FAMILIES)
@given(reply=st.text(max_size=80))
def test_no_text_makes_a_reader_fall(family: str, reply: str) -> None:
    try:
        FAMILIES[family].read(reply, QUESTION)
    except Unreadable:
        return


@pytest.mark.parametrize("family", ["judge_vdr", "hle", "binary", "extract_compare", "open_judgement"])
@given(
    prose=st.lists(
        st.sampled_from(
            ["yes", "no", "The", "report", "is", "correct", "incorrect", "right", "A", "0", "1", "judgement"]
        ),
        min_size=2,
        max_size=12,
    )
)
def test_words_in_prose_are_no_verdict(family: str, prose: list[str]) -> None:
    assert grade(family, "I think that " + " ".join(prose)) == OPEN


@pytest.mark.parametrize("family", FAMILIES)
def test_an_empty_answer_takes_no_call(family: str) -> None:
    empty = JudgeQuestion("Where?", "Paris", " \n", ["Paris"], QUESTION.fields)
    ruling = decided_by_rule(FAMILIES[family], empty)
    assert ruling is not None
    expected = {
        **dict.fromkeys(("simplevqa", "simpleqa"), "not_attempted"),
        **dict.fromkeys(("spatial_extract", "option_extract"), "invalid"),
    }
    assert (ruling.status, ruling.grade) == ("model_failed", expected.get(family, "incorrect"))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("answer", ["Paris", " paris. ", "ＰＡＲＩＳ"])
def test_an_exact_match_takes_no_call_but_where_more_is_asked(family: str, answer: str) -> None:
    ruling = decided_by_rule(FAMILIES[family], JudgeQuestion("Where?", "Paris", answer, ["Paris"]))
    if family in (
        "mmbrowsecomp",
        "spatial_extract",
        "option_extract",
    ):  # whose judges say more than whether it is right
        assert ruling is None
    else:
        assert ruling is not None
        assert (ruling.status, ruling.grade) == ("skipped_rule", "correct")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("answer", ["Paris, Texas", "not Paris", "Pari", "Paris Paris"])
def test_what_only_resembles_the_truth_is_for_the_judge(family: str, answer: str) -> None:
    assert decided_by_rule(FAMILIES[family], JudgeQuestion("Where?", "Paris", answer, ["Paris"])) is None
