"""The command line in a process of its own that is forked, and so needs no imports.

A new Python spends half a second of a processor on imports before `desim` begins. What a test says
about streams, exit codes, signals and locks holds for a forked process as well; tests of what is
imported, and from where, start a Python of their own.

The same holds for the worker processes of a sweep or a suite: `forked_workers` forks them as well,
and each then does what a spawned one does.

A fork of the tests' process also has its memory, which is more than what tests measure. `Preloaded`
is a process between: run as a script, this module imports what a run with a language model needs,
and forks for each command that it reads.
"""

import atexit
import gc
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec
from multiprocessing import util
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NoReturn, Self
from unittest.mock import patch

from attrs import frozen
from cloudpickle import cloudpickle
from support.command_line import Ended
from support.memory import peak
from support.paths import PYTHONPATH, ROOT

from desim.cli.main import COMMANDS, main
from desim.engine import opened_files
from desim.engine.run import workers

#: Imported beside the modules of the commands, once for all processes: what many commands use.
FURTHER = ("desim.cli.tables", "desim.studies.sweep", "rich.table", "scipy.special")

#: Folders whose modules a new Python would import as well: those that were on the path before any
#: test changed it. An environment may have several, so that `sys.prefix` alone does not serve.
FOLDERS = tuple({str(ROOT), *filter(None, sys.path)})


def desim_process(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, **streams: Any
) -> "subprocess.Popen[str]":
    """Start `desim` in a folder, in this environment with changes."""
    return forked(partial(main, arguments, "desim"), cwd=cwd, env=env, module="desim", **streams)


def ended(process: "subprocess.Popen[str]", seconds: float = 120) -> Ended:
    """Wait for the end of a process."""
    out, err = process.communicate(timeout=seconds)
    return Ended(process.returncode, out, err)


def forked(
    function: Callable[[], Any],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    module: str = "support",
    **streams: Any,
) -> "subprocess.Popen[str]":
    """Start a process that calls a function as `python -m MODULE` would.

    Standard input is empty and the other streams are pipes, unless *streams* say otherwise.
    """
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for name in (*(f"desim.cli.{path}" for path, _ in COMMANDS.values()), *FURTHER):
        import_module(name)
    return subprocess.Popen(  # what `preexec_fn` calls ends the process, so that nothing is started
        ["never started"],
        preexec_fn=partial(_call, function, {**os.environ, **(env or {})}, module),  # noqa: PLW1509
        cwd=cwd,
        restore_signals=False,  # Python ignores SIGPIPE and SIGXFSZ, and so does this one
        **{"text": True, **pipes, **streams},
    )


@contextmanager
def forked_workers() -> Iterator[None]:
    """Fork each worker process that a sweep would start."""

    def fork(path: list[str]) -> "subprocess.Popen[Any]":
        pipes = {"stdin": subprocess.PIPE, "stderr": None}
        return forked(partial(workers.main, path), cwd=Path.cwd(), text=False, **pipes)

    with patch.object(workers, "_started", fork):
        yield


def _call(function: Callable[[], Any], env: dict[str, str], module: str) -> NoReturn:
    code = 1
    try:
        _become_new(env, module)
        try:
            function()
            code = 0
        except SystemExit as end:
            code = _code(end)
        except BaseException:  # noqa: BLE001 (as Python itself does)
            sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = _ended(code)
    finally:
        os._exit(code)


def _become_new(env: dict[str, str], module: str) -> None:
    """Leave nothing of this process but its modules and standard streams."""
    # Another thread may have pickled at the fork, and would hold this lock for ever.
    cloudpickle._DYNAMIC_CLASS_TRACKER_LOCK = threading.Lock()
    gc.freeze()  # nothing of the tests is finalised here
    gc.enable()
    _release_files()
    opened_files._opened.clear()
    os.environ.clear()
    os.environ.update(env)
    atexit._clear()
    atexit.register(util._exit_function)  # type: ignore[attr-defined]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = sys.__stdin__ = _stream(0, "r")
    sys.stdout = sys.__stdout__ = _stream(1, "w")
    sys.stderr = sys.__stderr__ = _stream(2, "w", line_buffering=True)
    sys.excepthook = sys.__excepthook__
    sys.path.insert(0, str(Path.cwd()))
    spawned = ModuleType("__main__")  # what processes that this one spawns import
    spawned.__spec__ = ModuleSpec(f"{module}.__main__", None)
    sys.modules["__main__"] = spawned
    for name, other in [*sys.modules.items()]:
        if (file := getattr(other, "__file__", None)) and not file.startswith(FOLDERS):
            del sys.modules[name]  # which a test has imported from a user's folder


def _release_files() -> None:
    """Let every other inherited file refer to nothing; its number is not used anew."""
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for number in {int(file.name) for file in Path("/dev/fd").iterdir()} - {null, 0, 1, 2}:
        os.dup2(null, number, inheritable=False)


def _stream(number: int, mode: str, *, line_buffering: bool = False) -> Any:
    raw: IO[Any] = os.fdopen(number, f"{mode}b", closefd=False)
    errors = "backslashreplace" if number == 2 else "strict"
    return io.TextIOWrapper(raw, "utf-8", errors, line_buffering=line_buffering)  # type: ignore[type-var]


def _code(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    print(end.code, file=sys.stderr)  # noqa: T201 (as Python itself does)
    return 1


def _ended(code: int) -> int:
    """Wait for threads, call what is registered, and flush."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stderr.flush()
    try:
        sys.stdout.flush()
    except OSError:
        return 120
    return code


#: Imported beside the commands themselves.
MODULES = (
    "httpx",
    "models.beer_game",
    "policies.heuristics.beer_game",
    "policies.llm.wires.calling",
    "policies.llm.worlds.beer_game",
)


@frozen
class Measured:
    """How a command ended.

    Attributes:
        code: Exit code.
        out: What it printed.
        err: What it printed on standard error.
        mib: Its peak memory, of which a run with a good endpoint has about 80.
    """

    code: int
    out: str
    err: str
    mib: float


class Preloaded(AbstractContextManager["Preloaded"]):
    """Runs `desim` commands, one after the other, each in a fork of a process without tests."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.forked"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": PYTHONPATH},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # ends at the end of its input

    def run(
        self, arguments: Sequence[str], folder: Path, env: Mapping[str, str], seconds: float
    ) -> Measured:
        """Run a command in a folder to its end; fails where that takes longer than *seconds*."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([arguments, str(folder), dict(env), seconds]) + "\n")
        self._process.stdin.flush()
        return Measured(**json.loads(self._process.stdout.readline()))


def _serve() -> None:
    for module in MODULES:
        import_module(module)
    for line in sys.stdin:
        print(json.dumps(_measured(*json.loads(line))), flush=True)  # noqa: T201 (the answer)


def _measured(arguments: list[str], folder: str, env: dict[str, str], seconds: float) -> Any:
    left = Path(folder) / "peak"

    def measured() -> None:
        from desim.cli.main import main

        atexit.register(lambda: left.write_text(str(peak())))
        main(arguments, "desim")

    process = forked(measured, cwd=Path(folder), env=env, module="desim")
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return {"code": process.returncode, "out": out, "err": err, "mib": float(left.read_text())}


if __name__ == "__main__":
    _serve()
