"""Protocols of lanes: the world on arrays, the model that offers it, and policies that answer it.

A model with fixed periods may offer its rules once more on arrays, over many episodes at once and
closed loop: each step answers one decision of every lane. Lanes are equal to `play` in every
observation, score and metric; what they cannot do exactly they refuse with `NoLanes`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, runtime_checkable

from desim.errors import UsageError
from desim.lanes.lane_columns import Array, Columns


class NoLanes(UsageError):
    """A model, role or action has no lanes, or a figure would leave the exact range of doubles."""


class Lanes(Protocol):
    """Episodes of one model that are played together, one a seed.

    All roles that are asked have one class of actions, and every lane is asked at every step.
    """

    def __len__(self) -> int:
        """Return the number of lanes."""
        ...

    @property
    def ended(self) -> Array:
        """Whether the episode of each lane has ended."""
        ...

    @property
    def decisions(self) -> Array:
        """The number of decisions that each lane has answered, of all roles."""
        ...

    def reset(self) -> Mapping[str, Columns]:
        """Begin the episodes again and return the first questions by role."""
        ...

    def step(self, actions: Mapping[str, Any]) -> Mapping[str, Columns]:
        """Answer the open questions of all lanes and return the next ones by role.

        Args:
            actions: By role the columns of an answer for every lane.

        Returns:
            The open questions; empty once all episodes have ended.

        Raises:
            WrongAction: An answer does not fit the role's schema; the text names the lane, and
                nothing has changed.
            NoLanes: A figure would leave the range in which it is exact, or the action has no
                lanes; nothing has changed.
        """
        ...

    def score(self) -> Array:
        """Return the score of every lane, also of one that has not ended."""
        ...

    def metrics(self) -> Mapping[str, Sequence[Any]]:
        """Return the metrics of every lane by name, as `Model.metrics` has them."""
        ...

    def end_reasons(self) -> Sequence[str]:
        """Return why each episode ended; empty texts for those under way."""
        ...

    def fork(self, rows: Array) -> Self:
        """Return new lanes that continue lanes of these; these do not change.

        Args:
            rows: The number of the lane that each new one continues; one may occur many times.
        """
        ...


@runtime_checkable
class HasLanes(Protocol):
    """A model that can be played as lanes."""

    def lanes(self, seeds: Sequence[int], roles: Sequence[str]) -> Lanes:
        """Return lanes of this model, one for each seed.

        Args:
            seeds: The seeds of the episodes.
            roles: The roles that are asked.

        Raises:
            NoLanes: With these parameters or roles the model has no lanes; one sentence says why.
        """
        ...


@runtime_checkable
class DecidesAll(Protocol):
    """A policy that can answer all lanes at once.

    It answers each lane as `decide` would, and its answers depend neither on chance nor on the seed
    of its seat. What it remembers it keeps as arrays with an entry a lane; with one entry they are
    broadcast to all lanes, as after `Lanes.fork` of a single one.
    """

    def decide_all(self, observed: Columns, /) -> Columns | Mapping[str, Array]:
        """Return the fields of the actions, one entry a lane."""
        ...
