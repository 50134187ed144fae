"""The process of a program: gives up every right that it can, then runs the program.

It gets its order on standard input, from the process that it trusts. To the pipe of its status it
writes "s" when the program starts, or the text of the error if it cannot start, or "u" if the
system does not confine a program that must be confined, which is then not run. The process that
started it ends it when its time is over.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # signal itself loads enum: 4 ms
import ctypes
import marshal
import os
import resource
import sys

from desim.sandbox.child.guards import hold_to_folders, install_filter, refuse_by_hook
from desim.sandbox.child.libc import call
from desim.sandbox.child.program import run

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_DIE_WITH_PARENT, _NO_NEW_RIGHTS = 1, 38
_VERSION_3 = 0x20080522

#: Modules that this process needs, and a program does not.
_TOOLS = {"desim", "ctypes", "_ctypes", "resource", "marshal"}


def work() -> None:
    """Run the program of the order and write its outcome; does not return."""
    order = _order()
    without, folder, libraries = set(order["without"]), order["folder"], _library_folders()
    try:
        _die_with_parent(order["parent"])
        os.chdir(folder)
        _limit(order)
    except OSError as error:
        os.write(order["status"], str(error).encode())
        os._exit(1)
    no_new_rights = _holds(_give_up_rights)
    holds_files = (
        no_new_rights
        and "landlock" not in without
        and _holds(lambda: hold_to_folders([folder, *libraries]))
    )
    if "hook" not in without:
        _forget()
    holds_calls = no_new_rights and "filter" not in without and _holds(install_filter)
    if not (order["unconfined"] or (holds_files and holds_calls)):
        os.write(order["status"], b"u")
        os._exit(1)
    os.write(order["status"], b"s")
    os.close(order["status"])
    if "hook" not in without:
        # Without Landlock the hook has to look at the names of files too.
        refuse_by_hook([folder, *libraries], check_files=not holds_files)
    run(order)


def _holds(protect: Callable[[], None]) -> bool:
    """Set up a protection; return whether the system has it."""
    try:
        protect()
    except OSError:  # Not Linux, an old kernel, or a machine whose calls are not known.
        return False
    return True


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
    try:
        call("prctl", _DIE_WITH_PARENT, _signal.SIGKILL, 0, 0, 0)
    except OSError:  # Not Linux.
        return
    if os.getppid() != parent:  # It ended before the call.
        os._exit(1)


def _limit(order: dict[str, Any]) -> None:
    """Set the limits of the kernel, which no call can raise again."""
    seconds = order["cpu_seconds"]
    wanted = {
        "AS": (order["memory"], order["memory"]),
        "CPU": (seconds, seconds + 1),
        "FSIZE": (order["file"], order["file"]),
        "NOFILE": (64, 64),
        "NPROC": (1, 1),
        **dict.fromkeys(("CORE", "MEMLOCK", "MSGQUEUE", "NICE", "RTPRIO"), (0, 0)),
    }
    for name, pair in wanted.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        try:
            if number is not None:
                resource.setrlimit(number, pair)
        except (OSError, ValueError):  # A lower limit holds already.
            continue


def _give_up_rights() -> None:
    """Give up all capabilities, and the chance of new ones."""
    call("prctl", _NO_NEW_RIGHTS, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
    call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def _forget() -> None:
    """Take away what this process needed and a program does not."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in _TOOLS:
            del sys.modules[name]
    os.environ.clear()
    sys.argv[:] = [""]
    sys.path[:] = [path for path in sys.path if os.path.isdir(path)]  # noqa: PTH112
    sys.dont_write_bytecode = True
