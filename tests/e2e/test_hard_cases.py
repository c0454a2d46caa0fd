"""Replies people met that broke an evaluation, as rows of data files: what one question makes of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent
_FOLDER = _HERE.parent / "data" / "hard_cases"
_CASES = [
    case
    for area in ("inference", "retry", "resume")
    for case in json.loads((_FOLDER / f"{area}.json").read_text(encoding="utf-8"))
]
_DRIVEN = [case for case in _CASES if {"replies", "refuses"} & case["input"].keys()]


@pytest.mark.parametrize("case", _DRIVEN, ids=lambda case: case["id"])
def test_reply_people_met(
    case: dict[str, Any],
    endpoint: Any,
    make_task: Any,
    make_model: Any,
    run_here: Any,
    files_of: Any,
    out: Any,
) -> None:
    given, expected = case["input"], dict(case["expected"])
    script = _script(endpoint, given)
    # The first row meets the fault; the others are well.
    endpoint.script = lambda call: script(call) if call.asked == 0 or "refuses" in given else "B"
    choice = {"question_type": "multiple-choice", "options": ["cat", "dog", "emu", "fox"], "answer": "B"}
    rows = [{"question_id": i, "question": f"Picture {i}?", **choice} for i in range(given.get("rows", 1))]
    model = make_model(max_retries=2, **given.get("settings", {}))

    ran = run_here("--tasks", make_task(rows).config, "--cfg", model, "--output-dir", out)

    files = files_of()
    record = next(row for row in files.journal if row["question_id"] == "0")
    error = record["error"] or {}
    assert expected.pop("message", "") in error.get("message", "")
    body_shown = expected.pop("body_shown", None)
    if body_shown:
        assert error["message"].endswith(json.dumps(_body(given["replies"][0], given))[:body_shown])
    summary = files.summary
    facts = {
        "exit": ran.returncode,
        "calls": len(endpoint.calls),
        "status": record["status"],
        "answer": record["answer"],
        "reason": record["reason"],
        "finish_reason": record["finish_reason"],
        "error": error.get("type"),
        "failed_attempts": len(record.get("attempts", [])),
        "accuracy": summary["score"],
        "counts": {name: count for name, count in (summary["counts"] or {}).items() if count},
        "tokens": summary["tokens"],
    }
    assert {name: facts[name] for name in expected} == expected


def test_every_case_is_covered() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in _HERE.glob("test_*.py"))
    named = set(re.findall(r'"(BL-\d+)"', texts))
    assert {case["id"] for case in _CASES} == named | {case["id"] for case in _DRIVEN}


def _script(endpoint: Any, given: dict[str, Any]) -> Any:
    if "refuses" in given:
        field = given["refuses"]
        complaint = f"Unsupported parameter: '{field}' is not supported with this model."
        return lambda call: endpoint.fails(400, complaint) if field in call.body else "B"
    return endpoint.in_turn(*[_reply(endpoint, reply, given) for reply in given["replies"]])


def _reply(endpoint: Any, reply: dict[str, Any], given: dict[str, Any]) -> Any:
    if "lines" in reply:
        return endpoint.streams(*reply["lines"])
    if "body" in reply:
        return endpoint.sends(_body(reply, given))
    if "status" in reply:
        return endpoint.fails(reply["status"], reply["message"])
    return endpoint.says(reply["content"], **{k: v for k, v in reply.items() if k != "content"})


def _body(reply: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    body = dict(reply["body"])
    if given.get("long"):
        body["padding"] = str(body["padding"]) * 100
    return body
