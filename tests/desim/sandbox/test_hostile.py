"""Programs that try to hang, to exhaust, to look, to change or to break out."""

import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from attrs import frozen
from support.hostile_programs import ESCAPED, SECRET, HostileProgram, hostile_programs

from desim.sandbox import ProgramLimits, process, run_program
from desim.sandbox.process import run_order

PROGRAMS = hostile_programs()
#: Folders that everybody can write to.
SHARED = ("/tmp", "/dev/shm", "/", ".")  # noqa: S108
LIMITS = ProgramLimits(seconds=0.3, cpu_seconds=1, memory=200_000_000)


@frozen
class Surroundings:
    """What a program might get hold of.

    Attributes:
        home: A folder of the user that tries the programs.
        secret: A file in it.
        temporary: Where folders of programs are made.
        listener: A socket that nobody should connect to.
    """

    home: Path
    secret: Path
    temporary: Path
    listener: socket.socket

    def filled(self, source: str) -> str:
        """Return a program with its marks replaced."""
        marks = {
            "{port}": self.listener.getsockname()[1],
            "{pid}": os.getpid(),
            "{secret}": self.secret,
            "{home}": self.home,
        }
        for mark, value in marks.items():
            source = source.replace(mark, str(value))
        return source


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surroundings]:
    """Return surroundings, and check afterwards that no program has touched them."""
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir()
    temporary.mkdir()
    secret = home / "key.txt"
    secret.write_text(SECRET)
    monkeypatch.setenv("DESIM_TEST_KEY", SECRET)
    monkeypatch.setattr(process.tempfile, "tempdir", str(temporary))
    environment = environ()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        yield Surroundings(home, secret, temporary, listener)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert environ() == environment
    assert secret.read_text() == SECRET
    assert [file.name for file in home.iterdir()] == ["key.txt"]
    assert list(temporary.iterdir()) == []
    assert not any((Path(folder) / ESCAPED).exists() for folder in SHARED)
    assert left_processes() == []


def environ() -> dict[str, str]:
    """Return the environment, without what pytest itself changes there."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}


def left_processes() -> list[str]:
    """Return what still runs of programs that this process has started, or nobody waits for."""
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_text()
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:  # It has just ended.
            continue
        if "sandbox/child" in command and int(parent) in {1, os.getpid()}:
            left.append(command)
    return left


def tried(program: HostileProgram, around: Surroundings) -> str:
    """Run a program; return what is wrong with what came of it, empty if nothing is."""
    start = time.monotonic()
    outcome = run_program(around.filled(program.source), limits=LIMITS)
    seconds = time.monotonic() - start
    if SECRET in f"{outcome.value}{outcome.error}":
        return f"{program.name} has read the secret"
    if program.fails and not outcome.failed:
        return f"{program.name} came to {str(outcome.value)[:100]}"
    # Its time, the grace and a slow start: what matters is that it does not hang.
    return f"{program.name} took {seconds:.1f} s" if seconds > 25 else ""


def all_tried(programs: list[HostileProgram], around: Surroundings) -> list[str]:
    """Run programs, two at a time; return what is wrong."""
    with ThreadPoolExecutor(2) as pool:
        return [wrong for wrong in pool.map(lambda each: tried(each, around), programs) if wrong]


def test_no_program_does_harm(around: Surroundings) -> None:
    """Each fails or has a harmless value, leaves nothing and reaches nothing."""
    assert all_tried(PROGRAMS, around) == []


#: Families that depend on what the kernel refuses.
_KERNEL = ("processes", "signals", "rights", "files", "network", "foreign code", "late?")


@pytest.mark.slow
def test_the_kernel_holds_a_program_that_evades_the_hook(around: Surroundings) -> None:
    """Without the hook a call may be refused without an exception."""

    def read_secret(program: HostileProgram) -> bool:
        source = around.filled(program.source)
        order = {"way": "program", "source": source, "without": ("hook",)}
        return SECRET.encode() in run_order(order, LIMITS).answer

    programs = [each for each in PROGRAMS if each.name.startswith(_KERNEL)]
    with ThreadPoolExecutor(2) as pool:
        read = list(pool.map(read_secret, programs))
    assert [each.name for each, found in zip(programs, read, strict=True) if found] == []
