"""`PartsModel`, the base class of models that are made of parts."""

import datetime as dt
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from attrs import evolve

from desim.composition.group import Group
from desim.composition.parts import Part
from desim.core.calendar import Calendar
from desim.core.model import Model
from desim.core.reported import Figures, Periods, Rows, Statement, Time
from desim.core.roles import Role, split_name
from desim.show.column import Column

T = TypeVar("T")

#: The score of a part whose model does not describe it.
_SCORE = Column(better="higher")

#: Stands instead of the reason of the end for a part that has not begun.
NOT_BEGUN = "not begun"


class PartsModel(Model[Any]):
    """A base class with the members that follow from the parts.

    Names of roles, metrics, series and statements begin with the name of the part and a dot.
    """

    #: The date of common tick 0, ISO.
    start: str
    revision: ClassVar[int | None] = None

    @property
    @abstractmethod
    def models(self) -> dict[str, Model[Any]]:
        """The models of the parts by name."""

    @abstractmethod
    def with_models(self, models: Mapping[str, Model[Any]], /) -> Self:
        """Return it with other models in some parts; a ValueError if a part refuses one."""

    # These two are on the class: they are asked before the model is built from a record, whose
    # plain parameters are unchecked; some may be missing.
    @classmethod
    @abstractmethod
    def inner_models(
        cls, params: Mapping[str, Any], /
    ) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yield the part, the model's name and the parameters of every model that is named."""

    @classmethod
    def functions(cls, params: Mapping[str, Any], /) -> Sequence[str]:  # noqa: ARG003 (none)
        """Return `module:function` of the functions that no code of this process has named."""
        return ()

    @property
    def roles(self) -> dict[str, Role]:
        return _under((name, one.roles) for name, one in self.models.items())

    @property
    def default_roles(self) -> tuple[str, ...]:
        inside = (f"{name}.{r}" for name, one in self.models.items() for r in one.default_roles)
        return (*(role for role in self.roles if "." not in role), *inside)

    @property
    def deterministic(self) -> bool:
        return all(one.deterministic for one in self.models.values())

    @property
    def time(self) -> Time:
        calendar = Calendar(dt.datetime.fromisoformat(self.start))
        return Time(
            calendar=calendar,
            date=lambda tick: calendar.moment(tick).date(),
            role_time=self._role_time,
        )

    @property
    def figures(self) -> Figures:
        own = [(name, model.figures) for name, model in self.models.items()]
        return Figures(
            columns=_under((name, {"score": _SCORE, **one.columns}) for name, one in own),
            series={
                f"{name}.{key}": evolve(column, role=column.role and f"{name}.{column.role}")
                for name, one in own
                for key, column in one.series.items()
            },
        )

    def group_of(self, state: Any) -> Group:
        """Return the group of parts in a state; the state itself if the subclass adds nothing."""
        group: Group = state
        return group

    def check(self, state: Any) -> None:
        group = self.group_of(state)
        group.check_conserved()
        for part in group.parts.values():
            part.model.check(part.state)

    def metrics(self, state: Any) -> dict[str, Any]:
        # A part has metrics when it has ended.
        group = self.group_of(state)
        scores = group.scores().items()
        return _under((n, {"score": score, **_end(group.parts.get(n))}) for n, score in scores)

    def series(self, state: Any) -> dict[str, Sequence[float] | Periods]:
        return {
            f"{name}.{key}": _on_common_ticks(part, each)
            for name, part in self.group_of(state).parts.items()
            if part.model.series
            for key, each in part.model.series(part.state).items()
        }

    def statements(self, state: Any) -> dict[str, Rows | Statement]:
        parts = self.group_of(state).parts.items()
        return _under((n, one.model.statements(one.state)) for n, one in parts)

    def tables(self, state: Any, role: str) -> dict[str, Rows]:
        part, inside = self._part_of(state, role)
        tables = part.model.tables if part else None
        return dict(tables(part.state, inside)) if part and tables else {}

    def after(self, state: Any, role: str, action: Any, observation: Any) -> str | None:
        part, inside = self._part_of(state, role)
        return part.model.after(part.state, inside, action, observation) if part else None

    def _role_time(self, state: Any, role: str, tick: int) -> str:
        part, inside = self._part_of(state, role)
        if part:
            own = part.model.time.known_to(inside, part.state, part.to_local(tick))
            if own is not None:
                return own
        return self.group_of(state).clock.moment(tick).date().isoformat()

    def _part_of(self, state: Any, role: str) -> tuple[Part | None, str]:
        name, inside = split_name(role)
        return self.group_of(state).parts.get(name), inside


def _on_common_ticks(part: Part, given: Sequence[float] | Periods) -> Sequence[float] | Periods:
    if isinstance(given, Periods):
        return Periods(given.values, [part.to_common(tick) for tick in given.ends])
    return given


def _under(parts: Iterable[tuple[str, Mapping[str, T]]]) -> dict[str, T]:
    return {f"{part}.{name}": one for part, inside in parts for name, one in inside.items()}


def _end(part: Part | None) -> dict[str, Any]:
    return {"ended": part.ended, **part.metrics()} if part else {"ended": NOT_BEGUN}
