"""Options of commands, made of the attrs classes that they fill.

A command is a function whose parameters are attrs classes: `command` makes an option of each field,
with its name, type and default, and its text up to the words "In Python" as the help. Fields that
are positional and have no default are arguments. `_FORMS` has what a field of some name looks like
on the command line where its type does not say so.
"""

import inspect
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs
import click
from attrs import frozen

from desim.catalog.policy_spec import read_policies
from desim.cli.exit_codes import CheckedCommand
from desim.core.limits import Limits
from desim.engine.budget import CommandBudget, spending
from desim.episodes.driver import ModelOptions
from desim.errors import UsageError, sentence
from desim.schema.wire_types import attribute_texts, members
from desim.studies.sweep import read_seeds
from desim.tracing.last_events import MAX_EVENTS


@frozen
class PrintOptions:
    """The form in which a command prints its result.

    Attributes:
        as_json: Print one line of JSON and nothing else.
    """

    as_json: bool = False


@frozen(kw_only=True, slots=False)
class SeatOptions(ModelOptions):
    """A model in which a person or an agent plays some roles.

    Attributes:
        seats: A role that you or the clients play; default: the model's default roles.
        policies: NAME or module:Name, then ,KEY=VALUE for each argument: the policies of other
            roles. Several that name different roles play together.
    """

    seats: tuple[str, ...] = ()
    policies: Any = None


@frozen
class Spending:
    """Limits on all policies of one command together.

    Attributes:
        max_calls: Requests that all policies of this command may send; then it stops, exit 1.
        max_cost: Money that all policies of this command may use, by their prices; likewise.
    """

    max_calls: int | None = None
    max_cost: float | None = None

    def limited(self) -> AbstractContextManager[CommandBudget]:
        """Limit the policies that are built in a block."""
        return spending(CommandBudget(self.max_calls, self.max_cost))


def read_parameters(texts: Collection[str]) -> dict[str, str]:
    """Split KEY=VALUE texts.

    Raises:
        UsageError: A text has no key or no equals sign, or a key is given twice.
    """
    parameters: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise UsageError(f"--set {text!r} is not KEY=VALUE")
        if key in parameters:
            raise UsageError(f"--set {key} was given twice: {parameters[key]!r} and {value!r}")
        parameters[key] = value
    return parameters


