"""Tables for people."""

import inspect
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from desim import catalog as known
from desim.episode import Episode
from desim.params import parameters, presets
from desim.schema import members

__all__ = ["catalog", "console", "episode", "number"]

#: From here on decimals say nothing.
_NO_DECIMALS = 1e6


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


def number(value: float) -> str:
    """Write a number for people: thousands separated, no digit that says nothing."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or abs(value) >= _NO_DECIMALS:
        return f"{value:,.0f}"
    return f"{value:,.6g}"


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
