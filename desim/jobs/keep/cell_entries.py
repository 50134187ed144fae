"""The entries of a store of cells: groups, the code that they share, and the last plan."""

import itertools
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec

from desim.jobs.plan.job import MAX_RANGE, Frame

#: Largest number of an entry, and most seeds of a plan that are no range; a stranger's file may
#: state more.
_MAX_NUMBER, _MAX_SEEDS = 2**31 - 1, 100_000_000


class CellCode(msgspec.Struct, tag="code", frozen=True):
    """The topics of code, which groups share."""

    topics: dict[str, str]


class CellGroup(msgspec.Struct, tag="group", frozen=True):
    """The data, the code and the files that determine the results of a cell.

    Attributes:
        plays: The topics of its data.
        code: The number of the topics of its code.
        files: The topics of files that it names or has opened.
    """

    plays: dict[str, str]
    code: int
    files: dict[str, str]


class LastPlan(msgspec.Struct, tag="plan", frozen=True):
    """The cells and seeds of the last command, by which its rows are read.

    Attributes:
        ranges: The seeds as ranges, each with its first seed and the one after the last.
        cells: The group of each cell, and what makes rows of its results.
    """

    ranges: list[tuple[int, int]]
    cells: list[tuple[int, Frame]]

    @property
    def seeds(self) -> Sequence[int]:
        """The seeds in their order."""
        if len(self.ranges) == 1:
            return range(*self.ranges[0])
        return [*itertools.chain.from_iterable(range(*one) for one in self.ranges)]


Entry = CellCode | CellGroup | LastPlan

_Kind = TypeVar("_Kind", CellCode, CellGroup, LastPlan)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Entry).decode


class CellEntries:
    """The entries of a file by their numbers from 1.

    Args:
        stored: Their texts.

    Raises:
        ValueError: A text does not hold an entry, or an entry refers to a missing one.
    """

    def __init__(self, stored: Mapping[int, bytes]) -> None:
        self._by_number: dict[int, Entry] = {}
        self._numbers: dict[bytes, int] = {}
        for number, text in stored.items():
            self.put(number, _decode(text))
        for number, entry in self._by_number.items():
            if not (0 < number <= _MAX_NUMBER and self._is_whole(entry)):
                raise ValueError(f"entry {number} is out of range or incomplete")

    def _is_whole(self, entry: Entry) -> bool:
        """Return whether the entries to which one refers are there."""
        known = self._by_number
        if isinstance(entry, CellGroup):
            return isinstance(known.get(entry.code), CellCode)
        if isinstance(entry, LastPlan):
            sizes = [stop - start for start, stop in entry.ranges]
            sound = all(size > 0 for size in sizes) and sizes != []
            sound = sound and sum(sizes) <= (MAX_RANGE if len(sizes) == 1 else _MAX_SEEDS)
            return sound and all(
                isinstance(known.get(group), CellGroup) for group, _ in entry.cells
            )
        return True

    def put(self, number: int, entry: Entry) -> bytes:
        """Set an entry; return its text."""
        self._by_number[number] = entry
        text = _encode(entry)
        if not isinstance(entry, LastPlan):
            self._numbers[_encode(entry.plays) if isinstance(entry, CellGroup) else text] = number
        return text

    @property
    def largest(self) -> int:
        """The largest number; 0 without entries."""
        return max(self._by_number, default=0)

    def number(self, wanted: CellCode | Mapping[str, str]) -> int:
        """Return the number of some code, or of the group with some data; 0 without it."""
        return self._numbers.get(_encode(wanted), 0)

    def group(self, number: int) -> CellGroup:
        """Return a group."""
        return self._of(number, CellGroup)

    def topics(self, number: int) -> dict[str, str]:
        """Return the topics of the code and the files of a group."""
        group = self.group(number)
        return {**self._of(group.code, CellCode).topics, **group.files}

    @property
    def last_plan(self) -> tuple[int, LastPlan] | None:
        """The plan of the last command with its number; None before the first one."""
        every = self._by_number.items()
        return next(((n, one) for n, one in every if isinstance(one, LastPlan)), None)

    def _of(self, number: int, kind: type[_Kind]) -> _Kind:
        entry = self._by_number[number]
        assert isinstance(entry, kind)
        return entry

    def shown_topics(self) -> dict[str, str]:
        """Return the topics of the last command's rows: its seeds, limits, code and files.

        Topics in which cells differ have the names of their policies.
        """
        if self.last_plan is None:
            return {}
        _, last = self.last_plan
        found = {"seeds": ",".join(map(_range_text, last.ranges))}
        for number in dict.fromkeys(group for group, _ in last.cells):
            plays = self.group(number).plays
            limits = {"limits": plays["limits"]} if "limits" in plays else {}
            for topic, text in {**limits, **self.topics(number)}.items():
                same = found.setdefault(topic, text) == text
                found[topic if same else f"{topic} of {plays.get('policies', number)}"] = text
        return found


def _range_text(one: tuple[int, int]) -> str:
    start, stop = one
    return str(start) if stop - start == 1 else f"{start}:{stop}"