def converted(convert: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a callback of click that converts what was given, if something was."""
    return lambda _context, _parameter, value: convert(value) if value else None


#: Several specs of policies, as texts; and policies for the roles of an episode.
SPECS: dict[str, Any] = {"option": "--policy", "multiple": True, "metavar": "[ROLE=]SPEC"}
POLICIES: dict[str, Any] = {**SPECS, "callback": converted(read_policies)}

#: Several parameters of a model.
SET: dict[str, Any] = {
    "option": "--set",
    "multiple": True,
    "metavar": "KEY=VALUE",
    "callback": converted(read_parameters),
}

_SEEDS = {"type": read_seeds, "metavar": "A:B"}
_FILE = {"type": click.Path(dir_okay=False)}

#: By the name of a field the arguments of `click.Option`, and as `option` its name if that differs;
#: None for no option.
_FORMS: dict[str, Mapping[str, Any] | None] = {
    "as_json": {"option": "--json"},
    "held_out": _SEEDS,
    "jobs": {"type": click.IntRange(min=1), "default": lambda: os.cpu_count() or 1},
    "keep_state": None,
    "keep_steps": None,
    "last_events": {
        "option": "--trace-events",
        "type": click.IntRange(1, MAX_EVENTS),
        "metavar": "N",
    },
    "level": None,
    "max_calls": {"type": click.IntRange(min=0)},
    "max_cost": {"type": click.FloatRange(min=0)},
    "out": {"type": click.Path(file_okay=False)},
    "path": {**_FILE, "metavar": "FILE"},
    "plot": _FILE,
    "policies": POLICIES,
    "progress": None,
    "record": {"type": click.Path()},
    "seats": {"option": "--seat", "multiple": True, "metavar": "ROLE"},
    "seed": {"type": click.IntRange(min=0), "default": 0, "show_default": True},
    "seeds": _SEEDS,
    "set": SET,
    "specs": SPECS,
    "trace": _FILE,
}

#: The options of the limits of an episode, by the name of the limit.
_LIMITS: dict[str, dict[str, Any]] = {
    "seconds": {"option": "--time-limit", "type": float, "metavar": "SECONDS"},
    "events": {"option": "--max-events", "type": int, "metavar": "N"},
    "decisions": {"option": "--max-decisions", "type": int, "metavar": "N"},
}


def command(
    name: str, **forms: Mapping[str, Any] | None
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function whose parameters are attrs classes.

    Args:
        name: The name of the command.
        forms: Entries of this command in place of those of `_FORMS`.
    """

    def made(function: Callable[..., None]) -> click.Command:
        classes = get_type_hints(function)
        del classes["return"]

        def call(**values: Any) -> None:
            function(**{part: _filled(cls, values) for part, cls in classes.items()})

        params = [one for cls in classes.values() for one in _parameters(cls, forms)]
        text = inspect.cleandoc(function.__doc__ or "")
        return CheckedCommand(name, params=params, callback=call, help=text)

    return made


def _parameters(
    cls: type, forms: Mapping[str, Mapping[str, Any] | None]
) -> Iterator[click.Parameter]:
    """Yield the options and arguments of a class, its own before those of its bases."""
    texts = attribute_texts(cls)
    for one in sorted(attrs.fields(cls), key=lambda one: one.inherited):
        form = forms.get(one.name, _FORMS.get(one.name, {}))
        if one.name == "limits":
            about = attribute_texts(Limits)
            yield from (_option(f"limit_{n}", about[n], form) for n, form in _LIMITS.items())
        elif form is not None:
            yield _parameter(one, texts.get(one.name, ""), form)


def _parameter(one: "attrs.Attribute[Any]", text: str, form: Mapping[str, Any]) -> click.Parameter:
    """Return the option or the argument of a field."""
    given = {**_by_type(one.type), **form}
    if one.default is attrs.NOTHING:
        if not one.kw_only and "option" not in given:
            return click.Argument([one.name], **given)
        given.setdefault("required", True)
    elif one.default and isinstance(one.default, int | float | str) and "callback" not in given:
        given = {"default": one.default, "show_default": "default" not in given, **given}
    return _option(one.name, text, given)


def _option(name: str, text: str, form: Mapping[str, Any]) -> click.Option:
    given = {"option": f"--{name.replace('_', '-')}", **form}
    return click.Option([name, given.pop("option")], help=_help(text), **given)


def _by_type(kind: Any) -> dict[str, Any]:
    """Return the arguments of `click.Option` that the type of a field determines.

    A type that is known to type checkers alone is given as text.
    """
    kinds = [each for each in members(kind) if each is not type(None)]
    if get_origin(kinds[0]) is Literal:
        return {"type": click.Choice(get_args(kinds[0]))}
    if kinds == [bool]:
        return {"is_flag": True}
    return {"type": kinds[0] if kinds[0] in (int, float) else str}


def _help(text: str) -> str:
    """Return the text of a field as the help of an option.

    >>> _help("Discard *out*. In Python a mapping.")
    'Discard --out.'
    """
    for_both = text.partition(" In Python ")[0]
    return re.sub(r"\*(\w+)\*", lambda found: f"--{found[1].replace('_', '-')}", for_both)


def _filled(cls: type, values: Mapping[str, Any]) -> Any:
    """Return an instance of a class; what was not given has its default.

    Raises:
        UsageError: A limit is not above 0.
    """
    given = {}
    for one in attrs.fields(cls):
        value = values.get(one.name)
        if one.name == "limits":
            try:
                value = Limits(**{name: values[f"limit_{name}"] for name in _LIMITS}) or None
            except ValueError as fault:
                raise UsageError(f"limit {sentence(fault)}") from None
        if value is not None or one.default is attrs.NOTHING:
            given[one.name] = value
    return cls(**given)
