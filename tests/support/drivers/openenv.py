"""An environment of OpenEnv in this process."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

REQUIRES = ("openenv",)


def carries(case: Case) -> bool:
    """Return True: where a client has several seats, it answers for one after another."""
    return bool(case.seats)


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers by steps; return the score and the ledger digest."""
    from desim.adapters.openenv.environment import Served

    served = Served(case.setup())
    environment = served()
    left = {seat: iter(each) for seat, each in answers.items()}
    seen = environment.reset(seed=seed)
    while not seen.done:
        seen = environment.step(served.action.model_validate(next(left[seen.seat])))
        assert not seen.refused
    assert seen.ended is not None
    return seen.ended["score"], seen.ended["ledger_digest"]
