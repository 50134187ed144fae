"""A trace as Chrome trace events, which Perfetto and chrome://tracing show.

The format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
Perfetto draws what belongs to one process under its name, events of one thread on a track of their
own, and async events of one name below each other on a group of tracks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

from desim.tracing.trace_labels import clean
from desim.tracing.trace_rows import Count, Lasting, Taken
from desim.tracing.tracer import Tracer

#: Processes of one function share a group of tracks if they are more; up to as many have one each.
_MAX_TRACKS = 16

#: From the id of a process to the ids of its threads.
_IDS = 1_000

#: Events of one time: what ends comes first.
_ORDER = {phase: at for at, phase in enumerate("eXbiC")}


def chrome_events(tracer: Tracer) -> Iterator[dict[str, Any]]:
    """Yield the events of a finished trace: the names of tracks first, then all others by time."""
    writer = _Writer()
    writer.decisions(tracer.decisions, tracer.end)
    writer.processes(tracer.processes.lives)
    for span in tracer.resources.spans:
        writer.lasting(f"{span.part}resources", span)
    writer.counters("resources", tracer.resources.counts)
    writer.counters("ledgers", tracer.balances)
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

    def __init__(self) -> None:
        self.names: list[dict[str, Any]] = []
        self.events: list[tuple[int, int, dict[str, Any]]] = []
        self._processes: dict[str, int] = {}
        self._threads: dict[tuple[int, str], tuple[int, int]] = {}
        self._numbers = count(1)

    def decisions(self, decisions: Iterable[Taken], end: int) -> None:
        """Draw every decision as a slice that lasts until the role's next one."""
        by_role: dict[str, list[Taken]] = {}
        for one in decisions:
            by_role.setdefault(one.role, []).append(one)
        for role, taken in by_role.items():
            track = self._thread("decisions", role)
            ends = [*(each.time for each in taken[1:]), end]
            for one, until in zip(taken, ends, strict=True):
                args = {"tick": one.tick, "action": one.action}
                self._slice(track, one.name, one.time, until, args)

    def processes(self, lives: Sequence[Lasting]) -> None:
        """Draw each process on a thread; those of a function that has many as async slices."""
        often = Counter((life.part, life.kind) for life in lives)
        labels = Counter((life.part, life.kind, life.name) for life in lives)
        numbers: Counter[tuple[str, str, str]] = Counter()
        for life in lives:
            section = f"{life.part}processes"
            if often[life.part, life.kind] > _MAX_TRACKS:
                self.lasting(section, life)
                continue
            key = life.part, life.kind, life.name
            numbers[key] += 1
            number = f" #{numbers[key]}" if labels[key] > 1 else ""
            self._alone(self._thread(section, f"{life.kind} {life.name}".strip() + number), life)

    def lasting(self, section: str, one: Lasting) -> None:
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

    def counters(self, section: str, counts: Iterable[Count]) -> None:
        """Draw numbers over time."""
        for one in counts:
            track = self._process(f"{one.part}{section}"), 0
            # Perfetto shows the argument behind the name.
            self.add("C", clean(one.name), track, one.time, args={one.what: one.value})

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
        for start, end, what in life.waits or [(life.start, life.end, "runs")]:
            self._slice(track, what, start, end, {})
        for time, what in life.instants:
            self.add("i", what, track, time, s="t")

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
