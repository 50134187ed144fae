"""Does a hostile program get out of the sandbox, in whichever of its modes?

Programs of each family of `hostile_programs` are run in each mode: with all protections, and
without those that a container, an ordinary user or another machine lacks. A program has got out if
it has returned the secret of the user, connected to a listener, left a file, or written more to
disk than its limit. Without any protection of the kernel no program may be run.

    python experiments/attack_programs.py --programs 60
"""

import json
import os
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import click
from attrs import frozen

from desim.sandbox import NotConfined, ProgramLimits, SandboxFailed
from desim.sandbox.process import run_order
from experiments.attacks import Tally, print_tallies
from experiments.hostile_programs import ESCAPED, SECRET, HostileProgram, hostile_programs

NAMESPACES = ("users", "network", "mounts", "processes", "messages", "host_name")

#: The protections that a system lacks, by a name for it.
MODES: dict[str, Sequence[str]] = {
    "all protections": (),
    "container": NAMESPACES,
    "container without Landlock": (*NAMESPACES, "landlock"),
    "ordinary user": (*NAMESPACES, "user"),
    "other machine": ("filter",),
    "hook evaded": ("hook",),
    "hook evaded in a container": (*NAMESPACES, "hook"),
    "hook alone": (*NAMESPACES, "landlock", "filter"),
}

#: Writes files of a megabyte, the limit of all its files together, and returns how many it could.
FILLING = """
n = 0
try:
    for n in range(100):
        with open(f"f{n}", "wb") as out:
            out.write(bytes(10 ** 6))
except OSError:
    pass
n
"""

_LIMITS = ProgramLimits(seconds=0.3, cpu_seconds=1, memory=200_000_000)

#: Seconds that a program may take on a busy machine, with its start and end.
_LONGEST = 25


@frozen
class Target:
    """The secret and the listener that a program might reach.

    Attributes:
        secret: A file of the user.
        listener: A socket that no program may connect to.
    """

    secret: Path
    listener: socket.socket

    def filled(self, source: str) -> str:
        """Return a program with its marks replaced."""
        marks = {
            "{port}": self.listener.getsockname()[1],
            "{pid}": os.getpid(),
            "{secret}": self.secret,
            "{home}": self.secret.parent,
        }
        for mark, value in marks.items():
            source = source.replace(mark, str(value))
        return source

    def holes(self) -> list[str]:
        """Return what programs have done to it since it was made."""
        found = []
        with self.listener as listener:
            listener.settimeout(0)
            try:
                listener.accept()
                found.append("a program has connected to a listener")
            except BlockingIOError:
                pass
        if self.secret.read_text() != SECRET or len([*self.secret.parent.iterdir()]) > 1:
            found.append("a program has written to a folder of the user")
        places = (tempfile.gettempdir(), "/dev/shm", "/", ".")  # noqa: S108 (looked at)
        found += [f"{place} has a file" for place in places if (Path(place) / ESCAPED).exists()]
        return found


@contextmanager
def target() -> Iterator[Target]:
    """Make a secret file and a listener."""
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        secret = Path(folder, "key.txt")
        secret.write_text(SECRET)
        yield Target(secret, listener)


def attacked(mode: str, programs: int) -> Tally:
    """Run programs in a mode, two at a time, and return the counts.

    Args:
        mode: A name in `MODES`.
        programs: Their number, spread over the families, besides those that fill the disk.
    """
    every = hostile_programs()
    chosen = every[:: max(1, len(every) // programs)][:programs]
    tally = Tally(mode)
    with target() as there, ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda each: _tried(each, there, mode), chosen)
        for ended, hole in [*results, _filled(mode)]:
            tally.ended[ended] += 1
            tally.expect(hole, holds=not hole)
        for hole in there.holes():
            tally.expect(hole, holds=False)
    unconfined = tally.ended["run"] if mode == "hook alone" else 0
    tally.expect(f"{unconfined} programs were run that nothing confines", holds=not unconfined)
    return tally


def _tried(program: HostileProgram, there: Target, mode: str) -> tuple[str, str]:
    """Run a program; return the kind of its end, and the hole, if any."""
    begun = time.monotonic()
    ended, answer = _answer(there.filled(program.source), mode)
    seconds = time.monotonic() - begun
    if SECRET in answer:
        return ended, f"{program.name} has read the secret"
    return ended, f"{program.name} took {seconds:.0f} s" if seconds > _LONGEST else ""


def _filled(mode: str) -> tuple[str, str]:
    """Run the program that fills the disk; return as `_tried`."""
    ended, answer = _answer(FILLING, mode)
    try:
        written = json.loads(answer or "{}").get("number") or 0
    except ValueError:
        written = 0
    return ended, f"a program has written {written:.0f} MB" if written > 1 else ""


def _answer(source: str, mode: str) -> tuple[str, str]:
    """Run a program; return how it ended, and its answer."""
    order = {"way": "program", "source": source, "without": MODES[mode]}
    try:
        return "run", run_order(order, _LIMITS).answer.decode(errors="replace")
    except NotConfined:
        return "refused", ""
    except SandboxFailed:
        return "not started", ""


@click.command()
@click.option("--programs", default=60, show_default=True, help="Programs in each mode.")
def main(programs: int) -> None:
    """Run hostile programs in each mode of the sandbox, and print a table."""
    tallies = (attacked(mode, programs) for mode in MODES)
    print_tallies("mode", ["run", "refused", "not started"], tallies)


if __name__ == "__main__":
    main()
