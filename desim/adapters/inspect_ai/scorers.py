"""The scorers of the Inspect tasks: the world's score and counts, and the normalised score.

Tried with inspect-ai 0.3.285.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from inspect_ai.scorer import Score, mean, scorer, stderr

from desim.adapters.inspect_ai.solver import FACTS
from desim.adapters.normalised import normalised_score
from desim.adapters.setup import Setup

__all__ = ["normalised", "world_score"]

#: Whole numbers among the facts of an episode that are averaged over samples.
_COUNTS = ("answers", "wrong", "defaults", "replies")


def _world_score() -> Any:
    """Return a scorer of the world's own score, with the counts of the episode.

    `ended` is 1 where the model itself played up to the end, and 0 where it was stopped by a limit;
    the decisions left are then the role's default action.
    """

    async def score(state: Any, _: Any) -> Any:
        facts = state.store.get(FACTS)
        counts = {name: facts[name] for name in _COUNTS}
        value = {"score": facts["score"], "ended": int(not facts["stopped"]), **counts}
        return Score(value=value, answer=str(facts["ended"]), metadata=dict(facts))

    return score


def _normalised(world: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return a scorer of the score on the scale of the known scores; see `normalised_score`.

    Args:
        world: The model's name.
        arguments: What `Setup.of` takes beside world and preset.
    """
    setup_of = cache(lambda preset: Setup.of(world, preset, **(arguments or {})))

    async def score(state: Any, _: Any) -> Any:
        preset, seed = state.metadata["preset"], state.metadata["seed"]
        reached = state.store.get(FACTS)["score"]
        found = normalised_score(setup_of(preset), preset, seed, reached)
        return None if found is None else Score(value=found)

    return score


world_score = scorer(metrics={"score": [mean(), stderr()], "*": [mean()]}, name="world_score")(
    _world_score
)

normalised = scorer(metrics=[mean(), stderr()], name="normalised")(_normalised)
