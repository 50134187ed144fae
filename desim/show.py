"""Tables for people."""

import inspect
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from desim import catalog as known
from desim.episode import Episode
from desim.params import parameters, presets
from desim.schema import members

if TYPE_CHECKING:
    from desim.sweeps.leaderboard import Board
    from desim.sweeps.rows import Rows

__all__ = ["board", "catalog", "console", "episode", "number", "progress", "rows"]

#: From here on two decimals are enough, and from here on none say anything.
_CENTS, _NO_DECIMALS = 1e3, 1e6


def console(*, err: bool = False) -> Console:
    """Return a console that never cuts a table in a file or a pipe."""
    out = Console(stderr=err, highlight=False)
    return out if out.is_terminal else Console(stderr=err, highlight=False, width=200)


def catalog(models: Mapping[str, type], everywhere: Mapping[str, type]) -> None:
    """Print the models and the policies."""
    out = console()
    out.print(_models(models))
    for name, cls in models.items():
        out.print(_policies(f"policies of {name}", known.policies(cls)))
    out.print(_policies("policies of every world", everywhere))


def episode(played: Episode) -> None:
    """Print what was played and how it ended."""
    told = played.summary()
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    head = ("model", "preset", "seed", "policies", "score", "ended", "decisions")
    for key in head:
        table.add_row(key, _words(told[key]))
    for name, value in told["metrics"].items():
        table.add_row(name, _words(value))
    table.add_row("ledger digest", (told["ledger_digest"] or "none")[:16])
    console().print(table)


def board(ranked: "Board") -> None:
    """Print a leaderboard."""
    console().print(ranked)
    console().print()


def rows(found: "Rows", figures: Sequence[str], against: str | None) -> None:
    """Print a sweep's rows by policy and by whatever varies."""
    varying = [name for name in found.columns if _varies(found, name)]
    by = [name.removeprefix("params.") for name in varying]
    console().print(found.table(by=[*by, "policy"], show=figures, against=against))


def _varies(found: "Rows", name: str) -> bool:
    grouped = name in {"model", "preset"} or name.startswith("params.")
    return grouped and len(found.groups(name)) > 1


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar with rate and time left on standard error, if somebody watches it."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]} episodes/s"),
        TextColumn("time left"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        task = bar.add_task(what, total=None, rate="—")
        start, first = time.monotonic(), -1

        def tell(done: int, total: int) -> None:
            nonlocal first
            # What an earlier run has played says nothing of this one's speed.
            first = done if first < 0 else first
            seconds = time.monotonic() - start
            rate = f"{(done - first) / seconds:,.0f}" if done > first else "—"
            bar.update(task, completed=done, total=total, rate=rate)

        yield tell


def number(value: float) -> str:
    """Write a number for people: thousands separated, no digit that says nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or abs(value) >= _NO_DECIMALS:
        return f"{value:,.0f}"
    return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) >= _CENTS else f"{value:,.6g}"


def _models(models: Mapping[str, type]) -> Table:
    table = _table("model", "presets", "roles", "a role does", "what it is")
    for name, cls in models.items():
        roles = known.model(name).roles
        does = {c.__name__ for role in roles.values() for c in members(role.does)}
        table.add_row(
            name,
            ", ".join(presets(cls)),
            ", ".join(roles),
            ", ".join(sorted(does)),
            _first_line(cls),
        )
    return table


def _policies(title: str, policies: Mapping[str, type]) -> Table:
    table = _table(title, "arguments", "what it does")
    for name, cls in policies.items():
        call = getattr(cls, "seated", cls)
        arguments = parameters(call).values()
        table.add_row(name, ", ".join(map(_argument, arguments)), _first_line(cls))
    return table


def _argument(parameter: inspect.Parameter) -> str:
    plain = isinstance(parameter.default, int | float | str) or parameter.default is None
    return f"{parameter.name}={parameter.default}" if plain else parameter.name


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _first_line(cls: type) -> str:
    return inspect.cleandoc(cls.__doc__ or "").split("\n", 1)[0]


def _words(value: Any) -> str:
    match value:
        case dict():
            return ", ".join(f"{k}={v}" for k, v in value.items()) or "none"
        case int() | float():
            return number(value)
        case None:
            return "—"
        case _:
            return str(value)
