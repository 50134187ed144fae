"""verifiers: the stub of an endpoint plays the answers by tool calls."""

from collections.abc import Mapping
from typing import Any

from support.adapters import Case

#: What must be installed.
REQUIRES: tuple[str, ...] = ("verifiers",)


def carries(case: Case) -> bool:
    """Return whether the adapter can play a case: a model has one seat."""
    return len(case.seats) == 1


def play(
    case: Case, seed: int, answers: Mapping[str, list[dict[str, Any]]]
) -> tuple[float, str | None]:
    """Play the answers through the adapter; return the score and the ledger digest."""
    from support.stub import serving
    from support.verifiers_stub import by_turn, rolled_out

    from desim.adapters.verifiers import load_environment

    env = load_environment(
        case.model,
        preset=case.preset,
        seeds=str(seed),
        seat=case.seats[0],
        others={"": case.others} if case.others else {},
        params=dict(case.params),
    )
    with serving(by_turn(answers[case.seats[0]])) as stub:
        (trace,) = rolled_out(env, stub)
    assert trace.ok, trace.errors
    facts = trace.info["desim"]
    assert not facts["stopped"]
    return facts["score"], facts["ledger_digest"]
