"""The peak memory of a process, and an episode of any length that does nothing but ask.

Run as a script, it does one thing with such an episode and prints by how much the peak of the
process's memory rose above that of an episode of a single decision.
"""

import re
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from desim import Episode, Model, Policy, Role, World, play, replay, resume
from desim.episodes.resume import play_branch


def peak() -> float:
    """Return the most memory that this process has held at once, in MiB.

    The `ru_maxrss` of a child does not serve: Linux hands the peak of the parent on to it, and a
    worker of pytest has more than what the tests measure.
    """
    found = re.search(r"^VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


#: Bytes at the end of a record in which its last decision is.
_TAIL = 1_000


@frozen
class Seen:
    """A number."""

    n: int


@frozen
class Repeat:
    """Answer with a number."""

    n: int


@frozen
class Long(Model[None]):
    """Asks one question a tick."""

    questions: int = 1

    @property
    def roles(self) -> Mapping[str, Role]:
        """One role."""
        return {"echo": Role(Seen, Repeat)}

    def begin(self, world: World) -> None:
        """Start asking."""
        world.process(self._ask(world))

    def _ask(self, world: World) -> Generator[Any, Any, None]:
        for n in range(self.questions):
            yield world.ask("echo", partial(Seen, n))
            yield world.timeout(1)

    def score(self, _: None) -> float:
        """Return 0."""
        return 0.0

    def metrics(self, _: None) -> Mapping[str, Any]:
        """Return no metrics."""
        return {}


class Echo(Policy):
    """Answers with the number observed."""

    def decide(self, seen: Seen) -> Repeat:
        """Return the number."""
        return Repeat(seen.n)


def _played(folder: Path, n: int, *, record: bool, keep_steps: bool) -> Path:
    file = folder / f"{n}.jsonl"
    play(Long(n), Echo(), record=file if record else None, keep_steps=keep_steps)
    return file


def _cut(folder: Path, n: int) -> Path:
    """Write a record without its last decision and its result."""
    file = _played(folder, n, record=True, keep_steps=False)
    with file.open("r+b") as record:
        start = max(0, file.stat().st_size - _TAIL)
        record.seek(start)
        tail = record.read()
        last = tail.rindex(b'{"line":"decision"')
        record.truncate(start + last)
    return file


def _resumed(folder: Path, n: int, *, keep_steps: bool) -> object:
    return resume(_cut(folder, n), Echo(), trust=True, keep_steps=keep_steps)


def _replayed(folder: Path, n: int) -> object:
    return replay(_played(folder, n, record=True, keep_steps=False), trust=True)


def _branched(folder: Path, n: int) -> object:
    file = _played(folder, n, record=True, keep_steps=False)
    new = folder / f"{n}.branch.jsonl"
    return play_branch(file, n - 1, Echo(), record=new, trust=True, keep_steps=False)


def _read(folder: Path, n: int, *, keep_steps: bool) -> object:
    file = _played(folder, n, record=True, keep_steps=False)
    return Episode.read(file, keep_steps=keep_steps)


#: What can be done with a long episode, by name.
ACTS: dict[str, Callable[[Path, int], object]] = {
    "play without a record": partial(_played, record=False, keep_steps=False),
    "play into a file": partial(_played, record=True, keep_steps=False),
    "replay": _replayed,
    "resume": partial(_resumed, keep_steps=False),
    "branch": _branched,
    "read, steps on disk": partial(_read, keep_steps=False),
    "play in memory": partial(_played, record=False, keep_steps=True),
    "read, steps in memory": partial(_read, keep_steps=True),
}


def main(act: str, decisions: str) -> None:
    """Print the growth in MiB.

    Args:
        act: One of `ACTS`.
        decisions: How many.
    """
    with tempfile.TemporaryDirectory() as folder:
        ACTS[act](Path(folder), 2)
        begun = peak()
        kept = ACTS[act](Path(folder), int(decisions))
        print(peak() - begun)  # noqa: T201
        del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
