"""What a model and a policy must offer, and what each may offer. None of them is a base class.

`Model` and `Policy` are required; every further member is optional and declared by a protocol of
its own, which the framework tests with `offers`.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Protocol,
    TypeGuard,
    TypeVar,
    runtime_checkable,
)

from desim.core.columns import Column
from desim.core.roles import Role
from desim.core.shown_memory import ShownMemory
from desim.core.world import World

if TYPE_CHECKING:  # `import desim` does without
    from desim.core.known_scores import KnownScores

__all__ = [
    "MAX_QUESTIONS_PER_TICK",
    "UNDECLARED",
    "DecidesAsync",
    "DependsOnModel",
    "Draws",
    "Exportable",
    "HasBoardSeeds",
    "HasCalendar",
    "HasDates",
    "HasDefaultRoles",
    "HasDeterminism",
    "HasFuture",
    "HasIntercompany",
    "HasKnownScores",
    "HasLedgers",
    "HasModelArguments",
    "HasParts",
    "HasPresets",
    "HasQuestionLimit",
    "HasRoleTimes",
    "HasRules",
    "HasSeries",
    "HasSeriesColumns",
    "HasSeriesTicks",
    "HasStatements",
    "HasTables",
    "HasWorstScore",
    "Informed",
    "Learner",
    "Ledger",
    "LooksAhead",
    "Memoryless",
    "Model",
    "NamesFunctions",
    "NamesModels",
    "NamesPolicies",
    "NeedsWorldSeed",
    "Noted",
    "OpensFiles",
    "Policy",
    "ReachesOutside",
    "Resumable",
    "Rows",
    "Seated",
    "ShowsMemory",
    "Statement",
    "TakesAllRoles",
    "TickCalendar",
    "default_roles",
    "is_deterministic",
    "is_drawing",
    "is_informed",
    "kept_facts",
    "memoryless_roles",
    "model_arguments",
    "model_of",
    "needs_world_seed",
    "offers",
    "question_limit",
]

#: Questions to one role at one tick, where a model states no `max_questions_per_tick`.
MAX_QUESTIONS_PER_TICK = 1_000

#: What `kept_facts` names for a model that does not say what a redraw keeps.
UNDECLARED = "whatever the model drew before, as it declares nothing"

#: A table that a person may look up: plain rows of text, numbers or None by column.
Rows = Sequence[Mapping[str, Any]]

S = TypeVar("S")

T = TypeVar("T")

#: Whether a class offers a protocol. `isinstance` of a runtime protocol takes 10 to 30 us on Python
#: 3.11, and every episode needs a dozen of them.
_OFFERED: dict[tuple[type, bool, type], bool] = {}


def offers(value: object, protocol: type[T]) -> TypeGuard[T]:
    """Return whether a model, a policy or a class of these offers an optional protocol.

    The same as `isinstance(value, protocol)`, decided once for each class, and for a function that
    is a policy at every call, as functions of one class differ in their attributes.
    """
    if isinstance(value, FunctionType):
        return isinstance(value, protocol)
    # A class and its instances are different keys: a class has the attributes of its methods, but
    # not those that its constructor sets.
    is_class = isinstance(value, type)
    key = (value if is_class else type(value), is_class, protocol)
    found = _OFFERED.get(key)  # type: ignore[arg-type] # a class, in both cases
    if found is None:
        found = _OFFERED[key] = isinstance(value, protocol)  # type: ignore[index]
    return found


# -- models ----------------------------------------------------------------------------------------

# One small protocol a member, instead of one large one with defaults: a model states what it offers
# by having it, needs no base class, and mypy checks the signature where the framework calls it.


@runtime_checkable
class Model(Protocol[S]):
    """The parameters of a world as a frozen class, and the four members that the framework needs.

    `S` is the class of the state that `begin` returns.
    """

    @property
    def roles(self) -> Mapping[str, Role]:
        """The roles by name, in the order in which they are listed."""
        ...

    def begin(self, world: World) -> S:
        """Start the processes and return the state; its `ledgers`, if any, enter the digest."""
        ...

    def score(self, state: S) -> float:
        """Return the score of an ended episode; higher is better."""
        ...

    def metrics(self, state: S) -> Mapping[str, Any]:
        """Return further figures by name, as plain JSON values."""
        ...


@runtime_checkable
class HasDefaultRoles(Protocol):
    """A model that says which roles a policy takes when no role is named."""

    @property
    def default_roles(self) -> Sequence[str]:
        """Names of roles; without this member, all roles that are not optional."""
        ...


@runtime_checkable
class HasQuestionLimit(Protocol):
    """A model that limits how often one role may be asked at one tick."""

    @property
    def max_questions_per_tick(self) -> int:
        """At least 1; without this member, `MAX_QUESTIONS_PER_TICK`."""
        ...


@runtime_checkable
class HasPresets(Protocol):
    """A model class with named sets of parameters."""

    #: Changes of parameters by the preset's name; the first preset is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]


# On the class and not on an instance: the files are named before the model is built from a record,
# which would open them.
@runtime_checkable
class OpensFiles(Protocol):
    """A model class with parameters that may name files, which are opened to build or play it."""

    @classmethod
    def files(cls, params: Mapping[str, Any], /) -> Sequence[str]:
        """Return the files that these parameters name.

        Args:
            params: Plain JSON values by parameter, unchecked, as in a record; some may be missing.
        """
        ...


@runtime_checkable
class HasTables(Protocol):
    """A model with tables that a person may look up during an episode."""

    def tables(self, state: Any, role: str) -> Mapping[str, Rows]:
        """Return tables by name that hold nothing *role* may not know."""
        ...


# Not the class of the folder `ledgers`, which desim does not import: any object with a digest will
# do.
class Ledger(Protocol):
    """What the framework needs of a ledger."""

    def digest(self) -> str:
        """Return a fingerprint: equal for equal entries in equal order."""
        ...


# A member of the state, because the parameters are frozen and a ledger is not.
@runtime_checkable
class HasLedgers(Protocol):
    """A state whose ledgers enter the digest of the result."""

    @property
    def ledgers(self) -> Sequence[Ledger]:
        """The ledgers, always in the same order."""
        ...


@runtime_checkable
class Exportable(Protocol):
    """A ledger that can be written in forms which other programs read."""

    #: The forms that `export` offers, such as "csv".
    export_forms: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str:
        """Distinguishes the ledgers of one state in file names; may be empty."""
        ...

    def export(self, form: str, date: Callable[[int], dt.date] | None = None) -> Mapping[str, str]:
        """Return texts by file name.

        Args:
            form: One of `export_forms`.
            date: Returns the day of a tick, if the model has dates.

        Raises:
            ValueError: The ledger cannot be written in that form.
        """
        ...


# Not the class of the folder `ledgers`, for the same reason as `Ledger`.
@runtime_checkable
class Statement(Protocol):
    """A statement with an amount for each of its lines, such as `ledgers.statements.Statement`."""

    def money(self) -> Mapping[str, float]:
        """Return the amounts in the currency itself, by line from top to bottom."""
        ...


@runtime_checkable
class HasStatements(Protocol):
    """A model that reports on its state in statements, such as an income statement."""

    def statements(self, state: Any) -> Mapping[str, Rows | Statement]:
        """Return tables by name: "income_statement", "balance_sheet", ..."""
        ...


@runtime_checkable
class HasDates(Protocol):
    """A model whose ticks have dates."""

    def date(self, tick: int) -> dt.date:
        """Return the day of a tick; ticks of opening entries may be negative."""
        ...


@runtime_checkable
class HasRoleTimes(Protocol):
    """A model that states the time as a role may know it, which may differ from its dates.

    A person in a role reads this in place of the date, for instance where the model hides the year.
    """

    def role_time(self, state: Any, role: str, tick: int) -> str:
        """Return a tick up to the present one as *role* may know it; empty where it has no name."""
        ...


class TickCalendar(Protocol):
    """Maps the ticks of a model to dates and times without a time zone."""

    def moment(self, tick: int) -> dt.datetime:
        """Return when a tick is, to the microsecond; a later tick is later."""
        ...

    def last_tick(self, moment: dt.datetime) -> int:
        """Return the last tick that is not after a moment; -1 or less before tick 0."""
        ...

    def starting(self, start: dt.datetime) -> "TickCalendar":
        """Return the same calendar for a model that begins at another moment.

        A calendar whose first tick is at an hour of the day, or at the start of a month, begins at
        the first such moment that is not before the given one.
        """
        ...


@runtime_checkable
class HasCalendar(Protocol):
    """A model whose ticks have dates and times, so that it can share a clock with others."""

    @property
    def calendar(self) -> TickCalendar:
        """The calendar of the model played alone."""
        ...


@runtime_checkable
class HasIntercompany(Protocol):
    """A model of a company that can exchange cash with the other companies of a group.

    Cash that is received raises what the company owes to the partner, or lowers what the partner
    owes to it: an intercompany account, which its statements show.
    """

    def cash(self, state: Any) -> int:
        """Return the cash on hand in cents."""
        ...

    def receive_cash(self, state: Any, cents: int, partner: str) -> None:
        """Post cash that *partner* has sent at this tick; at least 1 cent."""
        ...

    def pay_cash(self, state: Any, cents: int, partner: str) -> None:
        """Post cash that is sent to *partner* at this tick.

        Raises:
            ValueError: It is more than the cash on hand, or less than 1 cent.
        """
        ...

    def intercompany(self, state: Any) -> Mapping[str, int]:
        """Return the balances by partner in cents: above 0 is owed to this company."""
        ...


@runtime_checkable
class HasParts(Protocol):
    """A model made of models on one clock, whose roles begin with the names of its parts."""

    @property
    def models(self) -> Mapping[str, Model[Any]]:
        """The models by part: `plant.retailer` is the role `retailer` of the part `plant`."""
        ...

    def with_models(self, models: Mapping[str, Model[Any]], /) -> "HasParts":
        """Return the model with other models in some of its parts.

        Raises:
            ValueError: A part does not take that model.
        """
        ...

    def seed_of(self, part: str, seed: int, /) -> int:
        """Return the seed with which a part is played in an episode."""
        ...


# On the class, for the same reason as `OpensFiles`.
@runtime_checkable
class NamesModels(Protocol):
    """A model class whose parameters name other models, or hold the parameters of other models."""

    @classmethod
    def inner_models(
        cls, params: Mapping[str, Any], /
    ) -> Iterable[tuple[str, str, Mapping[str, Any]]]:
        """Yield the part, the model's name and the parameters of every model that is named.

        Args:
            params: Plain JSON values by parameter, unchecked, as in a record; some may be missing.
        """
        ...


# On the class, for the same reason as `OpensFiles`.
@runtime_checkable
class NamesFunctions(Protocol):
    """A model class whose parameters name functions, which are called to play it."""

    @classmethod
    def functions(cls, params: Mapping[str, Any], /) -> Iterable[str]:
        """Yield `module:function` of those that no code of this process has named.

        Args:
            params: Plain JSON values by parameter, unchecked, as in a record; some may be missing.
        """
        ...


@runtime_checkable
class HasDeterminism(Protocol):
    """A model that says whether its episodes depend on the seed."""

    @property
    def deterministic(self) -> bool:
        """True where, with these parameters, no draw of the model depends on the seed.

        Two episodes of a policy that draws no random numbers are then the same for all seeds.
        Without this member a model counts as one whose draws depend on the seed.
        """
        ...


@runtime_checkable
class HasFuture(Protocol):
    """A model that drew or was given more than roles can observe yet, and says what becomes of it.

    Draws that a model makes when they are needed, from a stream of its world, need nothing of this:
    `World.redraw` reaches them.
    """

    @property
    def kept(self) -> Sequence[str]:
        """What no redraw replaces though no role observes it, as plain names: "employees' skills".

        Empty: a policy that plays on from a redrawn future uses nothing that roles cannot know.
        """
        ...

    def redraw(self, world: World, state: Any) -> None:
        """Replace what was drawn for later and no role can have observed yet; keep the rest.

        Called after `World.redraw`, between the question of a decision and its answer: what the
        open questions show stays true. `World.stream` gives the generators of earlier names again.
        """
        ...


@runtime_checkable
class HasRules(Protocol):
    """A model that states its rules in words."""

    def rules_for(self, role: str) -> str:
        """Return what *role* has to know before its first decision, in plain English.

        Aims, costs, delays and what the score is, with the numbers of these parameters; nothing
        that the role may not know.
        """
        ...


@runtime_checkable
class HasWorstScore(Protocol):
    """A model whose score cannot fall below a number."""

    @property
    def worst_score(self) -> float | None:
        """The lowest score that an episode can have, with which a failed one counts in tables.

        None where there is none with these parameters.
        """
        ...


# On the class, because the scores are those of a preset, whose name a model does not know.
@runtime_checkable
class HasKnownScores(Protocol):
    """A model class with data on the scores of its presets: floors, best runs and upper bounds."""

    @classmethod
    def known_scores(cls, preset: str, /) -> "KnownScores | None":
        """Return what is known of the scores of a preset; None where nothing is.

        Raises:
            UsageError: The data are missing or damaged.
        """
        ...


@runtime_checkable
class HasSeries(Protocol):
    """A model that reports what happened period by period."""

    def series(self, state: Any) -> Mapping[str, Sequence[float]]:
        """Return one number for each period (month, week) that was played, by name in snake_case.

        Called at the end of an episode of which the series are wanted. A number that is not known
        is NaN.
        """
        ...


@runtime_checkable
class HasSeriesColumns(Protocol):
    """A model that says what its series measure: those of `series` and of `world.series`."""

    @property
    def series_columns(self) -> Mapping[str, Column]:
        """Unit, label, role and period by the name of the series."""
        ...


@runtime_checkable
class HasSeriesTicks(Protocol):
    """A model that says when the periods of its series end."""

    def series_ticks(self, state: Any) -> Mapping[str, Sequence[int]]:
        """Return the tick at the end of each period, by the name of the series."""
        ...


def default_roles(model: Model[Any]) -> tuple[str, ...]:
    """Return the roles that a policy takes when no role is named."""
    if offers(model, HasDefaultRoles):
        return tuple(model.default_roles)
    return tuple(name for name, role in model.roles.items() if not role.optional)


def model_of(model: Model[Any], name: str) -> tuple[Model[Any], str]:
    """Return the model inside a model to which a name leads, and what is left of the name.

    `plant.retailer` leads to the model of the part `plant`, and `retailer` is left; `plant` leads
    there, and nothing is left. A name that begins with no part leads to the model itself.
    """
    part, _, inside = name.partition(".")
    if offers(model, HasParts) and part in (models := model.models):
        return model_of(models[part], inside)
    return model, name


def question_limit(model: Model[Any], role: str) -> int:
    """Return how often a role may be asked at one tick; a role of a part as often as alone."""
    model, _ = model_of(model, role)
    if offers(model, HasQuestionLimit):
        return model.max_questions_per_tick
    return MAX_QUESTIONS_PER_TICK


def is_deterministic(model: Model[Any]) -> bool:
    """Return whether a model says that its episodes do not depend on the seed."""
    return offers(model, HasDeterminism) and model.deterministic


def kept_facts(model: Model[Any]) -> tuple[str, ...]:
    """Return what a redrawn future keeps of a model though no role observes it; parts by name.

    A model that is silent on it, and has no parts, counts as one that keeps something.
    """
    own = tuple(model.kept) if offers(model, HasFuture) else ()
    if offers(model, HasParts):
        parts = model.models.items()
        return (*own, *(f"{name}: {fact}" for name, one in parts for fact in kept_facts(one)))
    return own if offers(model, HasFuture) else (UNDECLARED,)


# -- policies --------------------------------------------------------------------------------------

# A policy receives no world, clock or ledger: what it does not observe it cannot use, and the same
# instance plays in a run, in a sweep, behind an adapter and in a replay.


@runtime_checkable
class Policy(Protocol):
    """Decides for one role of one episode."""

    def decide(self, observation: Any, /) -> Any:
        """Return an action, or an awaitable of one."""
        ...


@runtime_checkable
class DecidesAsync(Protocol):
    """A policy that also decides in a coroutine, which `play_async` awaits in place of `decide`.

    So several of them that decide at one tick wait together, with the same records.
    """

    async def decide_async(self, observation: Any, /) -> Any:
        """Return the action that `decide` would return."""
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
        """Plain JSON values, read after every decision; empty where there is nothing to note."""
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
    """A policy class that is built from its seat: model, role, schema and a seed for its draws.

    Its class method `seated(seat, **arguments)` replaces the constructor; the arguments after
    *seat* are those of its spec.
    """

    seated: ClassVar[Callable[..., Policy]]


@runtime_checkable
class HasModelArguments(Protocol):
    """A policy class that takes further arguments, which depend on the model.

    `seated` receives them by name, beside those of its own signature.
    """

    @staticmethod
    def model_arguments(model: type, /) -> Callable[..., Any]:
        """Return a class or function whose parameters are these arguments, for a model's class."""
        ...


