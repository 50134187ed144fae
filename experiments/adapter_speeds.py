"""How many steps a second do the adapters play, beside bare `Run` with the same answers?

    python experiments/benchmark.py --section adapters

In processor time of this process, all its threads included, and with all that a client does in it.
An episode's beginning and end are part of its steps' time.
"""

import time

from adapter_games import GAMES, Game, Work
from adapter_players import PLAYERS, bare
from timing import best, many

#: Seconds that a run takes at least: an episode is repeated as often as that needs.
LEAST = 0.1


def adapters(runs: int) -> list[tuple[str, ...]]:
    """Steps of an episode through each adapter, against the same answers to a bare `Run`."""
    return [row for described in GAMES for row in _rows(Game.of(*described), runs)]


def _rows(game: Game, runs: int) -> list[tuple[str, ...]]:
    players = {name: each for name, each in PLAYERS.items() if each.installed}
    works = [_checked(start(game), game) for start in (bare, *(p.start for p in players.values()))]
    times = [_times(work) for work in works]
    seconds = best(runs, *map(many, works, times), clock=time.process_time)
    run, *rates = (len(game.answers) * n / each for n, each in zip(times, seconds, strict=True))
    found = dict(zip(players, rates, strict=True))
    return [_row(f"{game} by {name}", found.get(name), run) for name in PLAYERS]


def _checked(work: Work, game: Game) -> Work:
    """Return a work that has played the game once, as the policy did.

    Raises:
        ValueError: It ended with other ledgers.
    """
    if (found := work()) != game.digest:
        raise ValueError(f"{game} ended with ledgers {found} and not {game.digest}")
    return work


def _times(work: Work) -> int:
    (seconds,) = best(1, work, clock=time.process_time)
    return max(1, round(LEAST / seconds))


def _row(what: str, rate: float | None, run: float) -> tuple[str, ...]:
    if rate is None:
        return (what, "not installed", "—", "—", "—")
    return (f"{what}, over bare Run", f"{rate:,.0f}/s", f"{run:,.0f}/s", f"{run / rate:.1f}", "—")
