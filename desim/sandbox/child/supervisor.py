"""The first process: makes the surroundings, starts the program in a second one and ends it.

It gets its order on standard input, from the process that it trusts. To the pipe of its status it
writes "s" when the second process starts, and "e" (ended) or "t" (out of time) when nothing of it
runs any more; or the text of the error, if it cannot start. In between the second process writes
"u" if the system does not confine a program that must be confined, which is then not run.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # signal itself loads enum: 4 ms
import marshal
import os
import time

from desim.sandbox.child.namespaces import (
    OWN_FOLDER,
    enter_namespaces,
    enter_root,
    library_folders,
)
from desim.sandbox.child.worker import Surroundings, work

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from typing import Any


_DIE_WITH_PARENT = 1

#: Users that no system gives to people; each program gets one of its own.
_FIRST_USER, _USERS = 1_900_000_000, 100_000


def supervise() -> None:
    """Run the program of the order; does not return."""
    with open(0, "rb", closefd=False) as order_file:
        order = marshal.loads(order_file.read())  # noqa: S302 - written by our own process
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    _die_with_parent(order["parent"])
    try:
        surroundings = _surroundings(order)
    except OSError as error:
        os.write(order["status"], str(error).encode())
        os._exit(1)
    os.write(order["status"], b"s")
    # Blocked so that the end of the program waits for `sigtimedwait`.
    _signal.pthread_sigmask(_signal.SIG_BLOCK, [_signal.SIGCHLD])
    pid = os.fork()
    if pid == 0:
        work(order, surroundings)
    for pipe in (order["result"], *order["questions"]):
        os.close(pipe)
    os.closerange(0, 3)
    os.write(order["status"], _wait(pid, order["seconds"]))
    os._exit(0)


def _die_with_parent(parent: int) -> None:
    """Let the kernel kill this process when the one that started it ends."""
    from desim.sandbox.child.libc import call

    try:
        call("prctl", _DIE_WITH_PARENT, _signal.SIGKILL, 0, 0, 0)
    except OSError:  # Not Linux.
        return
    if os.getppid() != parent:  # It ended before the call.
        os._exit(1)


def _surroundings(order: dict[str, Any]) -> Surroundings:
    folder = order["folder"]
    made = Surroundings(libraries=[*library_folders(), *order["readable"]], folder=folder)
    without = set(order["without"])
    made.active |= enter_namespaces(without)
    if os.geteuid() == 0 and "user" not in without:
        made.user = _FIRST_USER + os.getpid() % _USERS
    if "mounts" in made.active:
        try:
            enter_root(folder, made.libraries, order["file"], made.user or os.getuid())
        except OSError:
            made.active.discard("mounts")
        else:
            made.folder = OWN_FOLDER
    if "mounts" not in made.active:
        os.chdir(folder)
        if made.user:
            os.chown(folder, made.user, made.user)
    return made


def _wait(pid: int, seconds: float) -> bytes:
    """Wait until the program ends or its time is over, and kill it then; say which.

    The end of the first process of a namespace is the end of all its processes.
    """
    until = time.monotonic() + seconds
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        left = until - time.monotonic()
        if left <= 0:
            os.kill(pid, _signal.SIGKILL)
            os.waitpid(pid, 0)
            return b"t"
        _wait_for_child(left)
    return b"e"


def _wait_for_child(seconds: float) -> None:
    if hasattr(_signal, "sigtimedwait"):
        _signal.sigtimedwait([_signal.SIGCHLD], seconds)
    else:  # macOS
        time.sleep(min(seconds, 0.005))
