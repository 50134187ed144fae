"""One seat of many episodes at once as a vector environment of Gymnasium."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces as gym
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from desim.adapters.seat import spaces
from desim.adapters.seat.role_spaces import FIELDS, ActionSpace, ObservationSpace, SeatForm
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.spaced import DRAWN_SEEDS, first_role
from desim.adapters.seat.stepped_session import SCORE, TRUNCATED, reward_values
from desim.core.model import Model
from desim.core.run import Run
from desim.core.streams import check_seed
from desim.engine.parameters import from_numpy
from desim.episodes.driver import CallerSeat
from desim.episodes.lineup import resolve
from desim.errors import UsageError, WrongAction, possible
from desim.lanes import Array, Columns, NoLanes, all_answers, answers_all, is_array, lanes_of
from desim.schema import TAG, to_plain

#: The end of errors: a vector environment that plays every world.
_INSTEAD = 'give vectorization_mode="sync", Gymnasium\'s SyncVectorEnv, instead'


class LanesEnv(VectorEnv):
    """One seat of many episodes of a world with lanes; policies that answer all lanes play others.

    It returns what Gymnasium's `SyncVectorEnv` of as many `SeatEnv` returns for the same seeds and
    actions, many times faster; infos have `score` and `ended` alone, at the end. The episodes begin
    together, and end together: in the step after the last one, whose action is left alone, the next
    ones begin, with seeds drawn from `np_random`.

    `step` takes a member of the batched action space, and also, much faster, a tagged object whose
    fields are arrays or single numbers, such as `{"do": "order", "quantity": array}`. An action
    that does not fit raises `WrongAction`, and one whose figures leave the range in which lanes are
    exact raises `NoLanes`; both change nothing.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        num_envs: The number of episodes that are played at once, at least 1.
        seat: See `SeatEnv`.
        options: Those of `SeatEnv` but `starts`, `max_options` and `action="options"`.

    Attributes:
        episode_seeds: The seeds of the present episodes; no info contains them.

    Raises:
        NoLanes: The world with these parameters, a policy or an option has no lanes.
        UsageError: An argument is not one of those possible.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (Gymnasium's own)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        model: Model[Any] | str,
        preset: str = "",
        *,
        num_envs: int = 1,
        seat: str = "",
        **options: Any,
    ) -> None:
        form = SeatForm.taken(options)
        if form.action != FIELDS:
            raise NoLanes(f"action={form.action!r} was given; lanes have fields alone: {_INSTEAD}")
        if type(num_envs) is not int or num_envs < 1:
            raise UsageError(f"num_envs={num_envs!r} was given; it is a whole number of at least 1")
        self.num_envs = num_envs
        self._setup = Setup.of(model, preset, seats=seat or first_role(model, preset), **options)
        (self._role,) = self._setup.seats
        reward = self._setup.rewards[self._role]
        self._metric, self._sign = reward.removeprefix("-"), -1.0 if reward[:1] == "-" else 1.0
        spec = self._setup.model.roles[self._role]
        self._actions = ActionSpace(spec, form)
        self._observed = ObservationSpace(spec.observation, form)
        self.single_observation_space = self._observed.space
        self.single_action_space = self._actions.space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.episode_seeds: tuple[int, ...] = ()
        self._seen = Columns(None, {})
        self._others: dict[str, Any] = {}
        self._answered, self._ended, self._truncated = 0, False, False
        self._begin([0])  # a world without lanes is refused
        self.episode_seeds = ()
        if len(self._actions.space.names) > 1 or not isinstance(self._observed.part, spaces.Fields):
            raise NoLanes(f"{self._role!r} acts or observes by several classes; {_INSTEAD}")

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all episodes.

        Args:
            seed: One seed an episode, or the first of as many in a row; without it they are drawn.
            options: None; lanes are not recorded.

        Raises:
            UsageError: A seed is not a whole number of at least 0, their number is not `num_envs`,
                an option was given, or the seat has no decision.
        """
        for name in options or {}:
            raise UsageError(f"option {name!r} was given; lanes take none")
        seeds = self._listed(seed)
        super().reset(seed=seeds[0] if seeds else None)
        self._begin(seeds or self._drawn())
        return self._member(), {}

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Answer the open decision of each episode and run to the next ones of the seat.

        Raises:
            WrongAction: An action does not fit.
            NoLanes: A figure would leave the range in which lanes are exact.
            UsageError: No episodes have begun.
        """
        if not self.episode_seeds:
            raise UsageError("no episodes are under way; call reset first")
        rewards, infos = np.zeros(self.num_envs), dict[str, Any]()
        if self._ended or self._truncated:
            self._begin(self._drawn())
        else:
            self._ask(self._lanes.step({self._role: self._fields(actions), **self._others}))
            self._answered += 1
            most = self._setup.max_decisions
            self._truncated = not self._ended and most is not None and self._answered >= most
            rewards = self._rewards()
            infos = self._facts() if self._ended or self._truncated else infos
        terminated, truncated = (
            np.full(self.num_envs, over) for over in (self._ended, self._truncated)
        )
        return self._member(), rewards, terminated, truncated, infos

    # -- the episodes ------------------------------------------------------------------------------

    def _begin(self, seeds: Sequence[int]) -> None:
        setup = self._setup
        self.episode_seeds = tuple(seeds)
        self._policies = _others(setup, seeds[0])
        roles = [self._role, *self._policies]
        try:
            self._lanes = lanes_of(setup.model, roles, seeds)
        except NoLanes as fault:
            raise NoLanes(f"{fault}; {_INSTEAD}") from None
        opening = Run(setup.model, seeds[0], frozenset(roles))
        self._value: Array = reward_values(opening, [self._metric])[self._metric]
        self._answered, self._truncated = 0, False
        self._ask(self._lanes.reset())
        if self._ended:
            raise UsageError(f"no decision of {self._role!r} in the episode of seed {seeds[0]}")

    def _ask(self, questions: Mapping[str, Columns]) -> None:
        """Let other roles answer until the seat has a decision, and keep their last answers."""
        while questions and self._role not in questions:
            questions = self._lanes.step(self._answers(questions))
        self._seen = questions.get(self._role, self._seen)
        # They are kept, because a policy remembers what it has answered once.
        self._others = self._answers(questions)
        ended = self._lanes.ended
        self._ended = bool(ended.all())
        if ended.any() and not self._ended:
            raise NoLanes(f"episodes end at different steps; {_INSTEAD}")

    def _answers(self, questions: Mapping[str, Columns]) -> dict[str, Any]:
        return {
            role: all_answers(self._policies[role], asked)
            for role, asked in questions.items()
            if role != self._role
        }

    def _rewards(self) -> Array:
        lanes, name = self._lanes, self._metric
        value = lanes.score() if name == SCORE else lanes.metrics()[name]
        known = [0.0 if one is None else one for one in value]
        before, self._value = self._value, np.array(known, np.float64)
        return self._sign * (self._value - before)

    def _facts(self) -> dict[str, Any]:
        """Return the facts of the ends as Gymnasium joins those of single environments."""
        reasons = self._lanes.end_reasons() if self._ended else [TRUNCATED] * self.num_envs
        facts = {
            "score": np.array(self._lanes.score(), np.float64),
            "ended": np.array(reasons, object),
        }
        return facts | {f"_{name}": np.ones(self.num_envs, bool) for name in facts}

    # -- seeds, observations and actions -----------------------------------------------------------

    def _listed(self, seed: Any) -> list[int]:
        """Return the seeds that were given for the episodes; none for None."""
        given = from_numpy(seed)
        if given is None:
            return []
        if not isinstance(given, list | tuple):
            check_seed(given)
            given = range(given, given + self.num_envs)
        listed = [from_numpy(each) for each in given]
        for each in listed:
            check_seed(each)
        if len(listed) != self.num_envs:
            raise UsageError(f"{len(listed):,} seeds were given for {self.num_envs:,} episodes")
        return listed

    def _drawn(self) -> list[int]:
        return [int(each) for each in self.np_random.integers(DRAWN_SEEDS, size=self.num_envs)]

    def _member(self) -> Any:
        """Return a new member of the batched space for what the seat observes."""
        parts, seen, count = self._observed.part.parts, self._seen, self.num_envs
        if not self._observed.flat:
            return {name: _batched(part, seen[name], count) for name, part in parts.items()}
        flat = [_flat(part, seen[name], count) for name, part in parts.items()]
        return np.concatenate(flat, axis=1)

    def _fields(self, given: Any) -> dict[str, Any]:
        """Return the fields of the actions, each an array or one value for all."""
        (name,), count = self._actions.space.names, self.num_envs
        if isinstance(given, Mapping) and isinstance(given.get(TAG), str):
            if given[TAG] != name:
                raise WrongAction(f"action {given[TAG]!r} was given; {possible('', [name])}")
            fields = {each: np.asarray(value) for each, value in given.items() if each != TAG}
        else:
            try:
                members = list(iterate(self.action_space, given))
            except (KeyError, TypeError, ValueError, IndexError):
                members = [given]  # is refused
            actions = [self._actions.decode(each) for each in members]
            fields = {each: np.array([one[each] for one in actions]) for each in actions[0]}
            fields.pop(TAG)
        for each, array in fields.items():
            if array.shape not in ((), (count,)):
                raise WrongAction(
                    f"{each!r} has the shape {array.shape}; it has an entry for each of {count} "
                    "lanes"
                )
        return fields


