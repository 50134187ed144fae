"""`desim memory`: what a learning policy keeps in a file.

The memory of a policy as tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import click
import msgspec
from attrs import field, frozen

from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of
from desim.core.policy import ShownMemory
from desim.errors import UsageError
from desim.short_repr import visible_text
from desim.show.console import console
from desim.show.labels import NOTHING, value_text
from desim.show.table import Table, print_tables


@frozen
class MemoryFile:
    """A file that a learning policy keeps.

    Attributes:
        path: The file.
        trust: Import the module of a user's own method.
    """

    path: str
    trust: bool = field(default=False, kw_only=True)


@command_of("memory")
def command(memory: MemoryFile, printed: PrintOptions) -> None:
    """Print what a policy has learned and keeps in FILE, such as `memory=FILE` of `llm`.

    The file is read as data, checked, and limited in size. Nothing that it names is opened, or
    imported without --trust.
    """
    print_memory(read_memory(memory), as_json=printed.as_json)


def read_memory(memory: MemoryFile) -> ShownMemory:
    """Return the memory, by the first policy class that takes the file.

    Raises:
        UsageError: None does; the text is that of the first one.
    """
    from desim import catalog
    from desim.core.policy import OutsidePolicy

    faults = []
    for policy in catalog.policies().values():
        if issubclass(policy, OutsidePolicy):
            try:
                return policy.shown_memory(memory.path, trust=memory.trust)
            except UsageError as fault:
                faults.append(fault)
    raise faults[0] if faults else UsageError("no policy here keeps a memory in a file")


def print_memory(memory: ShownMemory, *, as_json: bool) -> None:
    """Print a memory: one line of JSON, or a table for each kind of rows."""
    if as_json:
        whole = {"method": memory.method, "episodes": memory.episodes, "rows": memory.rows}
        click.echo(msgspec.json.encode(whole))
        return
    title = Table((), (), title=_title(memory))
    print_tables(console(), [title, *_tables(memory.rows)])


def _title(memory: ShownMemory) -> str:
    played = [f"{_one_line(role)} after {n:,} episodes" for role, n in memory.episodes.items()]
    return f"memory of {_one_line(memory.method)}: {', '.join(played) or 'no role'}"


def _tables(rows: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """Yield a table for every run of rows with the same columns."""
    for columns, alike in groupby(rows, key=tuple):
        lines = [[_cell(value) for value in row.values()] for row in alike]
        yield Table(map(_one_line, columns), lines, range(len(columns)))


def _cell(value: Any) -> str:
    return visible_text(value).rstrip() or NOTHING if isinstance(value, str) else value_text(value)


def _one_line(text: str) -> str:
    return " ".join(visible_text(text).split())
