"""The decisions of a record that stay on disk."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, overload

from desim.records.lines import Step
from desim.records.record import steps_of
from desim.records.record_file import lines_of


class RecordedSteps(Sequence[Step]):
    """The decisions of a record, read from its file whenever they are used.

    In memory is one at a time. To get one by its number reads the file up to it, so iterate.

    Args:
        path: A record that stays where it is.
        count: The number of its decisions.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._path, self._count = path, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Step]:
        return islice(steps_of(lines_of(self._path)), self._count)

    @overload
    def __getitem__(self, at: int) -> Step: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Step, ...]: ...

    def __getitem__(self, at: int | slice) -> Any:
        numbers = range(self._count)[at]
        if isinstance(numbers, int):
            return next(islice(self, numbers, None))
        if numbers.step < 0:
            return tuple(self)[at]
        return tuple(islice(self, numbers.start, numbers.stop, numbers.step))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordedSteps | tuple) or len(self) != len(other):
            return NotImplemented
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self._count} decisions in {self._path}>"
