"""Looking at every sample before the first request, so that mistakes cost nothing."""

from __future__ import annotations

import difflib
import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from flagharness.data import file_digest
from flagharness.engine._requests import build_messages
from flagharness.engine._spec import TaskRun
from flagharness.errors import FOREIGN_FAILURES, DataError, FlagHarnessError, did_you_mean, listing
from flagharness.evaluator import BoxEvaluator
from flagharness.media import MediaRules, is_turned
from flagharness.model import Media, media_of
from flagharness.task import Sample

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
    videos: int = 0
    audios: int = 0
    bytes: int = 0


def check_samples(run: TaskRun, rules: MediaRules, skip_bad_rows: bool) -> Volume:
    """Render every sample of a run, look at every media file, and ask the evaluator whether it can score them.

    Bad rows are all reported at once. With ``skip_bad_rows`` they are left out of the asking and stay in the
    denominator as data errors.

    Raises:
        DataError: Bad rows, and they are not to be skipped.
    """
    if not run.rows:
        raise DataError(f"{run.name}: the data holds no row.")
    _refuse_misspelt_keys(run)
    problems, media = _render_all(run)
    volume = _look_at_media(media, rules, problems, run.num_infers)
    if isinstance(run.task.evaluator, BoxEvaluator):
        _warn_of_turned_pictures(run.name, media)
    run.bad_rows = {index: "; ".join(reasons) for index, reasons in sorted(problems.items())}
    unaskable = [f"row {i + 1} (question_id {run.ids[i]!r}): {why}" for i, why in run.bad_rows.items()]
    unscorable = _unscorable(run)
    complaints = []
    if unaskable and not skip_bad_rows:
        complaints.append(
            f"{len(unaskable)} of {run.rows} rows cannot be asked; nothing was sent:\n{listing(unaskable)}\n"
            f"Repair the data, or run the rest with --skip-bad-rows (the bad rows then count as wrong)."
        )
    if unscorable:
        complaints.append(f"{len(unscorable)} rows cannot be scored:\n{listing(unscorable)}")
    if complaints:
        raise DataError(f"{run.name}: " + "\n".join(complaints))
    if unaskable:
        logger.warning(
            "%s: %d of %d rows are skipped:\n%s", run.name, len(unaskable), run.rows, listing(unaskable)
        )
    return volume


def _render_all(run: TaskRun) -> tuple[dict[int, list[str]], dict[int, list[Media]]]:
    """Render every sample; return the problems found, and the media of the samples without any, by index."""
    problems: dict[int, list[str]] = {}
    media: dict[int, list[Media]] = {}
    for index in range(run.rows):
        try:
            sample = run.task.sample(index)
            messages = build_messages(sample, None, verbatim=run.task.config.request.verbatim)
            media[index] = media_of(messages)
            problem = _problem_of(sample, run)
        except FlagHarnessError as error:
            problem = str(error)
        except FOREIGN_FAILURES as error:  # a prompt function of the task; reported
            problem = f"cannot be rendered: {type(error).__name__}: {error}"
        if problem:
            problems[index] = [problem]
            media.pop(index, None)
    return problems, media


def _problem_of(sample: Sample, run: TaskRun) -> str | None:
    if not _is_unicode(sample.question_id) or not _is_unicode(sample.text):
        return "holds half of a surrogate pair, which no request can carry"
    known = run.task.annotations[sample.question_id].get("data_error")
    return str(known) if known else _not_as_released(sample)


def _not_as_released(sample: Sample) -> str | None:
    if sample.image_sha256 is None:
        return None
    if len(sample.images) != 1:
        return f"img_sha256 stands for one image, but the row has {len(sample.images)}"
    if not sample.images[0].is_file():
        return None  # told with the other media
    digest = file_digest(sample.images[0])
    return (
        None
        if digest == sample.image_sha256
        else f"{sample.images[0]}: not the file that was released (SHA-256)"
    )


def _look_at_media(
    media: dict[int, list[Media]], rules: MediaRules, problems: dict[int, list[str]], num_infers: int
) -> Volume:
    """Check every file once, add what is wrong to ``problems``, and return what would be sent.

    Raises:
        ConfigError: Frames of videos are to be shown, and what takes them out is not installed.
    """
    files = list(dict.fromkeys(medium for several in media.values() for medium in several))
    with ThreadPoolExecutor(4, thread_name_prefix="check") as threads:
        checks = rules.checks
        found = dict(
            zip(files, threads.map(lambda medium: checks[medium.kind](medium.path), files), strict=True)
        )
    sizes = {medium: 0 if problem else medium.path.stat().st_size for medium, problem in found.items()}
    volume = Volume()
    for index, several in media.items():
        broken = [f"{each.path}: {found[each]}" for each in dict.fromkeys(several) if found[each] is not None]
        if broken:
            problems[index] = broken
        kinds = [medium.kind for medium in several]
        volume.images += kinds.count("image") * num_infers
        volume.videos += kinds.count("video") * num_infers
        volume.audios += kinds.count("audio") * num_infers
        volume.bytes += sum(sizes[medium] for medium in several) * num_infers
    return volume


def _warn_of_turned_pictures(name: str, media: dict[int, list[Media]]) -> None:
    """Boxes refer to pixels as they are stored; who looks at a picture that its EXIF data turns may see others."""
    turned = [
        str(medium.path)
        for medium in dict.fromkeys(each for several in media.values() for each in several)
        if medium.kind == "image" and is_turned(medium.path)
    ]
    if turned:
        logger.warning(
            "%s: %d pictures are turned by their EXIF orientation, but boxes are in pixels as stored; their scores "
            "mean little:\n%s", name, len(turned), listing(turned, 5),
        )  # fmt: skip


def _unscorable(run: TaskRun) -> list[str]:
    evaluator = run.task.evaluator
    if evaluator is None:
        return []
    _warn_of_hidden_answers(run)
    if evaluator.needs_judge and run.judge is None:
        logger.warning(
            "%s: takes a judge: it is asked, but not scored. To have a score, give --judge-config.", run.name
        )
    for key in evaluator.detailed_keys:
        if not any(key in row for row in run.task.annotations.values()):
            logger.warning("%s: detailed_keys names `%s`, which no row has.", run.name, key)
    return evaluator.problems([run.task.annotations[question_id] for question_id in run.ids])


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
    everywhere = set(rows[0]).intersection(*rows) - {"question_id", *MEANT_KEYS}
    for key in MEANT_KEYS:
        if not any(key in row for row in rows):
            for near in difflib.get_close_matches(key, everywhere, n=1, cutoff=0.8):
                raise DataError(
                    f"{run.name}: no row has `{key}`, but all have `{near}`. Rename it, or drop it."
                )
