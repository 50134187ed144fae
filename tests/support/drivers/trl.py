"""The class for TRL: every action is a call of its method."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

REQUIRES: tuple[str, ...] = ()


def carries(case: Case) -> bool:
    """Return whether one seat is played: TRL's models have one set of tools."""
    return len(case.seats) == 1


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers by calls of methods; return the score and the ledger digest."""
    from desim.adapters.trl import environment

    (seat,) = case.seats
    options = {name: each for name, each in case.arguments().items() if name != "seats"}
    rollout = environment(case.model, case.preset, seat=seat, **options)()
    rollout.reset(seed=seed, prompt="Play.")
    for action in answers[seat]:
        arguments = dict(action)
        getattr(rollout, arguments.pop("do"))(**arguments)
    assert rollout.session is not None
    result = rollout.session.result
    assert result is not None
    return result.score, result.ledger_digest
