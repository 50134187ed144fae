"""`Policy`, the base class of policies, with neutral defaults, and the `Seat` that it takes."""

# ruff: noqa: ARG002, ARG003, ARG004 (the defaults of members ignore their arguments)

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar

from attrs import Factory, field, frozen

from desim.core.model import Model, kept_facts, refuse_hiding
from desim.core.roles import KNOWLEDGE, Knowledge, Role, knowledge_order
from desim.core.streams import generator_of
from desim.errors import UsageError
from desim.short_repr import short_repr


@frozen
class Seat:
    """The argument of a policy's method `seated`.

    Attributes:
        seed: That of the policy's own draws: the SHA-256 of the world's seed and the role's name.
        name: The role's name in the episode: `plant.retailer` where *role* is `retailer`.
        shows_model: Whether `model` may be read.
    """

    _model: Model[Any]
    role: str
    spec: Role
    seed: int
    name: str = field(default=Factory(lambda seat: seat.role, takes_self=True), kw_only=True)
    shows_model: bool = field(default=True, kw_only=True, repr=False)
    _world_seed: int | None = field(default=None, kw_only=True, repr=False)
    _draws: list[Any] = field(factory=list, kw_only=True, repr=False, eq=False)

    @property
    def world_seed(self) -> int:
        """The world's seed, of a part the part's; a UsageError if the policy declares no need."""
        if self._world_seed is None:
            raise UsageError("a policy reads the world's seed; declare needs_world_seed = True")
        return self._world_seed

    @property
    def model(self) -> Model[Any]:
        """The frozen parameters of the world; a UsageError if only observations may be known."""
        if not self.shows_model:
            raise UsageError(
                "a policy that knows 'observation' reads the world's parameters; declare "
                "knows = 'rules', or 'state' or 'future' if it uses more than constants"
            )
        return self._model

    def generator(self) -> Any:
        """Return a random generator of the seat's own, independent of all streams of the world.

        It begins anew in place where a future of the episode is redrawn.
        """
        self._draws.append(generator_of(self.seed))
        return self._draws[-1]

    def redraw(self, seed: int) -> None:
        """Begin all generators of the seat anew, also those of policies built inside its policy."""
        for one in self._draws:
            one.bit_generator.state = generator_of(seed).bit_generator.state


@frozen
class ShownMemory:
    """Learned content of a policy: the method, plain rows by column, and episodes by role."""

    method: str
    rows: Sequence[Mapping[str, Any]]
    episodes: Mapping[str, int] = field(factory=dict)


@frozen
class ReadReply:
    """A model's reply: reasoning, the text read for an action, and what makes it unusable."""

    thinking: str
    answer: str
    fault: str = ""


