"""The scorers of the Inspect tasks: the world's score and counts, and the normalised score.

Tried with inspect-ai 0.3.285.
"""

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from inspect_ai.scorer import Score, mean, scorer, stderr

from desim.adapters.inspect_ai.solver import FACTS
from desim.adapters.seat.normalised import normalised_score
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import was_played

#: Whole numbers among the facts of an episode that are averaged over samples.
_COUNTS = ("answers", "wrong", "defaults", "replies")


def _world_score() -> Any:
    """Return a scorer of the world's own score, with the counts of the episode.

    `ended` is 1 where the model itself played up to the end, and 0 where it was stopped by a limit;
    the decisions left are then the role's default action. The score of a sample that was not
    played, of whose decisions more than half are default actions (`defaults`), is NaN: Inspect
    leaves it out of mean and standard error and counts it among `unscored_samples`.
    """

    async def score(state: Any, _: Any) -> Any:
        facts = state.store.get(FACTS)
        counts = {name: facts[name] for name in _COUNTS}
        played = was_played(facts)
        reached = facts["score"] if played else math.nan
        value = {"score": reached, "ended": int(not facts["stopped"]), **counts}
        return Score(
            value=value,
            answer=str(facts["ended"]),
            explanation=None if played else _not_played(facts),
            metadata={**facts, "played": played},
        )

    return score


def _normalised(world: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return a scorer of the score on the scale of the known scores; see `normalised_score`."""
    setup_of = cache(lambda preset: Setup.of(world, preset, **(arguments or {})))

    async def score(state: Any, _: Any) -> Any:
        preset, seed = state.metadata["preset"], state.metadata["seed"]
        facts = state.store.get(FACTS)
        if not was_played(facts):
            return Score.unscored(reason="not_played", explanation=_not_played(facts))
        found = normalised_score(setup_of(preset), preset, seed, facts["score"])
        return None if found is None else Score(value=found)

    return score


def _not_played(facts: Mapping[str, Any]) -> str:
    return f"not played: {facts['defaults']} of {facts['answers']} decisions were default actions"


world_score = scorer(metrics={"score": [mean(), stderr()], "*": [mean()]}, name="world_score")(
    _world_score
)

normalised = scorer(metrics=[mean(), stderr()], name="normalised")(_normalised)
