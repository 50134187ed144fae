"""`Model`, the base class of worlds: the members that every model has, and the optional ones."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from attrs import fields

from desim.core.reported import (
    Figures,
    Holding,
    Periods,
    Rows,
    Statement,
    Texts,
    Time,
    rows_of,
)
from desim.core.roles import Role, split_name
from desim.core.world import World
from desim.errors import UsageError
from desim.schema.described import field_lines
from desim.short_repr import short_repr

#: The fact that `kept_facts` names for a model that does not declare what a redraw keeps.
UNDECLARED = "whatever the model drew before, as it declares nothing"

#: The revision of a world that declares none.
FIRST_REVISION = 1

#: The revision of a world: a number, or for a model with parts the numbers by part.
Revision = int | Mapping[str, int]

S = TypeVar("S")


if TYPE_CHECKING:
    from builtins import property as default
else:

    class default:  # noqa: N801 (a decorator)
        """A property that a field of the same name replaces, as it cannot be set itself."""

        def __init__(self, get: Callable[[Any], Any]) -> None:
            self._get = get
            self.__doc__ = get.__doc__

        def __get__(self, model: Any, cls: type | None = None) -> Any:
            return self if model is None else self._get(model)


class Model(ABC, Generic[S]):
    """The parameters of a world as a frozen class of attrs; it has four members, and may have more.

    `S` is the class of the state that `begin` returns. It starts processes, which are generators,
    with `world.process(generator)`: `action = yield world.ask(role, observe)` puts a question to a
    role, `yield world.timeout(ticks)` lets time pass, and `world.stream(name)` is a generator of
    random numbers (see `World`). The values of `figures`, `time`, `texts` and `series` are of
    classes in `desim.core.reported`.
    """

    __slots__ = ()

    #: Rises when equal answers give another episode; None counts only the parts of a model. An
    #: episode recorded with an older revision replays where the code still gives the same.
    revision: ClassVar[int | None] = FIRST_REVISION

    #: Changes of parameters by the preset's name; the first preset is the default.
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"default": {}}

    #: By preset, why its scores must not be compared with those of the others.
    preset_warnings: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def __attrs_init_subclass__(cls) -> None:
        # Called by attrs for each subclass; an annotation alone makes a parameter.
        refuse_hiding(cls, "Model", [n for n, v in vars(Model).items() if not _may_be_field(v)])

    # -- what every model has ----------------------------------------------------------------------

    @property
    @abstractmethod
    def roles(self) -> Mapping[str, Role]:
        """Each `Role(observation class, action class, options)` by name, in the order of lists.

        The classes are frozen ones of attrs; *options* returns `Option(action, value)` in a list.
        """

    @abstractmethod
    def begin(self, world: World) -> S:
        """Start the processes and return the state; its `ledgers`, if any, enter the digest."""

    @abstractmethod
    def score(self, state: S, /) -> float:
        """Return the score of an ended episode; higher is better."""

    @abstractmethod
    def metrics(self, state: S, /) -> Mapping[str, Any]:
        """Return further figures by name, as plain JSON values."""

    # -- parameters --------------------------------------------------------------------------------

    @default
    def models(self) -> Mapping[str, "Model[Any]"]:
        """The models of its parts: `plant.retailer` is the role `retailer` of the part `plant`."""
        return {}

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset, the first one if *name* is empty, with some parameters changed."""
        from desim import from_preset  # the catalog, which imports this module

        return from_preset(cls, name, changes)

    # On the class: the files are named before the model is built from a record, which opens them.
    @classmethod
    def files(cls, params: Mapping[str, Any], /) -> Sequence[str]:
        """Return the files opened to build or play it, from plain, unchecked values of a record."""
        return ()

    # -- roles -------------------------------------------------------------------------------------

    @default
    def default_roles(self) -> Sequence[str]:
        """The roles that a policy takes when no role is named: those that are not optional."""
        return tuple(name for name, role in self.roles.items() if not role.optional)

    @default
    def max_questions_per_tick(self) -> int:
        """The most questions to one role at one tick; at least 1."""
        return 1_000

    def texts(self, role: str, /) -> Texts:
        """Return the rules of a role."""
        return Texts()

    def after(self, state: S, role: str, action: Any, observation: Any, /) -> str | None:
        """Return in a sentence or two what a role's last action did, or why it was `Refused`.

        Called when the next decision of the role is open, with its observation; the text holds
        nothing that the role may not know. None if the model does not say what is refused.
        """
        return None

    @property
    def time(self) -> Time:
        """The calendar, dates and length of episodes."""
        return Time()

    # -- chance ------------------------------------------------------------------------------------

    @default
    def deterministic(self) -> bool:
        """True where, with these parameters, no draw of the model depends on the seed."""
        return False

    @default
    def kept(self) -> Sequence[str] | None:
        """Names of the values that no role can observe and a redraw keeps; None if undeclared.

        Such as "employees' skills", or a random time that `World.timeout` waits for. If empty, a
        policy that plays on from a redrawn future uses nothing that roles cannot know.
        """
        return None

    def redraw(self, world: World, state: S) -> None:
        """Replace what was drawn for later and no role can have observed yet; keep the rest.

        Called after `World.redraw`, between the question of a decision and its answer; what the
        open questions show must stay true.
        """

    def cluster(self, seed: int, /) -> str | None:
        """Return what a seed chooses from a few, such as the id of its case; None if nothing.

        Seeds of one cluster depend on each other: intervals count clusters.
        """
        return None

    # -- what happened -----------------------------------------------------------------------------

    @property
    def figures(self) -> Figures:
        """Units and bounds of the score, the metrics and the series."""
        return Figures()

    #: A method that returns by name one number, or NaN, for each period that was played; `Periods`
    #: know when these end. None from a model without series.
    series: Callable[[S], Mapping[str, Sequence[float] | Periods]] | None = None

    #: A method that returns by name the tables that a role may look up during an episode. None from
    #: a model without tables.
    tables: Callable[[S, str], Mapping[str, Rows]] | None = None

    def statements(self, state: S, /) -> Mapping[str, Rows | Statement]:
        """Return reports of the books by name: "income_statement", "balance_sheet", ..."""
        return {}

    def check(self, state: S, /) -> None:
        """Raise `ModelFailed` if ledgers show at the end that something was created or lost."""

    # -- as a company of a group -------------------------------------------------------------------

    def purse(self, state: S, /) -> Holding | None:
        """Return the cash in cents, as a `ledgers.Intercompany`; None if it cannot be moved."""
        return None

    def stock(self, state: S, /) -> Mapping[str, Holding]:
        """Return the goods by place, such as a `ledgers.GoodsExchange`."""
        return {}


