"""The identifiers that a person may choose from, as the observations of a role list them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from desim.show.column import Column

#: Observations that are searched for a list, the newest first.
_OBSERVATIONS = 200
#: Values of a list that are offered.
_MOST = 500
#: Characters of a label.
_LABEL = 80


@frozen
class KnownValue:
    """One value to choose.

    Attributes:
        value: The identifier.
        label: The identifier, and what else identifies it.
    """

    value: str | int
    label: str


def known_values(column: Column, seen: Sequence[Any]) -> tuple[KnownValue, ...]:
    """Return the values that an identifier may have, as far as they are known.

    Args:
        column: The description of the identifier.
        seen: Observations as plain values, the newest first. Each path of `column.of` is looked up
            in the newest observation that has it.
    """
    found: dict[str | int, KnownValue] = {
        value: KnownValue(value, value) for value in column.choices
    }
    for path in column.of:
        for known in _newest(path, seen[:_OBSERVATIONS]):
            found.setdefault(known.value, known)
    return tuple(found.values())[:_MOST]


def _newest(path: str, seen: Sequence[Any]) -> list[KnownValue]:
    for plain in seen:
        if (values := _listed(path.split("."), plain)) is not None:
            return values
    return []


def _listed(path: Sequence[str], plain: Any) -> list[KnownValue] | None:
    """Return the values of the list at a path; None without such a list."""
    for at, name in enumerate(path):
        name, _, needed = name.partition(":")  # noqa: PLW2901 (without the condition)
        plain = plain.get(name) if isinstance(plain, Mapping) else None
        if isinstance(plain, list):
            if at + 1 == len(path):
                return [KnownValue(each, _label(each)) for each in plain if _is_value(each)]
            if not all(isinstance(row, Mapping) and needed in ("", *row) for row in plain):
                return None
            return list(_identified(path[at + 1], plain))
    return None


def _identified(key: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[KnownValue]:
    for row in rows:
        value: Any = row.get(key)
        if _is_value(value):
            names = [text for name, text in row.items() if name != key and isinstance(text, str)]
            yield KnownValue(value, _label(value, *names[:1]))


def _label(value: str | int, *names: str) -> str:
    return " · ".join(filter(None, (str(value), *names)))[:_LABEL]


def _is_value(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