def _others(setup: Setup, seed: int) -> dict[str, Any]:
    """Return new policies of the other roles, or refuse what lanes do not play."""
    if setup.starts is not None:
        raise NoLanes(f"starts was given; lanes do not know it: {_INSTEAD}")
    seats = dict.fromkeys(setup.seats, CallerSeat())
    policies = resolve(setup.model, {**seats, **setup.others}, seed).policies
    others = {role: policy for role, policy in policies.items() if role not in seats}
    for role, policy in others.items():
        if not answers_all(policy):
            name = type(policy).__name__
            raise NoLanes(f"{name}, the policy of {role!r}, does not answer all lanes; {_INSTEAD}")
    return others


def _batched(part: Any, column: Any, count: int) -> Any:
    """Return a new member of the batched space of a field; *column* may be one value for all."""
    if _is_number(part):
        return np.broadcast_to(np.asarray(column, part.dtype), count).copy()
    values = _values(column)
    members = [spaces.encode(part, each) for each in values]
    members = members * count if len(members) == 1 else members
    if isinstance(part, gym.Text):
        return tuple(members)
    return concatenate(part, members, create_empty_array(part, count))


def _flat(part: Any, column: Any, count: int) -> Array:
    """Return the numbers of a field, a row for each lane."""
    if _is_number(part):
        return np.broadcast_to(np.asarray(column, np.float64), count)[:, np.newaxis]
    rows = np.array([spaces.numbers(part, each) for each in _values(column)], np.float64)
    return np.broadcast_to(rows, (count, rows.shape[1]))


def _is_number(part: Any) -> bool:
    """Return whether a field is a number; the checks of its class have bounded it."""
    return isinstance(part, spaces.Number | gym.Discrete) and not isinstance(
        part, spaces.Enumeration
    )


def _values(column: Any) -> list[Any]:
    """Return the plain values of a column; one value if all lanes have the same."""
    listed = column.tolist() if is_array(column) else column
    return [to_plain(each) for each in listed] if isinstance(listed, list) else [to_plain(listed)]
