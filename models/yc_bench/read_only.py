"""Rows that several observations share: a policy that writes into one gets an error.

Copying every row at each look took a fifth of an episode's time. A row is a `dict` and its list a
`list`, so that they are compared, written as JSON and passed to `isinstance` as before.
"""

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["ReadOnlyList", "ReadOnlyRow"]


def _refuse(held: Any, *_: Any, **__: Any) -> NoReturn:
    kind = dict if isinstance(held, dict) else list
    raise TypeError(
        "a row of a reply is shared by several observations and cannot be changed; "
        f"change a copy of it: {kind.__name__}(row)"
    )


class ReadOnlyRow(dict[str, Any]):
    """A row of a reply; `dict(row)`, `copy.copy` and a pickle give an ordinary dictionary."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A list inside a row; `list(it)`, `copy.copy` and a pickle give an ordinary list."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = extend = insert = pop = remove = clear = sort = reverse = _refuse

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return list, (list(self),)
