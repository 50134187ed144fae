"""The end of a game in plain text: the facts in at most 25 lines, and commands for the rest."""

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from desim.errors import UsageError
from desim.show.labels import value_text
from desim.show.table import Table
from desim.ui.end_texts import (
    course_table,
    ended_text,
    head_facts,
    rank_sentence,
)
from desim.ui.ending.score_place import ScorePlace
from desim.ui.game_end import GameEnd, Sitting
from desim.ui.game_texts import metrics_table

#: The commands after the end of a game.
END_COMMANDS = {
    "again": "plays the same seed again, in a new record",
    "next": "plays the next seed, in a new record",
    "otherwise": "`otherwise 7` plays your game again from decision 7 on, in a new record",
    "ranking": "shows you among all baselines",
    "figures": "shows all figures of the game",
}


def print_end(sitting: Sitting, out: Any) -> None:
    """Print the facts about the end of a game, after the baselines have played."""
    end = sitting.end
    count = len(end.comparison.contenders)
    if count:
        out.print(f"The baselines play now, {count} episodes.", markup=False)
    end.work()
    for block in _blocks(end):
        if isinstance(block, Table):
            out.print(block)
        else:
            out.print(block, markup=False, soft_wrap=not out.is_terminal)
    out.print(f"Your game is recorded in {end.file}.", markup=False, soft_wrap=True)
    out.print("Type again, next, otherwise N, ranking, figures, or quit; ? explains them.")


def _blocks(end: GameEnd) -> Iterator[str | Table]:
    """Yield sentences and tables."""
    yield f"{ended_text(end)}. Score {value_text(end.episode.score)}"
    rules = "; ".join(f"{name} {text}" for name, text in [*head_facts(end).items()][1:])
    if rules:
        yield f"{rules[:1].upper()}{rules[1:]}."
    yield end.place.sentence if isinstance(end.place, ScorePlace) else end.place
    yield rank_sentence(end)
    if (table := course_table(end)) is not None:
        yield f"{table.title}:"
        yield evolve(table, title="")


def obey_end(sitting: Sitting, out: Any, command: str, rest: str) -> bool:
    """Do what a person has typed after the end; return whether another game has begun.

    Raises:
        UsageError: `otherwise` has no number of a decision.
    """
    end = sitting.end
    match command:
        case "again" | "next":
            sitting.again(end.file, end.episode.header.seed + (command == "next"))
        case "otherwise":
            sitting.branch(end.file, _number(rest) - 1)
        case "ranking":
            out.print(evolve(end.comparison.ranked(end.episode), legend=()))
            for note in end.comparison.notes:
                out.print(note, markup=False)
        case _:
            out.print(metrics_table(sitting.game, end.episode))
    return command in {"again", "next", "otherwise"}


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 10):  # noqa: PLR2004 (digits)
        raise UsageError(f"{text!r} was given; type the number of a decision, as in `otherwise 7`")
    return int(text)
