"""Draws before month 0: the macro history, the lender's noise, the luck of its requests.

Everything is drawn for all months at once, so that no decision shifts a later month's draws.
`redraw` draws again the months that are not yet published or used.
"""

from desim import World
from models.enterprise_arena.economy import regimes
from models.enterprise_arena.officer import funding
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.state import Lender


def path(world: World, params: ArenaParams) -> regimes.Path | None:
    """Draw a macro history; return None if the table itself is played."""
    if params.history != "regimes":
        return None
    return _model(params).draw(world.stream("regimes"), params.horizon)


def noise(world: World, params: ArenaParams) -> list[list[float]]:
    """Draw the noise of all months."""
    deviates = world.stream("noise").standard_normal((params.horizon, 4))
    drawn: list[list[float]] = (deviates * params.sigmas).tolist()
    return drawn


def luck(world: World, params: ArenaParams) -> list[list[float]]:
    """Draw three numbers for the request of every month."""
    drawn: list[list[float]] = world.stream("funding").random((params.horizon, 3)).tolist()
    return drawn


def kept(params: ArenaParams) -> tuple[str, ...]:
    """Return the facts hidden from the officer that a redraw keeps."""
    facts = []
    if params.history == "table":
        facts.append("macro figures of the months to come, which are those of a given table")
    else:
        facts.append("the rest of a surge of borrower growth under way")
    if params.forced:
        facts.append("outcomes of funding that the parameters force")
    return tuple(facts)


def redraw(world: World, lender: Lender) -> None:
    """Draw again the noise and requests not yet used, and the macro figures not yet published.

    The macro figures of the present month are published before its decision. Its noise has no
    effect before the month is operated.
    """
    params, used = lender.params, lender.months_closed
    lender.noise[used:] = noise(world, params)[used:]
    lender.draws[used:] = luck(world, params)[used:]
    if lender.path is not None:
        generator = world.stream("regimes")
        lender.follow(_model(params).draw_again(generator, lender.path, lender.month))
    funding.redraw(lender)


def _model(params: ArenaParams) -> regimes.Switching:
    return regimes.fit(params.table, params.growth_column)
