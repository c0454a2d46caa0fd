"""How each family's reply is read: text in, a Reading out, Unreadable where it states no verdict."""

from __future__ import annotations

import re
from typing import Any

from flagharness.judge._family import Reading
from flagharness.judge._question import JudgeQuestion
from flagharness.judge._reading import (
    Unreadable,
    json_objects,
    json_value,
    last_box,
    last_field,
    only_word,
    own_words,
    read_grade,
    read_verdict,
)

_CHINESE = {"正确": "correct", "错误": "incorrect", "不正确": "incorrect"}
_YES_NO = {"yes": "correct", "no": "incorrect", "是": "correct", "否": "incorrect", **_CHINESE}
_RIGHT_WRONG = {"correct": "correct", "incorrect": "incorrect", **_CHINESE}
_NOT_ATTEMPTED = dict.fromkeys(("not_attempted", "not attempted", "未尝试"), "not_attempted")
_ATTEMPTS = {**_RIGHT_WRONG, **_NOT_ATTEMPTED}
_VALIDITY = {**_RIGHT_WRONG, "invalid": "invalid"}
_ABC_ATTEMPTS = {"A": "correct", "B": "incorrect", "C": "not_attempted"}
_ABC_VALIDITY = {"A": "correct", "B": "incorrect", "C": "invalid"}


def read_correct_line(reply: str, _: JudgeQuestion) -> Reading:
    said = own_words(reply)
    return Reading(read_verdict(said, "correct", _YES_NO))


def read_hle(reply: str, _: JudgeQuestion) -> Reading:
    said = own_words(reply)
    grade = read_verdict(said, "correct", _YES_NO)
    found: dict[str, Any] = {}
    for name in ("extracted_final_answer", "confidence"):
        in_json = next((v for o in json_objects(said) if (v := json_value(o, name)) is not None), None)
        value = in_json if in_json is not None else last_field(said, name)
        found[name] = str(value) if value is not None else None
    confidence = re.search(r"\d+(?:\.\d+)?", found["confidence"] or "")
    stated = (
        min(float(confidence[0]), 100.0) if confidence else 100.0
    )  # as upstream: none stated counts as sure
    return Reading(grade, {"extracted_answer": found["extracted_final_answer"], "confidence": stated})


def read_box(reply: str, _: JudgeQuestion) -> Reading:
    said = own_words(reply)
    inside = last_box(said)
    grade = only_word(inside if inside is not None else said, _YES_NO)
    if grade is None:
        raise Unreadable(r"no \boxed{Yes} or \boxed{No}")
    return Reading(grade)


def read_checklist(reply: str, question: JudgeQuestion) -> Reading:
    said = own_words(reply)
    grade = read_verdict(said, "overall_correctness", _YES_NO)
    score = re.fullmatch(r"\[?\s*(\d+)\s*/\s*(\d+)\s*\]?\.?", last_field(said, "checklist_score") or "")
    marks = re.findall(r"[01]", last_field(said, "checklist_result") or "")
    items = len(str(question.fields.get("checklist") or "").splitlines())
    met = int(score[1]) if score and int(score[2]) == items and int(score[1]) <= items else None
    if marks and met is not None and (len(marks) != items or marks.count("1") != met):
        met = None  # the judge contradicts itself
    return Reading(grade, {"checklist_met": met, "checklist_items": items})


def read_yes_no(reply: str, _: JudgeQuestion) -> Reading:
    said = own_words(reply)
    grade = only_word(said, _YES_NO)
    return Reading(grade if grade is not None else read_verdict(said, "judgement", _YES_NO))


def read_simplevqa(reply: str, _: JudgeQuestion) -> Reading:
    said = own_words(reply)
    found = set()
    for each in json_objects(said):
        for value in each.values():
            text = value.get("conclusion", value.get("结论")) if isinstance(value, dict) else value
            grade = only_word(text, _ATTEMPTS) if isinstance(text, str) else None
            if grade is None:
                raise Unreadable(f"{text!r} is no grade")
            found.add(grade)
    if len(found) > 1:
        raise Unreadable("several different verdicts")
    return Reading(found.pop() if found else read_grade(said, _ABC_ATTEMPTS, _ATTEMPTS))


def read_validity(reply: str, _: JudgeQuestion) -> Reading:
    return Reading(read_grade(own_words(reply), _ABC_VALIDITY, _VALIDITY))


def read_attempts(reply: str, _: JudgeQuestion) -> Reading:
    return Reading(read_grade(own_words(reply), _ABC_ATTEMPTS, _ATTEMPTS))


_SEPARATED = re.compile(r"^\W*\b([ABC])\b\W*?(?:\t| {2,}|\\t|\||,|:)\s*(\S.*)$")
_BLANK_ONLY = re.compile(
    r"^\W*\b([ABC])\b (\(?[A-Z]\)?[.)]?|[A-Z][.)] .{1,200}|N/?A|[-+]?[\d.,]+(?: ?[a-z%°²]{1,12})?)$"
)


def read_extracted_grade(reply: str, _: JudgeQuestion) -> Reading:
    lines = [line.strip() for line in own_words(reply).splitlines() if line.strip()]
    found = [match for line in lines if (match := _SEPARATED.match(line))]
    if not found and len(lines) == 1:
        found = [match] if (match := _BLANK_ONLY.match(lines[0])) else []
        if not found:
            grade = read_grade(lines[0], _ABC_VALIDITY, _VALIDITY)
            return Reading(grade, {"extracted_answer": None})
    if len({(match[1], match[2]) for match in found}) != 1:
        raise Unreadable(
            "several different grades" if found else "no line of a grade, a tab and the extracted answer"
        )
    extracted = found[0][2].strip()
    known = None if extracted.upper().strip(".") in ("N/A", "NA", "NONE") else extracted
    return Reading(_ABC_VALIDITY[found[0][1]], {"extracted_answer": known})


def read_option(reply: str, question: JudgeQuestion) -> Reading:
    choices = dict(question.fields.get("choices") or {})
    texts = {" ".join(str(text).lower().split()): label for label, text in choices.items() if text}
    chosen = read_grade(own_words(reply), {label: label for label in choices}, {**texts, "none": "none"})
    if chosen == "none":
        return Reading("invalid", {"extracted_answer": None})
    grade = "correct" if chosen == question.reference else "incorrect"
    return Reading(grade, {"extracted_answer": chosen})


def read_judgement(reply: str, _: JudgeQuestion) -> Reading:
    said = own_words(reply)
    grade = read_verdict(said, "judgement", {"1": "correct", "0": "incorrect", **_YES_NO})
    return Reading(grade, {"extracted_answer": last_field(said, "extracted_answer")})


def read_binary(reply: str, _: JudgeQuestion) -> Reading:
    return Reading(read_verdict(own_words(reply), "verdict", _RIGHT_WRONG))
