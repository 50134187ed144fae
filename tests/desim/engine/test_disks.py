"""Disks that cannot be written, or are full: one sentence that names the file, and rows are kept.

A small file system of the kernel stands for the disk, which only a user namespace may mount.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import Ended
from support.paths import PYTHONPATH

from desim.engine.store import Store
from desim.rows.rows import Rows

#: Runs a command with a new file system at a folder.
ON_DISK = ("unshare", "-rm", "sh", "-ec", 'mount -t tmpfs -o "$1" none "$2"; shift 2; "$@"', "sh")


def on_disk(options: str, folder: Path, command: str, *arguments: str) -> Ended:
    """Run a shell command in which `desim` is the command line; skip where no disk can be made."""
    folder.mkdir(exist_ok=True)
    mounted = [*ON_DISK, options, str(folder)]
    if not shutil.which("unshare") or subprocess.run([*mounted, "true"], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    script = f'desim() {{ {sys.executable} -m desim "$@"; }}; {command}'
    done = subprocess.run(
        [*mounted, "sh", "-c", script, "sh", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
        timeout=120,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


#: The sweep of these tests; its last argument is added.
SWEEP = 'desim sweep beer_game --policy typical --jobs 1 --out "$1" --seeds'


def check_sentence(ended: Ended, says: str) -> None:
    """Check that a command ended with one sentence, in which no exception is named."""
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[-1].startswith(f"desim: {says}")
    assert "Error" not in ended.err
    assert "Traceback" not in ended.err


def test_a_read_only_disk_is_one_sentence(tmp_path: Path) -> None:
    """Nothing is played."""
    disk = tmp_path / "disk"
    for out in (disk, disk / "new"):
        ended = on_disk("ro", disk, f"{SWEEP} 0:2", str(out))
        text = "cannot be made: Read-only file system; choose another folder"
        check_sentence(ended, f"{out / 'sweep.sqlite'} {text}")
        assert ended.err.count("\n") == 1


@pytest.mark.slow
def test_a_disk_that_has_become_read_only(tmp_path: Path) -> None:
    """A finished sweep is refused as one that would go on; its rows can be read."""
    disk = tmp_path / "disk"
    command = f'{SWEEP} 0:2 >&2; mount -o remount,ro "$1"; {SWEEP} 0:2'
    ended = on_disk("rw", disk, command, str(disk))
    check_sentence(ended, f"{disk}/sweep.sqlite cannot be made: Read-only file system")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "says"),
    [
        # Half of the rows fit, and the first chunk of one worker holds at most that.
        ("260k", "the disk of {out} is full; the rows before are kept, and the same command goes"),
        ("500k", "cannot write {out}/rows.jsonl: No space left on device"),
    ],
)
def test_a_full_disk_keeps_the_rows_before(tmp_path: Path, size: str, says: str) -> None:
    """Where there is room, the same sweep goes on with them."""
    disk, moved = tmp_path / "disk", tmp_path / "moved"
    command = f'{SWEEP} 0:400; code=$?; cp -R "$1" "$2"; exit $code'
    ended = on_disk(f"size={size}", disk, command, str(disk), str(moved))
    check_sentence(ended, says.format(out=disk))
    assert [file.name for file in moved.iterdir()] == ["sweep.sqlite"]
    with Store(moved, read=True) as store:
        kept = len(store)
    assert 0 < kept <= 400
    assert (kept == 400) == ("rows.jsonl" in says)
    assert on_disk("rw", disk, f"{SWEEP} 0:400", str(moved)).code == 0
    assert Rows.read(moved).column("seed") == list(range(400))
