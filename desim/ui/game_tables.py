"""Tables of a game that the page and the terminal both show."""

from desim.episodes.episode import Episode
from desim.formatting import label_text
from desim.ui.game import Game
from desim.ui.layout import TextTable, action_text, text_table

__all__ = ["decisions_table", "metrics_table"]


def decisions_table(game: Game, *, latest_first: bool = False) -> TextTable:
    """Return the person's decisions so far."""
    rows = [
        {
            "decision": number,
            "role": step.role,
            "answer": action_text(step.action, game.role(step.role).action),
        }
        for number, step in enumerate(game.view.steps, 1)
    ]
    if latest_first:
        return text_table("Decisions, the latest first", rows[::-1])
    return text_table("Decisions", rows)


def metrics_table(episode: Episode) -> TextTable:
    """Return the figures of an ended episode."""
    rows = [{"figure": label_text(k), "value": v} for k, v in episode.metrics.items()]
    return text_table("Figures", rows)
