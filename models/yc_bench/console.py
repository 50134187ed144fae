"""The console's lines: from text to the actions of `actions.py`, and back.

The published console is a tree of click commands, and so is this one, built from the action
classes; so the usage errors, which are click's, have the published texts.
"""

import inspect
import re
import shlex
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs
import click

from desim.errors import sentence
from models.yc_bench.actions import Command, EndTurn, RunCommand
from models.yc_bench.desk import CommandReply

_PROGRAM = "yc-bench"

#: Options whose name differs from their field's.
_OPTIONS = {"from_date": "--from", "to_date": "--to"}

#: By field its format, and the error text where a value does not match it.
_DATE = ("%m/%d/%Y", "Invalid date format: {}. Use MM/DD/YYYY.")
_MONTH = ("%Y-%m", "Invalid month format: {}. Use YYYY-MM.")
_FORMATS = {
    **dict.fromkeys(("start_date", "from_date", "to_date"), _DATE),
    **dict.fromkeys(("from_month", "to_month"), _MONTH),
}


def parse(line: str) -> Command | CommandReply:
    """Return the command of a line, split as a shell splits it, or the reply to another line.

    That has exit code 2 and the reason, or, for `--help`, exit code 0 and the help as text.
    """
    if not line.strip():
        return CommandReply(line, 2, None, "command must be a non-empty string")
    try:
        words = shlex.split(line)
    except ValueError:
        return CommandReply(line, 2, None, f"invalid command syntax: {line}")
    if not words or words[0] != _PROGRAM:
        why = f"only top-level `{_PROGRAM}` commands are allowed"
        return CommandReply(line, 2, None, why)
    try:
        with _TREE.make_context(_PROGRAM, words[1:]) as context:
            command: Command = _TREE.invoke(context)
    except _Help as help_:
        return CommandReply(line, 0, help_.message)
    except click.ClickException as fault:
        return CommandReply(line, 2, None, fault.format_message())
    return command


def line_of(action: Any) -> str:
    """Return the line of an action; an empty text for the end of a turn."""
    written, fields = _WRITTEN.get(type(action), ("", ()))
    for name, option, default in fields:
        value = getattr(action, name)
        if value != default:
            text = ",".join(value) if type(value) is tuple else str(value)
            written += option + shlex.quote(text)
    return written or getattr(action, "command", "")


class _Help(click.ClickException):
    """`--help` was given; the message is the help."""


def _leaf(action: type, name: str) -> click.Command:
    """Return the command of the console that builds an action."""

    def build(**values: Any) -> Any:
        for field, (layout, refusal) in _FORMATS.items():
            if values.get(field) is not None:
                values[field] = _dated(values[field], layout, refusal)
        try:
            return action(**values)
        except ValueError as fault:  # a bound that the published console does not have
            raise click.UsageError(sentence(fault)) from None

    return click.Command(
        name,
        params=[*(_option(*each) for each in _fields(action)), _HELP],
        callback=build,
        help=inspect.cleandoc(action.__doc__ or "").split("\n\n")[0],
        add_help_option=False,
    )


def _fields(action: type) -> list[tuple[str, Any, Any]]:
    hints = get_type_hints(action)
    return [(f.name, hints[f.name], f.default) for f in attrs.fields(action)]


def _option(name: str, hint: Any, default: Any) -> click.Option:
    # A required option gets no default at all: click would take None for one.
    given: dict[str, Any] = {"required": True} if default is attrs.NOTHING else {"default": default}
    kind = next(iter(get_args(hint)), hint)  # int of `int | None`, str of `tuple[str, ...]`
    of_text: Any = click.Choice(get_args(kind)) if get_origin(kind) is Literal else str
    return click.Option([_spelled(name), name], type=int if kind is int else of_text, **given)


def _spelled(name: str) -> str:
    return _OPTIONS.get(name) or "--" + name.replace("_", "-")


def _help(context: click.Context, _: click.Parameter, flag: bool) -> None:  # noqa: FBT001 (click)
    if flag:
        raise _Help(context.get_help())


#: Shared by all commands; click's own option prints the help and exits.
_HELP = click.Option(
    ["--help"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help,
    help="Show this message.",
)


def _dated(text: str, layout: str, refusal: str) -> str:
    try:
        datetime.strptime(text, layout)  # noqa: DTZ007 (the world has no zones)
    except ValueError:
        raise click.BadParameter(refusal.format(text)) from None
    # `strptime` accepts a blank before a day of one digit.
    return text.replace(" ", "")


def _group(name: str, summary: str, commands: Iterable[click.Command]) -> click.Group:
    return click.Group(
        name,
        commands=list(commands),
        params=[_HELP],
        help=summary,
        add_help_option=False,
        no_args_is_help=False,
        # Help has the same line breaks in every terminal.
        context_settings={"terminal_width": 80},
    )


#: The action of each command, by its two words: `task assign-all` is `TaskAssignAll`.
_ACTIONS: dict[tuple[str, str], type] = {}
for _cls in get_args(Command):
    if _cls not in (EndTurn, RunCommand):
        _first, *_rest = re.findall("[A-Z][a-z]*", _cls.__name__)
        _ACTIONS[_first.lower(), "-".join(_rest).lower()] = _cls

_TREE = _group(
    _PROGRAM,
    "Run a company.",
    [
        _group(
            group,
            f"Commands of {group}.",
            [_leaf(action, name) for (first, name), action in _ACTIONS.items() if first == group],
        )
        for group in dict.fromkeys(first for first, _ in _ACTIONS)
    ],
)

#: The line of an action: its words, and name, option and default of each field.
_WRITTEN = {
    action: (
        " ".join([_PROGRAM, *words]),
        [(name, f" {_spelled(name)} ", default) for name, _, default in _fields(action)],
    )
    for words, action in _ACTIONS.items()
}
