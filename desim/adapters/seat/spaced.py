"""Seats that are played by members of Gymnasium spaces: the base of `SeatEnv` and PettingZoo's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from gymnasium import spaces

from desim import catalog
from desim.adapters.seat.role_spaces import OPTIONS, ActionSpace, ObservationSpace, SeatForm
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_session import SteppedSession
from desim.core.events import Decision
from desim.core.model import Model
from desim.core.roles import Option
from desim.engine.parameters import from_numpy
from desim.errors import DesimError, UsageError, WrongAction
from desim.schema import TAG, codec
from desim.short_repr import short_repr

#: A reset without a seed draws one of so many.
DRAWN_SEEDS = 2**31

#: Bounds of the estimates of options.
_LARGEST = 1e300


def first_role(model: Model[Any] | str, preset: str) -> str:
    """Return the first of a world's default roles, which a caller without a seat plays."""
    known = catalog.model(model, preset) if isinstance(model, str) else model
    return known.default_roles[0]


class SeatSpaces:
    """The spaces of a role's observations and actions, and the conversion of their members.

    With `action="options"` an observation is a `Dict`: `observation`, `action_mask` (1 for each
    option on offer) and `values` (the world's estimate of each, 0 for the others). The action of a
    number that is not on offer is the role's default action, so that every member of the space can
    be played.

    Attributes:
        observation_space: The observations.
        action_space: The actions.
        actions: The actions with all fields, whatever `action_space` holds.

    Raises:
        UsageError: The role offers no options, or its flat observation would be empty.
    """

    def __init__(self, setup: Setup, role: str, form: SeatForm) -> None:
        spec = setup.model.roles[role]
        self._observed = ObservationSpace(spec.observation, form)
        self.actions = ActionSpace(spec, form)
        self._most = form.max_options if form.action == OPTIONS else 0
        self._offered: tuple[Decision | None, Sequence[Option]] = (None, ())
        self.observation_space: Any = self._observed.space
        self.action_space: Any = self.actions.space
        if not self._most:
            return
        if spec.options is None:
            raise UsageError(f'{role!r} offers no options; give action="fields"')
        self.observation_space = spaces.Dict(
            {
                "observation": self._observed.space,
                "action_mask": spaces.MultiBinary(self._most),
                "values": spaces.Box(-_LARGEST, _LARGEST, shape=(self._most,), dtype=np.float64),
            }
        )
        self.action_space = spaces.Discrete(self._most)

    def observation(self, session: SteppedSession | None, decision: Decision | None) -> Any:
        """Return a new member of the observation space; a blank one before the first decision."""
        member = self._observed.encode(decision.observation) if decision else self._observed.blank()
        if not self._most:
            return member
        offered = self._options(session, decision)
        values = np.zeros(self._most)
        values[: len(offered)] = [option.value for option in offered]
        np.clip(values, -_LARGEST, _LARGEST, out=values)
        return {"observation": member, "action_mask": self._mask(offered), "values": values}

    def mask(self, session: SteppedSession, decision: Decision | None) -> dict[str, Any]:
        """Return `action_mask`: of the options on offer, or of the actions that a question takes.

        The second is a mask for `action_space.sample`; it is missing where a question takes all
        actions of the role.
        """
        if self._most:
            return {"action_mask": self._mask(self._options(session, decision))}
        named = decision.possible if decision is not None else ()
        return {"action_mask": self.actions.mask(named)} if named else {}

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
        if not self._most:
            return self.actions.decode(given)
        if not self.action_space.contains(given):
            raise WrongAction(
                f"{short_repr(given)} was given; an action is the number of an option, "
                f"0 to {self._most - 1}"
            )
        offered = self._options(session, decision)
        if given < len(offered):
            return offered[int(given)].action
        return decision.spec.default_for(decision.observation)

    def _options(
        self, session: SteppedSession | None, decision: Decision | None
    ) -> Sequence[Option]:
        """Return the options of a decision; computed once."""
        if session is None or decision is None:
            return ()
        if self._offered[0] is not decision:
            self._offered = decision, session.options(decision)[: self._most]
        return self._offered[1]

    def _mask(self, offered: Sequence[Option]) -> Any:
        return (np.arange(self._most) < len(offered)).astype(np.int8)


