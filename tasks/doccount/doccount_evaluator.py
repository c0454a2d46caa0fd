"""DocCount's strict answer contract: one tag, at the very end, with one integer in it."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from flagharness.evaluator import BaseEvaluator, Verdict, breakdown
from flagharness.run import Prediction

logger = logging.getLogger("flagharness.tasks.doccount")

RELEASED = {"rows": 442, "classes": 4, "instances": 2555}
"""What the full release holds."""
CLASS_KEY = "target_class"

_TAG = re.compile(r"<answer>(.*?)</answer>", re.DOTALL)
_INTEGER = re.compile(r"[ \t]*([+-]?[0-9]{1,18})[ \t]*")
_NUMBER = re.compile(r"(?:(?<!\w)[+-])?[0-9]+(?:[.,][0-9]+)*")


class Parsed(NamedTuple):
    """What the strict parser found in a reply."""

    value: int | None
    rule: str
    """"answer-tag", or why there is no answer."""
    span: tuple[int, int] | None = None
    """Where the integer stands."""


def parse_answer(text: str) -> Parsed:
    """Read the visible text of a reply by the benchmark's contract.

    Exactly one ``<answer>N</answer>``, and after it nothing but white space; N is digits with an optional sign, and
    may have spaces around it. No other reading is tried.

    Example:
        >>> parse_answer("Three rows and four, so 7.\\n<answer>7</answer>\\n").value
        7
        >>> parse_answer("<answer>7</answer>.").rule
        'text-after-tag'
        >>> parse_answer("7").rule
        'no-tag'
    """
    if not text.strip():
        return Parsed(None, "empty")
    openings, closings = text.count("<answer>"), text.count("</answer>")
    tag = _TAG.search(text)
    if not openings and not closings:
        return Parsed(None, "no-tag")
    if openings > 1 or closings > 1:
        return Parsed(None, "several-tags")
    if tag is None:
        return Parsed(None, "unclosed-tag")
    if text[tag.end() :].strip():
        return Parsed(None, "text-after-tag")
    number = _INTEGER.fullmatch(tag[1])
    if number is None:
        return Parsed(None, "no-integer-in-tag")
    start = tag.start(1)
    return Parsed(int(number[1]), "answer-tag", (start + number.start(1), start + number.end(1)))


def last_integer(text: str) -> int | None:
    """Return the last number of a text if it is an integer. A diagnostic, no part of the protocol.

    Example:
        >>> last_integer("12 or 7"), last_integer("7.5"), last_integer("seven")
        (7, None, None)
    """
    numbers = _NUMBER.findall(text)
    last = numbers[-1] if numbers else ""
    return int(last) if re.fullmatch(r"[+-]?[0-9]{1,18}", last) else None


class DocCountEvaluator(BaseEvaluator):
    """Exact-count accuracy over all rows; whatever breaks the answer contract is wrong."""

    def problems(self, annotations: Sequence[Mapping[str, Any]]) -> list[str]:
        """Name the rows whose answer is no integer; say what else of the data is not as released."""
        rows = {str(row.get("question_id")): row for row in annotations}
        found = [
            f"row {number} (question_id {row.get('question_id')!r}): answer {row.get('answer')!r} is no integer"
            for number, row in enumerate(annotations, start=1)
            if not isinstance(row.get("answer"), int) or isinstance(row["answer"], bool)
        ]
        for note in [] if found else release_notes(rows):
            logger.warning("DocCount: %s.", note)
        return found

    def score(self, annotation: Mapping[str, Any], prediction: Prediction) -> Verdict:
        found = parse_answer(prediction.answer)
        right = found.value == annotation["answer"]
        failed = "no_response" if found.rule == "empty" else "unparsed"
        return Verdict(
            question_id=prediction.question_id,
            outcome="correct" if right else "wrong" if found.value is not None else failed,
            correct=right,
            answer=found.value,
            raw_answer=prediction.answer,
            label=annotation["answer"],
            question_type="count",
            extraction={"rule": found.rule, "span": list(found.span) if found.span else None},
            truncated=prediction.truncated,
            refused=prediction.refused,
            extra={
                "parse_status": found.rule,
                "diagnostic_last_integer": last_integer(prediction.answer)
                if found.value is None
                else found.value,
            },
        )

    def aggregate(
        self, verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return accuracy overall and per class, the failures by kind, and the labelled diagnostic."""
        notes = release_notes(annotations)
        return {
            "correct": _shown(sum(float(verdict.correct) for verdict in verdicts)),
            **super().aggregate(verdicts, annotations),
            "failures": _failures(verdicts),
            "diagnostic_last_integer": _diagnostic(verdicts),
            **({"note": "; ".join(notes)} if notes else {}),
        }

    def reports(
        self,
        verdicts: Sequence[Verdict],
        annotations: Mapping[str, Mapping[str, Any]],
        result: Mapping[str, Any],
    ) -> dict[str, str]:
        """Return ``summary.md``."""
        return {"summary.md": summary(verdicts, annotations, result)}


