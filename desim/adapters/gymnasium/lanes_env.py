"""One seat of many episodes at once as a vector environment of Gymnasium."""

from collections.abc import Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
from attrs import frozen
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from desim.adapters.gymnasium.lane_batches import ActionBatch, ObservationBatch, Places, taken_rows
from desim.adapters.gymnasium.seats import DRAWN_SEEDS, FIELDS, SeatForm, first_role, seat_actions
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.stepped_lanes import INSTEAD, SteppedLanes
from desim.core.model import Model
from desim.core.streams import check_seed
from desim.engine.parameters import from_numpy
from desim.errors import DesimError, UsageError, possible
from desim.lanes import Array, NoLanes

#: Types of columns of infos by the types of their values; other values are objects.
_DTYPES = {
    frozenset({kind}): dtype
    for dtype, kinds in ((float, (float, np.float64)), (int, (int, np.int64)), (bool, (bool,)))
    for kind in kinds
}

_MODES = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)


@frozen
class _Cohort:
    """Episodes that began at the same step.

    Attributes:
        lanes: The episodes.
        rows: Their numbers in the environment.
        whole: Whether these are all numbers of the environment.
    """

    lanes: SteppedLanes
    rows: Array
    whole: bool

    def places(self, chosen: Array) -> tuple[Places, Places]:
        """Return the numbers of chosen lanes, in the cohort and in the environment.

        Args:
            chosen: Whether a lane is chosen; True chooses all of them.
        """
        if chosen is True or chosen.all():
            return slice(None), slice(None) if self.whole else self.rows
        lanes = np.flatnonzero(chosen)
        return lanes, self.rows[lanes]


