"""Texts of adapters that speak text: rules, observations, refusals, the end."""

import json
from collections.abc import Mapping
from typing import Any

from desim.adapters.seat.seat_environment import SteppedSession
from desim.core.model_protocols import rules_of
from desim.core.world import Decision
from desim.schema import plain_observation, to_plain

__all__ = [
    "as_json",
    "end_facts",
    "end_text",
    "observation_text",
    "rules_of",
    "seen",
]

#: The end of an episode that a limit of the adapter has cut.
TRUNCATED = "truncated"


def as_json(value: Any) -> str:
    """Return plain values, or a frozen class, as one line of JSON."""
    return json.dumps(to_plain(value), ensure_ascii=False)


def seen(session: SteppedSession, decision: Decision) -> Any:
    """Return the observation of a decision as JSON values."""
    return plain_observation(decision.observation, session.model.roles[decision.role].observation)


def observation_text(session: SteppedSession, decision: Decision) -> str:
    """Return the observation of a decision as JSON."""
    return as_json(seen(session, decision))


def end_facts(session: SteppedSession) -> Mapping[str, Any]:
    """Return the facts of the episode's end as plain values: score, reason, metrics, ledger digest.

    For a truncated episode they hold the score so far, and nothing else that its seats could not
    observe.
    """
    result = session.result
    if result is None:
        return {"ended": TRUNCATED if session.truncated else "", "score": session.score}
    return {
        "ended": result.ended,
        "score": result.score,
        "decisions": result.decisions,
        "ledger_digest": result.ledger_digest,
        "metrics": to_plain(dict(result.metrics)),
    }


def end_text(session: SteppedSession) -> str:
    """Return the sentence that the episode is over, with its facts as JSON."""
    return "The episode is over. " + as_json(end_facts(session))
