"""A table of a TOML file read into a frozen class, with all its faults and not the first alone."""

from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

import attrs

from desim.errors import DesimError, possible, sentence
from desim.schema import from_plain

T = TypeVar("T")


def read_table(
    cls: type[T], plain: Any, path: str, faults: list[str], skip: tuple[str, ...] = ()
) -> T | None:
    """Return a table as a class; None if it has faults, which are added to a list.

    Args:
        cls: An attrs class whose fields are the keys of the table.
        plain: The table.
        path: Its path in the file, for the faults; empty for the file itself.
        faults: Receives one sentence for each fault.
        skip: Keys that are read elsewhere.
    """
    if not isinstance(plain, Mapping):
        faults.append(f"{path} is no table")
        return None
    fields = {one.name: one for one in attrs.fields(cls)}  # type: ignore[arg-type] # checked by use
    hints, before = get_type_hints(cls), len(faults)
    values: dict[str, Any] = {}
    for name, value in plain.items():
        where = f"{path}.{name}" if path else name
        if name in skip:
            continue
        if name not in fields:
            faults.append(f"there is no key {where!r}; {possible(name, [*fields, *skip])}")
            continue
        try:
            values[name] = from_plain(value, hints[name], where)
        except DesimError as fault:
            faults.append(str(fault))
    missing = [
        name for name, one in fields.items() if one.default is attrs.NOTHING and name not in plain
    ]
    faults += [f"{path}.{name} is missing" if path else f"{name} is missing" for name in missing]
    if len(faults) > before:
        return None
    try:
        return cls(**values)
    except (DesimError, TypeError, ValueError) as fault:
        faults.append(f"{path}: {sentence(fault)}" if path else sentence(fault))
        return None
