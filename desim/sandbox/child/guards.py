"""Confinement of a program: Landlock for files, and a filter of the calls to the kernel.

The filter refuses calls that are not on its list, with EPERM. A program that computes needs memory,
clocks and its open files. The list omits every call that makes a process or a thread, replaces the
program, opens a socket, sends a signal, looks into another process, changes a file, changes rights,
or raises a limit. Neither can be evaded or lifted by what runs in the process.

Source: Linux manual pages seccomp(2) and landlock(7), the kernel's tables of calls.
"""

from __future__ import annotations

import ctypes
import os
import struct

from desim.sandbox.child.libc import call

#: The kernel's name of each machine, and the calls allowed there, by number.
_MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_PLAIN = {
    # read, write, close, stat family, poll, lseek, memory, signals of its own, pread and kin,
    # select, yield, dup, sleep, timers, identity, exit, time, futex, random numbers.
    "x86_64": (
        *(0, 1, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 23, 24, 25, 28, 32, 33, 35),
        *(36, 37, 38, 39, 60, 63, 79, 96, 98, 99, 100, 102, 104, 107, 108, 110, 131, 186, 201),
        *(202, 204, 219, 228, 229, 230, 231, 270, 271, 273, 292, 318, 334),
    ),
    "aarch64": (
        *(17, 23, 24, 57, 62, 63, 64, 65, 66, 67, 68, 72, 73, 80, 93, 94, 98, 99, 101, 102, 103),
        *(113, 114, 115, 123, 124, 128, 132, 134, 135, 139, 153, 160, 165, 169, 172, 173, 174),
        *(175, 176, 177, 178, 179, 214, 215, 216, 222, 226, 233, 278, 293),
    ),
}

#: Calls that look at files: stat, access, open, folders, readlink.
_FILES = {
    "x86_64": (2, 4, 6, 21, 78, 89, 217, 257, 262, 267, 269, 332, 439),
    "aarch64": (48, 56, 61, 78, 79, 291, 439),
}

#: fcntl, with the commands that only look at a file's flags or copy its number: others would let
#: the kernel send signals to other processes.
_FCNTL = {"x86_64": 72, "aarch64": 25}

_FCNTL_COMMANDS = (0, 1, 2, 3, 1030)

_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06

_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000

_AT_NUMBER, _AT_MACHINE, _AT_SECOND_ARGUMENT = 0, 4, 24

_SET_SECCOMP, _BY_FILTER = 22, 2


class _Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def install_filter() -> None:
    """Refuse every call that is not on the list, for good. Needs no_new_privs.

    Raises:
        OSError: The system offers no filter, or the machine is not known.
    """
    machine = os.uname().machine
    if machine not in _MACHINES:
        raise OSError(f"the calls of the kernel are not known for {machine}")
    program = b"".join(_instructions(machine))
    filter_ = _Filter(length=len(program) // 8, instructions=program)
    call("prctl", _SET_SECCOMP, _BY_FILTER, ctypes.byref(filter_), 0, 0)


def _instructions(machine: str) -> list[bytes]:
    allowed = _PLAIN[machine] + _FILES[machine]
    # Another machine's calls have other numbers: a 64-bit process can make 32-bit calls.
    program = [
        _do(_LOAD, _AT_MACHINE),
        _do(_EQUAL, _MACHINES[machine], 1, 0),
        _do(_RETURN, _KILL),
        _do(_LOAD, _AT_NUMBER),
    ]
    for number in allowed:
        program += [_do(_EQUAL, number, 0, 1), _do(_RETURN, _ALLOW)]
    commands = [_do(_LOAD, _AT_SECOND_ARGUMENT)]
    for command in _FCNTL_COMMANDS:
        commands += [_do(_EQUAL, command, 0, 1), _do(_RETURN, _ALLOW)]
    program += [_do(_EQUAL, _FCNTL[machine], 0, len(commands)), *commands]
    return [*program, _do(_RETURN, _REFUSE)]


def _do(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


#: To read files and folders, of the 13 accesses that every version of the interface knows. Later
#: ones (truncate, commands of devices) and all calls beside files are left to the filter.
_READ, _ALL = 4 | 8, (1 << 13) - 1

_PATH_BENEATH = 1


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def hold_to_folders(readable: list[str]) -> None:
    """Let this process read what is in some folders, and open no other file, for good.

    Nothing can be written. Needs no_new_privs.

    Raises:
        OSError: The system does not offer it.
    """
    handled = ctypes.c_uint64(_ALL)
    rules = call("landlock_create_ruleset", ctypes.byref(handled), ctypes.c_size_t(8), 0)
    for folder in readable:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        beneath = _Beneath(access=_READ, folder=opened)
        call("landlock_add_rule", rules, _PATH_BENEATH, ctypes.byref(beneath), 0)
        os.close(opened)
    call("landlock_restrict_self", rules, 0)
    os.close(rules)