def model_arguments(policy: Any, model: type) -> tuple[Callable[..., Any], ...]:
    """Return what declares the further arguments of a policy class for a model; often empty."""
    return (policy.model_arguments(model),) if offers(policy, HasModelArguments) else ()


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


# Static, because a file is shown without a seat.
@runtime_checkable
class ShowsMemory(Protocol):
    """A policy class that keeps what it learns in a file and can show such a file."""

    @staticmethod
    def shown_memory(path: str, /) -> ShownMemory:
        """Return what a file holds; the file may come from a stranger.

        Raises:
            UsageError: There is no such file, or it is no memory of this policy.
        """
        ...


@runtime_checkable
class TakesAllRoles(Protocol):
    """A policy class that plays every role of a model when no role is named: `seats = "all"`."""

    seats: ClassVar[str]


@runtime_checkable
class Informed(Protocol):
    """A policy class, or a function, that uses facts which its role cannot observe.

    For instance next month's demand, the clients that will turn out adversarial, or the seed. Lists
    and boards mark it: it shows what knowing these facts is worth, and competes with no policy that
    does not know them.
    """

    informed: ClassVar[bool]


# Declared, because whoever has the seed can build the world again and play it in advance.
@runtime_checkable
class NeedsWorldSeed(Protocol):
    """A policy class whose `seated` receives a `WorldSeat`, which holds the world's seed.

    It counts as informed, unless it says `informed = False`: a published bot whose runner seeds its
    draws with the world's seed, and which uses the seed for nothing else.
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

    #: How many seeds at most; at least 1.
    board_seeds: ClassVar[int]


def is_informed(policy: Any, model: Model[Any] | None = None) -> bool:
    """Return whether a policy, its class or a function uses facts that its role cannot observe.

    Args:
        policy: The policy, its class, or a function.
        model: The model of the episode. A policy that looks ahead is informed where a redrawn
            future keeps facts that no role observes, see `kept_facts`; without a model that is left
            out.
    """
    if policy.informed if offers(policy, Informed) else needs_world_seed(policy):
        return True
    return model is not None and offers(policy, LooksAhead) and bool(kept_facts(model))


def needs_world_seed(policy: Any) -> bool:
    """Return whether a policy or its class receives the world's seed with its seat."""
    return offers(policy, NeedsWorldSeed) and policy.needs_world_seed


def memoryless_roles(policies: Mapping[str, Policy]) -> frozenset[str]:
    """Return the roles whose policies decide by the present observation alone."""
    return frozenset(
        role for role, one in policies.items() if offers(one, Memoryless) and one.memoryless
    )


def is_drawing(policy: Any) -> bool:
    """Return whether the actions of a policy, its class or a function depend on chance."""
    return offers(policy, Draws) and policy.draws
