"""Tables of a game that the page and the terminal both show."""

from desim.core.reported import rows_of
from desim.errors import UsageError, possible
from desim.faults import RAISED
from desim.records.episode import Episode
from desim.show.column import Column, columns_within
from desim.show.labels import label_text
from desim.show.table import Table
from desim.ui.game import Game
from desim.ui.layout import action_text, text_table
from desim.ui.part_texts import name_text, part_of

#: The description of a metric without one.
_PLAIN = Column()


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
    mine = {part_of(model, role)[0] for role in game.seats}
    names = sorted(episode.metrics, key=lambda name: part_of(model, name)[0] not in mine)
    columns = model.figures.columns
    rows = [
        {
            "figure": name_text(model, columns.get(name, _PLAIN).key(name)),
            "value": columns.get(name, _PLAIN).text(episode.metrics[name]),
        }
        for name in names
    ]
    return text_table("Figures", rows)


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
