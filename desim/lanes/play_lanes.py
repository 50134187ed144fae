"""Plays episodes of one model as lanes, with policies that answer all of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from inspect import getattr_static
from typing import Any, TypeGuard

from attrs import frozen

from desim.core.model import Model
from desim.core.policy import Policy
from desim.errors import DesimError
from desim.lanes.lane_columns import Array, Columns
from desim.lanes.lane_protocols import DecidesAll, HasLanes, Lanes, NoLanes

#: Most lanes that are played together, so that many seeds need little memory.
MOST_LANES = 2_000

#: Members of a model class that lanes do not repeat.
_REST = {"presets", "preset_warnings"}


@frozen
class LaneResults:
    """The results of episodes that were played as lanes, one entry an episode.

    Attributes:
        scores: The scores; all finite.
        end_reasons: Why each ended.
        decisions: The number of answers.
        metrics: By their path (`cost.retailer`), as `desim.core.result.flat` names them; None where
            a metric is not finite.
    """

    scores: Sequence[float]
    end_reasons: Sequence[str]
    decisions: Sequence[int]
    metrics: Mapping[str, Sequence[Any]]


def lanes_of(model: Model[Any], roles: Sequence[str], seeds: Sequence[int]) -> Lanes:
    """Return lanes of a model.

    Raises:
        NoLanes: The model offers none, has none with these parameters or roles, or its class
            replaces rules of the class whose lanes it inherits; or decisions of a role take time.
    """
    name = type(model).__name__
    if any(role.thinking.takes_time for role in model.roles.values()):
        raise NoLanes(f"{name} has no lanes where decisions take time")
    if model.models or not isinstance(model, HasLanes):
        raise NoLanes(f"{name} has no lanes")
    if replaced := _replaced(type(model)):
        raise NoLanes(f"{name} has no lanes of its own, and replaces {', '.join(replaced)}")
    return model.lanes(seeds, roles)


def _replaced(cls: type) -> list[str]:
    """Return the members of a model that a subclass of the class with its lanes defines anew."""
    before = cls.__mro__[: _place(cls, "lanes")]
    inherited = {*dir(cls.__mro__[len(before)])} - {*_defaults(cls.__mro__[len(before)])}
    return [
        name
        for each in before
        for name in vars(each)
        if name in inherited and not name.startswith(("__", "_abc_")) and name not in _REST
        if not _is_field(each, name)
    ]


def _defaults(cls: type) -> Iterator[str]:
    """Yield the members of a model's class that are as `Model` has them."""
    for name in dir(Model):
        if getattr_static(cls, name) is getattr_static(Model, name):
            yield name


def _is_field(cls: type, name: str) -> bool:
    return any(one.name == name for one in getattr(cls, "__attrs_attrs__", ()))


def _place(cls: type, name: str) -> int:
    """Return the place in the order of a class's bases of the one that defines a member."""
    return next(place for place, each in enumerate(cls.__mro__) if name in vars(each))


def answers_all(policy: Policy | type[Policy]) -> TypeGuard[DecidesAll]:
    """Return whether a policy, or the instances of a class, can answer all lanes.

    A class that replaces `decide` alone inherits a `decide_all` that decides otherwise, so it
    cannot; nor can one that draws, has its world's seed, looks ahead or contacts a host.
    """
    if policy.draws or policy.needs_world_seed or policy.looks_ahead or policy.reaches:
        return False
    cls = policy if isinstance(policy, type) else type(policy)
    if not isinstance(policy, DecidesAll):
        return False
    try:
        return _place(cls, "decide_all") <= _place(cls, "decide")
    except StopIteration:  # members of the instance
        return False


def all_answers(policy: DecidesAll, observed: Columns) -> Columns | Mapping[str, Array]:
    """Return a policy's answers for all lanes; it cannot write to the arrays that it observes."""
    # Arrays of an observation may be those of the lanes themselves.
    return policy.decide_all(observed.read_only())


def play_lanes(lanes: Lanes, policies: Mapping[str, DecidesAll]) -> LaneResults:
    """Play lanes to the end of all their episodes.

    Args:
        lanes: The lanes.
        policies: New ones by role.

    Raises:
        NoLanes: See `Lanes.step`.
        WrongAction: An answer is not in the schema of its role.
        DesimError: A score is not a finite number, or the lanes ask nothing before their ends.
    """
    asked = lanes.reset()
    while asked:
        asked = lanes.step({role: all_answers(policies[role], asked[role]) for role in asked})
    return lane_results(lanes)


def lane_results(lanes: Lanes) -> LaneResults:
    """Return the results of lanes that have ended.

    Raises:
        DesimError: An episode has not ended, or a score is not a finite number.
    """
    scores, ends = [float(one) for one in _listed(lanes.score())], [*lanes.end_reasons()]
    if not all(ends):
        raise DesimError(f"lane {ends.index('')} has no open question, but its episode goes on")
    if not all(map(math.isfinite, scores)):
        raise DesimError("a score of a lane is not finite")
    metrics = {name: _known(column) for name, column in _flat(lanes.metrics())}
    return LaneResults(scores, ends, [int(one) for one in _listed(lanes.decisions)], metrics)


def _flat(metrics: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, list[Any]]]:
    for name, column in metrics.items():
        if isinstance(column, Mapping):
            yield from _flat(column, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _listed(column)


def _known(column: list[Any]) -> list[Any]:
    """Return a column with None for what is not finite, as a row holds it."""
    return [None if isinstance(one, float) and not math.isfinite(one) else one for one in column]


def _listed(column: Array) -> list[Any]:
    """Return a column as a list of Python's values."""
    values: list[Any] = column.tolist() if hasattr(column, "tolist") else [*column]
    return values
