"""Asking: one event loop, one pool of requests for all tasks of a run."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from flagharness.config import ModelConfig
from flagharness.engine._judging import JudgePool
from flagharness.engine._progress import Progress
from flagharness.engine._requests import Question
from flagharness.engine._spec import EXIT_INTERRUPTED, TaskRun
from flagharness.errors import FOREIGN_FAILURES, DataError
from flagharness.evaluator import PARSE_FAILURES
from flagharness.model import Asked, Client, Fault, Response, after, answered, explained, failed
from flagharness.run import Location, Prediction

logger = logging.getLogger(__name__)

STOP_AFTER_FAILURES = 10
"""Samples that fail one after the other, retries and all, before the run stops."""
ROW_FAULTS = frozenset({"rejected", "model_error", "client_error"})
"""Failures that say something about one sample once another was answered: a picture too large, a filter. A row of
them must not stop a run, or the next run would stop at the same place."""
GRACE_S = 10.0
"""How long answers that are on their way are waited for after Ctrl-C: they are paid for."""
GRACE_AFTER_FAILURE_S = 3.0
"""The same when the endpoint made the run stop."""


@dataclass(frozen=True)
class Job:
    """One inference of one sample."""

    run: TaskRun
    index: int
    inference: int

    def asked(
        self, text: str, request_hash: str | None, frame_times: Sequence[Sequence[float]] = ()
    ) -> Asked:
        """Return what was asked, for the record of it."""
        question_id = self.run.ids[self.index]
        return Asked(question_id, self.inference, self.run.settings, text, request_hash, frame_times)


@dataclass(frozen=True)
class Ready:
    """A job that has to be asked."""

    question: Question
    request_hash: str
    prepared: Any
    earlier: Prediction | None
    """An answer to the same request that could not be read."""
    frame_times: Sequence[Sequence[float]] = ()


class Asker:
    """Drives all jobs of a run through at most ``num_workers`` requests at a time.

    Args:
        judges: Makes the pool that answers are handed to for judging.
        on_task_done: Called in a worker thread as soon as the last sample of a task is answered.
        retry_parse_failures: Ask again, up to the retries of the model config, what was answered unreadably.
    """

    def __init__(
        self,
        model: ModelConfig,
        progress: Progress,
        judges: Callable[[], JudgePool],
        on_task_done: Callable[[TaskRun], None],
        *,
        retry_parse_failures: bool,
    ) -> None:
        self._model = model
        self._progress = progress
        self._open_judges = judges
        self._on_task_done = on_task_done
        self._retry_parse_failures = retry_parse_failures
        self._failures_in_a_row = 0
        self._answered_now = False
        self._ever_answered = False
        """Also by an earlier run whose answers are kept."""
        self._judges: JudgePool | None = None
        self.stop_reason: str | None = None
        self.interrupted = False
        self._scoring: list[asyncio.Task[None]] = []

    async def ask_all(self, runs: list[TaskRun], open_client: Callable[[Asker], Any]) -> None:
        """Ask everything of ``runs`` that has no answer yet; returns early when the run has to stop."""
        self._stop = asyncio.Event()
        self._slots = asyncio.Semaphore(self._model.num_workers)
        self._loop = asyncio.get_running_loop()
        self._runs = runs
        jobs = _jobs(runs)
        for run in runs:
            run.remaining = (run.rows - len(run.bad_rows)) * run.num_infers
        # Some workers more than slots: while all slots are busy the next requests are read and encoded.
        ahead = min(self._model.num_workers, 8)
        threads = ThreadPoolExecutor(min(4, (os.cpu_count() or 1) + 1), thread_name_prefix="encode")
        scorer = ThreadPoolExecutor(1, thread_name_prefix="score")
        self._threads, self._scorer = threads, scorer
        with _StopSignals(self):
            try:
                async with self._open_judges() as judges:
                    self._judges = judges
                    async with open_client(self) as client:
                        for run in runs:
                            if run.remaining == 0:
                                self._finish(run)
                        workers = [
                            asyncio.create_task(self._work(jobs, client))
                            for _ in range(self._model.num_workers + ahead)
                        ]
                        await self._until_done(workers)
                    if self._scoring:
                        await asyncio.gather(*self._scoring)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
                scorer.shutdown(wait=True)

    async def wait(self, fault: Fault, seconds: float) -> None:
        """Wait before a retry, shown in the progress line; a run that stops does not wait."""
        self._progress.waiting(fault.kind, +1)
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except asyncio.TimeoutError:
            return
        finally:
            self._progress.waiting(fault.kind, -1)
        raise asyncio.CancelledError

    async def _until_done(self, workers: list[asyncio.Task[None]]) -> None:
        stopping = asyncio.create_task(self._stop.wait())
        everything = asyncio.gather(*workers, return_exceptions=True)
        first: set[asyncio.Future[Any]] = {everything, stopping}
        await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not everything.done():
            await asyncio.wait({everything}, timeout=GRACE_S if self.interrupted else GRACE_AFTER_FAILURE_S)
            for worker in workers:
                worker.cancel()
        for outcome in await everything:
            if isinstance(outcome, Exception):
                raise outcome

    async def _work(self, jobs: Iterator[Job], client: Client) -> None:
        for job in jobs:
            if self._stop.is_set():
                return
            run = job.run
            if run.started is None:
                run.started = time.monotonic()
            try:
                built = await self._loop.run_in_executor(self._threads, self._build, job, client)
            except FOREIGN_FAILURES as error:  # becomes the record of this sample
                # Every sample was rendered once before; what fails now is this sample's, and is recorded as such.
                why = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
                self._record(job, failed(job.asked("", None), Fault("data_error", why), self._model.secrets))
                continue
            if isinstance(built, Location):
                run.kept += 1
                self._ever_answered = True
                self._done(job, built, ok=True, tokens=0)
                continue
            async with self._slots:
                if self._stop.is_set():
                    return
                await self._ask(job, built, client)

    def _build(self, job: Job, client: Client) -> Ready | Location:
        """Read and encode one job in a worker thread, or find that it was answered before."""
        builder, journal = job.run.builder, job.run.journal
        assert builder is not None
        assert journal is not None
        sample = job.run.task.sample(job.index)
        question = builder.read(sample)
        request_hash = builder.hash(question, job.inference)
        found = journal.find(request_hash)
        earlier = None
        if found is not None:
            earlier = journal.read(found) if self._retry_parse_failures else None
            if earlier is None or not self._is_unreadable(job, earlier):
                return found
        encoded = builder.encode(question, job.inference)
        # The files' own bytes are no longer needed; what is sent lives in `prepared`.
        slim = Question(sample, (), (), question.digests)
        prepared = client.prepare(encoded.request, encoded.media_types)
        return Ready(slim, request_hash, prepared, earlier, encoded.frame_times)

    async def _ask(self, job: Job, ready: Ready, client: Client) -> None:
        run = job.run
        assert run.journal is not None
        if ready.earlier is None and run.journal.has_answer(ready.question.sample.question_id, job.inference):
            run.changed += 1
        run.asked += 1
        asked = job.asked(ready.question.sample.text, ready.request_hash, ready.frame_times)
        earlier = ready.earlier
        for tries_left in range(self._model.max_retries if self._retry_parse_failures else 0, -1, -1):
            started = time.monotonic()
            try:
                response = await _ask_or_fault(client, ready.prepared)
            except Fault as fault:
                run.retries += max(0, len(fault.attempts) - 1)
                prediction = failed(asked, fault, self._model.secrets)
                logger.debug("%s %s: failed: %s", run.name, prediction.question_id, prediction.error)
                if earlier is not None:
                    # An answer that could not be read is still what the model answered.
                    earlier.attempts = [*earlier.attempts, *prediction.attempts]
                    prediction = earlier
                self._record(job, prediction)
                self._count_failure(run, fault)
                return
            if response.latency_s is None:
                response.latency_s = time.monotonic() - started
            run.retries += len(response.attempts)
            self._failures_in_a_row = 0
            self._answered_now = self._ever_answered = True
            prediction = after(earlier, answered(asked, response))
            if logger.isEnabledFor(logging.DEBUG):
                shown = ready.question.sample
                media = ", ".join(map(str, (*shown.images, *shown.videos, *shown.audios))) or "none"
                logger.debug(
                    "%s %s\nprompt: %s\nmedia: %s\nanswer: %s", run.name, prediction.question_id, asked.text, media,
                    prediction.answer,
                )  # fmt: skip
            if not tries_left or self._stop.is_set() or not self._is_unreadable(job, prediction):
                self._record(job, prediction)
                return
            if self._append(job, prediction) is None:  # paid for; also kept inside the record of the next try
                return
            earlier = prediction

    def _is_unreadable(self, job: Job, prediction: Prediction) -> bool:
        task = job.run.task
        if task.evaluator is None or task.evaluator.scores_all_at_once:
            return False
        annotation = task.annotations[prediction.question_id]
        return task.evaluator.verdict_on(annotation, [prediction]).outcome in PARSE_FAILURES

    def _record(self, job: Job, prediction: Prediction) -> None:
        location = self._append(job, prediction)
        if location is not None:
            tokens = (prediction.usage or {}).get("completion_tokens")
            self._done(job, location, ok=prediction.ok, tokens=tokens if isinstance(tokens, int) else 0)

    def _append(self, job: Job, prediction: Prediction) -> Location | None:
        assert job.run.journal is not None
        try:
            return job.run.journal.append(prediction)
        except OSError as error:
            # Going on would pay for answers that cannot be kept.
            self._stop_because(f"the journal cannot be written: {error}")
            return None

    def _done(self, job: Job, location: Location, *, ok: bool, tokens: int) -> None:
        run = job.run
        run.answers[job.index, job.inference] = location
        run.remaining -= 1
        self._progress.one(ok=ok, tokens=tokens)
        if ok and self._judges is not None:
            self._judges.submit(run, job.index, job.inference)
        if run.remaining == 0:
            self._finish(run)

    def _finish(self, run: TaskRun) -> None:
        run.finished = time.monotonic()
        self._scoring.append(asyncio.create_task(self._score_when_judged(run)))

    async def _score_when_judged(self, run: TaskRun) -> None:
        if self._judges is None or await self._judges.finished(run):
            await self._loop.run_in_executor(self._scorer, self._on_task_done, run)

    def _count_failure(self, run: TaskRun, fault: Fault) -> None:
        run.last_failure = explained(fault, self._model.secrets)
        if fault.kind in ROW_FAULTS and not fault.fatal and self._ever_answered:
            return
        self._failures_in_a_row += 1
        if fault.fatal and not self._answered_now:
            self._stop_because(f"every request would fail like the first: {run.last_failure}")
        elif self._failures_in_a_row >= STOP_AFTER_FAILURES:
            self._stop_because(
                f"{self._failures_in_a_row} requests failed in a row, the last with {run.last_failure}"
            )

    def _stop_because(self, reason: str) -> None:
        if not self._stop.is_set():
            self.stop_reason = reason
            self._stop.set()

    def interrupt(self) -> None:
        """Stop because the person or the scheduler says so; a second call stops without waiting."""
        if self.interrupted:
            # At once means at once, also from a scorer or a model that hangs; the journal needs no farewell.
            answered = sum(len(run.answers) for run in self._runs)
            self._progress.say(
                f"Stopped; {answered} predictions are safe. The same command goes on from there."
            )
            os._exit(EXIT_INTERRUPTED)
        self.interrupted = True
        self._progress.say(
            f"Stopping. Answers on their way are waited for, {GRACE_S:.0f} s at most; once more stops at once."
        )
        self._stop_because("interrupted")
        if self._judges is not None:
            self._judges.stop()


class _StopSignals:
    """Ctrl-C and SIGTERM stop the asking cleanly while the block runs."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._asker.interrupt)

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _jobs(runs: list[TaskRun]) -> Iterator[Job]:
    """Yield what is to be asked, in the order of the data; what failed in an earlier run comes last in its task.

    Rows that fail for ever would otherwise stop every run before it reached the rows behind them.
    """
    for run in runs:
        assert run.journal is not None
        failed_before = []
        for index, question_id in enumerate(run.ids):
            if index in run.bad_rows:
                continue
            for inference in range(run.num_infers):
                job = Job(run, index, inference)
                if run.journal.has_only_failed(question_id, inference):
                    failed_before.append(job)
                else:
                    yield job
        yield from failed_before


async def _ask_or_fault(client: Client, prepared: Any) -> Response:
    """Ask; whatever a client raises beside a Fault becomes one, so that it costs one sample and not a worker."""
    try:
        return await client.ask(prepared)
    except Fault:
        raise
    except FOREIGN_FAILURES as error:
        logger.debug("a client failed in an unforeseen way", exc_info=error)
        raise Fault("client_error", f"{type(error).__name__}: {error}") from error
