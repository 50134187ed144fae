"""The random draws of all lanes, with the months that follow from them; and their redrawn futures.

The streams, their names and their seeds are those of `economy/draws.py`.
"""

from collections.abc import Callable, Sequence

import numpy as np
from attrs import frozen
from numpy.random import Generator

from desim.core.streams import generator, redrawn_seed
from desim.lanes.drawn_streams import DRAWN
from desim.lanes.lane_columns import Array
from desim.lanes.seeded_streams import generators
from models.enterprise_arena.economy import regimes
from models.enterprise_arena.economy.regimes import Path
from models.enterprise_arena.lanes.operated_months import Figures, Operated, figures, operated
from models.enterprise_arena.params import ArenaParams


@frozen(eq=False)
class Luck:
    """The random draws of every lane, and the figures that depend on them alone.

    Attributes:
        params: The parameters.
        seeds: The seed of the streams of each lane, see `World.draw_seed`.
        noise: Four tables of months and lanes, see `Lender.noise`.
        draws: Three tables of months and lanes, see `Lender.draws`.
        paths: The drawn macro history of each lane; None where the table is played.
        economy: The figures of the macro history.
        months: The months that no decision moves.
    """

    params: ArenaParams
    seeds: tuple[int, ...]
    noise: Array
    draws: Array
    paths: tuple[Path, ...] | None
    economy: Figures
    months: Operated

    def take(self, rows: Array) -> "Luck":
        """Return the luck of some lanes, in the order of *rows*."""
        order = rows.tolist()
        paths = self.paths
        return Luck(
            self.params,
            tuple([self.seeds[lane] for lane in order]),
            self.noise[..., rows],
            self.draws[..., rows],
            None if paths is None else tuple([paths[lane] for lane in order]),
            self.economy if paths is None else Figures(*[one[:, rows] for one in self.economy]),
            self.months.take(rows),
        )

    def redrawn(self, futures: Sequence[int], months: Sequence[int]) -> "Luck":
        """Return the luck with everything drawn again that is not used or published.

        Args:
            futures: The seed of the future of each lane.
            months: The present month of each lane; the horizon keeps the lane as it is.
        """
        seeds = tuple([redrawn_seed(*pair) for pair in zip(self.seeds, futures, strict=True)])
        to_come = np.arange(self.params.horizon)[:, None] >= np.asarray(months)
        noise = np.where(to_come, _noise(self.params, seeds), self.noise)
        draws = np.where(to_come, _draws(self.params, seeds), self.draws)
        return _followed(self.params, seeds, noise, draws, self._paths(seeds, months))

    def _paths(self, seeds: Sequence[int], months: Sequence[int]) -> tuple[Path, ...] | None:
        if self.paths is None:
            return None
        model = regimes.fit(self.params.table, self.params.growth_column)
        return tuple(
            [
                path
                if month >= self.params.horizon
                else model.draw_again(generator(seed, "regimes"), path, month)
                for path, seed, month in zip(self.paths, seeds, months, strict=True)
            ]
        )


def drawn(params: ArenaParams, seeds: Sequence[int]) -> Luck:
    """Draw what `economy/draws.py` draws before month 0, for each seed."""
    paths = None
    if params.history == "regimes":
        model = regimes.fit(params.table, params.growth_column)
        paths = tuple([model.draw(generator(seed, "regimes"), params.horizon) for seed in seeds])
    return _followed(params, tuple(seeds), _noise(params, seeds), _draws(params, seeds), paths)


def _followed(
    params: ArenaParams,
    seeds: tuple[int, ...],
    noise: Array,
    draws: Array,
    paths: tuple[Path, ...] | None,
) -> Luck:
    histories = [params.table] if paths is None else [path.macro for path in paths]
    tables = np.stack([figures(params, macro) for macro in histories], axis=-1)
    economy = Figures(*tables)
    months = operated(params, economy, noise)
    return Luck(params, seeds, noise, draws, paths, economy, months)


def _noise(params: ArenaParams, seeds: Sequence[int]) -> Array:
    tables = _by_kind("noise", (params.horizon, 4), seeds, Generator.standard_normal)
    return tables * np.array(params.sigmas)[:, None, None]


def _draws(params: ArenaParams, seeds: Sequence[int]) -> Array:
    return _by_kind("funding", (params.horizon, 3), seeds, Generator.random)


def _by_kind(
    stream: str, shape: tuple[int, int], seeds: Sequence[int], draw: Callable[..., Array]
) -> Array:
    """Return tables of months and lanes, one for each column of a table drawn for each seed."""

    def drawn_anew(missing: Sequence[int]) -> list[bytes]:
        return [draw(each, shape).tobytes() for each in generators(missing, stream)]

    kept = DRAWN.of((__name__, stream, shape), seeds, drawn_anew)
    tables = np.frombuffer(b"".join(kept)).reshape(len(seeds), *shape)
    return np.ascontiguousarray(tables.transpose(2, 1, 0))
