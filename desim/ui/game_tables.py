"""Tables of a game that the page and the terminal both show."""

from desim.records.episode import Episode
from desim.ui.game import Game
from desim.ui.layout import TextTable, action_text, text_table
from desim.ui.part_texts import name_text, part_of

__all__ = ["decisions_table", "metrics_table"]


def decisions_table(game: Game, *, latest_first: bool = False) -> TextTable:
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


def metrics_table(game: Game, episode: Episode) -> TextTable:
    """Return the figures of an ended episode, those of the person's parts first."""
    model = game.model
    mine = {part_of(model, role)[0] for role in game.seats}
    names = sorted(episode.metrics, key=lambda name: part_of(model, name)[0] not in mine)
    rows = [{"figure": name_text(model, name), "value": episode.metrics[name]} for name in names]
    return text_table("Figures", rows)
