"""A world as the class that TRL's `GRPOTrainer(environment_factory=)` makes its environments of.

TRL calls `reset` with every column of a dataset's row, offers the model each further public method
of the class as a tool, and calls `get_reward` once after a rollout. Its asynchronous trainer sends
the class to another process by pickle. TRL is not imported here. Read in trl 1.16.0; its schemas
are those of transformers, tried with 5.23.0, which reads type hints and docstrings in Google's
form. Bounds, which a type hint cannot express, are in the text of the argument.
"""

import copyreg
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from operator import or_
from types import new_class
from typing import Any, Literal

from desim.adapters.seat.seat_environment import SeatEnvironment
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.starts import Start
from desim.adapters.seat.stepped_session import SteppedSession
from desim.adapters.seat.tools import Tool, tagged_call, tools_of
from desim.catalog import model_name
from desim.core.model_protocols import Model, rules_of
from desim.errors import UsageError, WrongAction

_RETURNS = "The next observation as JSON, a sentence that refuses the call, or how it ended."

#: The answer of a method before the first episode.
_NOT_BEGUN = "No episode has begun; call reset first."


class _ByArguments(type):
    """The metaclass of classes that are pickled by their arguments, as no module holds them."""


class Rollout(metaclass=_ByArguments):
    """One episode after another for one rollout after another; `environment` makes subclasses.

    Its subclasses have a method for every action of their seat.
    """

    _setup: Setup
    _seat: str
    _tools: Mapping[str, Tool]
    _rules: str

    def __init__(self) -> None:
        self._world = SeatEnvironment(self._setup, "trl")
        self._rewards: list[float] = []
        self._credited = False
        self._called = 0

    def reset(self, **row: Any) -> str:
        """Begin the episode of a dataset's row, and drop the one before it.

        Three columns are used, each where it is not None. `seed` is a whole number of at least 0;
        without it every episode has seed 0. `record` and `at` name a record from which the episode
        begins, after so many of its decisions; the seed then draws what no role can have observed
        by then, and without it the episode goes on in the world of the record. TRL passes the whole
        row, its prompt included. It repeats a row for each generation of a group, so all
        generations of a group play the same episode, and the next group plays another.

        Returns:
            The rules of the world, unless they were left out, and the first observation as JSON.

        Raises:
            BadRecord: The record cannot be read or does not replay.
            UsageError: The seed is not a whole number of at least 0, or the record is of another
                world or has fewer decisions.
            ModelFailed: The model raised an exception.
        """
        self._world.close()
        self._rewards, self._credited, self._called = [], False, 0
        text = self._world.begin(row.get("seed"), start=Start.within(row)).text()
        return f"{self._rules}\n\n{text}" if self._rules else text

    def get_reward(self) -> float:
        """Return the change of the score, or of the metric, since the episode began.

        With `credit` it is the sum of the advantages of all decisions, also those of the default
        action.

        An episode that is not over is first played to its end by the role's default action:
        otherwise a model that stops calling tools would escape the costs of the remaining time.

        Raises:
            ModelFailed: A fault of the model has ended the episode, which has no reward.
            PolicyFailed: The policy of another role failed; the episode has no reward.
        """
        if self._world.fault is None:
            self._rewards += [rewards[self._seat] for rewards in self._world.play_out()]
        if self._world.fault is not None:
            raise self._world.fault
        credit, session = self._setup.credit, self._world.session
        if credit is not None and session is not None and not self._credited:
            self._rewards = [*credit.advantages(session, self._seat)]
            self._credited = True
        return sum(self._rewards)

    @property
    def rewards(self) -> Sequence[float]:
        """The reward of each decision of the episode, default actions included, in their order.

        With `credit` they are advantages once `get_reward` was called.
        """
        return tuple(self._rewards)

    @property
    def called(self) -> int:
        """The number of decisions that the model has made by a call."""
        return self._called

    @property
    def default_share(self) -> float:
        """The share of default actions in the decisions that have a reward, 0 to 1.

        `get_reward` takes the default action at all decisions that are left. A rollout with more
        than one half has a reward, because training needs one, but counts as not played.
        """
        return 1 - self._called / len(self._rewards) if self._rewards else 0.0

    @property
    def session(self) -> SteppedSession | None:
        """The episode; None before the first one, and after a `reset` that failed."""
        return self._world.session

    def _answer(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Answer the open decision by an action.

        A wrong action changes nothing, and neither does one after the episode's end.
        """
        session, fault = self._world.session, self._world.fault
        if session is None:
            return _NOT_BEGUN
        if fault is not None:
            return f"The episode has failed. {fault}"
        if not session.done:
            try:
                action = tagged_call(self._tools, name, arguments)
                self._rewards.append(self._world.play((session.open[0], action))[self._seat])
                self._called += 1
            except WrongAction as wrong:
                return str(wrong)
        return session.text()


def environment(
    model: Model[Any] | str,
    preset: str = "",
    *,
    seat: str = "",
    rules: bool = True,
    **options: Any,
) -> type[Rollout]:
    """Return the class of a world's seat for `GRPOTrainer(environment_factory=)`.

    Training needs short episodes: `max_days=30` truncates a year to a month, `max_decisions` any
    world, and worlds have a length among their parameters, such as `params={"horizon": 8}`. The
    rewards of the decisions until then are dense: changes of the score.

    Args:
        model: A model, or its name in the catalog with or without `/preset`.
        preset: A preset of a model that is given by name.
        seat: The role that the language model plays; empty for the model's only default role.
        rules: Whether the text of `reset` begins with the rules of the world.
        options: `others`, `reward`, `params`, `max_decisions`, `max_days`, `starts`, `credit`,
            `credit_futures` of `Setup.of`.

    Raises:
        UsageError: `Setup.of` refuses an argument; the model has several default roles and no seat
            is given; an action has the name of another method; or the role has neither a default
            action nor options, by which an abandoned rollout is played to its end.
    """
    setup = Setup.of(model, preset, seats=seat, **options)
    if len(setup.seats) != 1:
        raise UsageError(f"{', '.join(setup.seats)} are seats of the world; give one as `seat`")
    _check_has_default(setup)
    return _class_of(setup, rules=rules)


def _check_has_default(setup: Setup) -> None:
    (seat,) = setup.seats
    role = setup.model.roles[seat]
    if role.default_action is None and role.options is None:
        raise UsageError(
            f"{seat!r} has neither a default action nor options, so an abandoned rollout could "
            "not be played to its end"
        )


def _class_of(setup: Setup, *, rules: bool) -> type[Rollout]:
    (seat,) = setup.seats
    tools = tools_of(setup, seat)
    methods = {name: _method(tool) for name, tool in tools.items()}
    if taken := [name for name in methods if hasattr(Rollout, name)]:
        raise UsageError(
            f"action {taken[0]!r} of {seat!r} has the name of a method that is no tool"
        )
    facts = {
        "_setup": setup,
        "_seat": seat,
        "_tools": tools,
        "_rules": rules_of(setup.model, seat) if rules else "",
        "__module__": __name__,
        "__doc__": f"Rollouts of {seat!r}.",
    }
    body = {**facts, **methods}
    name = _class_name(setup, seat)
    return new_class(name, (Rollout,), exec_body=lambda namespace: namespace.update(body))


def _class_name(setup: Setup, seat: str) -> str:
    """Return the name under which TRL logs the rewards, in camel case."""
    words = re.findall(r"[^\W_]+", f"{model_name(type(setup.model))} {seat}")
    return "".join(word.capitalize() for word in words)


def _reduced(cls: Any) -> Any:
    """Return pickle's instructions for rebuilding a class; `Rollout` itself is found by name."""
    if cls is Rollout:
        return cls.__name__
    return partial(_class_of, rules=bool(cls._rules)), (cls._setup,)


copyreg.pickle(_ByArguments, _reduced)


def _method(tool: Tool) -> Callable[..., str]:
    """Return a tool as a documented method with type hints."""

    def method(self: Rollout, /, **arguments: Any) -> str:
        return self._answer(tool.name, arguments)

    whole = signature(tool)
    method.__name__ = method.__qualname__ = tool.name
    method.__doc__ = docstring(tool, _RETURNS)
    method.__signature__ = whole  # type: ignore[attr-defined] # inspect.signature reads it
    method.__annotations__ = {
        name: each.annotation for name, each in whole.parameters.items() if name != "self"
    } | {"return": whole.return_annotation}
    return method


# -- tools as methods -----------------------------------------------------------------------------

_PLAIN: Mapping[str, Any] = {
    "integer": int,
    "number": float,
    "string": str,
    "boolean": bool,
    "null": None,
    "object": dict[str, Any],
    "array": list[Any],
}

#: Keywords that a type hint cannot express, and the words for them.
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "above {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "below {}",
    "minLength": "at least {:,} characters",
    "maxLength": "at most {:,} characters",
    "minItems": "at least {:,} items",
    "maxItems": "at most {:,} items",
}


