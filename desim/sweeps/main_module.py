"""The `__main__` of a program that is read from standard input."""

import sys

__all__ = ["forget_standard_input"]


def forget_standard_input() -> None:
    """Remove the name `<stdin>` as the file of `__main__`, as in an interactive session.

    Otherwise a spawned worker would open a file of that name, and so would the digest of sources.
    """
    main = vars(sys.modules["__main__"])
    if str(main.get("__file__")).startswith("<"):
        del main["__file__"]
