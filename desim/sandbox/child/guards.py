"""What holds a program: a filter of calls, Landlock for files, and an audit hook.

The filter refuses calls to the kernel that are not on the list, with EPERM. A program that computes
needs memory, clocks and its open files. The list omits every call that makes a process or a thread,
replaces the program, opens a socket, sends a signal, looks into another process, changes rights, or
raises a limit. The hook refuses by name inside the interpreter, with a clear error where the kernel
would let a call fail silently (`os.system` returns a number); a program can evade it.

Source: Linux manual pages seccomp(2) and landlock(7), the kernel's tables of calls, Python's table
of audit events.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

from desim.sandbox.child.libc import call

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

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

#: Calls that name files: stat, access, open, folders, truncate, rename, unlink, readlink.
_FILES = {
    "x86_64": (
        *(2, 4, 6, 21, 77, 78, 82, 83, 84, 87, 89, 217, 257, 258, 262, 263, 264, 267, 269, 316),
        *(332, 439),
    ),
    "aarch64": (34, 35, 38, 46, 48, 56, 61, 78, 79, 276, 291, 439),
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


_REFUSED = frozenset(
    {
        *("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"),
        *("os.kill", "os.killpg", "os.link", "os.symlink", "os.chmod", "os.chown", "os.rename"),
        *("os.remove", "os.rmdir", "os.truncate", "os.chflags", "os.setxattr", "os.putenv"),
        *("os.unsetenv", "os.add_dll_directory", "os.startfile", "signal.pthread_kill"),
        *("subprocess.Popen", "pty.spawn", "webbrowser.open", "resource.setrlimit"),
        *("resource.prlimit", "_thread.start_new_thread", "sys.remote_exec"),
        *("_posixsubprocess.fork_exec", "fcntl.fcntl", "fcntl.ioctl", "fcntl.flock"),
    }
)

_FAMILIES = ("socket.", "ctypes.", "shutil.", "syslog.", "winreg.", "msvcrt.", "ftplib.", "http.")

_MODULES = frozenset({"ctypes", "_ctypes", "_posixsubprocess", "_socket", "_testcapi", "desim"})


def refuse_by_hook(readable: list[str], *, check_files: bool) -> None:
    """Refuse processes, signals, sockets, foreign code and changes of files, for good.

    Args:
        readable: Folders that it may read.
        check_files: Whether to look at the names of opened files, where nothing else does.
    """
    sys.addaudithook(_hook(readable, check_files=check_files))


def _hook(readable: list[str], *, check_files: bool) -> Callable[..., None]:
    # Everything is bound here, so that a program that replaces a built-in changes nothing.
    real, text = os.path.realpath, os.fsdecode
    within = tuple(real(each) + "/" for each in readable)
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    number, refused, families, modules = int, _REFUSED, _FAMILIES, _MODULES
    denied, is_a = PermissionError, isinstance

    def allowed(path: Any, flags: Any) -> bool:
        if is_a(path, number):
            return True
        name = real(text(path))
        return name.startswith(within) and not (flags or 0) & writing

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in refused or event.startswith(families):
            raise denied(f"{event} is refused in the sandbox")
        if event == "import" and arguments[0].partition(".")[0] in modules:
            raise denied(f"import of {arguments[0]} is refused in the sandbox")
        if check_files and event == "open" and not allowed(arguments[0], arguments[2]):
            raise denied(f"opening {arguments[0]!r} is refused in the sandbox")

    return hook


#: To read files and folders.
_READ = 4 | 8

#: Accesses to files that each version of the interface knows: 13 at first, later up to 16.
_KNOWN = {1: 13, 2: 14, 3: 15, 4: 15}

_KNOWN_LATER = 16

_VERSION_ASKED, _PATH_BENEATH = 1, 1

#: Versions from which on TCP, and signals to processes outside, can be refused.
_TCP, _SCOPES = 4, 6

_BIND_AND_CONNECT, _SOCKETS_AND_SIGNALS = 3, 3


class _Rules(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "network", "scopes")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def hold_to_folders(readable: list[str]) -> None:
    """Let this process read what is in some folders, and open no other file, for good.

    Nothing can be written: the kernel limits the size of a file, but not how many there are. Needs
    no_new_privs.

    Raises:
        OSError: The system does not offer it.
    """
    none, nothing = ctypes.c_void_p(), ctypes.c_size_t(0)
    version = call("landlock_create_ruleset", none, nothing, _VERSION_ASKED)
    rules = _Rules(
        files=(1 << _KNOWN.get(version, _KNOWN_LATER)) - 1,
        network=_BIND_AND_CONNECT if version >= _TCP else 0,
        scopes=_SOCKETS_AND_SIGNALS if version >= _SCOPES else 0,
    )
    words = 3 if version >= _SCOPES else 2 if version >= _TCP else 1
    number = call("landlock_create_ruleset", ctypes.byref(rules), ctypes.c_size_t(8 * words), 0)
    for folder in readable:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        beneath = _Beneath(access=_READ, folder=opened)
        call("landlock_add_rule", number, _PATH_BENEATH, ctypes.byref(beneath), 0)
        os.close(opened)
    call("landlock_restrict_self", number, 0)
    os.close(number)
