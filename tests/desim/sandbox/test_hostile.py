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

from desim.sandbox import ProgramLimits, run_program

PROGRAMS = hostile_programs()
#: Folders that everybody can write to.
SHARED = ("/tmp", "/dev/shm", "/", ".")  # noqa: S108
LIMITS = ProgramLimits(seconds=0.3, cpu_seconds=1, memory=200_000_000)


@frozen
class Surroundings:
    """A file of the user that tries the programs, and a socket that nobody should connect to."""

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


@pytest.fixture
def around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surroundings]:
    """Return surroundings, and check afterwards that no program has touched them."""
    secret = tmp_path / "key.txt"
    secret.write_text(SECRET)
    monkeypatch.setenv("DESIM_TEST_KEY", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        yield Surroundings(secret, listener)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert secret.read_text() == SECRET
    assert [file.name for file in tmp_path.iterdir()] == ["key.txt"]
    assert not any((Path(folder) / ESCAPED).exists() for folder in SHARED)
    assert left_processes() == []


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


def test_no_program_does_harm(around: Surroundings) -> None:
    """Each of sixty and more fails or has a harmless value, leaves nothing and reaches nothing."""

    def wrong_of(program: HostileProgram) -> str:
        start = time.monotonic()
        outcome = run_program(around.filled(program.source), limits=LIMITS)
        seconds = time.monotonic() - start
        if SECRET in f"{outcome.value}{outcome.error}":
            return f"{program.name} has read the secret"
        if program.fails and not outcome.failed:
            return f"{program.name} came to {str(outcome.value)[:100]}"
        # Its time, the grace and a slow start: what matters is that it does not hang.
        return f"{program.name} took {seconds:.1f} s" if seconds > 25 else ""

    assert len(PROGRAMS) >= 60
    with ThreadPoolExecutor(2) as pool:
        assert [wrong for wrong in pool.map(wrong_of, PROGRAMS) if wrong] == []