def _may_be_field(member: Any) -> bool:
    return isinstance(member, default | int)


def refuse_hiding(cls: Any, base: str, members: Collection[str]) -> None:
    """Refuse parameters of an attrs class that have the name of one of *members* of its base."""
    for name in (one.name for one in fields(cls) if one.init):
        if name in members:
            raise UsageError(
                f"the parameter {name!r} of {cls.__name__} hides a member of desim.{base} that is "
                "no parameter; give it another name, or annotate the member as a ClassVar"
            )


class ItemsModel(Model[S]):
    """A model that asks many questions, which are a sample of those that could be asked.

    Intervals of its scores are over the items: further seeds only repeat them.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def item_groups(self) -> Mapping[str, Sequence[str]]:
        """By item the groups whose shares of right answers are reported, such as a capability."""

    @abstractmethod
    def item_results(self, state: S, /) -> Mapping[str, tuple[float, bool]]:
        """Return by item its part of the score, which is their mean, and whether it was right."""


def no_model(given: object, name: str = "") -> UsageError:
    """Return the error for what is no model, a class or an object; *name* is what the text says."""
    cls = given if isinstance(given, type) else type(given)
    if not all(hasattr(cls, member) for member in Model.__abstractmethods__):
        why = "it needs roles, begin, score and metrics"
    elif issubclass(cls, Model):
        why = "it is the class of one"
    else:
        why = f"write class {cls.__name__}(desim.Model), its base class"
    return UsageError(f"{name or short_repr(given)} is no model: {why}")


def revision_of(model: Model[Any]) -> Revision:
    """Return the revision of a world; of a model with parts by dotted part, its own under ""."""
    own = own_revision(type(model))
    if not model.models:
        return own or FIRST_REVISION
    found = {"": own} if own else {}
    for name, part in model.models.items():
        inside = revision_of(part)
        each = {"": inside} if isinstance(inside, int) else inside
        found |= {f"{name}.{at}".rstrip("."): number for at, number in each.items()}
    return found


def own_revision(cls: type[Model[Any]]) -> int | None:
    """Return the revision of a model's class, as `revision_of`; None if it only has parts."""
    revision: Any = cls.revision  # a parameter or a property of that name is something else
    return revision if type(revision) is int else None


def revision_text(revision: Revision) -> str:
    """Return a revision in words, such as "2", or of a model with parts "plant 2, lender 1"."""
    if isinstance(revision, int):
        return f"{revision}"
    return ", ".join(f"{name} {number}".strip() for name, number in revision.items())


def model_of(model: Model[Any], name: str) -> tuple[Model[Any], str]:
    """Return the innermost model that a dotted name leads to, and the rest, which may be empty."""
    part, inside = split_name(name)
    if part in (models := model.models):
        return model_of(models[part], inside)
    return model, name


def kept_facts(model: Model[Any]) -> tuple[str, ...]:
    """Return the unobserved values that a redraw keeps; those of a part begin with its name."""
    parts = model.models.items()
    own = (UNDECLARED,) if model.kept is None and not parts else model.kept or ()
    return (*own, *(f"{name}: {fact}" for name, one in parts for fact in kept_facts(one)))


def world_rules(model: Model[Any], role: str) -> str:
    """Return the rules of a world for one role, of a part behind the docstring of the whole."""
    part, inside = model_of(model, role)
    text = part.texts(inside).rules or _first_paragraph(type(part))
    if part is model:
        return text
    return f"{_first_paragraph(type(model))}\n\nYou play {role!r}.\n\n{text}"


def rules_of(model: Model[Any], role: str) -> str:
    """Return the rules of a world for one role, and what the fields of its observations are."""
    fields = field_lines(model.roles[role].observation)
    return f"{world_rules(model, role)}\n\nEvery observation has these fields:\n{fields}"


def statements_of(model: Model[S], state: S) -> dict[str, Rows]:
    """Return the statements of a model by name."""
    return {name: rows_of(name, given) for name, given in model.statements(state).items()}


def world_doc(cls: type) -> str:
    """Return the docstring of a world's class, or of a world that it subclasses; may be empty."""
    worlds = takewhile(lambda one: not inspect.isabstract(one), cls.__mro__)
    return inspect.cleandoc(next((one.__doc__ for one in worlds if one.__doc__), ""))


def _first_paragraph(cls: type) -> str:
    return (world_doc(cls) or cls.__name__).split("\n\n")[0]
