"""The calls of the system that Python 3.11 has no name for, through ctypes."""

import ctypes
import os

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long

#: Numbers by machine; the later calls have the same one on both.
_NUMBERS = {
    "x86_64": {"capset": 126},
    "aarch64": {"capset": 91},
}
_COMMON = {
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}


def number_of(name: str) -> int:
    """Return the number of a call of the kernel.

    Raises:
        OSError: The number of the call is not known for this machine.
    """
    numbers = _NUMBERS.get(os.uname().machine)
    if numbers is None:
        raise OSError(f"the calls of the kernel are not known for {os.uname().machine}")
    return _COMMON.get(name) or numbers[name]


def call(name: str, *arguments: object) -> int:
    """Call a function of the C library, or of the kernel where the library has none.

    Raises:
        OSError: The function failed, or does not exist.
    """
    if name in _COMMON or name in _NUMBERS["x86_64"]:
        result = _LIBC.syscall(ctypes.c_long(number_of(name)), *arguments)
    else:
        function = getattr(_LIBC, name, None)
        if function is None:
            raise OSError(f"the system has no {name}")
        result = function(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return int(result)
