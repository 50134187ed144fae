"""One seat through Gymnasium; every answer passes the action space."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

#: What must be installed.
REQUIRES: tuple[str, ...] = ("gymnasium",)

#: Enough for the texts and lists of the answers.
_LIMITS = {"max_text": 20_000, "max_entries": 40}


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case: an environment has one seat."""
    return len(case.seats) == 1


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    import gymnasium

    from desim.adapters.gymnasium import env_id

    (seat,) = case.seats
    arguments = {**case.arguments(), "seat": seat, **_LIMITS}
    arguments.pop("seats")
    env = gymnasium.make(env_id(case.model), preset=case.preset, **arguments)
    env.reset(seed=seed)
    terminated, info = False, {}
    for action in answers[seat]:
        assert not terminated
        member = env.unwrapped.encode(action)
        assert env.action_space.contains(member)
        _, _, terminated, truncated, info = env.step(member)
        assert not truncated
    assert terminated
    env.close()
    return info["score"], info["ledger_digest"]
