"""Asking the judges of a run: as soon as a sample is answered, while the others are still being asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from flagharness.config import JudgeModel
from flagharness.engine._progress import Progress
from flagharness.engine._spec import TaskRun
from flagharness.errors import FOREIGN_FAILURES, ConfigError
from flagharness.judge import FAMILIES, JudgeQuestion, Panel
from flagharness.model import EndpointClient, Fault, explained
from flagharness.run import Prediction

logger = logging.getLogger(__name__)

STOP_AFTER_FAILURES = 10
"""Judge calls that fail one after the other, retries and all, before this judge is not asked any more."""
BATCH = 256
"""So many answers at a time are looked through for what their judges have said already."""
GRACE_S = 10.0
"""How long calls on their way are waited for when a run is interrupted."""

Read = Callable[[TaskRun, int, int], "Prediction | None"]
"""Returns the prediction for (run, sample index, inference)."""


def judge_question(run: TaskRun, question_id: str, prediction: Prediction) -> JudgeQuestion | None:
    """Return what the judges of a task are asked about an answer; None where a rule scores it."""
    assert run.task.evaluator is not None
    assert run.panel is not None
    seen = run.panel.family.seen(prediction.answer)
    return run.task.evaluator.judge_question(run.task.annotations[question_id], seen)


@dataclass(frozen=True)
class _Job:
    """One answer that one judge has to be asked about."""

    run: TaskRun
    question_id: str
    inference: int
    question: JudgeQuestion


@dataclass
class _Seat:
    """One judge: its client, what waits for it, and how it is doing."""

    judge: JudgeModel
    client: EndpointClient
    queue: asyncio.Queue[_Job] = field(default_factory=asyncio.Queue)
    panels: list[Panel] = field(default_factory=list)
    failures_in_a_row: int = 0
    stopped: str | None = None


class JudgePool:
    """Asks the judges of all tasks of a run, each at most ``nproc`` calls at a time. An async context manager.

    A judge that fails for good is left out; the answers it has not judged stay without a verdict, and the next run
    asks about them alone. No method of judging takes its place.

    Args:
        runs: Those without a panel are let through.
        read: Finds a prediction.
    """

    def __init__(self, runs: Sequence[TaskRun], read: Read, progress: Progress) -> None:
        self._runs = [run for run in runs if run.panel is not None]
        self._read = read
        self._progress = progress
        self._open = {run.name: 0 for run in self._runs}
        self._idle = {run.name: asyncio.Event() for run in self._runs}
        for event in self._idle.values():
            event.set()
        self._answers: asyncio.Queue[tuple[TaskRun, int, int]] = asyncio.Queue()
        self._stopped = asyncio.Event()
        self._busy = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def __aenter__(self) -> JudgePool:
        self._exits = AsyncExitStack()
        self._seats: dict[int, _Seat] = {}
        for run in self._runs:
            assert run.panel is not None
            for judge in run.panel.config.judges:
                if id(judge) not in self._seats:
                    client = await self._exits.enter_async_context(
                        EndpointClient(judge.model, wait=self._wait)
                    )
                    self._seats[id(judge)] = _Seat(judge, client)
                self._seats[id(judge)].panels.append(run.panel)
        self._workers = [asyncio.create_task(self._prepare())] if self._runs else []
        for seat in self._seats.values():
            self._workers += [
                asyncio.create_task(self._work(seat)) for _ in range(seat.judge.model.num_workers)
            ]
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._busy:
            await asyncio.wait({asyncio.create_task(self._quiet.wait())}, timeout=GRACE_S)
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)
        await self._exits.aclose()

    def submit(self, run: TaskRun, index: int, inference: int) -> None:
        """Have an answer judged; one that was judged before costs nothing."""
        if run.panel is None or self._stopped.is_set():
            return
        self._more(run)
        self._answers.put_nowait((run, index, inference))

    async def finished(self, run: TaskRun) -> bool:
        """Wait until everything submitted for a task was judged; False when the pool was stopped before."""
        if run.panel is not None:
            await self._idle[run.name].wait()
        return not self._stopped.is_set()

    def stop(self) -> None:
        """Ask nothing more; calls on their way are waited for a moment, as they are paid for."""
        self._stopped.set()
        for event in self._idle.values():
            event.set()

    async def _prepare(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            batch = [await self._answers.get()]
            while len(batch) < BATCH and not self._answers.empty():
                batch.append(self._answers.get_nowait())
            await asyncio.to_thread(self._queue_all, batch, loop)
            for run, _, _ in batch:
                self._less(run)

    def _queue_all(self, batch: Sequence[tuple[TaskRun, int, int]], loop: asyncio.AbstractEventLoop) -> None:
        for run, index, inference in batch:
            try:
                self._queue(run, index, inference, loop)
            except FOREIGN_FAILURES as error:  # of the task's own code; scoring meets it again and says so
                logger.debug("%s: cannot be put to a judge", run.name, exc_info=error)

    def _queue(self, run: TaskRun, index: int, inference: int, loop: asyncio.AbstractEventLoop) -> None:
        prediction = self._read(run, index, inference)
        if prediction is None or not prediction.ok:
            return
        assert run.panel is not None
        question_id = run.ids[index]
        question = judge_question(run, question_id, prediction)
        if question is None:
            return
        job = _Job(run, question_id, inference, question)
        missing = run.panel.missing(question_id, inference, question)
        if missing:
            loop.call_soon_threadsafe(self._put, job, missing)

    def _put(self, job: _Job, judges: Sequence[JudgeModel]) -> None:
        for judge in judges:
            self._more(job.run)
            self._seats[id(judge)].queue.put_nowait(job)

    async def _work(self, seat: _Seat) -> None:
        while True:
            job = await seat.queue.get()
            try:
                if seat.stopped is None and not self._stopped.is_set():
                    self._note(seat, job, await self._ask(seat, job))
            except (
                FOREIGN_FAILURES
            ) as error:  # a full disk, or a mistake of ours: the run and its answers go on
                logger.debug("a judge call failed in an unforeseen way", exc_info=error)
                self._stop_seat(seat, f"{type(error).__name__}: {error}")
            finally:
                self._less(job.run)

    async def _ask(self, seat: _Seat, job: _Job) -> Fault | None:
        assert job.run.panel is not None
        self._busy += 1
        self._quiet.clear()
        try:
            return await job.run.panel.ask(
                seat.judge, seat.client, job.question_id, job.inference, job.question
            )
        finally:
            self._busy -= 1
            if not self._busy:
                self._quiet.set()

    async def _wait(self, fault: Fault, seconds: float) -> None:
        """Wait before another try; a pool that stops does not wait."""
        try:
            await asyncio.wait_for(self._stopped.wait(), seconds)
        except asyncio.TimeoutError:
            return
        raise asyncio.CancelledError

    def _note(self, seat: _Seat, job: _Job, fault: Fault | None) -> None:
        said = "answered" if fault is None else explained(fault, seat.judge.model.secrets)
        logger.debug("%s %s: judge %s: %s", job.run.name, job.question_id, seat.judge.id, said)
        if fault is None:
            seat.failures_in_a_row = 0
            return
        seat.failures_in_a_row += 1
        if fault.fatal or seat.failures_in_a_row >= STOP_AFTER_FAILURES:
            self._stop_seat(seat, explained(fault, seat.judge.model.secrets))

    def _stop_seat(self, seat: _Seat, why: str) -> None:
        if seat.stopped is None:
            seat.stopped = why
            for panel in seat.panels:
                panel.not_asked[seat.judge.id] = f"the judge was not asked any more: {why}"
            logger.error(
                "The judge %s is not asked any more: %s. What the model answers is kept and can be judged later.",
                seat.judge.id,
                why,
            )

    def _more(self, run: TaskRun) -> None:
        self._open[run.name] += 1
        self._idle[run.name].clear()
        self._show()

    def _less(self, run: TaskRun) -> None:
        self._open[run.name] -= 1
        if self._open[run.name] == 0:
            self._idle[run.name].set()
        self._show()

    def _show(self) -> None:
        self._progress.judging(sum(self._open.values()))


async def preflight(runs: Sequence[TaskRun]) -> None:
    """Ask every judge one harmless question for each family it is to be asked in.

    Raises:
        ConfigError: A judge does not answer, or its verdict cannot be read: nothing has been asked of the model yet.
    """
    problems = []
    probed: set[tuple[int, str]] = set()
    for run in runs:
        chats = run.task.evaluator is not None and run.task.evaluator.wants_chat
        panel = Panel(FAMILIES["binary"], run.judge) if chats and run.judge is not None else run.panel
        for judge in panel.config.judges if panel is not None else ():
            assert panel is not None
            if (id(judge), panel.family.prompt_sha256) in probed:
                continue
            probed.add((id(judge), panel.family.prompt_sha256))
            problem = await _probe(panel, judge, read=not chats)
            if problem is not None:
                problems.append(f"{run.name}: {problem}")
    if problems:
        raise ConfigError("\n".join([*problems, "Nothing was asked of the model."]))


async def _probe(panel: Panel, judge: JudgeModel, *, read: bool) -> str | None:
    about = f"the judge {judge.id} ({judge.base})"
    async with EndpointClient(judge.model, wait=_wait) as client:
        try:
            record = await panel.probe(judge, client)
        except Fault as fault:
            return f"{about} does not answer: {explained(fault, judge.model.secrets)}"
    if read and not record.ok:
        why = (record.error or {}).get("message")
        return (
            f"{about} answers, but no verdict of the family {panel.family.name} can be read: {why}. It said: "
            f"{record.answer[-300:]!r}"
        )
    logger.info("%s answers as %s.", about, record.model or "an unnamed model")
    return None


async def _wait(fault: Fault, seconds: float) -> None:
    await asyncio.sleep(seconds)
