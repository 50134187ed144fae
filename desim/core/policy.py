"""Protocols of policies: the method that every policy has, and the optional members.

None of them is a base class; the framework tests with `offers` which ones a policy has.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import getattr_static
from types import MappingProxyType
from typing import (
    Any,
    ClassVar,
    Protocol,
    runtime_checkable,
)

from attrs import field, frozen

from desim.core.model import Model, kept_facts, offers
from desim.core.roles import KNOWLEDGE, Knowledge, Role, knowledge_order
from desim.errors import UsageError
from desim.short_repr import short_repr


@frozen
class ShownMemory:
    """The content of a file in which a policy keeps what it has learned.

    Attributes:
        method: The name of the method that learned it.
        rows: Plain JSON values by column, the role first. Rows of other kinds have other columns.
        episodes: How many episodes each role has played with it.
    """

    method: str
    rows: Sequence[Mapping[str, Any]]
    episodes: Mapping[str, int] = field(factory=dict)


@frozen
class ReadReply:
    """A model's reply as a policy reads it.

    Attributes:
        thinking: The model's reasoning, which is not read for an action.
        answer: The text that is read for an action.
        fault: What makes the reply unusable; empty for a reply that can be read.
    """

    thinking: str
    answer: str
    fault: str = ""


# -- policies --------------------------------------------------------------------------------------


# A policy receives no world, clock or ledger: what it does not observe it cannot use, and the same
# instance plays in a run, in a sweep, behind an adapter and in a replay.
class Policy:
    """Decides for one role of one episode."""

    __slots__ = ()

    def decide(self, observation: Any, /) -> Any:
        """Return an action, or an awaitable of one."""
        raise NotImplementedError


@runtime_checkable
class DecidesAsync(Protocol):
    """A policy that also decides in a coroutine, which `play_async` awaits in place of `decide`.

    So several of them that decide at one tick wait together, with the same records.
    """

    async def decide_async(self, observation: Any, /) -> Any:
        """Return the action that `decide` would return."""
        ...


@runtime_checkable
class TakesRole(Protocol):
    """A policy that follows questions which take some actions of its role alone.

    Its `decide`, and its `decide_async`, take a second argument at such a question: the role with
    these actions, and with the options among them.
    """

    @property
    def takes_role(self) -> bool:
        """Whether it does."""
        ...


@runtime_checkable
class Learner(Protocol):
    """A policy that learns between the episodes of a series."""

    # `Any`, because the class of episodes is in a package that imports this one.
    def after(self, episode: Any, /) -> object:
        """Learn from an ended episode; `play_series` calls this between episodes."""
        ...


@runtime_checkable
class Noted(Protocol):
    """A policy whose notes are recorded with each decision.

    Values under the key `usage` (calls, tokens, cost) are summed over the episode.
    """

    @property
    def notes(self) -> Mapping[str, Any]:
        """Plain JSON values, read after every decision; empty if there is nothing to note."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """A policy whose input cannot be obtained again, such as a paid reply or a person's answer."""

    #: Set by the framework: writes a plain JSON value to the record before it returns.
    transcript: Callable[[Any], None]

    def resume(self, entries: Iterable[Any], /) -> None:
        """Take the transcript entries of a cut record, in order, before the first decision.

        The policy uses these entries, as long as they last, instead of asking again.
        """
        ...


@runtime_checkable
class Rehearses(Protocol):
    """A resumable policy whose ended episodes can be played again from their transcripts alone.

    So a stranger's record is checked: the same input must lead to the same actions.
    """

    #: As of `Resumable`.
    transcript: Callable[[Any], None]

    def rehearse(self, entries: Iterable[Any], /) -> None:
        """Take the transcript entries of whole episodes, in order, before the first decision.

        The policy takes all its input from them, in place of asking for it, and writes its
        transcript anew. Nothing outside is opened or contacted.
        """
        ...

    def reuse(self, entries: Iterable[Any], /) -> None:
        """Take the transcript entries of earlier episodes, in order, before the first decision.

        What is asked for as it was then is taken from them at no cost; the rest is asked for. An
        entry `predictions` holds what methods answered to questions: `stored` to those of this
        episode, and `learned` to those from which a router learns its rules.
        """
        ...

    @staticmethod
    def predictions(model: Any, episodes: Mapping[str, Any], /) -> Iterable[dict[str, Any]]:
        """Yield the questions of a world as plain values, with the answers of methods.

        Args:
            model: The world.
            episodes: A whole episode of it by the method that played it.
        """
        ...

    @staticmethod
    def reached_in_rehearsal(arguments: Mapping[str, str], /) -> Iterable[str]:
        """Yield what its construction would open or import although nothing is asked for.

        Args:
            arguments: Texts by argument, unchecked, as in a record.
        """
        ...

    @staticmethod
    def calls_a_decision(arguments: Mapping[str, str], /) -> int:
        """Return the requests that a decision takes whose replies are valid.

        Args:
            arguments: Texts by argument, as in a spec.
        """
        ...


