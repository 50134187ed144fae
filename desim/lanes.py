"""Many episodes of one model on arrays: the protocol of such a twin, and playing it.

A model with fixed periods may offer its rules once more on arrays. One lane is one episode, and
each step answers one decision of every lane. Lanes are equal to `play` in every observation, score
and metric; what they cannot do exactly they refuse with `NoLanes`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias, TypeGuard, runtime_checkable

import numpy as np

from desim.core.model import Model
from desim.core.policy import Policy
from desim.errors import UsageError
from desim.show.labels import flat

#: An array of numpy with one entry a lane.
Array: TypeAlias = Any


class NoLanes(UsageError):
    """A model, role or action has no lanes, or a figure would leave the exact range of doubles."""


class Columns(Mapping[str, Array]):
    """The fields of an observation or action class, one entry a lane.

    A field is an item and an attribute, and a property of the class is computed from the arrays, so
    that a rule written for one observation works on all lanes. A field with one value in all lanes
    may be that value.
    """

    __slots__ = ("_arrays", "kind")

    def __init__(self, kind: Any, arrays: Mapping[str, Array]) -> None:
        self.kind = kind
        self._arrays = dict(arrays)

    def read_only(self) -> "Columns":
        """Return the columns with arrays that cannot be written; no array is copied."""
        arrays = dict(self._arrays)
        for name, array in arrays.items():
            if isinstance(array, np.ndarray):
                arrays[name] = view = array.view()
                view.flags.writeable = False
        return Columns(self.kind, arrays)

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __getattr__(self, name: str) -> Array:
        # `_arrays` itself is missing while an instance is copied or unpickled.
        if name != "_arrays":
            if name in self._arrays:
                return self._arrays[name]
            found = getattr(self.kind, name, None)
            if isinstance(found, property) and found.fget is not None:
                return found.fget(self)
        raise AttributeError(f"{self.kind.__name__} has no field {name!r}")

    def row(self, lane: int) -> Any:
        """Return the observation or action of one lane, by its number from 0."""
        entries = {n: c[lane].item() if is_array(c) else c for n, c in self._arrays.items()}
        return self.kind(**entries)


# -- the protocol ----------------------------------------------------------------------------------


class Lanes(Protocol):
    """Episodes of one model that are played together, one a seed; every lane is asked at a step."""

    @property
    def ended(self) -> Array:
        """Whether the episode of each lane has ended."""

    @property
    def decisions(self) -> Array:
        """The number of decisions that each lane has answered, of all roles."""

    def reset(self) -> Mapping[str, Columns]:
        """Begin the episodes again and return the first questions by role."""

    def step(self, actions: Mapping[str, Any]) -> Mapping[str, Columns]:
        """Answer the open questions of all lanes and return the next ones by role; none at the end.

        Args:
            actions: By role the columns of an answer for every lane.

        Raises:
            WrongAction: An answer does not fit the role's schema; nothing has changed.
            NoLanes: A figure would leave the range in which it is exact, or the action has no
                lanes; nothing has changed.
        """

    def score(self) -> Array:
        """Return the score of every lane, also of one that has not ended."""

    def metrics(self) -> Mapping[str, Sequence[Any]]:
        """Return the metrics of every lane by name, as `Model.metrics` has them, all finite."""

    def end_reasons(self) -> Sequence[str]:
        """Return why each episode ended; empty texts for those under way."""

    def fork(self, rows: Array) -> Self:
        """Return new lanes that continue those of some numbers; one may occur many times."""


@runtime_checkable
class HasLanes(Protocol):
    """A model that can be played as lanes."""

    def lanes(self, seeds: Sequence[int], roles: Sequence[str]) -> Lanes:
        """Return lanes of this model, one for each seed, in which these roles are asked.

        Raises:
            NoLanes: With these parameters or roles the model has no lanes; one sentence says why.
        """


@runtime_checkable
class DecidesAll(Protocol):
    """A policy that can answer all lanes at once.

    It answers each lane as `decide` would, and its answers depend neither on chance nor on the seed
    of its seat. What it remembers it keeps as arrays with an entry a lane; with one entry they are
    broadcast to all lanes, as after `Lanes.fork` of a single one.
    """

    def decide_all(self, observed: Columns, /) -> Columns | Mapping[str, Array]:
        """Return the fields of the actions, one entry a lane."""


# -- functions of numbers that also take arrays, so that one rule serves an episode and all lanes --


def is_array(number: Any) -> bool:
    """Return whether *number* is an array with entries rather than one number."""
    return bool(getattr(number, "ndim", 0))


def at_least(least: float, number: Any) -> Any:
    """Return the larger of two numbers."""
    return np.maximum(number, least) if is_array(number) else max(least, number)


def at_most(most: float, number: Any) -> Any:
    """Return the smaller of two numbers."""
    return np.minimum(number, most) if is_array(number) else min(most, number)


def whole(number: Any) -> Any:
    """Return the largest whole number that is not larger, as an integer."""
    return np.floor(number).astype(np.int64) if is_array(number) else math.floor(number)


# -- playing ---------------------------------------------------------------------------------------


def lanes_of(model: Model[Any], roles: Sequence[str], seeds: Sequence[int]) -> Lanes:
    """Return lanes of a model.

    Raises:
        NoLanes: The class of the model defines none, they do not serve these parameters or roles,
            or decisions of a role take time.
    """
    name = type(model).__name__
    if any(role.thinking.takes_time for role in model.roles.values()):
        raise NoLanes(f"{name} has no lanes where decisions take time")
    # A subclass may have replaced what the lanes that it inherits repeat.
    if model.models or not isinstance(model, HasLanes) or "lanes" not in vars(type(model)):
        raise NoLanes(f"{name} has no lanes")
    return model.lanes(seeds, roles)


def answers_all(policy: Policy | type[Policy]) -> TypeGuard[DecidesAll]:
    """Return whether a policy, or the instances of a class, can answer all lanes.

    A class that replaces `decide` alone inherits a `decide_all` that decides otherwise, so it
    cannot; nor can one that draws, has its world's seed, looks ahead or contacts a host.
    """
    if policy.draws or policy.needs_world_seed or policy.looks_ahead or policy.reaches:
        return False
    for each in (policy if isinstance(policy, type) else type(policy)).__mro__:
        if "decide_all" in vars(each) or "decide" in vars(each):
            return "decide_all" in vars(each)
    return False


def all_answers(policy: DecidesAll, observed: Columns) -> Columns | Mapping[str, Array]:
    """Return a policy's answers for all lanes; it cannot write to the arrays that it observes."""
    # Arrays of an observation may be those of the lanes themselves.
    return policy.decide_all(observed.read_only())


def play_lanes(lanes: Lanes, policies: Mapping[str, DecidesAll]) -> list[dict[str, Any]]:
    """Play lanes with new policies, and return by lane `score`, `ended`, `decisions`, `metrics`.

    Raises:
        NoLanes: See `Lanes.step`.
        WrongAction: An answer is not in the schema of its role.
    """
    asked = lanes.reset()
    while asked:
        asked = lanes.step({role: all_answers(policies[role], asked[role]) for role in asked})
    names, columns = zip(*flat(lanes.metrics()), strict=True)
    found = zip(
        np.asarray(lanes.score()).tolist(),
        lanes.end_reasons(),
        np.asarray(lanes.decisions).tolist(),
        zip(*columns, strict=True),
        strict=True,
    )
    return [
        {
            "score": score,
            "ended": ended,
            "decisions": decisions,
            "metrics": dict(zip(names, metrics, strict=True)),
        }
        for score, ended, decisions, metrics in found
    ]
