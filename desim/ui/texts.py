"""What the page and the terminal both say of a game: its seats, their briefings, its tables.

In a model of several parts a name stands under the name of its part; in any other it stands alone.
"""

import inspect
import math
from collections.abc import Iterable
from typing import Any

from attrs import evolve

from desim.core.model import Model, model_of, world_doc, world_rules
from desim.core.reported import SeatBriefing, rows_of
from desim.core.roles import split_name
from desim.errors import UsageError, possible
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.show.column import Column, columns_within
from desim.show.labels import capitalised, class_text, label_text, words_text
from desim.show.table import Table
from desim.ui.game import Game
from desim.ui.layout import action_text, text_table

#: The description of a figure without one.
_PLAIN = Column()
#: Numbers from which on no decimals are shown.
_WHOLE = 100
_UNKNOWN_COSTS = "The rules below and the help of each action say what costs something."


def name_text(model: Model[Any], name: str) -> str:
    """Return a role or a metric as words, its part before a colon: "Plant: shelf life"."""
    part, inside = _part_of(model, name)
    if not part:
        return label_text(inside)
    return f"{label_text(part.replace('.', ', '))}: {words_text(inside)}"


def seats_text(model: Model[Any], roles: Iterable[str]) -> str:
    """Return roles in one line, those of a part together: "retailer, factory of plant; cfo"."""
    by_part: dict[str, list[str]] = {}
    for role in roles:
        part, inside = _part_of(model, role)
        by_part.setdefault(part, []).append(inside)
    texts = (f"{', '.join(names)}{part and f' of {part}'}" for part, names in by_part.items())
    return "; ".join(texts)


def _part_of(model: Model[Any], name: str) -> tuple[str, str]:
    """Return the part of a role or a metric, empty without one, and the name inside the part.

    `north.plant.retailer` is `retailer` of `north.plant`.
    """
    part, inside = split_name(name)
    if not (inside and part in model.models):
        return "", name
    further, last = _part_of(model.models[part], inside)
    return f"{part}.{further}" if further else part, last


# -- briefings -------------------------------------------------------------------------------------


def briefing_of(model: Model[Any], role: str) -> SeatBriefing:
    """Return the briefing of a role, or of the role of a part.

    A model without one is described by its docstrings and its length. The role of a part plays for
    the score of the whole model, if that has a briefing.
    """
    part, inside = model_of(model, role)
    own = part.texts(inside).briefing or _described(part, inside)
    if part is not model and (whole := model.texts(role).briefing):
        return evolve(own, score=whole.score)
    return own


def rules_paragraphs(model: Model[Any], role: str) -> list[str]:
    """Return the rules of a role as paragraphs."""
    return [text.strip() for text in world_rules(model, role).split("\n\n") if text.strip()]


def _described(part: Model[Any], role: str) -> SeatBriefing:
    """Return what the docstrings of a model and its roles state."""
    actions = part.roles[role].action
    length = f"After {part.time.length}." if part.time.length else "When the world ends it."
    return SeatBriefing(
        title=class_text(type(part).__name__),
        you_are=f"{label_text(role)}. {_first_sentence(world_doc(type(part)))}",
        you_want="The highest score.",
        it_costs=_first_sentence(actions.__doc__) if isinstance(actions, type) else _UNKNOWN_COSTS,
        it_ends=length,
        score=_returned(part.score.__doc__) or "A number; higher is better.",
    )


def _returned(doc: str | None) -> str:
    """Return what a method returns, from its docstring: "Return the cash." gives "The cash."."""
    return capitalised(_first_sentence(doc).removeprefix("Return "))


def _first_sentence(doc: str | None) -> str:
    paragraph = " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())
    return f"{paragraph.partition('. ')[0].rstrip('.')}." if paragraph else ""


# -- tables ----------------------------------------------------------------------------------------


def decisions_table(game: Game, *, latest_first: bool = False) -> Table:
    """Return the person's decisions so far."""
    rows = [
        {
            "decision": number,
            **({"date": date} if (date := game.time(step.role, step.t)) else {}),
            "role": name_text(game.model, step.role),
            "answer": action_text(step.action, game.role(step.role).action),
        }
        for number, step in enumerate(game.view.steps, 1)
    ]
    if latest_first:
        return text_table("Decisions, the latest first", rows[::-1])
    return text_table("Decisions", rows)


def metrics_table(game: Game, episode: Episode) -> Table:
    """Return the figures of an ended episode, those of the person's parts first."""
    model = game.model
    mine = {_part_of(model, role)[0] for role in game.seats}
    names = sorted(episode.metrics, key=lambda name: _part_of(model, name)[0] not in mine)
    columns = model.figures.columns
    rows = [
        {
            "figure": name_text(model, columns.get(name, _PLAIN).key(name)),
            "value": columns.get(name, _PLAIN).text(_rounded(episode.metrics[name])),
        }
        for name in names
    ]
    return text_table("Figures", rows)


def _rounded(value: Any) -> Any:
    """Return a number with three digits, and with all of those before the point."""
    if not isinstance(value, float) or not math.isfinite(value):
        return value
    return float(f"{value:.3g}") if abs(value) < _WHOLE else float(round(value))


def shown_table(game: Game, name: str) -> Table:
    """Lay out a table that a person may look up.

    Its keys have the units that the classes of the role's observations declare for them.

    Raises:
        UsageError: The table does not exist, or its rows cannot be shown.
    """
    tables = game.view.tables
    if name not in tables:
        raise UsageError(f"there is no table {name!r}; {possible(name, tables)}")
    rows = rows_of(name, tables[name])
    columns: dict[str, Column] = {}
    for each in columns_within(game.role(game.shown_role).observation).values():
        columns |= each
    try:
        return text_table(label_text(name), rows, columns=columns)
    except RAISED as error:
        raise UsageError(
            f"the table {name!r} cannot be shown: {type(error).__name__}: {error}"
        ) from None
