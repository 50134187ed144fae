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
from functools import cached_property
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs
import click
from attrs import frozen

from desim.cli.completion import complete_model, complete_policy
from desim.cli.exit_codes import CheckedCommand
from desim.core.limits import Limits
from desim.engine.budget import CommandBudget, spending
from desim.episodes.episode_options import ModelOptions
from desim.errors import UsageError, sentence
from desim.schema.wire_types import attribute_texts, members
from desim.tracing.last_events import MAX_EVENTS

#: The names of the limits of an episode on the command line.
_LIMITS = {"seconds": "time_limit", "events": "max_events", "decisions": "max_decisions"}


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
        specs: NAME or module:Name, then ,KEY=VALUE for each argument: the policies of other roles.
            Several that name different roles play together.
    """

    seats: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()


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


def command(
    name: str, without: Collection[str] = (), **forms: Mapping[str, Any]
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function whose parameters are attrs classes.

    Args:
        name: The name of the command.
        without: Fields without an option.
        forms: Further entries of `_FORMS` for this command.
    """
    return lambda function: _Command(name, function, without, forms)


class _Command(CheckedCommand):
    """A command whose options are made when they are used: `desim --help` shows none."""

    def __init__(
        self,
        name: str,
        function: Callable[..., None],
        without: Collection[str],
        forms: Mapping[str, Mapping[str, Any]],
    ) -> None:
        super().__init__(name, callback=self._call, help=inspect.cleandoc(function.__doc__ or ""))
        self._function, self._without, self._forms = function, without, forms

    @cached_property
    def _classes(self) -> dict[str, type]:
        classes = get_type_hints(self._function)
        del classes["return"]
        return classes

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options and arguments, those of a class before those of its bases."""
        if not self.params:
            self.params = [
                parameter
                for cls in self._classes.values()
                for one in sorted(attrs.fields(cls), key=lambda one: one.inherited)
                if one.name not in self._without
                for parameter in self._of_field(one, attribute_texts(cls).get(one.name, ""))
            ]
        return super().get_params(ctx)

    def _call(self, **values: Any) -> None:
        self._function(**{part: _filled(cls, values) for part, cls in self._classes.items()})

    def _of_field(self, one: "attrs.Attribute[Any]", text: str) -> Iterator[click.Parameter]:
        form = {**_FORMS.get(one.name, {}), **self._forms.get(one.name, {})}
        return _parameters(one, text, form)


def _parameters(
    one: "attrs.Attribute[Any]", text: str, form: Mapping[str, Any]
) -> Iterator[click.Parameter]:
    """Yield the option or the argument of a field; an option for each limit of an episode."""
    if one.name == "limits":
        texts = attribute_texts(Limits)
        for limit, name in _LIMITS.items():
            kind, metavar = (float, "SECONDS") if limit == "seconds" else (int, "N")
            option = f"--{name.replace('_', '-')}"
            yield click.Option([name, option], type=kind, metavar=metavar, help=texts[limit])
        return
    given = {**_by_type(one.type), **form}
    option = given.pop("option", "")
    if one.default is attrs.NOTHING and not one.kw_only and not option:
        yield click.Argument([one.name], **given)
        return
    if one.default is attrs.NOTHING:
        given.setdefault("required", True)
    elif one.default and isinstance(one.default, int | float | str) and "callback" not in given:
        given = {"default": one.default, "show_default": "default" not in given, **given}
    option = option or f"--{one.name.replace('_', '-')}"
    yield click.Option([one.name, option], help=_help(text), **given)


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
    """Return an instance of a class; what was not given has its default."""
    given = {}
    for one in attrs.fields(cls):
        value = _limits(values) if one.name == "limits" else values.get(one.name)
        if value is not None or one.default is attrs.NOTHING:
            given[one.name] = value
    return cls(**given)


def _limits(values: Mapping[str, Any]) -> Limits | None:
    """Return the limits of an episode; None if no limit is given.

    Raises:
        UsageError: A limit is not above 0.
    """
    try:
        limits = Limits(**{limit: values.get(name) for limit, name in _LIMITS.items()})
    except ValueError as fault:
        raise UsageError(f"limit {sentence(fault)}") from None
    return limits or None


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


def _policies(specs: Any) -> Any:
    from desim.catalog.policy_spec import read_policies

    return read_policies(specs)


def _seeds(text: Any) -> Any:
    from desim.studies.sweep import read_seeds

    return read_seeds(text)


#: Several specs of policies, as texts.
SPECS: dict[str, Any] = {
    "option": "--policy",
    "multiple": True,
    "metavar": "[ROLE=]SPEC",
    "shell_complete": complete_policy,
}

#: Policies for the roles of an episode.
POLICIES: dict[str, Any] = {**SPECS, "callback": converted(_policies)}

#: Several parameters of a model.
SET: dict[str, Any] = {
    "option": "--set",
    "multiple": True,
    "metavar": "KEY=VALUE",
    "callback": converted(read_parameters),
}

#: Seeds of episodes.
SEEDS: dict[str, Any] = {"type": str, "metavar": "A:B", "callback": converted(_seeds)}

_FILE = click.Path(dir_okay=False)

#: By the name of a field the arguments of `click.Option`, and as `option` its name if that differs.
_FORMS: dict[str, dict[str, Any]] = {
    "as_json": {"option": "--json"},
    "held_out": SEEDS,
    "jobs": {"type": click.IntRange(min=1), "default": lambda: os.cpu_count() or 1},
    "last_events": {
        "option": "--trace-events",
        "type": click.IntRange(1, MAX_EVENTS),
        "metavar": "N",
    },
    "max_calls": {"type": click.IntRange(min=0)},
    "max_cost": {"type": click.FloatRange(min=0)},
    "out": {"type": click.Path(file_okay=False)},
    "model": {"shell_complete": complete_model},
    "params": SET,
    "path": {"type": _FILE, "metavar": "FILE"},
    "plot": {"type": _FILE},
    "policies": POLICIES,
    "record": {"type": click.Path()},
    "seats": {
        "option": "--seat",
        "multiple": True,
        "metavar": "ROLE",
    },
    "seed": {"type": click.IntRange(min=0), "default": 0, "show_default": True},
    "seeds": SEEDS,
    "set": SET,
    "specs": SPECS,
    "trace": {"type": _FILE},
}