class SpacesEnvironment:
    """The episodes of a setup, one after the other, whose seats are played by members of spaces.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        label: The caller's name as a policy, in records.
        options: The fields of `SeatForm`, and the arguments of `Setup.of`.

    Attributes:
        setup: The world and its policies; the next episode is one of it.
        session: The present episode; None before the first, and after `close`.
        seats: The spaces by role.

    Raises:
        UsageError: An argument is not one of those possible.
    """

    def __init__(
        self,
        model: Model[Any] | str,
        preset: str,
        label: str,
        **options: Any,
    ) -> None:
        form = SeatForm.taken(options)
        self.setup, self._label = Setup.of(model, preset, **options), label
        self.session: SteppedSession | None = None
        self._failed = False
        self._shown: dict[str, Decision] = {}
        self._before = 0
        self.seats = {role: SeatSpaces(self.setup, role, form) for role in self.setup.seats}

    @property
    def seed(self) -> int:
        """The seed of the present episode."""
        return self._present().seed

    @property
    def ended(self) -> bool:
        """Whether the world has ended."""
        return self.session is not None and self.session.episode is not None

    @property
    def truncated(self) -> bool:
        """Whether a limit has ended the episode."""
        return self.session is not None and self.session.truncated

    def reset(
        self, seed: Any, options: Mapping[str, Any] | None, random: np.random.Generator
    ) -> SteppedSession:
        """Close the present episode and begin one with an open decision.

        Args:
            seed: A whole number of at least 0, also a numpy integer; None to draw one, or to play
                on in the world of the record of `starts`.
            options: `record`: the file that receives the episode.
            random: Draws a seed.

        Raises:
            BadRecord: The record of `starts` cannot be read or does not replay.
            UsageError: The seed or the file is refused, or no seat has a decision in the episode.
        """
        record = (options or {}).get("record")
        if record is not None and not isinstance(record, str | Path):
            raise UsageError(f"record {short_repr(record)} was given; it is the path of a file")
        if seed is None and self.setup.starts is None:
            seed = int(random.integers(DRAWN_SEEDS))
        self.close()
        session = self.setup.begin(from_numpy(seed), record=record, label=self._label)
        if not session.open:
            session.close()
            names = " and ".join(map(repr, self.setup.seats))
            raise UsageError(f"no decision of {names} in the episode of seed {seed}")
        self.session = session
        self._shown.update({each.role: each for each in session.open})
        self._before = session.tick
        return session

    def running(self) -> SteppedSession:
        """Return the present episode, which has an open decision.

        Raises:
            UsageError: No episode has begun, or it is over, or it has failed.
        """
        session = self._present()
        if session.done or self._failed:
            state = "is over" if session.done else "has failed"
            raise UsageError(f"the episode {state}; call reset first")
        return session

    def take(self, actions: Mapping[str, Any]) -> dict[str, float]:
        """Answer the open decisions of some seats, move on and return the rewards of all seats.

        At the episode's end its record is closed.

        Raises:
            UsageError: The episode is not at play.
            WrongAction: An action does not fit; nothing has changed.
            DesimError: The model or the policy of another role has failed, so that the episode is
                over.
        """
        session = self.running()
        answers, self._before = [], session.tick
        for decision in session.open:
            if (role := decision.role) in actions:
                action = self.seats[role].action(session, decision, actions[role])
                if len(actions) > 1:  # none is taken before all fit
                    action = codec(decision.spec.action).take(action)[0]
                answers.append((decision, action))
        for decision, action in answers:
            session.answer(decision, action)
        try:
            session.advance()
            rewards = session.rewards()
        except DesimError:
            self._failed = True
            session.close()
            raise
        if session.done:
            session.close()
        self._shown.update({each.role: each for each in session.open})
        return rewards

    def observed(self, role: str) -> Any:
        """Return a role's observation: of its open or last decision, or a blank one."""
        return self.seats[role].observation(self.session, self._shown.get(role))

    def info(self, role: str, *, deciding: bool = True) -> dict[str, Any]:
        """Return the mask of a role's options, and at the end of the episode its facts.

        `elapsed` is the number of ticks that the last step took.

        Args:
            role: The role.
            deciding: Whether the mask shows the options of the role's open or last decision; else
                it shows none.
        """
        session = self._present()
        mask = self.seats[role].mask(session, self._shown.get(role) if deciding else None)
        facts = {"elapsed": session.tick - self._before, **mask}
        return {**facts, **session.end_facts()} if self.ended or self.truncated else facts

    def close(self) -> None:
        """Close the present episode and its record."""
        if self.session is not None:
            self.session.close()
        self.session, self._failed = None, False
        self._shown.clear()

    def _present(self) -> SteppedSession:
        if self.session is None:
            raise UsageError("no episode has begun; call reset first")
        return self.session
