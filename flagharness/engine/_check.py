"""Looking at every sample before the first request, so that mistakes cost nothing."""

from __future__ import annotations

import difflib
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from flagharness.engine._requests import build_messages
from flagharness.engine._spec import TaskRun
from flagharness.errors import FOREIGN_FAILURES, DataError, FlagHarnessError, did_you_mean, listing
from flagharness.media import check_image
from flagharness.model import media_of

logger = logging.getLogger(__name__)

MEANT_KEYS = (
    "question",
    "question_type",
    "answer",
    "options",
    "img_path",
    "video_path",
    "audio_path",
    "sub_task",
)


@dataclass
class Volume:
    """How much a task would send: media counted as often as they are sent, bytes as they lie on disk."""

    images: int = 0
    bytes: int = 0


def check_samples(run: TaskRun, skip_bad_rows: bool) -> Volume:
    """Render every sample of a run, look at every media file, and ask the evaluator whether it can score them.

    Bad rows are all reported at once. With ``skip_bad_rows`` they are left out of the asking and stay in the
    denominator as data errors.

    Raises:
        DataError: Bad rows, and they are not to be skipped.
    """
    task = run.task
    sizes: dict[Path, int] = {}
    wanted: list[tuple[int, list[Path]]] = []
    problems: dict[int, list[str]] = {}
    ids = run.ids
    for index in range(run.rows):
        try:
            sample = task.sample(index)
            if sample.videos or sample.audios:
                raise DataError("this version sends no video or audio")
            paths = [medium.path for medium in media_of(build_messages(sample, None))]
        except FlagHarnessError as error:
            problems.setdefault(index, []).append(str(error))
            continue
        except FOREIGN_FAILURES as error:  # a prompt function of the task; reported
            problems.setdefault(index, []).append(f"cannot be rendered: {type(error).__name__}: {error}")
            continue
        if not _is_unicode(sample.question_id) or not _is_unicode(sample.text):
            problems.setdefault(index, []).append(
                "holds half of a surrogate pair, which no request can carry"
            )
            continue
        known = task.annotations[sample.question_id].get("data_error")
        if known:
            problems.setdefault(index, []).append(str(known))
            continue
        sizes.update(dict.fromkeys(paths, 0))
        wanted.append((index, paths))

    with ThreadPoolExecutor(4, thread_name_prefix="check") as threads:
        found = dict(zip(sizes, threads.map(check_image, sizes), strict=True))
    volume = Volume()
    for path, problem in found.items():
        if problem is None:
            sizes[path] = path.stat().st_size
    for index, paths in wanted:
        for path in dict.fromkeys(paths):
            if found[path] is not None:
                problems.setdefault(index, []).append(f"{path}: {found[path]}")
        volume.images += len(paths) * run.num_infers
        volume.bytes += sum(sizes[path] for path in paths) * run.num_infers

    run.bad_rows = {index: "; ".join(reasons) for index, reasons in sorted(problems.items())}
    lines = [f"row {index + 1} (question_id {ids[index]!r}): {text}" for index, text in run.bad_rows.items()]
    if not run.rows:
        raise DataError(f"{run.name}: the data holds no row.")
    _refuse_misspelt_keys(run)
    if task.evaluator is not None:
        _warn_of_hidden_answers(run)
        for key in task.evaluator.detailed_keys:
            if not any(key in row for row in task.annotations.values()):
                logger.warning("%s: detailed_keys names `%s`, which no row has.", run.name, key)
        unscorable = task.evaluator.problems([task.annotations[question_id] for question_id in ids])
        if unscorable:
            raise DataError(f"{run.name}: {len(unscorable)} rows cannot be scored:\n{listing(unscorable)}")
    if lines and not skip_bad_rows:
        raise DataError(
            f"{run.name}: {len(lines)} of {run.rows} rows cannot be asked; nothing was sent:\n{listing(lines)}\n"
            f"Repair the data, or run the rest with --skip-bad-rows (the bad rows then count as wrong)."
        )
    if lines:
        logger.warning("%s: %d of %d rows are skipped:\n%s", run.name, len(lines), run.rows, listing(lines))
    return volume


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _warn_of_hidden_answers(run: TaskRun) -> None:
    """Say before anything is paid for that there will be no score, and which key may be misspelt."""
    rows = run.task.annotations.values()
    if run.task.evaluator is None or run.task.evaluator.scores_all_at_once:
        return
    if any(row.get("answer") is not None for row in rows):
        return
    keys = sorted({key for row in rows for key in row})
    logger.warning(
        "%s: no row has an `answer`: it is asked, but not scored.%s", run.name, did_you_mean("answer", keys)
    )


def _refuse_misspelt_keys(run: TaskRun) -> None:
    """A key that no row has while all rows have one very much like it: nobody means that.

    Raises:
        DataError: Naming both keys.
    """
    rows = list(run.task.annotations.values())
    everywhere = set(rows[0]).intersection(*rows) - set(MEANT_KEYS)
    for key in MEANT_KEYS:
        if not any(key in row for row in rows):
            for near in difflib.get_close_matches(key, everywhere, n=1, cutoff=0.8):
                raise DataError(
                    f"{run.name}: no row has `{key}`, but all have `{near}`. Rename it, or drop it."
                )
