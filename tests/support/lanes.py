"""Lanes and `play` compared: every observation, action, score, metric and end of every lane."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from desim import Episode, play
from desim.core.model_protocols import Model
from desim.lanes.lane_columns import Columns
from desim.lanes.lane_protocols import Lanes

#: Returns new policies by role: one instance decides all lanes, or plays one episode.
MakePolicies = Callable[[], Mapping[str, Any]]


def lanes_differ(
    model: Any, policies: MakePolicies, seeds: Sequence[int], arrays: Any = None
) -> str:
    """Return the first difference between lanes and `play`; an empty text if they are equal.

    Args:
        model: A model with lanes.
        policies: Makes policies that answer all lanes, as well as single observations.
        seeds: One for each lane.
        arrays: The namespace of the lanes.
    """
    players = policies()
    lanes = model.lanes(seeds, [*players], arrays=arrays)
    steps = lane_steps(lanes, players)
    metrics, ends = lanes.metrics(), lanes.end_reasons()
    for lane, seed in enumerate(seeds):
        episode = play(model, policies(), seed)
        assert episode.result is not None
        of_lane = {
            "score": float(lanes.score()[lane]),
            "ended": ends[lane],
            "decisions": int(lanes.decisions[lane]),
            "metrics": {name: column[lane] for name, column in metrics.items()},
            "over": bool(lanes.ended[lane]),
        }
        decisions = lane_answers(model, lanes, steps, lane)
        if found := _difference(decisions, episode, of_lane):
            return f"{model}, seed {seed}, lane {lane}: {found}"
    return ""


#: The questions of a step and their answers, by role.
LaneStep = tuple[Mapping[str, Columns], Mapping[str, Columns]]


def lane_steps(lanes: Lanes, players: Mapping[str, Any]) -> list[LaneStep]:
    """Play lanes to their end."""
    steps, asked = list[LaneStep](), lanes.reset()
    while asked:
        answers = {role: players[role].decide_all(seen) for role, seen in asked.items()}
        steps.append((asked, answers))
        asked = lanes.step(answers)
    return steps


def lane_answers(
    model: Model[Any], lanes: Lanes, steps: Sequence[LaneStep], lane: int
) -> list[tuple[str, Any, Any]]:
    """Return role, observation and action of each decision of a lane, in the order of its roles."""
    found = []
    for asked, answers in steps:
        for role, seen in asked.items():
            if seen.asks is None or bool(seen.asks[lane]):
                given = answers[role]
                if not isinstance(given, Columns):
                    given = Columns(model.roles[role].action, given)
                found.append((role, seen.row(lane, lanes.texts), given.row(lane, lanes.texts)))
    return found


def _difference(
    decisions: list[tuple[str, Any, Any]], episode: Episode, of_lane: dict[str, Any]
) -> str:
    played = [(step.role, step.observation, step.action) for step in episode.steps]
    for number, (ours, theirs) in enumerate(zip(decisions, played, strict=False)):
        if ours != theirs or _types(ours[1]) != _types(theirs[1]):
            return f"decision {number} is {ours}, played {theirs}"
    result = episode.result
    assert result is not None
    expected = {
        "score": result.score,
        "ended": result.ended,
        "decisions": result.decisions,
        "metrics": dict(result.metrics),
        "over": True,
    }
    for name, value in expected.items():
        if of_lane[name] != value:
            return f"{name} is {of_lane[name]}, played {value}"
    return "" if len(decisions) == len(played) else "the number of decisions"


def _types(observation: Any) -> list[type]:
    return [type(getattr(observation, one.name)) for one in observation.__attrs_attrs__]
