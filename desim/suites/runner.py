"""Plays the jobs of a suite: those of language models in coroutines, the others in processes.

An episode that waits for a reply needs no processor, so many episodes of language models are played
at once. The suite limits their number at each endpoint, and so the number of calls under way there.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from attrs import define, field, frozen

from desim.jobs.run.lone_worker import LoneWorker, ProcessEnded
from desim.jobs.run.process_executor import spawned_pool
from desim.suites.episode import Watch, play_job, play_job_async
from desim.suites.folder import Folder
from desim.suites.outcome import Outcome
from desim.suites.reconcile import count_outcome
from desim.suites.spending import JobBudget, Ledger, MoneyLimit
from desim.suites.suite_plan import Job, Plan

#: Seconds between two ticks without events.
_TICK = 0.2

#: Seconds for which the end of a command waits for a process that is being started.
_SECONDS_TO_START = 10.0


@frozen
class Workers:
    """The number of episodes played at once.

    Attributes:
        at_once: Episodes of language models, at each endpoint.
        processes: Episodes without language models, each in a process.
    """

    at_once: int
    processes: int


@frozen
class Event:
    """The begin or the end of a job.

    Attributes:
        job: The job.
        outcome: The outcome of the job; None if it begins.
    """

    job: Job
    outcome: Outcome | None = None


@define
class Running:
    """The jobs under way by name, with the progress of each."""

    watches: dict[str, Watch] = field(factory=dict)


def play_all(
    plan: Plan,
    jobs: Sequence[Job],
    folder: Folder,
    ledger: Ledger,
    workers: Workers,
    running: Running,
    tick: Callable[[], None],
) -> Iterator[Event]:
    """Play jobs and yield their events.

    Args:
        plan: The suite.
        jobs: The jobs that are left.
        folder: Keeps records and outcomes.
        ledger: Keeps the money spent.
        workers: The number of episodes played at once.
        running: Receives the jobs under way.
        tick: Called several times a second.
    """
    shop = _Shop(folder, ledger, _limits(plan, ledger), running)
    try:
        shop.start(jobs, workers)
        while shop.busy:
            tick()
            try:
                event = shop.events.get(timeout=_TICK)
            except Empty:
                continue
            if event.outcome:
                folder.add(event.outcome)
                # After a kill or on a full disk, the ledger may lack the line of a recorded reply.
                count_outcome(event.job, event.outcome, ledger)
            yield event
    finally:
        shop.close()


def _limits(plan: Plan, ledger: Ledger) -> Mapping[str, tuple[MoneyLimit, ...]]:
    """Return the limits of money of each entry: its own and the suite's."""
    most = plan.suite.max_cost
    suite = [] if most is None else [MoneyLimit("max_cost", most, ledger.cost)]
    found = {}
    for name, entry in plan.entries.items():
        names = [job.name for job in plan.jobs if job.entry is entry]
        own = entry.table.max_cost
        spent = _Spent(ledger, tuple(names))
        limit = [] if own is None else [MoneyLimit(f"entries.{name}.max_cost", own, spent)]
        found[name] = (*limit, *suite)
    return found


@frozen
class _Spent:
    """Returns the money that jobs have spent; 0 without jobs."""

    ledger: Ledger
    jobs: tuple[str, ...]

    def __call__(self) -> float:
        return self.ledger.cost(*self.jobs) if self.jobs else 0.0


@define(eq=False)
class _Shop:
    """The threads that play jobs, and the processes of some of them.

    Attributes:
        folder: Keeps the records.
        ledger: Keeps the money spent.
        limits: Limits of money by entry.
        running: Receives the jobs under way.
        events: The events, in order.
        stopped: Set once no further job may begin.
    """

    folder: Folder
    ledger: Ledger
    limits: Mapping[str, tuple[MoneyLimit, ...]]
    running: Running
    events: "SimpleQueue[Event]" = field(factory=SimpleQueue)
    stopped: threading.Event = field(factory=threading.Event)
    _threads: list[threading.Thread] = field(factory=list)
    _processes: list[LoneWorker] = field(factory=list)
    _starting: list[threading.Event] = field(factory=list)
    _lock: Any = field(factory=threading.Lock)

    @property
    def busy(self) -> bool:
        """Whether a job is under way, or an event is still in the queue."""
        # In this order: a thread puts its last event before it ends.
        return any(thread.is_alive() for thread in self._threads) or bool(self.events.qsize())

    def start(self, jobs: Sequence[Job], workers: Workers) -> None:
        """Start threads for each endpoint, and for the worlds without one."""
        hosts: dict[str, list[Job]] = {}
        for job in jobs:
            hosts.setdefault(job.entry.host, []).append(job)
        for host, mine in hosts.items():
            queue: SimpleQueue[Job] = SimpleQueue()
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

    def _jobs(self, queue: "SimpleQueue[Job]") -> Iterator[tuple[Job, Watch]]:
        """Yield the jobs that may begin, with an event for each; taking the next ends a job."""
        while not self.stopped.is_set():
            try:
                job = queue.get_nowait()
            except Empty:
                return
            if any(limit.reached for limit in self.limits[job.entry.name]):
                continue
            watch = self.running.watches[job.name] = Watch()
            self.events.put(Event(job))
            yield job, watch
            self.running.watches.pop(job.name, None)

    def _wait(self, queue: "SimpleQueue[Job]", at_once: int) -> None:
        """Play jobs of language models in the event loop of this thread."""
        import asyncio

        async def play() -> None:
            await asyncio.gather(*(self._wait_one_by_one(queue, at_once) for _ in range(at_once)))

        asyncio.run(play())

    async def _wait_one_by_one(self, queue: "SimpleQueue[Job]", at_once: int) -> None:
        for job, watch in self._jobs(queue):
            budget = JobBudget(
                job=job.name,
                ledger=self.ledger,
                shared=self.limits[job.entry.name],
                calls_at_once=at_once,
            )
            record = self.folder.record(job.name)
            self.events.put(Event(job, await play_job_async(job, record, budget, watch)))

    def _compute(self, queue: "SimpleQueue[Job]") -> None:
        """Play jobs in a process of this thread; a job that ends it fails, and it is replaced."""
        process: LoneWorker | None = None
        for job, _ in self._jobs(queue):
            try:
                process = process or self._process()
                outcome = process.call(play_job, job, self.folder.record(job.name))
            except ProcessEnded as death:
                outcome = Outcome(job=job.name, error=f"its worker process ended ({death})")
                if process:
                    self._end(process)
                process = None
            except Exception as fault:  # noqa: BLE001 (a job that cannot be sent to a process)
                outcome = Outcome(job=job.name, error=f"{type(fault).__name__}: {fault}")
            if not self.stopped.is_set():
                self.events.put(Event(job, outcome))
        if process:
            self._end(process)

    def _end(self, process: LoneWorker) -> None:
        """End a process, unless another thread has ended it."""
        with self._lock:
            if process not in self._processes:
                return
            self._processes.remove(process)
        process.close()

    def _process(self) -> LoneWorker:
        started = threading.Event()
        self._starting.append(started)
        try:
            process = LoneWorker(spawned_pool(1))
            self._processes.append(process)
        finally:
            started.set()
        return process