class Policy:
    """Decides for one role of one episode, by what it observes.

    Only `decide` is required. The attributes are declared on the class and are not parameters,
    because records, tables and boards read them before a policy is built; `notes` alone is the
    instance's. The arguments of a spec are the fields of the class.

    Attributes:
        knows: What it knows: `observation`, `rules`, `state` or `future`; None stands for `future`
            if it needs the world's seed, and for `observation` otherwise. Boards rank the policies
            of one level. Only above `observation` does the seat hold the world's parameters.
        knows_by: More that it knows where an argument is given, by the argument's name.
        draws: Whether its actions depend on chance or on the episode's seed, so that it is played
            on every seed also of a deterministic model; None if it does not say.
        memoryless: Whether its actions depend on the present observation alone, so that it need not
            be asked again where the past of an episode is repeated.
        takes_role: Whether its `decide` takes a second argument: the role with the actions that may
            answer the question, which need not be all, and their options.
        takes_options: Whether it decides by the options of roles, so that it knows what these know.
        looks_ahead: Whether it plays ahead, in redrawn futures, before it decides.
        needs_world_seed: Whether its seat holds the world's seed, with which the world can be
            played in advance. A published bot that only seeds its draws with it declares
            `knows = "observation"`.
        reaches: The arguments that name a file that it opens, a host that it contacts or an
            environment variable that it reads.
        seats: "all" if it plays every role of a model when no role is named.
        board_seeds: The most seeds on which a board plays it, at least 1; None for all.
        notes: Plain JSON values, read after every decision and recorded with it; assign a new
            mapping. Values under the key `usage` (calls, tokens, cost) are summed over the episode.
    """

    __slots__ = ()

    @classmethod
    def __attrs_init_subclass__(cls) -> None:
        own = {name for name in vars(Policy) if not name.startswith("_")}
        refuse_hiding(cls, "Policy", own - {"decide", "notes"})

    knows: Knowledge | None = None
    knows_by: ClassVar[Mapping[str, Knowledge]] = MappingProxyType({})
    draws: bool | None = None
    memoryless: bool = False
    takes_role: bool = False
    takes_options: bool = False
    looks_ahead: bool = False
    needs_world_seed: bool = False
    reaches: tuple[str, ...] = ()
    seats: str = ""
    board_seeds: int | None = None
    notes: Mapping[str, Any] = MappingProxyType({})

    def decide(self, observation: Any, /) -> Any:
        """Return an action, or an awaitable of one."""
        raise NotImplementedError

    def seated(self, seat: Seat, /) -> object:
        """Take the seat, once, before the first decision; a `UsageError` if it cannot play."""

    # `Any`, because the classes of simulators and episodes are in packages that import this.
    def take_simulator(self, simulator: Any, /) -> object:
        """Take the episode's `desim.Simulator`, before the first decision, if it `looks_ahead`.

        `simulator.scores(observation, actions, policies, futures=simulator.futures(16))` plays each
        action (a row of the array) to the end in each future (a column), and *policies* go on.
        """

    def after(self, episode: Any, /) -> object:
        """Learn from an ended `desim.Episode`; `play_series` calls this between episodes."""

    # Arguments below are unchecked texts, as in a record; some may be missing.

    @classmethod
    def arguments(
        cls, model: type | None, given: Mapping[str, Any], /
    ) -> tuple[Callable[..., Any], ...]:
        """Return what has the arguments of a spec as parameters; for every model if it is None."""
        return (cls,)

    @staticmethod
    def inner_policies(arguments: Mapping[str, str], /) -> Iterable[str]:
        """Return the arguments that are specs of other policies, which it builds."""
        return ()

    @staticmethod
    def dependencies(model: Model[Any], arguments: Mapping[str, str], /) -> Iterable[Any]:
        """Return modules, classes and functions found by the model's name or named by arguments.

        A sweep is not continued after their code has changed, nor after texts, given as bytes.
        """
        return ()


class OutsidePolicy(Policy):
    """A policy whose answers come from outside: a language model, or a person.

    Its input is paid for or takes effort, so it is recorded before it is used, and taken from the
    record where an episode is resumed or checked.
    """

    __slots__ = ()

    async def decide_async(self, *asked: Any) -> Any:
        """Return what `decide` would return for these arguments; others asked now wait with it."""
        import asyncio  # takes longer to import than desim itself

        answer = await asyncio.to_thread(self.decide, *asked)
        return await answer if hasattr(answer, "__await__") else answer

    # The three below are called before the first decision.

    def resume(self, entries: Sequence[Any], write: Callable[[Any], None], /) -> object:
        """Take the transcript of a cut record, used as long as it lasts instead of asking again.

        *write* writes a plain JSON value to the record before it returns.
        """

    def rehearse(self, entries: Iterable[Any], /) -> object:
        """Take all input from the transcript of whole episodes, and contact nothing outside.

        So a stranger's record is checked: the same input must lead to the same actions.
        """
        raise UsageError(f"{short_repr(self)} cannot play again from its transcript")

    def reuse(self, entries: Iterable[Any], /) -> object:
        """Take transcript entries of earlier episodes; what was asked for then costs nothing.

        An entry `predictions` holds answers of methods to the questions of this episode (`stored`),
        and to those from which a router learns its rules (`learned`).
        """

    @staticmethod
    def predictions(model: Any, episodes: Mapping[str, Any], /) -> Iterable[dict[str, Any]]:
        """Return a world's questions as plain values, with the answers of an episode by method."""
        return ()

    @staticmethod
    def shown_memory(path: str, /) -> ShownMemory:
        """Return what it has learned, by a file that is read as data."""
        raise UsageError(f"{path} is no memory of a policy")

    @staticmethod
    def read_reply(reply: Mapping[str, Any], /) -> ReadReply:
        """Return what a reply of a transcript holds; its values may be of any type."""
        return ReadReply(str(reply.get("thinking", "")), str(reply.get("text", "")))


