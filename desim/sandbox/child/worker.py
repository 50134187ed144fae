"""The second process: gives up every right that it can, then runs the program."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # signal itself loads enum: 4 ms
import ctypes
import os
import resource
import sys

from desim.sandbox.child.confinement import is_confined
from desim.sandbox.child.guards import file_rules, install_filter, obey, refuse_by_hook
from desim.sandbox.child.libc import call
from desim.sandbox.child.program import run

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from typing import Any


_DIE_WITH_PARENT, _NO_NEW_RIGHTS = 1, 38
_VERSION_3 = 0x20080522

#: Standard modules that a program of numbers uses. Where the file system is not replaced, those
#: that it may need are loaded beforehand: later their files may not be open to it.
_COMMON = (
    *("abc", "array", "bisect", "calendar", "cmath", "collections", "copy", "dataclasses"),
    *("datetime", "decimal", "enum", "fractions", "functools", "heapq", "itertools", "json"),
    *("math", "numbers", "operator", "random", "re", "statistics", "string", "textwrap", "time"),
    *("typing", "_strptime"),
)


#: Modules that this process needs, and a program only if it is made for them.
_TOOLS = {"desim", "ctypes", "_ctypes", "resource", "marshal"}


class Surroundings:
    """The surroundings made for a program, and the protections that work.

    Attributes:
        libraries: Folders that it may read.
        folder: Its working folder, which it may write to where that is in memory (`mounts`).
        user: The user that it becomes; 0 for the one that it is.
        active: Names of the protections that work.
    """

    def __init__(self, libraries: list[str], folder: str) -> None:
        self.libraries = libraries
        self.folder = folder
        self.user = 0
        self.active: set[str] = set()


def work(order: dict[str, Any], made: Surroundings) -> None:
    """Run the program of an order and write its outcome; does not return."""
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGCHLD])
    without, active = set(order["without"]), made.active
    _load_packages(order, made.folder)
    if "mounts" not in active:
        _load_common(order["source"])
    rules = _file_rules(made, without)
    _limit(order, active)
    _become(made)
    _give_up_rights(active, rules)
    if "hook" not in without:
        _forget(order["packages"])
    if "filter" not in without and "no_new_rights" in active:
        _filter_calls(active)
    if not (order["unconfined"] or is_confined(active)):
        os.write(order["status"], b"u")
        os._exit(1)
    os.close(order["status"])
    if "hook" not in without:
        # Without any of these the hook has to look at the names of files too.
        check = not active & {"mounts", "landlock", "filter"}
        packages = order["packages"]
        refuse_by_hook(made.folder, made.libraries, check_files=check, packages=packages)
        active.add("hook")
    run(order, sorted(active))


def _load_packages(order: dict[str, Any], folder: str) -> None:
    """Import packages that a program may use, and write its modules into its folder.

    The packages are imported now, because in some surroundings the folders that hold them cannot
    be listed later.
    """
    if not order["packages"]:
        return
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.partition(".")[0] == "desim"]:
        del sys.modules[name]  # the empty packages, see `__main__`
    sys.path += order["paths"]
    for name in order["imports"]:
        __import__(name)
    for path, content in order["modules"].items():
        file = f"{folder}/{path}"
        os.makedirs(os.path.dirname(file), exist_ok=True)  # noqa: PTH103, PTH120
        with open(file, "wb") as out:  # noqa: PTH123
            out.write(content)
    sys.path.append(folder)  # last, so that none of them replaces a package


def _load_common(source: str) -> None:
    for name in ("pickle", *(name for name in _COMMON if name.lstrip("_") in source)):
        __import__(name)


def _limit(order: dict[str, Any], active: set[str]) -> None:
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
    refused = False
    for name, pair in wanted.items():
        number = getattr(resource, f"RLIMIT_{name}", None)
        if number is None:
            continue
        try:
            resource.setrlimit(number, pair)
        except (OSError, ValueError):  # A lower limit holds already, or the system has none.
            refused = refused or resource.getrlimit(number)[1] not in range(pair[1] + 1)
    if not refused:
        active.add("limits")


def _become(made: Surroundings) -> None:
    """Change to a user that only this program has, if the present one is root."""
    if not made.user:
        return
    for user in (made.user, 65534):
        try:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
        except OSError:  # A container may know fewer users, or allow no change.
            continue
        made.active.add("user")
        return


def _file_rules(made: Surroundings, without: set[str]) -> int | None:
    """Return rules of files if the program has no root folder of its own; None otherwise.

    Also None if the system has no such rules. They are made while the libraries can be opened:
    later the user may lack the right to.
    """
    if "mounts" in made.active or "landlock" in without:
        return None
    try:
        return file_rules(made.folder, made.libraries)
    except OSError:
        return None


def _give_up_rights(active: set[str], rules: int | None) -> None:
    """Give up all capabilities, the chance of new ones, and the files of the system."""
    try:
        # A change of the user has cleared it.
        call("prctl", _DIE_WITH_PARENT, _signal.SIGKILL, 0, 0, 0)
        call("prctl", _NO_NEW_RIGHTS, 1, 0, 0, 0)
        active.add("no_new_rights")
        header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
        call("capset", ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))
        if rules is not None:
            obey(rules)
            active.add("landlock")
    except OSError:  # Not Linux, or another machine.
        return


def _filter_calls(active: set[str]) -> None:
    try:
        install_filter(files=bool(active & {"mounts", "landlock"}))
    except OSError:  # The system has none, or the machine is not known.
        return
    active.add("filter")


def _forget(packages: list[str]) -> None:
    """Take away what this process needed and a program does not."""
    tools = _TOOLS.difference(packages)
    for name in [*sys.modules]:
        if name.partition(".")[0] in tools:
            del sys.modules[name]
    # A library of a package would start threads without it, which are refused.
    threads = {name: os.environ.get(name, "") for name in ("OMP_NUM_THREADS",) if packages}
    os.environ.clear()
    os.environ.update(threads)
    sys.argv[:] = [""]
    sys.path[:] = [path for path in sys.path if os.path.isdir(path)]  # noqa: PTH112
    sys.dont_write_bytecode = True
