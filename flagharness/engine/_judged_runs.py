"""Judging inside a run: where the results of which judge lie, what is still to be asked, and what to say of gaps."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from flagharness.engine._judging import JudgePool, judge_question, preflight
from flagharness.engine._progress import Progress
from flagharness.engine._records import judge_digest
from flagharness.engine._score import Lookup
from flagharness.engine._seating import lacks_key
from flagharness.engine._spec import RunSpec, TaskRun
from flagharness.errors import ConfigError
from flagharness.judge import GPT
from flagharness.run import Prediction

logger = logging.getLogger(__name__)

RULES = "rules"


def give_place(run: TaskRun) -> None:
    """Put the files of another judge than the first beside those of the first.

    The same judges asked in another way (a new prompt version, another token limit) replace their own earlier result.
    """
    stored = run.folder.read_json(run.folder.result)
    if stored is None or run.task.evaluator is None or not run.task.evaluator.judge_families:
        return
    judge = (stored.get("obtained_by") or {}).get("judge")
    before = judge.get("label") if isinstance(judge, dict) else RULES
    now = run.panel.label if run.panel is not None else RULES
    never_scored = before == RULES and run.task.evaluator.needs_judge
    if before == now or never_scored:
        return
    run.judge_label = now
    run.folder = run.folder.of_judge(now)
    logger.info(
        "%s: the result here is that of %s; this one (%s) goes to %s.",
        run.name,
        before,
        now,
        run.folder.result.name,
    )


def was_judged(run: TaskRun) -> bool:
    """Whether the result on disk says that these judges have nothing left to do for this task."""
    stored = run.folder.read_json(run.folder.result) or {}
    same = run.panel is not None and judge_digest(stored) == run.panel.digest
    total = (stored.get("counts") or {}).get("total")
    return (
        same
        and stored.get("complete") is True
        and not stored.get("waiting_for_a_verdict")
        and total == run.rows
    )


def open_judges(run: TaskRun) -> None:
    """Read what the judges of a task have said before, and make the judge that its own code asks."""
    folder = run.folder.judge
    if run.panel is not None:
        run.panel.open(folder)
    evaluator = run.task.evaluator
    if evaluator is not None and evaluator.wants_chat and run.judge is not None and run.judge.judges:
        judge = run.judge.judges[0]
        run.chat = GPT(judge=judge, folder=folder / judge.id)


def judge_record(run: TaskRun) -> dict[str, Any] | None:
    """Return the judge config to be stored with a run, placeholders unresolved: that of its first judge."""
    if run.judge_label is not None:
        before = (run.folder.read_json(run.folder.config) or {}).get("judge")
        return before if isinstance(before, dict) else None
    return dict(run.judge.source) if run.judge is not None else None


def judge_saved(runs: Sequence[TaskRun], lookups: Mapping[str, Lookup], quiet: bool) -> None:
    """Ask the judges about stored answers that have no verdict yet.

    Raises:
        ConfigError: There are such answers, and a judge does not answer at all.
    """
    waiting = {run.name: waits for run in runs if (waits := _waiting(run, lookups[run.name]))}
    asked = [run for run in runs if run.name in waiting]
    if not asked:
        return
    for run in asked:
        if run.judge_lacks_key:
            raise ConfigError(
                f"{run.name}: {len(waiting[run.name])} answers have no verdict, and the judge's key is not stored "
                f"with the run: give its --judge-config again."
            )
        logger.info("%s: %d answers go to the judge.", run.name, len(waiting[run.name]))

    def read(run: TaskRun, index: int, inference: int) -> Prediction | None:
        return lookups[run.name](index, inference)

    async def judge(progress: Progress) -> None:
        await preflight(asked)
        async with JudgePool(asked, read, progress) as pool:
            for run in asked:
                for index, inference in waiting[run.name]:
                    pool.submit(run, index, inference)
            for run in asked:
                await pool.finished(run)

    progress = Progress(sum(map(len, waiting.values())), quiet)
    try:
        asyncio.run(judge(progress))
    finally:
        progress.close()


def _waiting(run: TaskRun, lookup: Lookup) -> list[tuple[int, int]]:
    if run.panel is None:
        return []
    found = []
    for index, question_id in enumerate(run.ids):
        for inference in range(run.num_infers):
            prediction = lookup(index, inference)
            if prediction is not None and prediction.ok:
                question = judge_question(run, question_id, prediction)
                if question is not None and run.panel.missing(question_id, inference, question):
                    found.append((index, inference))
    return found


def tell_of_gaps(run: TaskRun, spec: RunSpec) -> None:
    """Say how many answers have no verdict, why, and how to get them."""
    result = run.result or {}
    waiting = result.get("waiting_for_a_verdict")
    if not waiting or run.panel is None:
        return
    number = (result.get("counts") or {}).get("judge_failures")
    why = "; ".join(run.panel.not_asked.values())
    logger.warning(
        "%s: %s of %d answers have no verdict (%s)%s. They are not counted as wrong answers; fill the gaps with\n"
        "  flagharness --tasks %s --without-infer --output-dir %s%s",
        run.name,
        number,
        run.rows,
        ", ".join(waiting[:5]) + (", ..." if len(waiting) > 5 else ""),
        f": {why}" if why else "",
        run.task.config.path,
        spec.output_dir,
        _told_again(run),
    )


def _told_again(run: TaskRun) -> str:
    """Return the option that names a judge which a later command could not take from the run's record."""
    if run.judge is None or not (run.judge_label or lacks_key(run.judge.source)):
        return ""
    return f" --judge-config {run.judge.where if Path(run.judge.where).is_file() else '...'}"
