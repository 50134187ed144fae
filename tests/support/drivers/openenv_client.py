"""The package's own client, over a web socket."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

REQUIRES = ("openenv",)

#: What travels over a socket is the same in every world, so two are enough.
_CASES = ("beer_game/poisson:retailer", "enterprise_arena/capped:cfo")


def carries(case: Case) -> bool:
    """Return whether a case is one of two: a short one, and one with long texts."""
    return str(case) in _CASES


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers by messages; return the score and the ledger digest."""
    from openenv.core.generic_client import GenericEnvClient

    from desim.adapters.openenv.server import serving

    left = {seat: iter(each) for seat, each in answers.items()}
    with serving(case.setup()) as url, GenericEnvClient(base_url=url).sync() as client:
        seen = client.reset(seed=seed)
        while not seen.done:
            seen = client.step(next(left[seen.observation["seat"]]))
        ended = seen.observation["ended"]
    return ended["score"], ended["ledger_digest"]