def release_notes(annotations: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say where data of the full number of rows is not what the authors describe.

    Example:
        >>> release_notes({"1": {"answer": 3, "target_class": "a"}})
        []
    """
    if len(annotations) != RELEASED["rows"]:
        return []  # said by the engine, and then nothing else can be expected to fit
    classes = len({row.get(CLASS_KEY) for row in annotations.values()})
    instances = sum(row["answer"] for row in annotations.values())
    notes = []
    if classes != RELEASED["classes"]:
        notes.append(f"the data has {classes} classes, the release {RELEASED['classes']}")
    if instances != RELEASED["instances"]:
        notes.append(
            f"the answers add up to {instances:,} instances, those of the release to {RELEASED['instances']:,}"
        )
    return notes


def _inferences(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [each for verdict in verdicts for each in (verdict.inferences or [verdict])]


def _failures(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Count the inferences without a readable answer, by kind."""
    kinds = [
        str(verdict.extra["parse_status"]) if verdict.outcome == "unparsed" else verdict.outcome
        for verdict in _inferences(verdicts)
        if verdict.answer is None
    ]
    return dict(sorted(Counter(kinds).items()))


def _diagnostic(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the accuracy if the last integer of an unreadable reply had counted."""
    scores = []
    for verdict in verdicts:
        each = verdict.inferences or [verdict]
        hits = sum(one.label == one.extra.get("diagnostic_last_integer") for one in each if one.extra)
        scores.append(hits / len(each))
    correct = sum(scores)
    return {
        "note": "not the protocol: replies without a proper answer tag are read by their last integer",
        "correct": _shown(correct),
        "n": len(verdicts),
        "accuracy": round(100 * correct / len(verdicts), 2) if verdicts else None,
    }


def summary(
    verdicts: Sequence[Verdict], annotations: Mapping[str, Mapping[str, Any]], result: Mapping[str, Any]
) -> str:
    """Return the report for people: overall, per class, failures, and the diagnostic under its own heading."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(str(annotations[verdict.question_id].get(CLASS_KEY)), []).append(verdict)
    per_class = breakdown(verdicts, annotations, [CLASS_KEY])[CLASS_KEY]
    counts, diagnostic = result["counts"], result["diagnostic_last_integer"]
    settings = result.get("obtained_by") or {}
    lines = [
        f"# DocCount: {settings.get('model') or 'model not recorded'}",
        "",
        f"Exact-count accuracy **{_percent(result['accuracy'])}** ({result['correct']} of {result['n']}"
        f"{', a part of the benchmark' if result['partial'] else ''}), 95 % interval "
        f"{_percent(result['ci95'][0])} to {_percent(result['ci95'][1])}.",
        *([f"Note: {result['note']}."] if result.get("note") else []),
        "",
        "| class | correct | questions | accuracy |",
        "|---|---:|---:|---:|",
    ]
    for name, group in sorted(groups.items()):
        right = _shown(sum(float(verdict.correct) for verdict in group))
        cell = name.replace("|", "\\|").replace("\n", " ")
        lines.append(f"| {cell} | {right} | {len(group)} | {_percent(per_class[name]['accuracy'])} |")
    lines += [
        "",
        "## Failures (all counted as wrong)",
        "",
        f"{counts['answered']} of {counts['total']} questions were answered; {counts['request_errors']} requests "
        f"failed, {counts['data_errors']} rows had broken data, {counts['missing']} are missing, "
        f"{counts['parse_failures']} replies broke the answer contract, {counts['truncated']} were cut off at "
        "the token limit.",
        "",
        *[f"- {kind}: {number}" for kind, number in result["failures"].items()],
        *([""] if result["failures"] else []),
        "## Diagnostic, not the protocol: last integer",
        "",
        f"If replies without a proper answer tag were read by their last integer, {diagnostic['correct']} of "
        f"{diagnostic['n']} would be correct ({_percent(diagnostic['accuracy'])}). Do not report this as the score.",
    ]
    return "\n".join(lines) + "\n"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} %"


def _shown(total: float) -> int | float:
    return int(total) if float(total).is_integer() else round(total, 4)
