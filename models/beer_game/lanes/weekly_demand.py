"""The customers' demand of many seeds, by week."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from desim.core.streams import generator
from desim.lanes.drawn_streams import DRAWN
from desim.lanes.seeded_streams import generators
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
    weeks = params.horizon
    if params.deterministic:
        same = demand.weekly(params.demand, weeks, partial(generator, 0, _STREAM))
        return np.broadcast_to(np.asarray(same, dtype=np.int64)[:, None], (weeks, len(seeds)))
    kept = DRAWN.of((params.demand, weeks, _STREAM), seeds, partial(_draws, params))
    table = np.frombuffer(b"".join(kept), dtype=np.int64).reshape(len(seeds), weeks)
    return np.ascontiguousarray(table.T)


def _draws(params: BeerGameParams, seeds: Sequence[int]) -> list[bytes]:
    def units(stream: Any) -> bytes:
        return np.asarray(demand.weekly(params.demand, params.horizon, lambda: stream)).tobytes()

    return [units(stream) for stream in generators(seeds, _STREAM)]
