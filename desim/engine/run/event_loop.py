"""Plays jobs with records: those that wait for a host in event loops, the others in processes.

An episode that waits for a reply needs no processor, so many episodes of language models are played
at once. Their number at each host is limited, and so the number of calls under way there.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from attrs import define, field, frozen

from desim.engine.keep.outcome import JobOutcome
from desim.engine.keep.record_folder import RecordFolder
from desim.engine.keep.spending import JobBudget, Money, count_outcome
from desim.engine.record_job import RecordJob
from desim.engine.run.play_episode import error_label
from desim.engine.run.play_record import Watch, play_record, play_record_async
from desim.engine.run.worker_pools import ProcessEnded, call_alone, end_pool, worker_pool

#: Seconds between two ticks without events.
_TICK = 0.2

#: Files that an episode keeps open: its record and the lock of it, and one to spare.
_FILES = 3

#: Seconds for which the end of a command waits for a process that is being started.
_SECONDS_TO_START = 10.0


@frozen
class Workers:
    """The number of episodes played at once.

    Attributes:
        at_once: Episodes that wait for a host, at each host.
        processes: The other episodes, each in a process.
    """

    at_once: int
    processes: int


def _allow_open_files(more: int) -> None:
    """Raise the limit of open files, as far as the system lets a process do so."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # Windows lacks it
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = soft + more if hard == resource.RLIM_INFINITY else min(soft + more, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


@frozen
class Event:
    """The begin or the end of a job.

    Attributes:
        job: The job.
        outcome: The outcome of the job; None if it begins.
    """

    job: RecordJob
    outcome: JobOutcome | None = None


def play_all(
    jobs: Sequence[RecordJob],
    folder: RecordFolder,
    money: Money,
    workers: Workers,
    running: dict[str, Watch],
    tick: Callable[[], None],
) -> Iterator[Event]:
    """Play jobs and yield their events.

    Args:
        jobs: The jobs that are left.
        folder: Keeps records and outcomes.
        money: Keeps and limits the money spent.
        workers: The number of episodes played at once.
        running: Receives the jobs under way by name, with the progress of each.
        tick: Called several times a second.
    """
    threads = _JobThreads(folder, money, running)
    try:
        threads.start(jobs, workers)
        while threads.busy:
            tick()
            try:
                event = threads.events.get(timeout=_TICK)
            except Empty:
                continue
            if event.outcome:
                folder.add(event.outcome)
                # After a kill or on a full disk, the file may lack the line of a recorded reply.
                count_outcome(event.job, event.outcome, money.spent)
            yield event
    finally:
        threads.close()


@define(eq=False)
class _JobThreads:
    """The threads that play jobs, and the processes of some of them.

    Attributes:
        folder: Keeps the records.
        money: Keeps and limits the money spent.
        running: Receives the jobs under way by name, with the progress of each.
        events: The events, in order.
        stopped: Set once no further job may begin.
    """

    folder: RecordFolder
    money: Money
    running: dict[str, Watch]
    events: "SimpleQueue[Event]" = field(factory=SimpleQueue)
    stopped: threading.Event = field(factory=threading.Event)
    _threads: list[threading.Thread] = field(factory=list)
    _processes: list[Any] = field(factory=list)
    _starting: list[threading.Event] = field(factory=list)
    _lock: Any = field(factory=threading.Lock)

    @property
    def busy(self) -> bool:
        """Whether a job is under way, or an event is still in the queue."""
        # In this order: a thread puts its last event before it ends.
        return any(thread.is_alive() for thread in self._threads) or bool(self.events.qsize())

    def start(self, jobs: Sequence[RecordJob], workers: Workers) -> None:
        """Start a thread for each host, and some for the jobs that wait for none."""
        hosts: dict[str, list[RecordJob]] = {}
        for job in jobs:
            hosts.setdefault(job.host, []).append(job)
        for host, mine in hosts.items():
            queue: SimpleQueue[RecordJob] = SimpleQueue()
            for job in mine:
                queue.put(job)
            at_once = min(workers.at_once if host else workers.processes, len(mine))
            work = partial(self._wait, queue, at_once) if host else partial(self._compute, queue)
            for _ in range(1 if host else at_once):
                # A daemon, so that Ctrl-C need not wait for replies; records are valid up to then.
                thread = threading.Thread(target=work, daemon=True)
                self._threads.append(thread)
                thread.start()

    def close(self) -> None:
        """End the processes at once; the next command resumes their jobs."""
        self.stopped.set()
        # A starting process has semaphores, which outlive this one unless the process is ended.
        for started in list(self._starting):
            started.wait(_SECONDS_TO_START)
        for process in list(self._processes):
            self._end(process)

    def _jobs(self, queue: "SimpleQueue[RecordJob]") -> Iterator[tuple[RecordJob, Watch]]:
        """Yield the jobs that may begin, with an event for each; taking the next ends a job."""
        while not self.stopped.is_set():
            try:
                job = queue.get_nowait()
            except Empty:
                return
            if any(limit.reached for limit in self.money.limits.get(job.purse, ())):
                continue
            watch = self.running[job.name] = Watch()
            self.events.put(Event(job))
            yield job, watch
            self.running.pop(job.name, None)

    def _wait(self, queue: "SimpleQueue[RecordJob]", at_once: int) -> None:
        """Play jobs that wait for a host in the event loop of this thread."""
        import asyncio

        async def play() -> None:
            players = (self._wait_one_by_one(queue, at_once) for _ in range(at_once))
            await asyncio.gather(*players)

        asyncio.run(play())

    async def _wait_one_by_one(self, queue: "SimpleQueue[RecordJob]", at_once: int) -> None:
        for job, watch in self._jobs(queue):
            budget = JobBudget(
                job=job.name,
                spent=self.money.spent,
                shared=self.money.limits.get(job.purse, ()),
                calls_at_once=at_once,
            )
            record = self.folder.record(job.name)
            self.events.put(Event(job, await play_record_async(job, record, budget, watch)))

    def _compute(self, queue: "SimpleQueue[RecordJob]") -> None:
        """Play jobs in a process of this thread; a job that ends it fails, and it is replaced."""
        process: Any = None
        for job, _ in self._jobs(queue):
            try:
                process = process or self._process()
                outcome = call_alone(process, play_record, job, self.folder.record(job.name))
            except ProcessEnded as death:
                outcome = JobOutcome(job=job.name, error=f"its worker process ended ({death})")
                if process:
                    self._end(process)
                process = None
            except Exception as fault:  # noqa: BLE001 (a job that cannot be sent to a process)
                outcome = JobOutcome(job=job.name, error=error_label(fault))
            if not self.stopped.is_set():
                self.events.put(Event(job, outcome))
        if process:
            self._end(process)

    def _end(self, process: Any) -> None:
        """End a process, unless another thread has ended it."""
        with self._lock:
            if process not in self._processes:
                return
            self._processes.remove(process)
        end_pool(process)

    def _process(self) -> Any:
        started = threading.Event()
        self._starting.append(started)
        try:
            process = worker_pool(1)
            self._processes.append(process)
        finally:
            started.set()
        return process