def hint(schema: Mapping[str, Any]) -> Any:
    """Return the type hint of a JSON Schema without references; `Any` if it states no type."""
    if "enum" in schema:
        return Literal[tuple(schema["enum"])]
    if "anyOf" in schema:
        return _either([hint(each) for each in schema["anyOf"]])
    kind = schema.get("type")
    if isinstance(kind, list):
        return _either([_PLAIN[each] for each in kind])
    if kind == "array" and (inside := _items(schema)):
        return list[_either([hint(each) for each in inside])]  # type: ignore[misc] # made at run time
    return _PLAIN.get(str(kind), Any)


def signature(tool: Tool) -> inspect.Signature:
    """Return the signature of a tool as a method: arguments by keyword, a text in return."""
    arguments = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hint(schema),
            default=inspect.Parameter.empty if name in tool.required else schema.get("default"),
        )
        for name, schema in tool.fields.items()
    ]
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    return inspect.Signature([self, *arguments], return_annotation=str)


def docstring(tool: Tool, returns: str) -> str:
    """Return a docstring: what the tool does, its arguments, and what it returns."""
    lines = [_joined(tool.description) or tool.name]
    if tool.fields:
        lines += ["", "Args:"]
        lines += [f"    {name}: {_argument(each)}" for name, each in tool.fields.items()]
    return "\n".join([*lines, "", "Returns:", f"    {returns}"])


def _either(hints: list[Any]) -> Any:
    """Return a union; `Any` if one of its types is `Any`."""
    return Any if Any in hints else reduce(or_, hints)


def _items(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the schemas of an array's items; empty if any items are allowed."""
    within = list(schema.get("prefixItems", ()))
    items = schema.get("items")
    return [*within, items] if isinstance(items, Mapping) and items else within


def _argument(schema: Mapping[str, Any]) -> str:
    bounds = [words.format(schema[key]) for key, words in _BOUNDS.items() if key in schema]
    text = _joined(schema.get("description", "")) or "No description."
    return f"{text} ({', '.join(bounds)})" if bounds else text


def _joined(text: str) -> str:
    """Return a text as one line: in a docstring a new line could begin another argument."""
    return " ".join(text.split())
