"""`Model`, the base class of worlds: the members that every model has, and the optional ones."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import (
    Any,
    ClassVar,
    Generic,
    Protocol,
    TypeGuard,
    TypeVar,
    runtime_checkable,
)

from desim.core.calendar import TickCalendar
from desim.core.roles import Role
from desim.core.world import World
from desim.errors import UsageError
from desim.schema.described import field_lines
from desim.short_repr import short_repr

#: Questions to one role at one tick, where a model states no `max_questions_per_tick`.
MAX_QUESTIONS_PER_TICK = 1_000


#: The fact that `kept_facts` names for a model that does not declare what a redraw keeps.
UNDECLARED = "whatever the model drew before, as it declares nothing"


#: The revision of a world that declares none.
FIRST_REVISION = 1


#: The revision of a world: a number, or for a model with parts the numbers by part.
Revision = int | Mapping[str, int]


#: A table that a person may look up: plain rows of text, numbers or None by column.
Rows = Sequence[Mapping[str, Any]]


S = TypeVar("S")


T = TypeVar("T")


#: Whether a class offers a protocol. `isinstance` of a runtime protocol takes 10 to 30 us on Python
#: 3.11, and every episode needs a dozen of them.
_OFFERED: dict[tuple[type, bool, type], bool] = {}


def offers(value: object, protocol: type[T]) -> TypeGuard[T]:
    """Return whether a model, a policy or a class of these offers an optional protocol.

    The same as `isinstance(value, protocol)`, but cached by class. A policy that is a function is
    tested at every call, because functions share a class and differ in their attributes.
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


class Model(ABC, Generic[S]):
    """The parameters of a world as a frozen class, and the four members that the framework needs.

    `S` is the class of the state that `begin` returns.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def roles(self) -> Mapping[str, Role]:
        """The roles by name, in the order in which they are listed."""

    @abstractmethod
    def begin(self, world: World) -> S:
        """Start the processes and return the state; its `ledgers`, if any, enter the digest."""

    @abstractmethod
    def score(self, state: S, /) -> float:
        """Return the score of an ended episode; higher is better."""

    @abstractmethod
    def metrics(self, state: S, /) -> Mapping[str, Any]:
        """Return further figures by name, as plain JSON values."""


def no_model(given: object, name: str = "") -> UsageError:
    """Return the error for what is no model, such as a class without the base class.

    Args:
        given: What was given: a class, or any object.
        name: What the error text calls it, such as `module:Class`.
    """
    what = name or short_repr(given)
    cls = given if isinstance(given, type) else type(given)
    if not all(hasattr(cls, member) for member in Model.__abstractmethods__):
        return UsageError(f"{what} is no model: it needs roles, begin, score and metrics")
    if not issubclass(cls, Model):
        cls_name = cls.__name__
        return UsageError(
            f"{what} is no model: write class {cls_name}(desim.Model), its base class"
        )
    return UsageError(f"{what} is no model: it is the class of one")


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
class HasRevision(Protocol):
    """A model class with a revision: a number that rises when equal answers give another episode.

    Records, boards and tasks state it. An episode recorded with an older revision replays where the
    code still gives the same; otherwise the refusal names both revisions.
    """

    #: At least 1; without this member, `FIRST_REVISION`.
    revision: ClassVar[int]


@runtime_checkable
class HasPresets(Protocol):
    """A model class with named sets of parameters."""

    #: Changes of parameters by the preset's name; the first preset is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]


@runtime_checkable
class HasPresetWarnings(Protocol):
    """A model class with presets whose scores must not be compared with those of the others."""

    #: A sentence by the preset's name, shown by `desim list` and below tables of its scores.
    preset_warnings: ClassVar[Mapping[str, str]]


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
class HasRoleTimes(Protocol):
    """A model that states the time as a role may know it, possibly not as its dates.

    A person in a role reads this in place of the date, for instance where the model hides the year.
    """

    def role_time(self, state: Any, role: str, tick: int) -> str:
        """Return a tick up to the present one as *role* may know it; empty if it has no name."""
        ...


@runtime_checkable
class HasCalendar(Protocol):
    """A model whose ticks have dates and times, so that it can share a clock with others."""

    @property
    def calendar(self) -> TickCalendar:
        """The calendar of the model played alone."""
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
        """Yield `module:function` of the functions that no code of this process has named.

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
class HasClusters(Protocol):
    """A model whose seeds choose what they play from a few, such as the cases of an interview.

    Seeds of one cluster depend on each other: intervals count clusters.
    """

    def cluster(self, seed: int) -> str:
        """Return the name of the cluster of a seed, such as the id of its case."""
        ...


@runtime_checkable
class HasFuture(Protocol):
    """A model that holds values which roles cannot observe yet, and redraws or keeps each of them.

    Draws that a model makes when they are needed, from a stream of its world, do not need this
    protocol: `World.redraw` changes the streams. Nor does a random time that `World.delay` waits
    for. One that `World.timeout` waits for is scheduled already, and belongs to `kept`.
    """

    @property
    def kept(self) -> Sequence[str]:
        """Names of the unobserved values that a redraw keeps, such as "employees' skills".

        If empty, a policy that plays on from a redrawn future uses nothing that roles cannot know.
        """
        ...

    def redraw(self, world: World, state: Any) -> None:
        """Replace what was drawn for later and no role can have observed yet; keep the rest.

        Called after `World.redraw`, between the question of a decision and its answer. What the
        open questions show must stay true. `World.stream` returns the generators of earlier names
        once more.
        """
        ...