@runtime_checkable
class LooksAhead(Protocol):
    """A policy that plays ahead, in redrawn futures, before it decides."""

    # `Any`, because the class of simulators is in a package that imports this one.
    def take_simulator(self, simulator: Any, /) -> object:
        """Take the simulator of the episode; called once, before the first decision."""
        ...


# A class method and not the constructor: the arguments of a spec stay those that a user may write,
# and a policy that needs no seat is an ordinary class.
@runtime_checkable
class Seated(Protocol):
    """A policy that receives its seat: model, role, schema and a seed for its draws.

    An ordinary method `seated(seat)` is called once, before the first decision. A class method
    `seated(seat, **arguments)` replaces the constructor; the arguments after *seat* are those of
    its spec.
    """

    seated: ClassVar[Callable[..., Any]]


def seated_maker(policy: type) -> Callable[..., Policy] | None:
    """Return the class method `seated` of a policy class; None if it is an ordinary one or none."""
    made = isinstance(getattr_static(policy, "seated", None), classmethod | staticmethod)
    return policy.seated if made and offers(policy, Seated) else None


@runtime_checkable
class DeclaresArguments(Protocol):
    """A policy class whose arguments are the fields of other classes; `seated` takes them by name.

    They may depend on the model, and on other arguments: the name of a method may add its own.
    """

    @staticmethod
    def arguments(
        model: type | None, given: Mapping[str, Any], /
    ) -> tuple[Callable[..., Any], ...]:
        """Return classes or functions whose parameters are the arguments.

        Args:
            model: The model's class; None for the arguments that every model has.
            given: The arguments given so far, as text or as values.
        """
        ...


def declared_arguments(
    policy: Any, model: type | None = None, given: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Callable[..., Any], ...]:
    """Return the classes or functions whose parameters are the arguments of a policy class.

    Args:
        policy: The class.
        model: See `DeclaresArguments.arguments`.
        given: See `DeclaresArguments.arguments`.
    """
    if offers(policy, DeclaresArguments):
        return policy.arguments(model, given)
    return (seated_maker(policy) or policy,)


# Declared by the class, so that a record can be judged before any of its policies is built.
@runtime_checkable
class ReachesOutside(Protocol):
    """A policy class that opens a file, contacts a host or reads an environment variable."""

    #: The arguments that name what it opens, contacts or reads.
    reaches: ClassVar[tuple[str, ...]]


# Static, for the same reason as `ReachesOutside`.
@runtime_checkable
class NamesPolicies(Protocol):
    """A policy class with arguments that are the specs of other policies, which it builds."""

    @staticmethod
    def inner_policies(arguments: Mapping[str, str], /) -> Iterable[str]:
        """Yield these specs.

        Args:
            arguments: Texts by argument, unchecked, as in a record; some may be missing.
        """
        ...


# Static, as it is called before a policy is built.
@runtime_checkable
class DependsOnModel(Protocol):
    """A policy class that finds code by a model's name, or reads texts of the model's classes."""

    @staticmethod
    def dependencies(model: Model[Any], /) -> Iterable[Any]:
        """Yield modules, classes and functions that it finds, and as bytes what it reads.

        A sweep is not continued after one of them has changed.
        """
        ...


# Static, for the same reason; a sweep refuses to continue once the code of these has changed.
@runtime_checkable
class NamesClasses(Protocol):
    """A policy class with arguments that name users' classes or functions, which it calls."""

    @staticmethod
    def inner_classes(arguments: Mapping[str, str], /) -> Iterable[Any]:
        """Yield these classes and functions, or the module of something else that it calls.

        Args:
            arguments: Texts by argument; some may be missing.

        Raises:
            UsageError: A name leads to nothing.
        """
        ...


# Static, because a file is shown without a seat.
@runtime_checkable
class ShowsMemory(Protocol):
    """A policy class that keeps what it learns in a file and can show such a file."""

    @staticmethod
    def shown_memory(path: str, /, *, trust: bool = False) -> ShownMemory:
        """Return what a file holds; the file may come from a stranger.

        Args:
            path: The file.
            trust: Whether a module that the file names may be imported.

        Raises:
            UsageError: The file does not exist, is not a memory of this policy, or a module would
                be imported without *trust*.
        """
        ...


# Static, because replies are shown without a seat.
@runtime_checkable
class ReadsReplies(Protocol):
    """A policy class that calls a model, and writes the replies to the record's transcript."""

    @staticmethod
    def read_reply(reply: Mapping[str, Any], /) -> ReadReply:
        """Return what a reply of a transcript holds; its values may be of any type."""
        ...


@runtime_checkable
class TakesAllRoles(Protocol):
    """A policy class that plays every role of a model when no role is named: `seats = "all"`."""

    seats: ClassVar[str]


