"""Arguments of a tool that is no action, as they come from outside."""

from collections.abc import Mapping
from typing import Any

from desim.errors import UsageError, possible
from desim.short_repr import short_repr

__all__ = ["checked", "only", "row_number", "string"]


def checked(name: Any, arguments: Any) -> dict[str, Any]:
    """Return the arguments of a call, which may have none.

    Raises:
        UsageError: They are no object.
    """
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise UsageError(f"the arguments of {short_repr(name)} are no object")
    return dict(arguments)


def only(given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Check that there are no arguments but the known ones.

    Raises:
        UsageError: There is another one.
    """
    for key in given:
        if key not in known:
            raise UsageError(f"argument {short_repr(key)} was given; {possible(key, known)}")


def string(given: Mapping[str, Any], key: str) -> str:
    """Return an argument that is a string.

    Raises:
        UsageError: It is none.
    """
    if not isinstance(given[key], str):
        raise UsageError(f"{key} {short_repr(given[key])} was given; it is a string")
    return str(given[key])


def row_number(given: Mapping[str, Any]) -> int:
    """Return the number of the first row, 0 where none is given.

    Raises:
        UsageError: It is no whole number of at least 0.
    """
    row = given.get("first_row", 0)
    if type(row) is not int or row < 0:
        raise UsageError(
            f"first_row {short_repr(row)} was given; it is a whole number of at least 0"
        )
    return row