@runtime_checkable
class HasLength(Protocol):
    """A model that says how long its episodes are."""

    @property
    def length(self) -> str:
        """The length of an episode in one or two words, such as "25 weeks"."""
        ...


@runtime_checkable
class HasRules(Protocol):
    """A model that states its rules in words."""

    def rules_for(self, role: str) -> str:
        """Return the rules that *role* needs before its first decision, in plain English.

        They state aims, costs, delays and the score, with the numbers of these parameters, and
        nothing that the role may not know.
        """
        ...


@runtime_checkable
class HasWorstScore(Protocol):
    """A model whose score cannot fall below a number."""

    @property
    def worst_score(self) -> float | None:
        """The lowest score that an episode can have; tables count a failed episode with it.

        None if the score has no lower bound with these parameters.
        """
        ...


@runtime_checkable
class HasBoardMetrics(Protocol):
    """A model with metrics without which its score can be misread."""

    @property
    def board_metrics(self) -> Sequence[str]:
        """Names of metrics; boards print their means beside the score.

        Of a metric that is a text or None, the share of episodes that have a text.
        """
        ...


@runtime_checkable
class HasScoreRange(Protocol):
    """A model whose scores have a lowest and a highest value."""

    @property
    def score_range(self) -> tuple[float, float] | None:
        """The lowest and the highest score that an episode can have; the narrowest that is certain.

        Stopping and selection then hold for any distribution of the scores. None if the score has
        no such range with these parameters.
        """
        ...


def revision_of(model: Model[Any]) -> Revision:
    """Return the revision of a world; of a model with parts the revisions by part.

    Names of parts inside a part are dotted. A model with parts and a revision of its own states
    that one under the empty name.

    Raises:
        UsageError: A revision is not a whole number of at least 1.
    """
    own = own_revision(type(model))
    if not offers(model, HasParts):
        return own or FIRST_REVISION
    found = {"": own} if own else {}
    for name, part in model.models.items():
        inside = revision_of(part)
        each = {"": inside} if isinstance(inside, int) else inside
        found |= {f"{name}.{at}".rstrip("."): number for at, number in each.items()}
    return found


def own_revision(cls: type) -> int | None:
    """Return the revision that the class of a model declares; None if it declares none.

    Raises:
        UsageError: It is not a whole number of at least 1.
    """
    revision = getattr(cls, "revision", None) if offers(cls, HasRevision) else None
    if revision is None or inspect.isdatadescriptor(revision):
        return None  # a parameter or a property of that name is something else
    if type(revision) is not int or revision < FIRST_REVISION:
        raise UsageError(
            f"the revision of {cls.__name__} is {short_repr(revision)}; it is a whole number of at "
            f"least {FIRST_REVISION}, as a ClassVar"
        )
    return revision


def revision_text(revision: Revision) -> str:
    """Return a revision in words, such as "2", or of a model with parts "plant 2, lender 1"."""
    if isinstance(revision, int):
        return f"{revision}"
    return ", ".join(f"{name} {number}".strip() for name, number in revision.items())


def default_roles(model: Model[Any]) -> tuple[str, ...]:
    """Return the roles that a policy takes when no role is named."""
    if offers(model, HasDefaultRoles):
        return tuple(model.default_roles)
    return tuple(name for name, role in model.roles.items() if not role.optional)


def model_of(model: Model[Any], name: str) -> tuple[Model[Any], str]:
    """Return the innermost model that a dotted name leads to, and the rest of the name.

    `plant.retailer` gives the model of the part `plant` and the rest `retailer`; `plant` gives the
    same model and an empty rest. A name that does not begin with a part gives the model itself.
    """
    part, _, inside = name.partition(".")
    if offers(model, HasParts) and part in (models := model.models):
        return model_of(models[part], inside)
    return model, name


def question_limit(model: Model[Any], role: str) -> int:
    """Return the most questions to a role at one tick; a part's own limit holds for its roles."""
    model, _ = model_of(model, role)
    if offers(model, HasQuestionLimit):
        return model.max_questions_per_tick
    return MAX_QUESTIONS_PER_TICK


def is_deterministic(model: Model[Any]) -> bool:
    """Return whether a model says that its episodes do not depend on the seed."""
    return offers(model, HasDeterminism) and model.deterministic


def kept_facts(model: Model[Any]) -> tuple[str, ...]:
    """Return the unobserved values that a redraw keeps; those of a part begin with its name.

    A model without parts that does not declare them counts as one that keeps something.
    """
    own = tuple(model.kept) if offers(model, HasFuture) else ()
    if offers(model, HasParts):
        parts = model.models.items()
        return (*own, *(f"{name}: {fact}" for name, one in parts for fact in kept_facts(one)))
    return own if offers(model, HasFuture) else (UNDECLARED,)


def world_rules(model: Model[Any], role: str) -> str:
    """Return the rules of a world for one role; they hold nothing that the role may not know.

    A role of a part gets the part's rules, after the first paragraph of the whole model's
    docstring. A model that states no rules is described by the first paragraph of its docstring.
    """
    part, inside = model_of(model, role)
    text = part.rules_for(inside) if offers(part, HasRules) else _first_paragraph(type(part))
    if part is model:
        return text
    return f"{_first_paragraph(type(model))}\n\nYou play {role!r}.\n\n{text}"


def rules_of(model: Model[Any], role: str) -> str:
    """Return the rules of a world for one role, and what the fields of its observations are."""
    fields = field_lines(model.roles[role].observation)
    return f"{world_rules(model, role)}\n\nEvery observation has these fields:\n{fields}"


def _first_paragraph(cls: type) -> str:
    return (inspect.getdoc(cls) or cls.__name__).split("\n\n")[0]
