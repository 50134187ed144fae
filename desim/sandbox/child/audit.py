"""A second line inside the interpreter: an audit hook that refuses by name.

It gives a clear error, also where the kernel would let a call fail silently (`os.system` returns a
number). Alone it does not hold a program that wants to break out.

Source: Python's table of audit events.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing itself takes 13 ms to load, half as long as a program
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["refuse_by_hook"]

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


def refuse_by_hook(folder: str, libraries: list[str], *, check_files: bool) -> None:
    """Refuse processes, signals, sockets, foreign code and changes of files, for good.

    Args:
        folder: Its own folder.
        libraries: Folders that it may read besides.
        check_files: Whether to look at the names of opened files, where nothing else does.
    """
    sys.addaudithook(_hook(folder, libraries, check_files=check_files))


def _hook(folder: str, libraries: list[str], *, check_files: bool) -> Callable[..., None]:
    # Everything is bound here, so that a program that replaces a built-in changes nothing.
    real, text = os.path.realpath, os.fsdecode
    readable = tuple(real(each) + "/" for each in (folder, *libraries))
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    number, refused, families, modules = int, _REFUSED, _FAMILIES, _MODULES
    denied, is_a = PermissionError, isinstance

    def allowed(path: Any, flags: Any) -> bool:
        if is_a(path, number):
            return True
        name = real(text(path))
        return name.startswith(readable) and not (flags or 0) & writing

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in refused or event.startswith(families):
            raise denied(f"{event} is refused in the sandbox")
        if event == "import" and arguments[0].partition(".")[0] in modules:
            raise denied(f"import of {arguments[0]} is refused in the sandbox")
        if check_files and event == "open" and not allowed(arguments[0], arguments[2]):
            raise denied(f"opening {arguments[0]!r} is refused in the sandbox")

    return hook
