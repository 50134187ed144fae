"""A seat as Gymnasium spaces: its observations out of them, its actions into the session."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from attrs import field, frozen
from attrs.validators import ge, in_, le
from gymnasium import spaces

from desim.adapters.gymnasium.spaces import ActionSpace, ObservationSpace, SpaceLimits
from desim.adapters.seat.seat_environment import SteppedSession
from desim.adapters.seat.setup import Setup
from desim.core.roles import Option
from desim.core.world import Decision
from desim.errors import UsageError, WrongAction
from desim.jobs.plan.parameter_values import from_numpy
from desim.schema import TAG
from desim.schema.validators import whole
from desim.short_repr import short_repr

#: The forms of a caller's actions: all fields of an action, or the number of an offered option.
FIELDS, OPTIONS = "fields", "options"

#: A reset without a seed draws one of so many.
DRAWN_SEEDS = 2**31

_MOST_OPTIONS = 10_000

#: Bounds of the estimates of options.
_LARGEST = 1e300


@frozen
class View:
    """The form of a seat's observations and actions.

    Attributes:
        action: "fields": the action space holds every action of the role. "options": it is
            `Discrete(max_options)`, a number among the options that the role offers at a decision.
        flat: Whether observations are one `Box` of their numbers, without texts.
        max_options: Options that can be chosen, the first ones, 1 to 10,000.
        limits: Limits of texts and lists.
    """

    action: str = field(default=FIELDS, validator=in_((FIELDS, OPTIONS)))
    flat: bool = False
    max_options: int = field(default=32, validator=[whole, ge(1), le(_MOST_OPTIONS)])
    limits: SpaceLimits = field(factory=SpaceLimits)

    @classmethod
    def of(cls, action: str, flat: bool, max_options: int, **limits: int) -> "View":  # noqa: FBT001
        """Return a checked view.

        Raises:
            UsageError: An argument is out of its range.
        """
        try:
            return cls(action, bool(flat), max_options, SpaceLimits(**limits))
        except (ValueError, TypeError) as fault:
            raise UsageError(f"{fault.args[0]}") from None


class Seat:
    """A role that a caller plays by members of Gymnasium spaces.

    With `action="options"` an observation is a `Dict`: `observation`, `action_mask` (1 for each
    option on offer) and `values` (the world's estimate of each, 0 for the others). The action of a
    number that is not on offer is the role's default action, so that every member of the space can
    be played.

    Args:
        setup: The world and its policies.
        role: The role's name.
        view: The form of its observations and actions.

    Attributes:
        observation_space: The observations.
        action_space: The actions.

    Raises:
        UsageError: The role offers no options, or its flat observation would be empty.
    """

    def __init__(self, setup: Setup, role: str, view: View) -> None:
        self._role = setup.model.roles[role]
        self._view = view
        self._by_options = view.action == OPTIONS
        self._observed = ObservationSpace(self._role.observation, view.limits, flat=view.flat)
        self._codec = setup.codec(role)
        self._actions = ActionSpace(self._codec, view.limits)
        self._offered: tuple[Decision | None, Sequence[Option]] = (None, ())
        if self._by_options and self._role.options is None:
            raise UsageError(f'{role!r} offers no options; give action="{FIELDS}"')
        self.observation_space = self._with_options(self._observed.space)
        self.action_space = (
            spaces.Discrete(view.max_options) if self._by_options else self._actions.space
        )

    def observation(self, session: SteppedSession, decision: Decision) -> Any:
        """Return a new member of the observation space for an open decision."""
        return self._and_options(
            self._observed.encode(decision.observation), self._options(session, decision)
        )

    def blank(self) -> Any:
        """Return a member of the observation space from before the role's first decision."""
        return self._and_options(self._observed.blank(), ())

    def mask(self, session: SteppedSession, decision: Decision | None) -> dict[str, Any]:
        """Return the mask of the options on offer, under `action_mask`; empty in other views."""
        offered = self._options(session, decision) if decision is not None else ()
        return {"action_mask": self._mask(offered)} if self._by_options else {}

    def action(self, session: SteppedSession, decision: Decision, given: Any) -> Any:
        """Return the action of a member of the action space, as `SteppedSession.answer` takes it.

        A tagged object, such as `{"do": "order", "quantity": 12}`, and an instance of an action
        class are returned as they are.

        Raises:
            WrongAction: The value is neither of these, nor a member of the action space.
        """
        tagged = isinstance(given, Mapping) and isinstance(given.get(TAG), str)
        if tagged or attrs.has(type(given)):
            return given
        if not self._by_options:
            return self._actions.decode(given)
        if not self.action_space.contains(given):
            raise WrongAction(
                f"{short_repr(given)} was given; an action is the number of an option, "
                f"0 to {self._view.max_options - 1}"
            )
        offered = self._options(session, decision)
        if given < len(offered):
            return offered[int(given)].action
        return self._role.default_for(decision.observation)

    def checked(self, action: Any) -> Any:
        """Return an action that was checked against the schema.

        Raises:
            WrongAction: The action does not fit the schema.
        """
        return self._codec.take(action)[0]

    def encode(self, action: Any) -> Any:
        """Return the member of the space of all fields for an action or its tagged object.

        Raises:
            WrongAction: The action does not fit the schema.
            UsageError: The space does not hold it.
        """
        return self._actions.encode(action)

    def _options(self, session: SteppedSession, decision: Decision) -> Sequence[Option]:
        """Return the options of a decision; computed once."""
        if not self._by_options:
            return ()
        if self._offered[0] is not decision:
            self._offered = decision, session.options(decision)[: self._view.max_options]
        return self._offered[1]

    def _with_options(self, space: Any) -> Any:
        if not self._by_options:
            return space
        count = self._view.max_options
        return spaces.Dict(
            {
                "observation": space,
                "action_mask": spaces.MultiBinary(count),
                "values": spaces.Box(-_LARGEST, _LARGEST, shape=(count,), dtype=np.float64),
            }
        )

    def _and_options(self, member: Any, offered: Sequence[Option]) -> Any:
        if not self._by_options:
            return member
        values = np.zeros(self._view.max_options)
        values[: len(offered)] = [option.value for option in offered]
        np.clip(values, -_LARGEST, _LARGEST, out=values)
        return {"observation": member, "action_mask": self._mask(offered), "values": values}

    def _mask(self, offered: Sequence[Option]) -> Any:
        mask = np.zeros(self._view.max_options, dtype=np.int8)
        mask[: len(offered)] = 1
        return mask


def begun(setup: Setup, seed: Any, record: Any, label: str) -> SteppedSession:
    """Return a new episode with an open decision.

    Args:
        setup: The world and its policies.
        seed: A whole number of at least 0, also a numpy integer.
        record: The file that receives the episode; None records nothing.
        label: The name of the caller, in the record.

    Raises:
        UsageError: The seed or the file is refused, or no seat has a decision in the episode.
    """
    if record is not None and not isinstance(record, str | Path):
        raise UsageError(f"record {short_repr(record)} was given; it is the path of a file")
    session = setup.begin(from_numpy(seed), record=record, label=label)
    if session.open:
        return session
    session.close()
    names = " and ".join(map(repr, setup.seats))
    raise UsageError(f"no decision of {names} in the episode of seed {seed}")


def running(session: SteppedSession | None) -> SteppedSession:
    """Return an episode that has an open decision.

    Raises:
        UsageError: No episode has begun, or it is over, or it has failed.
    """
    if session is not None and session.open and not session.done:
        return session
    over = "the episode has failed" if session and not session.done else "the episode is over"
    raise UsageError(f"{'no episode has begun' if session is None else over}; call reset first")
