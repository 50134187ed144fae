"""The dearest decisions of a game, judged by `regret` in a process of its own."""

import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from attrs import define, field

from desim.faults import fault_text
from desim.jobs.run.job_messages import import_path
from desim.studies.decisions.regret_table import DecisionRegret
from desim.ui.ending.judgement import DecisionSearch, Judgement, judged

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess

#: Seconds after which the search ends with the decisions judged so far.
SECONDS = 60.0

#: Decisions that are shown.
SHOWN = 3

#: Seconds for which a stopped process may still send what it has found.
_GRACE = 5.0

_NOT_JUDGED = "Your decisions could not be judged"


@define(eq=False)
class DearestDecisions:
    """The search for the dearest decisions of a game, in a process of its own.

    Attributes:
        search: What is judged.
        seconds: The limit of time.
        progress: How far the search is, in words.
        found: What was found; None before.
        problem: Why nothing was found; empty otherwise.
        done: Whether the search has ended.
    """

    search: DecisionSearch
    seconds: float = SECONDS
    progress: str = "Begins"
    found: Judgement | None = None
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
        ranked = self.found.table.ranked if self.found else []
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
        if self.found is None and not self.problem:
            self.problem = "No decision was judged before the search ended."
        self.done = True

    def _take(self, message: Any) -> None:
        match message:
            case Judgement():
                self.found = message
            case (fault,):
                self.problem = f"{_NOT_JUDGED}: {fault}"
            case _:
                self.progress = message


def _work(theirs: "Connection", path: list[str], search: DecisionSearch, seconds: float) -> None:
    """Judge decisions in a process of its own and send what was found."""
    sys.path[:] = path
    # Ctrl-C in a terminal reaches this process, too; the game's process decides when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(BrokenPipeError):  # the game's process has ended
        try:
            theirs.send(judged(search, seconds, theirs.send))
        except KeyboardInterrupt:
            pass
        except Exception as fault:  # noqa: BLE001 (the game's process shows it)
            theirs.send((fault_text(fault),))
