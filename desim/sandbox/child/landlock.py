"""Landlock: what a process may open, without a namespace and without rights.

Source: Linux manual page landlock(7).
"""

import ctypes
import os

from desim.sandbox.child.libc import call

__all__ = ["file_rules", "obey"]

_READ_FILE, _READ_FOLDER = 4, 8
#: Accesses to files that each version of the interface knows: 13 at first, later up to 16.
_KNOWN = {1: 13, 2: 14, 3: 15, 4: 15}
_KNOWN_LATER = 16
_READ = _READ_FILE | _READ_FOLDER

_VERSION_ASKED, _PATH_BENEATH = 1, 1
#: Versions from which on TCP, and signals to processes outside, can be refused.
_TCP, _SCOPES = 4, 6
_BIND_AND_CONNECT, _SOCKETS_AND_SIGNALS = 3, 3


class _Rules(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scopes")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def file_rules(folder: str, libraries: list[str]) -> int:
    """Return an open set of rules: the libraries and a folder of its own, to read.

    Nothing can be written: the kernel limits the size of a file, but not how many there are.

    Raises:
        OSError: The system does not offer it.
    """
    none, nothing = ctypes.c_void_p(), ctypes.c_size_t(0)
    version = call("landlock_create_ruleset", none, nothing, _VERSION_ASKED)
    every = (1 << _KNOWN.get(version, _KNOWN_LATER)) - 1
    rules = _Rules(
        files=every,
        network=_BIND_AND_CONNECT if version >= _TCP else 0,
        scopes=_SOCKETS_AND_SIGNALS if version >= _SCOPES else 0,
    )
    words = 3 if version >= _SCOPES else 2 if version >= _TCP else 1
    number = call("landlock_create_ruleset", ctypes.byref(rules), ctypes.c_size_t(8 * words), 0)
    for readable in (*libraries, folder):
        _allow(number, readable)
    return number


def obey(rules: int) -> None:
    """Hold this process to a set of rules for good. Needs no_new_privs.

    Raises:
        OSError: The system refuses.
    """
    call("landlock_restrict_self", rules, 0)
    os.close(rules)


def _allow(rules: int, folder: str) -> None:
    opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    beneath = _Beneath(access=_READ, folder=opened)
    call("landlock_add_rule", rules, _PATH_BENEATH, ctypes.byref(beneath), 0)
    os.close(opened)
