"""The factors that vary in a sweep: parameters, arguments of policies, and policies."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import frozen

from desim import catalog
from desim.rows.rows import Rows
from desim.schema.wire_types import attribute_texts
from desim.show.labels import is_number

#: The prefix of the columns that are arguments of policies.
_ARGUMENT = "policy."


@frozen
class VaryingColumn:
    """A column that has several values in a sweep.

    Attributes:
        name: The column.
        levels: The value of every row; None if a row has none.
        text: The model's description with the unit; empty if it is not known.
    """

    name: str
    levels: Sequence[Any]
    text: str = ""

    @property
    def numeric(self) -> bool:
        """Whether all values are numbers, so that lines may join them."""
        return all(is_number(level) for level in self.levels if level is not None)

    def values(self) -> list[Any]:
        """Return the distinct values: numbers in order, others in order of appearance."""
        found = list(dict.fromkeys(level for level in self.levels if level is not None))
        return sorted(found) if self.numeric else found

    def places(self, among: Iterable[int] | None = None) -> dict[Any, list[int]]:
        """Return the indices of rows by value."""
        found: dict[Any, list[int]] = {value: [] for value in self.values()}
        for place in range(len(self.levels)) if among is None else among:
            if (level := self.levels[place]) is not None:
                found[level].append(place)
        return {level: each for level, each in found.items() if each}


def varied(rows: Rows) -> dict[str, str]:
    """Return the columns that distinguish the worlds of a sweep, with their full names.

    A parameter may share its name with an argument or a metric; only the full name is unique.
    """
    params = {name for row in rows for name in row["params"]}
    return {name: f"params.{name}" if name in params else name for name in rows.varying}


def swept(rows: Rows) -> list[VaryingColumn]:
    """Return the parameters and the arguments of policies that have several values.

    The list is empty for a sweep of several models: scores of different worlds have no common mean.
    """
    names = varied(rows)
    if "model" in names:
        return []
    texts = _descriptions(rows)
    parameters = [
        VaryingColumn(name, _plain(rows.column(column)), texts.get(name, ""))
        for name, column in names.items()
    ]
    arguments = [
        VaryingColumn(name, _plain(rows.column(name)))
        for name in rows.columns
        if name.startswith(_ARGUMENT)
    ]
    each = [factor for factor in [*parameters, *arguments] if len(factor.values()) > 1]
    # An argument that all seats share is also a column for each of them.
    return [one for n, one in enumerate(each) if all(one.levels != e.levels for e in each[:n])]


def families(rows: Rows, without: Iterable[str]) -> VaryingColumn:
    """Return the policies without the arguments that vary, so that lines may join their rows.

    Args:
        rows: The rows of one sweep.
        without: The columns of the arguments.
    """
    names = [name.removeprefix(_ARGUMENT) for name in without if name.startswith(_ARGUMENT)]
    known: dict[str, str] = {}
    labels = rows.column("policy")
    for label in labels:
        if label not in known:
            known[label] = _without(label, names)
    return VaryingColumn("policy", [known[label] for label in labels])


def _without(label: str, names: Iterable[str]) -> str:
    """Return a label without some arguments; a label with roles has `role=name,...` for each.

    >>> _without("base_stock,target=3,floor=1", ["target"]), _without("a=b,x=1 c=b,x=2", ["a.x"])
    ('base_stock,floor=1', 'a=b c=b,x=2')
    """
    parts = label.split(" ")
    for name in names:
        role, _, argument = name.rpartition(".")
        pattern = re.compile(rf",{re.escape(argument)}=[^,]*")
        parts = [
            pattern.sub("", part) if not role or part.startswith(f"{role}=") else part
            for part in parts
        ]
    return " ".join(parts)


def _plain(levels: Sequence[Any]) -> list[Any]:
    return [str(level) if isinstance(level, list | dict) else level for level in levels]


def _descriptions(rows: Rows) -> Mapping[str, str]:
    """Return the parameter descriptions of a model of desim; a user's model is not imported."""
    name = str(rows[0]["model"])
    ours = ":" not in name and catalog.is_at_hand(name)
    return attribute_texts(catalog.model_class(name)) if ours else {}