class FunctionPolicy(Policy):
    """A policy that calls a function, a partial, a bound method or another callable."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.knows = getattr(function, "knows", None)
        self.draws = getattr(function, "draws", None)

    def decide(self, observation: Any, /) -> Any:
        """Return what the function returns."""
        return self.function(observation)


def as_policy(given: Any) -> type[Policy] | Policy:
    """Return a policy or its class; anything else that can be called is wrapped."""
    cls = given if isinstance(given, type) else type(given)
    if issubclass(cls, Policy) and cls.decide is not Policy.decide:
        policy: type[Policy] | Policy = given
        return policy
    decides = callable(getattr(given, "decide", None))
    if callable(given) and not isinstance(given, type) and not decides:
        return FunctionPolicy(given)
    if not decides or issubclass(cls, Policy):
        what = f"class {cls.__name__}" if given is cls else short_repr(given)
        raise UsageError(f"{what} is no policy: it has no method decide(observation)")
    raise UsageError(f"class {cls.__name__} is no policy: write class {cls.__name__}(desim.Policy)")


def knows(
    given: Any,
    model: Model[Any] | None = None,
    arguments: Mapping[str, Any] = MappingProxyType({}),
) -> Knowledge:
    """Return what a policy, its class or a function knows, by the *arguments* of its spec.

    Redrawn futures follow the world's constants and hold the values that `kept_facts` names, so one
    that looks ahead knows more of a *model*; so does one that takes options.
    """
    policy = as_policy(given)
    own = policy.knows or ("future" if policy.needs_world_seed else "observation")
    levels = {name: _checked(given, level) for name, level in policy.knows_by.items()}
    found = [_checked(given, own), *(levels[name] for name in levels if name in arguments)]
    if policy.looks_ahead:
        found.append("state" if model is not None and kept_facts(model) else "rules")
    if model is not None and policy.takes_options:
        found += [role.options_know for role in model.roles.values()]
    return most_known(found)


def most_known(levels: Iterable[Knowledge]) -> Knowledge:
    """Return the level that includes the others; `observation` without any."""
    return max(levels, key=knowledge_order, default="observation")


def sees_more_than_rules(level: Knowledge) -> bool:
    """Return whether a level includes hidden state or the future."""
    return level in {"state", "future"}


def _checked(policy: Any, level: Any) -> Knowledge:
    if level in [*KNOWLEDGE]:  # a list, as a level that is no text may have no hash
        known: Knowledge = level
        return known
    text = f"{short_repr(policy)} declares knows={short_repr(level)}"
    raise UsageError(f"{text}; possible: {', '.join(KNOWLEDGE)}")


def decide_as(policy: Policy, role: Role | None, observation: Any) -> Any:
    """Return what a policy decides; *role* has the actions that may answer the question."""
    return policy.decide(observation, *([role] if policy.takes_role else []))


def is_drawing(given: Any) -> bool:
    """Return whether a policy, its class or a function says that its actions depend on chance."""
    return bool(as_policy(given).draws)
