"""Every write of a record is complete, or an error that names the file."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from support.paths import PYTHONPATH
from support.recorded import GAME, Dies, Killed

from desim import Episode, play, resume
from desim.errors import WriteFailed
from desim.records import writer


@pytest.mark.parametrize(
    "name", ["run.jsonl", pytest.param("run.jsonl.gz", marks=pytest.mark.slow)]
)
def test_a_limit_of_the_system_is_an_error(tmp_path: Path, name: str) -> None:
    """`ulimit -f` in a shell: an exit code, one sentence, and all decisions that fit."""
    blocks = 2 if name.endswith(".gz") else 16
    command = f"ulimit -f {blocks}; exec {sys.executable} -m desim run beer_game"
    done = subprocess.run(
        ["sh", "-c", f"{command} --set horizon=800 --policy random --record {name}"],
        cwd=tmp_path,
        # Python would write cut bytecode files under this limit, which later processes read.
        env={"PYTHONPATH": PYTHONPATH, "PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"desim: cannot write {name}: File too large; every line that was written before is kept\n"
    )
    cut = Episode.read(tmp_path / name, whole=False)
    assert cut.result is None
    assert len(cut.steps) > 5
    whole = resume(tmp_path / name, "random")
    assert len(whole.steps) == 800


class Narrow(io.RawIOBase):
    """A file that takes a few bytes at a time, and at last none."""

    def __init__(self, file: BinaryIO, left: int) -> None:
        self.file, self.left = file, left

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return that of the file."""
        return self.file.fileno()

    def write(self, data: Any, /) -> int:
        """Write at most seven bytes."""
        part = bytes(data)[: min(7, self.left)]
        if len(data) and not part:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.left -= len(part)
        self.file.write(part)
        self.file.flush()
        return len(part)

    def close(self) -> None:
        """Close the file, too."""
        self.file.close()
        super().close()


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that limits every record to some bytes."""

    def limit(left: int) -> None:
        new = writer.new_record

        def narrowed(path: Path) -> io.BufferedWriter:
            return io.BufferedWriter(Narrow(new(path), left))

        monkeypatch.setattr(writer, "new_record", narrowed)

    return limit


def test_short_writes_are_completed(file: Path, narrow: Any) -> None:
    """The system may take a part of a line."""
    narrow(10**9)
    played = play(GAME, "typical", record=file)
    assert Episode.read(file).result == played.result


def test_a_full_disk_is_an_error_that_names_the_record(file: Path, narrow: Any) -> None:
    """Also where a policy catches the error of its transcript."""
    narrow(1_600 if file.suffix == ".jsonl" else 600)
    with pytest.raises(WriteFailed, match=f"cannot write {file}: No space left on device; every"):
        play(GAME, "typical", record=file)
    assert Episode.read(file, whole=False).result is None


def test_a_record_is_kept_if_its_copy_does_not_fit(file: Path, narrow: Any) -> None:
    """`resume` copies it first; the old one stays as it was."""
    with pytest.raises(Killed):
        play(GAME, Dies(3, Killed()), record=file)
    before = file.read_bytes()
    narrow(300)
    with pytest.raises(WriteFailed, match=r"\.part: No space left"):
        resume(file, Dies(99, Killed()))
    assert file.read_bytes() == before
    assert sorted(file.parent.iterdir()) == [file]