class LanesEnv(VectorEnv):
    """One seat of many episodes of a world with lanes; policies that answer all lanes play others.

    It returns what Gymnasium's `SyncVectorEnv` of as many `SeatEnv` returns for the same seeds and
    actions, many times faster, except ledger digests and `elapsed`. Episodes that begin at the same
    step are computed together, so that a world of fixed length is fastest.

    `step` takes a member of the batched action space, and also a tagged object whose fields are
    arrays or single numbers, such as `{"do": "order", "quantity": array}`. An action that does not
    fit raises `WrongAction`, and one whose figures leave the range in which lanes are exact raises
    `NoLanes`; both change nothing while all episodes began at one step, and else end them all.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        num_envs: The number of episodes that are played at once, at least 1.
        seat: See `SeatEnv`.
        autoreset_mode: When an episode that is over is followed by the next one: at the next step,
            whose action is left alone, or at the same one, with the last observation and info under
            `final_obs` and `final_info`.
        options: `others`, `params`, `reward`, `max_decisions`, `bounds`, `flat`, `scaled`,
            `max_text` and `max_entries` of `SeatEnv`.

    Raises:
        NoLanes: The world with these parameters, a policy or an option has no lanes.
        UsageError: An argument is not one of those possible.
    """

    metadata: dict[str, Any]

    def __init__(
        self,
        model: Model[Any] | str,
        preset: str = "",
        *,
        num_envs: int = 1,
        seat: str = "",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        form = SeatForm.taken(options)
        if render_mode is not None:
            raise NoLanes(
                f"render_mode={render_mode!r} was given; lanes have no pictures: {INSTEAD}"
            )
        if form.action != FIELDS:
            raise NoLanes(f"action={form.action!r} was given; lanes have fields alone: {INSTEAD}")
        if type(num_envs) is not int or num_envs < 1:
            raise UsageError(f"num_envs={num_envs!r} was given; it is a whole number of at least 1")
        mode = _mode(autoreset_mode)
        self._same_step = mode is AutoresetMode.SAME_STEP
        self.metadata = {"render_modes": [], "autoreset_mode": mode}
        self._setup = Setup.of(model, preset, seats=seat or first_role(model, preset), **options)
        SteppedLanes(self._setup, [0])  # a world without lanes is refused here
        (role,) = self._setup.seats
        self.num_envs, self.render_mode = num_envs, None
        codec, observed = self._setup.codec(role), self._setup.model.roles[role].observation
        actions = seat_actions(self._setup, role, form)
        seen = form.observed(observed)
        self._actions = ActionBatch(actions, codec, num_envs)
        self._seen = ObservationBatch(seen, num_envs)
        self.single_observation_space, self.single_action_space = seen.space, actions.space
        self.observation_space = batch_space(seen.space, num_envs)
        self.action_space = batch_space(actions.space, num_envs)
        self._cohorts: list[_Cohort] = []
        self._over = np.zeros(num_envs, bool)
        self._seeds = _Seeds(num_envs)

    @property
    def episode_seeds(self) -> tuple[int, ...]:
        """The seeds of the present episodes, for training and evaluation; no info contains them."""
        return tuple(self._seeds.present)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin all episodes.

        Args:
            seed: One seed an episode, or the first of as many in a row. The seed of an episode
                without one, and of every later episode, is drawn as `SeatEnv.reset` draws it.
            options: None; lanes are not recorded.

        Raises:
            UsageError: A seed is not a whole number of at least 0, their number is not `num_envs`,
                an option was given, or the seat has no decision in an episode.
        """
        for name in options or {}:
            raise UsageError(f"option {name!r} was given; lanes take none")
        self._seeds.give(seed)
        super().reset(seed=seed if isinstance(seed, int) else None)
        self._cohorts, self._over = [], np.zeros(self.num_envs, bool)
        self._begin(np.arange(self.num_envs))
        return self._seen.member(), {}

    def step(self, actions: Any) -> tuple[Any, Array, Array, Array, dict[str, Any]]:
        """Answer the open decision of each episode and run to the next ones of the seat.

        Raises:
            WrongAction: An action does not fit.
            NoLanes: A figure would leave the range in which lanes are exact.
            UsageError: No episodes have begun.
        """
        if not self._cohorts and not self._over.any():
            raise UsageError("no episodes are under way; call reset first")
        answers = self._actions.columns(actions)
        rewards, facts = np.zeros(self.num_envs), dict[str, Any]()
        terminated, truncated = np.zeros((2, self.num_envs), bool)
        for cohort in self._cohorts:
            lanes, rows = self._step(cohort, answers, rewards)
            if not cohort.lanes.going:
                terminated[rows] = cohort.lanes.ended[lanes]
                truncated[rows] = cohort.lanes.truncated[lanes]
                self._end(facts, cohort, lanes)
        before, self._over = self._over, terminated | truncated
        self._cohorts = [each for each in self._cohorts if np.any(each.lanes.live)]
        if self._same_step:
            before, facts = self._over, self._final(facts)
        if before.any():
            self._begin(np.flatnonzero(before))
        return self._seen.member(), rewards, terminated, truncated, facts

    def _begin(self, rows: Array) -> None:
        """Begin the next episode of some rows."""
        lanes = SteppedLanes(self._setup, self._seeds.next(rows.tolist()))
        cohort = _Cohort(lanes, rows, len(rows) == self.num_envs)
        self._cohorts.append(cohort)
        self._seen.write(lanes.seen, *cohort.places(lanes.asked))

    def _step(self, cohort: _Cohort, answers: Mapping[str, Any], rewards: Array) -> Any:
        """Step the episodes of a cohort and return the places of those that were under way."""
        stepped, live = cohort.lanes, cohort.lanes.live
        if not cohort.whole:
            answers = taken_rows(answers, cohort.rows)
        try:
            change = stepped.step(answers)
        except DesimError:
            if cohort is not self._cohorts[0]:  # the first ones have moved
                self._cohorts, self._over = [], np.zeros(self.num_envs, bool)
            raise
        lanes, rows = cohort.places(live)
        rewards[rows] = change[lanes]
        asked = stepped.asked if live is True else live & stepped.asked
        if np.any(asked):
            self._seen.write(stepped.seen, *cohort.places(asked))
        return lanes, rows

    def _end(self, facts: dict[str, Any], cohort: _Cohort, lanes: Places) -> None:
        """Add the facts of the ends of lanes that were under way."""
        stepped = cohort.lanes
        for ends in (stepped.ended, stepped.truncated):
            over = np.arange(len(cohort.rows))[lanes][ends[lanes]]
            if len(over):
                _place(facts, stepped.end_facts(over), cohort.rows[over], self.num_envs)

    def _final(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Return the infos of episodes that are followed by others at the same step."""
        over = self._over
        if not over.any():
            return {}
        seen = np.full(self.num_envs, None, object)
        for row in np.flatnonzero(over).tolist():
            seen[row] = self._seen.row(row)
        masks = {"_final_obs": over.copy(), "_final_info": over.copy()}
        return {"final_obs": seen, "final_info": facts, **masks}


class _Seeds:
    """The seeds of the episodes of each row: those that as many `SeatEnv` would have.

    Attributes:
        present: The seeds of the present episodes.
    """

    def __init__(self, count: int) -> None:
        self.present = [0] * count
        self._count = count
        self._given: dict[int, int] = {}
        self._generators: dict[int, np.random.Generator] = {}
        self._new: set[int] = set()

    def give(self, seed: int | Sequence[int | None] | None) -> None:
        """Set the seeds of the next episodes; rows without one go on drawing.

        Raises:
            UsageError: A seed is not a whole number of at least 0, or their number is another.
        """
        listed = self._listed(seed)
        for each in listed:
            if each is not None:
                check_seed(each)
        for row, each in enumerate(listed):
            if each is not None:
                self._given[row] = each
                self._generators.pop(row, None)
                self._new.add(row)

    def next(self, rows: Sequence[int]) -> list[int]:
        """Return the seeds of the next episodes of some rows."""
        for row in rows:
            self.present[row] = self._given[row] if row in self._new else self._drawn(row)
            self._new.discard(row)
        return [self.present[row] for row in rows]

    def _drawn(self, row: int) -> int:
        if row not in self._generators:
            self._generators[row], _ = seeding.np_random(self._given.get(row))
        return int(self._generators[row].integers(DRAWN_SEEDS))

    def _listed(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self._count
        given = from_numpy(seed)
        if isinstance(given, Sequence) and not isinstance(given, str):
            if len(given) != self._count:
                raise UsageError(f"{len(given):,} seeds were given for {self._count:,} episodes")
            return [from_numpy(each) for each in given]
        check_seed(given)
        return [given + row for row in range(self._count)]


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    for mode in _MODES:
        if given in (mode, mode.value):
            return mode
    raise UsageError(
        f"autoreset_mode={given!r} was given; {possible(str(given), [one.value for one in _MODES])}"
    )


def _place(infos: dict[str, Any], facts: Mapping[str, Any], rows: Array, count: int) -> None:
    """Add columns of some rows to infos: a key is an array, its mask has an underscore before."""
    for name, values in facts.items():
        if isinstance(values, Mapping):
            _place(infos.setdefault(name, {}), values, rows, count)
        else:
            infos[name] = _filled(infos.get(name), values, rows, count)
        infos.setdefault(f"_{name}", np.zeros(count, bool))[rows] = True


def _filled(before: Array | None, values: Array | list[Any], rows: Array, count: int) -> Array:
    """Return a column of infos with the values of some rows; numbers that are missing are NaN."""
    kinds = {type(each) for each in values}
    missing = kinds == {float, NoneType}
    column = np.array(values, float if missing else _DTYPES.get(frozenset(kinds), object))
    if before is None:
        before = np.full(count, None) if column.dtype == object else np.zeros(count, column.dtype)
    elif before.dtype != column.dtype:
        before = before.astype(np.result_type(before.dtype, column.dtype))
    before[rows] = column
    return before
