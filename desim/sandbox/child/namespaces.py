"""Namespaces of the kernel: no network, no other process, a root folder of its own.

Source: Linux manual pages unshare(2), user_namespaces(7), mount_setattr(2), pivot_root(2).
"""

import ctypes
import os
import sys

from desim.sandbox.child.libc import call

_USER = 0x10000000
_KINDS = {
    "network": 0x40000000,
    "mounts": 0x00020000,
    "processes": 0x20000000,
    "messages": 0x08000000,
    "host_name": 0x04000000,
}

_PRIVATE_RECURSIVE, _BIND_RECURSIVE = 1 << 18 | 0x4000, 0x1000 | 0x4000
_NO_SUID_DEVICE_EXEC = 2 | 4 | 8
_DETACH = 2
_HERE, _EMPTY_PATH, _RECURSIVE = -100, 0x1000, 0x8000
_READ_ONLY, _NO_SUID, _NO_DEVICE = 1, 2, 4

#: Where a program may write, in its new root.
OWN_FOLDER = "/tmp"  # noqa: S108 - not that of the system

#: Files that the folder of a program may hold.
_FILES = 500


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


def enter_namespaces(without: set[str]) -> set[str]:
    """Leave every namespace of the system that can be left; return the names of the new ones."""
    entered = set()
    user, group = os.getuid(), os.getgid()
    if os.geteuid() != 0 and "users" not in without and _leave(_USER):
        entered.add("users")
        _keep_identity(user, group)
    kinds = {name: flag for name, flag in _KINDS.items() if name not in without}
    return entered | {name for name, flag in kinds.items() if _leave(flag)}


def _leave(flag: int) -> bool:
    try:
        call("unshare", flag)
    except OSError:
        return False
    return True


def _keep_identity(user: int, group: int) -> None:
    """Give this user's number a meaning in the new namespace, so that its files stay its own."""
    for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"),
                       ("gid_map", f"{group} {group} 1")):  # fmt: skip
        try:
            with open(f"/proc/self/{file}", "w") as out:  # noqa: PTH123 - pathlib costs 8 ms
                out.write(text)
        except OSError:  # Some systems forbid it; the other namespaces then fail by themselves.
            return


def library_folders() -> list[str]:
    """Return the folders that an import may need: the standard library and the system's."""
    found = [*sys.path, "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo"]
    return [folder for folder in found if folder and os.path.isdir(folder)]  # noqa: PTH112


def enter_root(folder: str, libraries: list[str], size: int, owner: int) -> None:
    """Make a new root folder of the libraries, read-only, and an empty /tmp in memory.

    Args:
        folder: An empty folder, which the new root covers.
        libraries: Folders that stay readable.
        size: Bytes of files that /tmp may hold.
        owner: The user to whom /tmp belongs.

    Raises:
        OSError: The system does not allow it.
    """
    call("mount", None, b"/", None, ctypes.c_ulong(_PRIVATE_RECURSIVE), None)
    _mount_memory(folder, "size=1m,mode=755")
    # Before the libraries, one of which may be below a folder of the same name.
    os.mkdir(folder + OWN_FOLDER)  # noqa: PTH102
    _mount_memory(
        f"{folder}{OWN_FOLDER}", f"size={max(size, 4096)},nr_inodes={_FILES},mode=700,uid={owner}"
    )
    for library in libraries:
        place = folder + library
        os.makedirs(place, exist_ok=True)  # noqa: PTH103
        call("mount", library.encode(), place.encode(), None, _BIND_RECURSIVE, None)
        _protect(place, _RECURSIVE)
    _protect(folder, 0)
    os.chdir(folder)
    call("pivot_root", b".", b".")
    call("umount2", b".", _DETACH)
    os.chdir(OWN_FOLDER)


def _mount_memory(folder: str, options: str) -> None:
    flags = ctypes.c_ulong(_NO_SUID_DEVICE_EXEC)
    call("mount", b"tmpfs", folder.encode(), b"tmpfs", flags, options.encode())


def _protect(folder: str, how: int) -> None:
    """Make a mount read-only; without devices and programs that change the user."""
    attributes = _MountAttributes(set=_READ_ONLY | _NO_SUID | _NO_DEVICE)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    call("mount_setattr", _HERE, folder.encode(), how, ctypes.byref(attributes), size)
