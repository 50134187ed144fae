"""The processes around a program: what they inherit, how they end, what is said about them."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.paths import PYTHONPATH

from desim.errors import UsageError
from desim.sandbox import (
    NotConfined,
    SandboxFailed,
    process,
    run_block,
    run_calls,
    run_program,
)
from desim.sandbox.reply import UnreadableError, read_reply

_LOOPS = """
from desim.sandbox import ProgramLimits, run_program
print("started", flush=True)
run_program("print(1)\\nwhile True: pass\\n1", limits=ProgramLimits(seconds=60.0, cpu_seconds=60))
"""


def left_of(started: list[str]) -> set[int]:
    """Return which processes still run, and those of sandboxes that belong to nobody."""
    found = {int(pid) for pid in started if Path(f"/proc/{pid}").exists()}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            if "sandbox/child" in (folder / "cmdline").read_text() and parent == "1":
                found.add(int(folder.name))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel of Linux does it")
def test_a_program_ends_with_the_process_that_started_it() -> None:
    """Also where that is killed and cannot clean up."""
    with subprocess.Popen(
        [sys.executable, "-c", _LOOPS],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": PYTHONPATH},
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"started\n"
        below = Path(f"/proc/{started.pid}/task/{started.pid}/children")
        until = time.monotonic() + 20
        while not (own := below.read_text().split()) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.3)
        assert left_of(own)
        started.send_signal(signal.SIGKILL)
    while (left := left_of(own)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not left


def test_a_program_inherits_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable, no open file, no argument, no folder, no input."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    read, write = os.pipe()
    os.set_inheritable(write, True)  # noqa: FBT003
    source = (
        "import os, sys\n"
        "def is_open(fd):\n    try: os.fstat(fd)\n    except OSError: return False\n"
        "    return True\n"
        "str((dict(os.environ), sys.argv, sys.stdin.read(), sys.flags.no_site,\n"
        "     len([fd for fd in range(64) if is_open(fd)])))"
    )
    outcome = run_program(source)
    os.close(read)
    os.close(write)
    # Input, output and errors, which are nothing, and the pipe of the result.
    assert outcome.value == "({}, [''], '', 1, 4)"


@pytest.mark.parametrize(
    "lack",
    ["libc._NUMBERS['landlock_create_ruleset'] = 9_999", "guards._MACHINES.clear()"],
    ids=["no Landlock", "unknown machine"],
)
def test_a_system_without_one_of_both_protections_runs_nothing(
    lack: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Landlock holds the files, the filter all other calls."""
    child, lacking = process._CHILD, tmp_path / "child.py"
    changed = f"from desim.sandbox.child import guards, libc\n    {lack}\n    work()"
    text = child.read_text().replace("__file__", repr(str(child)))
    lacking.write_text(text.replace("work()", changed))
    monkeypatch.setattr(process, "_CHILD", lacking)
    for run in (run_program, run_block, partial(run_calls, target="f", argument_sets=())):
        with pytest.raises(NotConfined, match="does not confine programs, so none is run"):
            run("1 / 0")


def test_a_sandbox_that_cannot_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not the program's failure; where there is no fork nothing is run at all."""
    monkeypatch.setattr(process, "_CHILD", Path("/nowhere"))
    with pytest.raises(SandboxFailed, match="could not start"):
        run_program("1")
    monkeypatch.delattr(os, "fork")
    with pytest.raises(UsageError, match="on Linux alone"):
        run_program("1")


_TOO_DEEP: Any = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize(
    "data",
    [
        *("", "1", "[]", "null", "{", '{"value": 1} x', '{"other": 1}', '{"number": "1"}'),
        *('{"number": 1}', '{"number": true}', '{"error": 5}', '{"calls": {}}', '{"calls": [1]}'),
        *('{"calls": [{"calls": [{}]}]}', '{"value": 1' + "0" * 400 + "}", "\u00e9"),
        '{"value": ' + _TOO_DEEP + "}",
        '{"value": ' + "[" * 30 + "]" * 30 + "}",
        '{"value": 1' + "0" * 5_000 + "}",
    ],
)
def test_an_answer_of_another_form_is_refused(data: str) -> None:
    """What our own code would not have written is not read."""
    with pytest.raises(UnreadableError):
        read_reply(data.encode())
