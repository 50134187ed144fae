"""The end of a game in plain text: the facts in at most 25 lines, and commands for the rest."""

from typing import Any

from attrs import evolve

from desim.errors import UsageError
from desim.show.labels import capitalised, value_text
from desim.ui.ending import Sitting, course_table
from desim.ui.texts import metrics_table

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

    def say(text: str) -> None:
        out.print(text, markup=False, soft_wrap=not out.is_terminal)

    if count := len(end.comparison.contenders):
        say(f"The baselines play now, {count} episodes.")
    end.work()
    say(f"{end.heading}. Score {value_text(end.episode.score)}")
    _, *rules = end.scores.items()
    if rules:
        say(f"{capitalised('; '.join(f'{name} {score}' for name, score in rules))}.")
    say(end.place)
    say(end.rank)
    if (table := course_table(end)) is not None:
        say(f"{table.title}:")
        out.print(evolve(table, title=""))
    out.print(f"Your game is recorded in {end.file}.", markup=False, soft_wrap=True)
    out.print("Type again, next, otherwise N, ranking, figures, or quit; ? explains them.")


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