@runtime_checkable
class Knows(Protocol):
    """A policy, its class or a function that declares what it knows: by default `observation`.

    Boards rank policies of one level among themselves. A class that knows `observation` receives a
    seat without the world's parameters, unless it offers `DependsOnModel`.
    """

    knows: Knowledge


@runtime_checkable
class KnowsByArguments(Protocol):
    """A policy class that knows more where an argument is given, such as a stock level."""

    #: The level by the name of the argument.
    knows_by: ClassVar[Mapping[str, Knowledge]]


@runtime_checkable
class TakesOptions(Protocol):
    """A policy class that decides by the options of roles, so it knows what these know."""

    takes_options: ClassVar[bool]


# Declared, because a policy with the seed can build the world again and play it in advance.
@runtime_checkable
class NeedsWorldSeed(Protocol):
    """A policy class whose `seated` receives a `WorldSeat`, which holds the world's seed.

    It knows the `future`, unless it declares otherwise: a published bot whose runner seeds its
    draws with the world's seed knows `observation`, and its seat has no parameters.
    """

    needs_world_seed: ClassVar[bool]


@runtime_checkable
class Draws(Protocol):
    """A policy class, or a function, whose actions depend on chance or on the episode's seed.

    Where a model is deterministic, a board plays such a policy on every seed, the others on one.
    """

    draws: ClassVar[bool]


@runtime_checkable
class Memoryless(Protocol):
    """A policy whose actions depend on the present observation alone.

    Where the past of an episode is repeated, such a policy is not asked what it would have decided
    then, which takes as long as deciding.
    """

    memoryless: ClassVar[bool]


@runtime_checkable
class HasBoardSeeds(Protocol):
    """A policy class whose episodes take so long that a board plays it on the first seeds only."""

    #: The largest number of seeds, at least 1.
    board_seeds: ClassVar[int]


def knows(
    policy: Any,
    model: Model[Any] | None = None,
    arguments: Mapping[str, Any] = MappingProxyType({}),
) -> Knowledge:
    """Return what a policy, its class or a function knows.

    Args:
        policy: The policy, its class, or a function.
        model: The model of the episode, of which a policy that takes options or looks ahead uses
            more: redrawn futures follow the world's constants, and hold the values that
            `kept_facts` names. Without a model it counts as one without such values.
        arguments: The arguments of its spec, by name.

    Raises:
        UsageError: The policy declares something else than one of `KNOWLEDGE`.
    """
    found = [_declared(policy)]
    if offers(policy, KnowsByArguments):
        levels = {name: _checked(policy, level) for name, level in policy.knows_by.items()}
        found += [level for name, level in levels.items() if name in arguments]
    if offers(policy, LooksAhead):
        found.append("state" if model is not None and kept_facts(model) else "rules")
    if model is not None and offers(policy, TakesOptions) and policy.takes_options:
        found += [role.options_know for role in model.roles.values()]
    return most_known(found)


def most_known(levels: Iterable[Knowledge]) -> Knowledge:
    """Return the level that includes the others; `observation` without any."""
    return max(levels, key=knowledge_order, default="observation")


def sees_more_than_rules(level: Knowledge) -> bool:
    """Return whether a level includes hidden state or the future."""
    return level in {"state", "future"}


def _declared(policy: Any) -> Knowledge:
    if offers(policy, Knows):
        return _checked(policy, policy.knows)
    return "future" if needs_world_seed(policy) else "observation"


def _checked(policy: Any, level: Any) -> Knowledge:
    """Return a level that a policy declares.

    Raises:
        UsageError: It does not exist.
    """
    for known in KNOWLEDGE:
        if level == known:
            return known
    text = f"{short_repr(policy)} declares knows={short_repr(level)}"
    raise UsageError(f"{text}; possible: {', '.join(KNOWLEDGE)}")


def needs_world_seed(policy: Any) -> bool:
    """Return whether a policy or its class receives the world's seed with its seat."""
    return offers(policy, NeedsWorldSeed) and policy.needs_world_seed


def decide_arguments(
    policy: Any, observation: Any, narrowed: Role | None
) -> tuple[Any] | tuple[Any, Role]:
    """Return the arguments of a policy's `decide`.

    Args:
        policy: The policy.
        observation: The observation.
        narrowed: The role with the actions that may answer; None if all of the role's may.
    """
    if narrowed is not None and offers(policy, TakesRole) and policy.takes_role:
        return observation, narrowed
    return (observation,)


def memoryless_roles(policies: Mapping[str, Policy]) -> frozenset[str]:
    """Return the roles whose policies decide by the present observation alone."""
    return frozenset(
        role for role, one in policies.items() if offers(one, Memoryless) and one.memoryless
    )


def is_drawing(policy: Any) -> bool:
    """Return whether the actions of a policy, its class or a function depend on chance."""
    return offers(policy, Draws) and policy.draws
