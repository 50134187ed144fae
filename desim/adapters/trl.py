"""A world as the class that TRL's `GRPOTrainer(environment_factory=)` makes its environments of.

TRL calls `reset` with every column of a dataset's row, offers the model each further public method
of the class as a tool, and calls `get_reward` once after a rollout. Its asynchronous trainer sends
the class to another process by pickle. TRL is not imported here. Read in trl 1.16.0; its schemas
are those of transformers, tried with 5.23.0.
"""

import copyreg
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import new_class
from typing import Any

from desim.adapters.seat.action_tools import Tool, tagged_call, tools_of
from desim.adapters.seat.seat_environment import SteppedSession
from desim.adapters.seat.seat_texts import end_text, observation_text, rules_of
from desim.adapters.seat.setup import Setup
from desim.adapters.tool_methods import docstring, signature
from desim.catalog import model_name
from desim.core.model_protocols import Model
from desim.core.world import Decision
from desim.episodes.lineup import Policies
from desim.errors import DesimError, UsageError, WrongAction

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
        self._session: SteppedSession | None = None
        self._fault: DesimError | None = None
        self._rewards: list[float] = []

    def reset(self, **row: Any) -> str:
        """Begin the episode of a dataset's row, and drop the one before it.

        Only the column `seed` is used, a whole number of at least 0; if it is missing or None,
        every episode has seed 0. TRL passes the whole row, its prompt included. It repeats a row
        for each generation of a group, so all generations of a group play the same episode, and the
        next group plays another.

        Returns:
            The rules of the world, unless they were left out, and the first observation as JSON.

        Raises:
            UsageError: The seed is not a whole number of at least 0.
            ModelFailed: The model raised an exception.
        """
        self._close()
        self._session, self._fault, self._rewards = None, None, []
        seed = row.get("seed")
        self._session = self._setup.begin(0 if seed is None else seed, label="trl")
        return f"{self._rules}\n\n{self._text()}" if self._rules else self._text()

    def get_reward(self) -> float:
        """Return the change of the score, or of the metric, since the episode began.

        An episode that is not over is first played to its end by the role's default action:
        otherwise a model that stops calling tools would escape the costs of the remaining time.

        Raises:
            ModelFailed: A fault of the model has ended the episode, which has no reward.
            PolicyFailed: The policy of another role failed; the episode has no reward.
        """
        session = self._session
        while session is not None and self._fault is None and not session.done:
            self._move(session, session.answer_default)
        if self._fault is not None:
            raise self._fault
        self._close()
        return sum(self._rewards)

    @property
    def rewards(self) -> Sequence[float]:
        """The reward of each decision of the episode, default actions included, in their order."""
        return tuple(self._rewards)

    @property
    def session(self) -> SteppedSession | None:
        """The episode; None before the first one, and after a `reset` that failed."""
        return self._session

    def _answer(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Answer the open decision by an action.

        A wrong action changes nothing, and neither does one after the episode's end.

        Raises:
            ModelFailed: The model raised an exception.
            PolicyFailed: The policy of another role raised an exception.
        """
        session = self._session
        if session is None:
            return _NOT_BEGUN
        if session.done or self._fault is not None:
            return self._text()
        try:
            action = tagged_call(self._tools, name, arguments)
            self._move(session, lambda decision: session.answer(decision, action))
        except WrongAction as fault:
            return str(fault)
        return self._text()

    def _move(self, session: SteppedSession, answer: Callable[[Decision], Any]) -> None:
        """Answer the open decision, advance, and keep the reward, or the fault of a failure."""
        try:
            answer(session.open[0])
            session.advance()
        except WrongAction:
            raise
        except DesimError as fault:
            self._fault = fault
            self._close()
            raise
        self._rewards.append(session.rewards()[self._seat])

    def _text(self) -> str:
        if self._fault is not None:
            return f"The episode has failed. {self._fault}"
        assert self._session is not None
        if not self._session.done:
            return observation_text(self._session, self._session.open[0])
        self._close()
        return end_text(self._session)

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()


def environment(
    model: Model[Any] | str,
    preset: str = "",
    *,
    seat: str = "",
    others: Policies = None,
    reward: str = "score",
    max_decisions: int | None = None,
    max_days: float | None = None,
    params: Mapping[str, Any] | None = None,
    rules: bool = True,
) -> type[Rollout]:
    """Return the class of a world's seat for `GRPOTrainer(environment_factory=)`.

    Training needs short episodes: `max_days=30` truncates a year to a month, `max_decisions` any
    world, and worlds have a length among their parameters, such as `params={"horizon": 8}`. The
    rewards of the decisions until then are dense: changes of the score.

    Args:
        model: A model, or its name in the catalog with or without `/preset`.
        preset: A preset of a model that is given by name.
        seat: The role that the language model plays; empty for the model's only default role.
        others: Policies for the other roles, as `Setup.of` takes them.
        reward: "score", or a metric's name with or without a minus before it.
        max_decisions: Decisions after which an episode is truncated.
        max_days: Days of the world's calendar after which it is truncated.
        params: Parameters that differ from the preset's.
        rules: Whether the text of `reset` begins with the rules of the world.

    Raises:
        UsageError: `Setup.of` refuses an argument; the model has several default roles and no seat
            is given; an action has the name of another method; or the role has neither a default
            action nor options, by which an abandoned rollout is played to its end.
    """
    setup = Setup.of(
        model,
        preset,
        params=params,
        seats=seat,
        others=others,
        reward=reward,
        max_decisions=max_decisions,
        max_days=max_days,
    )
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
