"""The dearest decisions of a game, judged by `regret` in a process of its own."""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from desim.errors import DesimError, UsageError
from desim.faults import fault_text
from desim.jobs.run.job_messages import import_path
from desim.records.episode import Episode
from desim.show.progress import ProgressOption
from desim.studies.decisions.decision_options import OPTIONS
from desim.studies.decisions.regret import RegretStopped, regret
from desim.studies.decisions.regret_table import DecisionRegret, RegretTable

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

#: Seconds after which the search ends with the decisions judged so far.
SECONDS = 60.0

#: The share of these seconds for which decisions are planned.
_PLANNED = 0.7

#: Futures of each decision, and options of each that are played.
FUTURES, MOST_OPTIONS = 20, 5

#: Decisions that are shown.
SHOWN = 3

#: Seconds for which a stopped process may still send what it has found.
_GRACE = 5.0

_NOT_JUDGED = "Your decisions could not be judged"


@frozen
class DecisionSearch:
    """What a search judges, and who plays on.

    Attributes:
        episode: The game.
        seats: The person's roles.
        candidates: Policies by role, of all roles: the first that can play on after another's
            decisions does.
        against: "options", or a policy for each of the person's roles.
        trust: Whether the record may name modules and files.
    """

    episode: Episode
    seats: tuple[str, ...]
    candidates: Sequence[Mapping[str, Any]]
    against: Any = OPTIONS
    trust: bool = True


@define(eq=False)
class DearestDecisions:
    """The search for the dearest decisions of a game, in a process of its own.

    Attributes:
        search: What is judged.
        seconds: The limit of time.
        progress: The numbers of finished and of all episodes.
        table: What was found; None before.
        every: Every how many-th decision is judged.
        problem: Why nothing was found; empty otherwise.
        done: Whether the search has ended.
    """

    search: DecisionSearch
    seconds: float = SECONDS
    progress: tuple[int, int] = (0, 0)
    table: RegretTable | None = None
    every: int = 1
    problem: str = ""
    done: bool = False
    _process: "BaseProcess | None" = None
    _lock: Any = field(factory=threading.Lock)

    def start(self) -> None:
        """Begin the search in the background; a second call does nothing."""
        with self._lock:
            if self._process is not None or self.done:
                return
            context = get_context("spawn")
            ours, theirs = context.Pipe(duplex=False)
            arguments = (theirs, import_path(), self.search, self.seconds)
            process = context.Process(target=_work, args=arguments, daemon=True)
            try:
                process.start()
            except Exception as fault:  # noqa: BLE001 (a user's policy that cannot be pickled)
                self.problem, self.done = f"{_NOT_JUDGED}: {fault}", True
                return
            self._process = process
            theirs.close()
        threading.Thread(target=self._receive, args=(ours,), daemon=True).start()

    def stop(self) -> None:
        """End the search; what was judged so far stays."""
        with self._lock:
            process, self.done = self._process, self.done or self._process is None
        if process is not None and process.is_alive():
            process.terminate()

    def wait(self) -> None:
        """Wait for the end of the search."""
        while not self.done:
            time.sleep(0.05)

    @property
    def dearest(self) -> list[DecisionRegret]:
        """The dearest decisions of the person, at most three, each with a cost above 0."""
        ranked = self.table.ranked if self.table else []
        mine = [line for line in ranked if line.place.role in self.search.seats and line.cost > 0]
        return mine[:SHOWN]

    def _receive(self, ours: "Connection") -> None:
        """Take what the process sends until it ends."""
        process = self._process
        assert process is not None
        timers = [
            threading.Timer(self.seconds, process.terminate),
            threading.Timer(self.seconds + _GRACE, process.kill),
        ]
        for timer in timers:
            timer.daemon = True
            timer.start()
        with suppress(EOFError, OSError):  # the process has ended
            while True:
                self._take(ours.recv())
        process.join()
        for timer in timers:
            timer.cancel()
        ours.close()
        if self.table is None and not self.problem:
            self.problem = "No decision was judged before the search ended."
        self.done = True

    def _take(self, message: Any) -> None:
        match message:
            case RegretTable() as table, int() as every:
                self.table, self.every = table, every
            case int() as done, int() as total:
                self.progress = (done, total)
            case str():
                self.problem = message


def _work(theirs: "Connection", path: list[str], search: DecisionSearch, seconds: float) -> None:
    """Judge decisions in a process of its own and send what was found."""
    sys.path[:] = path
    # Ctrl-C in a terminal reaches this process, too; the game's process decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(BrokenPipeError):  # the game's process has ended
        try:
            theirs.send(judged(search, seconds, lambda done, total: theirs.send((done, total))))
        except KeyboardInterrupt:
            pass
        except Exception as fault:  # noqa: BLE001 (the game's process shows it)
            theirs.send(f"{_NOT_JUDGED}: {fault_text(fault)}")


def judged(
    search: DecisionSearch, seconds: float, progress: Callable[[int, int], object]
) -> tuple[RegretTable, int]:
    """Return the regret of decisions that are spread over a game, and every how many-th is judged.

    Stopped by SIGTERM it returns the decisions judged so far.

    Args:
        search: What is judged.
        seconds: The limit of time, which sets how many decisions are judged.
        progress: Receives the numbers of finished and of all episodes.

    Raises:
        DesimError: No candidate can play on.
        KeyboardInterrupt: It was stopped before a decision was judged.
    """
    fault: DesimError = UsageError("no rule of this world can play on after your decisions")
    for then in search.candidates:
        try:
            every = _every(search, then, seconds)
            return _regret(search, then, every, progress), every
        except RegretStopped as stop:
            if stop.found is None:
                raise
            return stop.found, every
        except DesimError as error:
            fault = error
    raise fault


def _every(search: DecisionSearch, then: Mapping[str, Any], seconds: float) -> int:
    """Return every how many-th decision can be judged: the first and the last one are timed."""
    count = len(search.episode.steps)
    _regret(search, then, count, progress=False)  # loads modules, which would be timed
    start = time.perf_counter()
    _regret(search, then, max(1, count - 1), progress=False)
    of_all = (time.perf_counter() - start) * count / 2
    return max(1, math.ceil(of_all / (_PLANNED * seconds)))


def _regret(
    search: DecisionSearch, then: Mapping[str, Any], every: int, progress: ProgressOption = None
) -> RegretTable:
    return regret(
        search.episode,
        then,
        against=search.against,
        decisions=slice(0, len(search.episode.steps), every),
        futures=FUTURES,
        most_options=MOST_OPTIONS,
        jobs=1,
        trust=search.trust,
        progress=progress,
    )
