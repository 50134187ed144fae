"""Metrics, series, spans, tables and statements of a group's parts, joined under their names."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve

from desim.composition.group import Group
from desim.composition.parts import Part, split_name
from desim.core.ledger_protocols import (
    HasStatements,
    Statement,
)
from desim.core.model_protocols import (
    HasRoleTimes,
    Model,
    Rows,
    offers,
)
from desim.core.reported import (
    Column,
    HasSeries,
    HasSeriesColumns,
    HasSeriesTicks,
    HasSpans,
    HasTables,
    Span,
)
from desim.core.roles import Role

#: Stands instead of the reason of the end for a part that has not begun.
NOT_BEGUN = "not begun"


def joined_roles(models: Mapping[str, Model[Any]]) -> dict[str, Role]:
    """Return the roles of models under the names of their parts."""
    return {
        f"{part}.{name}": role for part, one in models.items() for name, role in one.roles.items()
    }


def joined_metrics(group: Group) -> dict[str, Any]:
    """Return score, end and metrics of every part under its name.

    A part that has not ended, because the end of the group came first, has no metrics of its own.
    """
    return {
        f"{name}.{metric}": value
        for name, score in group.scores().items()
        for metric, value in {"score": score, **_end(group.parts.get(name))}.items()
    }


def _end(part: Part | None) -> dict[str, Any]:
    return {"ended": part.ended, **part.metrics()} if part else {"ended": NOT_BEGUN}


def joined_series(group: Group) -> dict[str, Sequence[float]]:
    """Return the series of the parts that report any, under their names."""
    return {
        f"{name}.{key}": values
        for name, part in group.parts.items()
        if offers(part.model, HasSeries)
        for key, values in part.model.series(part.state).items()
    }


def joined_spans(group: Group) -> Iterator[Span]:
    """Yield the spans of the parts that report any, of all repetitions, in common ticks."""
    for part in (part for name in group.members for part in group.repetitions(name)):
        if offers(part.model, HasSpans):
            common = part.ticks.to_common
            for span in part.model.trace_spans(part.state):
                yield evolve(
                    span,
                    kind=f"{part.name}.{span.kind}",
                    start=common(span.start),
                    end=None if span.end is None else common(span.end),
                    phases=tuple((common(tick), phase) for tick, phase in span.phases),
                )


def joined_columns(models: Mapping[str, Model[Any]]) -> dict[str, Column]:
    """Return unit, label, role and period of the series of models, under their parts' names."""
    return {
        f"{part}.{name}": evolve(column, role=column.role and f"{part}.{column.role}")
        for part, model in models.items()
        if offers(model, HasSeriesColumns)
        for name, column in model.series_columns.items()
    }


def joined_ticks(group: Group) -> dict[str, Sequence[int]]:
    """Return the end of each period of the parts' series in common ticks, under their names."""
    return {
        f"{name}.{key}": [part.ticks.to_common(tick) for tick in ticks]
        for name, part in group.parts.items()
        if offers(part.model, HasSeriesTicks)
        for key, ticks in part.model.series_ticks(part.state).items()
    }


def joined_tables(group: Group, part: str, role: str) -> dict[str, Rows]:
    """Return the tables of a part that its role may look up; empty before the part has begun."""
    one = group.parts.get(part)
    return dict(one.model.tables(one.state, role)) if one and offers(one.model, HasTables) else {}


def joined_time(group: Group, role: str, tick: int) -> str:
    """Return a common tick as a role may know it: its part's text, else the common ISO date."""
    name, inside = split_name(role)
    part = group.parts.get(name)
    if part and offers(part.model, HasRoleTimes):
        return part.model.role_time(part.state, inside, part.ticks.to_local(tick))
    return group.clock.moment(tick).date().isoformat()


def joined_statements(group: Group) -> dict[str, Rows | Statement]:
    """Return the statements of the parts that report any, under their names."""
    return dict(_statements(group))


def _statements(group: Group) -> Iterator[tuple[str, Rows | Statement]]:
    for name, part in group.parts.items():
        if offers(part.model, HasStatements):
            for key, rows in part.model.statements(part.state).items():
                yield f"{name}.{key}", rows
