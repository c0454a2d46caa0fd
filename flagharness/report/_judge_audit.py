"""Stored verdicts of judges held against the labels of people."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flagharness.data import read_json_rows, read_tsv
from flagharness.errors import DataError, did_you_mean, listing
from flagharness.judge import GRADES
from flagharness.metric import agreement, cohen_kappa
from flagharness.report._table import align

logger = logging.getLogger(__name__)

GRADE_WORDS = {
    **{grade: grade for grade in GRADES},
    **dict.fromkeys(("true", "1", "yes", "right"), "correct"),
    **dict.fromkeys(("false", "0", "no", "wrong"), "incorrect"),
    "not attempted": "not_attempted",
}
"""What a label may say, in any case."""
RULE = "rule"
"""Who decided where no judge was asked: an exact match, or an empty answer."""
PANEL = "majority"
"""Who decided where several judges were asked."""
NO_VERDICT = "no verdict"

Key = tuple[str, str, int]
"""Task ("" for any), question_id and inference."""


@dataclass(frozen=True)
class Audit:
    """How one rater of one task agrees with people.

    Attributes:
        file: The evaluated file that the verdicts were read from.
        confusion: ``(human grade, rater's grade or NO_VERDICT) -> number of answers``.
        differing: The ids on which they differ.
    """

    task: str
    file: str
    rater: str
    confusion: Mapping[tuple[str, str], int] = field(default_factory=dict)
    differing: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the numbers: agreement in percent over what has a verdict, kappa, the confusion table."""
        pairs = [pair for pair, n in self.confusion.items() if pair[1] != NO_VERDICT for _ in range(n)]
        human, rater = [one for one, _ in pairs], [two for _, two in pairs]
        share, kappa = agreement(human, rater), cohen_kappa(human, rater)
        table: dict[str, dict[str, int]] = {}
        for (one, two), n in sorted(self.confusion.items()):
            table.setdefault(one, {})[two] = n
        return {
            "task": self.task,
            "file": self.file,
            "rater": self.rater,
            "labelled": sum(self.confusion.values()),
            "with_verdict": len(pairs),
            "agreement": None if share is None else round(100 * share, 2),
            "cohen_kappa": None if kappa is None else round(kappa, 4),
            "human_accuracy": _share_correct(human),
            "rater_accuracy": _share_correct(rater),
            "confusion": table,
            "differing": list(self.differing),
        }


def read_labels(path: Path) -> dict[Key, str]:
    """Read the labels of people: JSONL, JSON, CSV or TSV with ``question_id`` and ``verdict``.

    ``task`` says which task is meant (any where it is left out), ``inference`` (0) which of several answers.

    Raises:
        DataError: The file cannot be read, or naming every row that is no label or contradicts an earlier one.
    """
    rows: Iterator[Mapping[str, Any]]
    if path.suffix in (".csv", ".tsv"):
        rows = read_tsv(path, delimiter="," if path.suffix == ".csv" else "\t")
    else:
        rows = read_json_rows(path)
    labels: dict[Key, str] = {}
    problems = []
    for number, row in enumerate(rows, start=1):
        try:
            key, grade = _label(row)
        except ValueError as error:
            problems.append(f"row {number}: {error}")
            continue
        if labels.setdefault(key, grade) != grade:
            problems.append(f"row {number}: question_id {key[1]!r} has another label in an earlier row")
    if problems:
        raise DataError(f"{path}: {len(problems)} rows are no labels:\n{listing(problems)}")
    return labels


def audit_judges(
    run_dir: Path, labels_file: Path, task: str | None = None, judge: str | None = None
) -> list[Audit]:
    """Compare the verdicts that lie in a run directory with labels: one audit for each task, file and rater.

    Args:
        task: Only this task. Needed where several tasks of the run were judged and labels name none.
        judge: Only this rater: a judge's id, "majority" or "rule".

    Raises:
        DataError: There is nothing to compare; says what there is.
    """
    labels = read_labels(labels_file)
    files = _evaluated_files(run_dir, task)
    tasks = {name for name, _ in files}
    if len(tasks) > 1 and any(not named for named, _, _ in labels):
        raise DataError(
            f"{run_dir}: {', '.join(sorted(tasks))} were judged, and the labels do not say which task they are "
            f"for. Give --task, or a column `task`."
        )
    used: set[Key] = set()
    audits = [audit for name, file in files for audit in _audit(name, file, labels, used)]
    if not audits:
        raise DataError(f"{labels_file}: none of its ids is that of a judged answer in {run_dir}.")
    idle = [key[1] for key in labels if key not in used and (task is None or key[0] in ("", task))]
    if idle:
        logger.warning(
            "%s: %d of %d labels are for no judged answer of %s and count nowhere: %s%s",
            labels_file, len(idle), len(labels), run_dir, ", ".join(idle[:20]), _more(idle, 20),
        )  # fmt: skip
    raters = {audit.rater for audit in audits}
    if judge is not None and judge not in raters:
        near = did_you_mean(judge, raters)
        raise DataError(f"no judge {judge!r} in {run_dir}.{near} There are {', '.join(sorted(raters))}.")
    return [audit for audit in audits if judge in (None, audit.rater)]


def audit_table(audits: Sequence[Audit]) -> str:
    """Return audits as text: a line each, and the confusion table of each below."""
    records = [audit.to_json() for audit in audits]
    header = ("task", "rater", "labelled", "with verdict", "agreement", "kappa", "people", "rater's", "file")
    lines = [
        (
            record["task"],
            record["rater"],
            str(record["labelled"]),
            str(record["with_verdict"]),
            _text(record["agreement"], 2),
            _text(record["cohen_kappa"], 4),
            _text(record["human_accuracy"], 2),
            _text(record["rater_accuracy"], 2),
            record["file"],
        )
        for record in records
    ]
    parts = [
        align([header, *lines]),
        "people, rater's: the accuracy of the model by the labels and by the rater, over the answers with a verdict",
    ]
    for record in records:
        grades = [*GRADES, NO_VERDICT]
        given = [grade for grade in grades if any(grade in row for row in record["confusion"].values())]
        rows = [
            (f"people: {grade}", *(str(record["confusion"][grade].get(other, 0)) for other in given))
            for grade in GRADES
            if grade in record["confusion"]
        ]
        parts.append(f"\n{record['task']}, {record['rater']}:")
        parts.append(align([("", *given), *rows]))
        if record["differing"]:
            parts.append(f"differ on: {', '.join(record['differing'][:20])}" + _more(record["differing"], 20))
    return "\n".join(parts)


def _label(row: Mapping[str, Any]) -> tuple[Key, str]:
    for name in ("question_id", "verdict"):
        if row.get(name) in (None, ""):
            raise ValueError(f"no `{name}`.{did_you_mean(name, [str(key) for key in row])}")
    grade = GRADE_WORDS.get(str(row["verdict"]).strip().lower())
    if grade is None:
        raise ValueError(f"verdict {row['verdict']!r} is none of {', '.join(GRADES)}")
    inference = str(row.get("inference") or 0).strip()
    if not inference.isdecimal():
        raise ValueError(f"inference {row['inference']!r} is no number of an answer (0, 1, ...)")
    return (str(row.get("task") or ""), str(row["question_id"]), int(inference)), grade


def _evaluated_files(run_dir: Path, task: str | None) -> list[tuple[str, Path]]:
    if not run_dir.is_dir():
        raise DataError(f"{run_dir}: no such run directory.")
    found = sorted(
        (file.parent.name, file)
        for file in run_dir.glob("*/*_evaluated*.json")
        if file.name.startswith(f"{file.parent.name}_evaluated") and ".old-" not in file.parent.name
    )
    names = {name for name, file in found}
    if names and task is not None and task not in names:
        raise DataError(
            f"{run_dir}: no task {task!r} was scored there.{did_you_mean(task, names)} "
            f"There are {', '.join(sorted(names))}."
        )
    judged = [(name, file) for name, file in found if task in (None, name) and _is_judged(file)]
    if not judged:
        raise DataError(f"{run_dir}: no verdict of a judge lies there.")
    return judged


def _is_judged(file: Path) -> bool:
    return any(row.get("judge") for row in read_json_rows(file))


def _audit(task: str, file: Path, labels: Mapping[Key, str], used: set[Key]) -> list[Audit]:
    """Return the audits of one evaluated file, and add the keys of the labels that were compared to ``used``."""
    tables: dict[str, Counter[tuple[str, str]]] = {}
    differing: dict[str, list[str]] = {}
    for row in read_json_rows(file):
        blocks = row.get("judge") or []
        for inference, block in enumerate(blocks if isinstance(blocks, list) else [blocks]):
            answer = str(row["question_id"]), inference
            key = next((key for key in ((task, *answer), ("", *answer)) if key in labels), None)
            if key is None:
                continue
            used.add(key)
            human = labels[key]
            for rater, grade in _verdicts(block):
                tables.setdefault(rater, Counter())[human, grade] += 1
                if grade not in (human, NO_VERDICT):
                    differing.setdefault(rater, []).append(str(row["question_id"]))
    return [Audit(task, file.name, rater, table, differing.get(rater, ())) for rater, table in tables.items()]


def _verdicts(block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield who said what about one answer."""
    if block.get("status") in ("skipped_rule", "model_failed"):
        yield RULE, str(block.get("grade") or NO_VERDICT)
        return
    opinions = block.get("judges")
    if opinions:
        yield PANEL, str(block.get("grade") or NO_VERDICT)
    for opinion in opinions or [block]:
        status = opinion.get("status")
        yield str(opinion.get("judge")), status if status in GRADES else NO_VERDICT


def _share_correct(grades: Sequence[str]) -> float | None:
    return round(100 * grades.count("correct") / len(grades), 2) if grades else None


def _text(number: float | None, digits: int) -> str:
    return "-" if number is None else f"{number:.{digits}f}"


def _more(ids: Sequence[str], shown: int) -> str:
    return f" and {len(ids) - shown} more" if len(ids) > shown else ""
