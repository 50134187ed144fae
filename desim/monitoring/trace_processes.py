"""The processes of a traced episode: when they live, what they wait for, what interrupts them."""

import simpy
from simpy.events import Interruption

from desim.core.observer import interrupt_cause, is_pending, waited_for
from desim.monitoring.trace_labels import clean, process_label
from desim.monitoring.trace_rows import Lasting
from desim.short_repr import short_repr

__all__ = ["MAX_TRACKS", "Processes"]

#: A kind of which an episode has more shares one group of tracks; up to as many have one each.
MAX_TRACKS = 16


class Processes:
    """Follows every process.

    Attributes:
        lives: All of them, in the order of their start.
    """

    def __init__(self) -> None:
        self.lives: list[Lasting] = []
        self._alive: dict[simpy.Process, Lasting] = {}
        # Since when a process waits, and for what.
        self._waits: dict[simpy.Process, tuple[int, str]] = {}
        # How many processes a function has had; the waits of many are not kept.
        self._seen: dict[tuple[str, str], int] = {}

    def start(self, part: str, process: simpy.Process, time: int, cause: int | None) -> None:
        """Note that a process starts."""
        life = Lasting(part, process.name, process_label(process), time, cause=cause)
        self._seen[part, life.kind] = self._seen.get((part, life.kind), 0) + 1
        self._alive[process] = life
        self.lives.append(life)

    def resume(self, process: simpy.Process, time: int) -> int:
        """Note that a process goes on; return how many waits are kept of it now."""
        life = self._alive.get(process)
        wait = self._waits.pop(process, None)
        if life is None or wait is None:
            return 0
        few = self._seen[life.part, life.kind] <= MAX_TRACKS
        if few:
            life.waits.append((wait[0], time, wait[1]))
        return int(few)

    def interrupt(self, event: Interruption, time: int) -> None:
        """Note that a process is interrupted."""
        if life := self._alive.get(event.process):
            life.instants.append((time, f"interrupt {interrupt_cause(event)}"))

    def yielded(self, process: simpy.Process, time: int, waits_for: str) -> None:
        """Note that a process has run: it waits now, or has ended.

        Args:
            process: The one.
            time: When it ran.
            waits_for: What it waits for; empty for what its event says.
        """
        life = self._alive.get(process)
        if life is None:
            return
        if process.is_alive:
            self._waits[process] = time, clean(waits_for or waited_for(process.target))
        else:
            life.end = time + 1
            if not process.ok:
                life.arguments["failed"] = short_repr(process.value)
            del self._alive[process]

    def abandon(self, time: int) -> None:
        """End the processes that nothing will resume, because their events lost their callbacks."""
        # Looked for only after decisions, which is when models cancel something.
        for process in [each for each in self._waits if not is_pending(each)]:
            life = self._alive.pop(process)
            life.end, life.arguments["abandoned"] = time + 1, True
            del self._waits[process]

    def finish(self, time: int) -> None:
        """End what still lasts, at the end of the trace."""
        for process, life in self._alive.items():
            life.end, life.arguments["unfinished"] = time, True
            # One that has run last, where the trace is cut, is not known to wait.
            since, what = self._waits.get(process, (time, ""))
            if self._seen[life.part, life.kind] <= MAX_TRACKS and time > since:
                life.waits.append((since, time, what))
