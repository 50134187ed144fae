"""An episode of several models as the episode of one of them, for a policy in a seat of it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from attrs import evolve

from desim.core.model_protocols import Model, model_of
from desim.core.result import Result
from desim.records.episode import Episode


def part_episode(episode: Episode, model: Model[Any], role: str) -> Episode:
    """Return what an episode was for the part of a role; without parts the episode itself.

    Roles and metrics have the names that they have inside the part, score and end are the part's,
    and decisions of other parts are left out. Ticks are those of the common clock.
    """
    inside = model_of(model, role)[1]
    prefix = role.removesuffix(inside)
    if not prefix:
        return episode
    steps = tuple(
        msgspec.structs.replace(step, role=step.role.removeprefix(prefix))
        for step in episode.steps
        if step.role.startswith(prefix)
    )
    result = _of_part(episode.result, prefix, len(steps)) if episode.result else None
    return evolve(episode, steps=steps, result=result, inside=None)


def _of_part(result: Result, prefix: str, decisions: int) -> Result:
    metrics = _inside(result.metrics, prefix)
    return evolve(
        result,
        score=metrics.pop("score", 0.0),
        ended=metrics.pop("ended", ""),
        metrics=metrics,
        decisions=decisions,
        usage=_inside(result.usage, prefix),
    )


def _inside(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {k.removeprefix(prefix): v for k, v in values.items() if k.startswith(prefix)}
