"""The process of a program: confines itself, then runs the program.

It gets its order on standard input, from the process that it trusts. To the pipe of its result it
writes "s" before the program starts, and its answer behind that; or, if the system does not confine
it, the text of the error alone. The process that started it ends it when its time is over.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # signal itself loads enum: 4 ms
import marshal
import os
import resource
import sys

from desim.sandbox.child.guards import hold_to_folders, install_filter
from desim.sandbox.child.libc import call
from desim.sandbox.child.program import run

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from typing import Any

_DIE_WITH_PARENT, _NO_NEW_RIGHTS = 1, 38


def work() -> None:
    """Run the program of the order and write its outcome; does not return."""
    order = _order()
    try:
        _die_with_parent(order["parent"])
        _limit(order)
        call("prctl", _NO_NEW_RIGHTS, 1, 0, 0, 0)
        hold_to_folders(_library_folders())
        _forget()
        sys.addaudithook(_refuse_shell)
        install_filter()
    except OSError as error:
        os.write(order["result"], str(error).encode())
        os._exit(1)
    os.write(order["result"], b"s")
    run(order)


def _order() -> dict[str, Any]:
    with open(0, "rb", closefd=False) as order_file:
        order: dict[str, Any] = marshal.loads(order_file.read())  # noqa: S302 - our own process's
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    return order


def _library_folders() -> list[str]:
    """Return the folders that an import may need: the standard library and the system's."""
    found = [*sys.path, "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo"]
    return [folder for folder in found if folder and os.path.isdir(folder)]  # noqa: PTH112


def _die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when the one that started it ends."""
    call("prctl", _DIE_WITH_PARENT, _signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # It ended before the call.
        os._exit(1)


def _limit(order: dict[str, Any]) -> None:
    """Set the limits of the kernel, which the filter then keeps from being raised."""
    seconds = order["cpu_seconds"]
    wanted = {
        resource.RLIMIT_AS: (order["memory"], order["memory"]),
        resource.RLIMIT_CPU: (seconds, seconds + 1),
        resource.RLIMIT_NOFILE: (64, 64),
        resource.RLIMIT_CORE: (0, 0),
    }
    for number, pair in wanted.items():
        try:
            resource.setrlimit(number, pair)
        except (OSError, ValueError):  # A lower limit holds already.
            continue


def _forget() -> None:
    """Remove the environment and the folders that a program does not see."""
    os.environ.clear()
    sys.argv[:] = [""]
    sys.path[:] = [path for path in sys.path if os.path.isdir(path)]  # noqa: PTH112
    sys.dont_write_bytecode = True


def _refuse_shell(event: str, _: object) -> None:
    """Raise where the kernel would let `os.system` return a number; published programs fail."""
    if event == "os.system":
        raise PermissionError("os.system is refused in the sandbox")
