"""The customers' demand of many seeds, by week."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from desim.core.streams import generator
from desim.lanes.drawn_streams import DRAWN
from models.beer_game import demand
from models.beer_game.params import BeerGameParams

#: The name of the stream.
_STREAM = "demand"


def weekly_demand(params: BeerGameParams, seeds: Sequence[int]) -> Any:
    """Return the units that customers order by week and lane, as a numpy array.

    Args:
        params: The parameters.
        seeds: The seed of the draws of each lane.
    """
    weeks, draws = params.horizon, partial(_draws, params)
    if params.deterministic:
        same = np.frombuffer(draws([0])[0], dtype=np.int64)
        return np.broadcast_to(same[:, None], (weeks, len(seeds)))
    kept = DRAWN.of((params.demand, weeks, _STREAM), seeds, draws)
    table = np.frombuffer(b"".join(kept), dtype=np.int64).reshape(len(seeds), weeks)
    return np.ascontiguousarray(table.T)


def _draws(params: BeerGameParams, seeds: Sequence[int]) -> list[bytes]:
    return [
        np.array(
            demand.weekly(params.demand, params.horizon, partial(generator, seed, _STREAM)),
            dtype=np.int64,
        ).tobytes()
        for seed in seeds
    ]
