"""Several seats through PettingZoo's parallel environment, which passes every action space."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

#: What must be installed.
REQUIRES: tuple[str, ...] = ("pettingzoo",)

#: Enough for the texts and lists of the answers.
_LIMITS = {"max_text": 20_000, "max_entries": 40}


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case: it is for several seats."""
    return len(case.seats) > 1


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    from desim.adapters.pettingzoo import parallel_env

    left = {seat: iter(each) for seat, each in answers.items()}
    env = parallel_env(case.model, case.preset, **case.arguments(), **_LIMITS)
    _, infos = env.reset(seed=seed)
    while env.agents:
        deciding = [agent for agent in env.agents if infos[agent]["deciding"]]
        actions = {agent: env.encode(agent, next(left[agent])) for agent in deciding}
        assert all(env.action_space(agent).contains(each) for agent, each in actions.items())
        _, _, terminations, _, infos = env.step(actions)
    assert all(terminations.values())
    env.close()
    facts = next(iter(infos.values()))
    return facts["score"], facts["ledger_digest"]
