"""A trace as Chrome trace events, which Perfetto and chrome://tracing show.

The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
Perfetto draws what belongs to one process under its name, events of one thread on a track of their
own, and async events of one name below each other on a group of tracks.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count
from operator import itemgetter
from typing import Any

from desim.tracing.process_tracks import MAX_TRACKS
from desim.tracing.trace_labels import clean
from desim.tracing.trace_rows import Lasting, Posted, Taken
from desim.tracing.tracer import Tracer

#: From the id of a process to the ids of its threads.
_IDS = 1_000

#: Events of one time: what ends comes first; a flow starts and ends after the slices that it joins.
_ORDER = {phase: at for at, phase in enumerate("eXbisfC")}


def chrome_events(tracer: Tracer) -> Iterator[dict[str, Any]]:
    """Yield the events of a finished trace: the names of tracks first, then all others by time."""
    writer = _Writer(tracer)
    writer.decisions()
    writer.all_processes()
    writer.under_way()
    writer.resources()
    writer.ledgers()
    if tracer.cut:
        writer.add("i", tracer.cut, (0, 0), tracer.end, s="g")
    yield from writer.names
    # Sorting is stable, so that an outer slice stays before the inner one.
    for _, _, event in sorted(writer.events, key=itemgetter(0, 1)):
        yield event


class _Writer:
    """Turns the rows of a trace into events.

    Attributes:
        names: Metadata events, which name processes and threads.
        events: All others, with their time and their order at that time.
    """

    def __init__(self, tracer: Tracer) -> None:
        self.names: list[dict[str, Any]] = []
        self.events: list[tuple[int, int, dict[str, Any]]] = []
        self._tracer = tracer
        self._processes: dict[str, int] = {}
        self._threads: dict[tuple[int, str], tuple[int, int]] = {}
        self._numbers = count(1)

    # -- sections --------------------------------------------------------------------------------

    def decisions(self) -> None:
        """Draw every decision as a slice that lasts until the role's next one."""
        by_role: dict[str, list[Taken]] = {}
        for one in self._tracer.decisions:
            by_role.setdefault(one.role, []).append(one)
        for role, taken in by_role.items():
            track = self._thread("decisions", role)
            ends = [*(each.time for each in taken[1:]), self._tracer.end]
            for one, end in zip(taken, ends, strict=True):
                args = {"tick": one.tick, **one.arguments}
                self._slice(track, one.name, one.time, end, args)

    def all_processes(self) -> None:
        """Draw each process on a thread; those of a function that has many as async slices."""
        lives = self._tracer.processes.lives
        often = Counter((life.part, life.kind) for life in lives)
        labels = Counter((life.part, life.kind, life.name) for life in lives)
        numbers: Counter[tuple[str, str, str]] = Counter()
        for life in lives:
            section = f"{life.part}processes"
            if often[life.part, life.kind] > MAX_TRACKS:
                self._lasting(section, life)
                # Flows lead to threads only.
                track = self._thread(section, f"{life.kind} starts")
                self._slice(track, life.name or life.kind, life.start, life.start + 1, {})
            else:
                key = life.part, life.kind, life.name
                numbers[key] += 1
                number = f" #{numbers[key]}" if labels[key] > 1 else ""
                track = self._thread(section, f"{life.kind} {life.name}".strip() + number)
                self._alone(track, life)
            self._flow(life.cause, track, life.start)

    def under_way(self) -> None:
        """Draw what was under way, and the events at which it arrived."""
        for one in self._tracer.lasting:
            self._lasting(f"{one.part}under way", one)
        for event in self._tracer.instants:
            track = self._thread(f"{event.part}under way", f"{event.kind} happens")
            args = {"tick": event.tick, **event.arguments}
            self._slice(track, event.kind, event.time, event.time + 1, args)
            self._flow(event.cause, track, event.time)

    def resources(self) -> None:
        """Draw waits and uses of resources, and count them."""
        for span in self._tracer.resources.spans:
            self._lasting(f"{span.part}resources", span)
        for one in self._tracer.resources.counts:
            track = self._process(f"{one.part}resources"), 0
            self.add("C", one.name, track, one.time, args={one.what: one.value})

    def ledgers(self) -> None:
        """Draw entries as slices of a microsecond, and balances as counters."""
        for one in self._tracer.postings:
            track = self._thread("ledgers", one.ledger or "ledger")
            args = {"tick": one.tick, "entries": one.posting.entries}
            self._slice(track, one.posting.text, one.time, one.time + 1, args)
            self._flow(one.cause, track, one.time)
            for account, value in one.posting.balances.items():
                self._balance(one, account, value)

    # -- events ----------------------------------------------------------------------------------

    def add(self, phase: str, name: str, track: tuple[int, int], time: int, /, **more: Any) -> None:
        """Add an event."""
        pid, tid = track
        event = {"ph": phase, "name": name, "pid": pid, "tid": tid, "ts": time, **more}
        self.events.append((time, _ORDER[phase], event))

    def _slice(
        self, track: tuple[int, int], name: str, start: int, end: int, args: Mapping[str, Any]
    ) -> None:
        more = {"args": args} if args else {}
        self.add("X", name, track, start, dur=max(1, end - start), **more)

    def _alone(self, track: tuple[int, int], life: Lasting) -> None:
        """Draw what a process waits for, one slice after the other."""
        assert life.end is not None
        waits = life.waits or [(life.start, life.end, "runs")]
        for start, end, what in waits:
            self._slice(track, what, start, end, {})
        for time, what in life.instants:
            self.add("i", what, track, time, s="t")

    def _lasting(self, section: str, one: Lasting) -> None:
        """Draw an async slice under the name of its kind, and inside it one under its own name."""
        assert one.end is not None
        track = self._process(section), 0
        # A local id keeps the slice below the other tracks of its process.
        more = {"cat": one.kind, "id2": {"local": f"0x{next(self._numbers):x}"}}
        names = [one.kind, one.name] if one.name else [one.kind]
        end = max(one.end, one.start + 1)
        for name in names:
            args = {"args": one.arguments} if one.arguments and name is names[-1] else {}
            self.add("b", name, track, one.start, **more, **args)
        for name in reversed(names):
            self.add("e", name, track, end, **more)

    def _balance(self, one: Posted, account: str, value: float) -> None:
        # Perfetto shows it behind the name.
        track, unit = (self._process("ledgers"), 0), one.posting.unit
        self.add("C", clean(f"{one.ledger} {account}".strip()), track, one.time, args={unit: value})

    def _flow(self, cause: int | None, track: tuple[int, int], time: int) -> None:
        """Draw an arrow from a decision to a slice that begins at a time."""
        if cause is None:
            return
        taken = self._tracer.decisions[cause]
        source = self._thread("decisions", taken.role)
        more = {"cat": "decision", "id": next(self._numbers)}
        # An arrow starts in the slice of its decision, which begins at this time.
        self.add("s", "causes", source, taken.time, **more)
        # "e" binds it to the slice around its end instead of the next one to begin.
        self.add("f", "causes", track, time, **more, bp="e")

    # -- tracks ----------------------------------------------------------------------------------

    def _process(self, section: str) -> int:
        pid = self._processes.get(section)
        if pid is None:
            pid = self._processes[section] = len(self._processes) + 1
            self._name("process_name", pid, 0, name=section)
            self._name("process_sort_index", pid, 0, sort_index=pid)
        return pid

    def _thread(self, section: str, name: str) -> tuple[int, int]:
        pid = self._process(section)
        track = self._threads.get((pid, name))
        if track is None:
            number = 1 + sum(1 for each, _ in self._threads if each == pid)
            # Perfetto shows ids behind names, and takes the thread with the process's id for its
            # main thread; these look like ids and not like a part of the name.
            track = self._threads[pid, name] = pid, pid * _IDS + number
            self._name("thread_name", *track, name=clean(name))
            self._name("thread_sort_index", *track, sort_index=number)
        return track

    def _name(self, what: str, pid: int, tid: int, **args: Any) -> None:
        self.names.append({"ph": "M", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": args})
