"""The calls of the system that Python 3.11 has no name for, through ctypes."""

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

#: Calls of the kernel without a function in the C library; the numbers of all machines.
_NUMBERS = {
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}


def call(name: str, *arguments: object) -> int:
    """Call a function of the C library, or of the kernel where the library has none.

    Raises:
        OSError: The function failed, or does not exist.
    """
    if name in _NUMBERS:
        result = _LIBC.syscall(ctypes.c_long(_NUMBERS[name]), *arguments)
    elif hasattr(_LIBC, name):
        result = getattr(_LIBC, name)(*arguments)
    else:
        raise OSError(f"the system has no {name}")
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return int(result)
