"""The setup of an adapter's episodes: a world, the caller's roles, policies for the others.

`is_same_setup` tests whether a record is of an episode of a setup.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from attrs import field, frozen

from desim import catalog
from desim.adapters.seat.starts import Start, write_past
from desim.adapters.seat.stepped_session import SCORE, SteppedSession, reward_values
from desim.catalog.policy_spec import label as label_of
from desim.core.model import Model
from desim.core.run import Run, check_roles
from desim.episodes.lineup import Policies, assign
from desim.episodes.replay import naming
from desim.errors import DesimError, UsageError, possible
from desim.records.episode import Episode
from desim.records.lines import Header
from desim.short_repr import short_repr

#: The policy of roles that must have one and are given none: the best option by its estimate.
OTHERS = "greedy"


@frozen
class Setup:
    """The setup of an adapter's episodes; each begins with `begin`.

    Attributes:
        model: The frozen parameters of the world.
        seats: The roles that the caller plays, at least one.
        others: The policies of the other roles; specs, classes or functions, which are built anew
            for every episode.
        rewards: By seat, the value whose change is its reward: "score", or a metric of the world,
            with a minus before it if less is better.
        max_decisions: Decisions of the seats after which an episode is truncated; None stands for
            no limit.
        starts: The decision on record at which each episode begins; None begins all at the world's
            begin. Limits and rewards count from there.
    """

    model: Model[Any]
    seats: tuple[str, ...]
    others: Mapping[str, Any] = field(factory=dict)
    rewards: Mapping[str, str] = field(factory=dict)
    max_decisions: int | None = None
    starts: Start | None = None

    @classmethod
    def of(
        cls,
        model: Model[Any] | type | str,
        preset: str = "",
        *,
        params: Mapping[str, Any] | None = None,
        seats: Sequence[str] | str = (),
        others: Policies = None,
        reward: str | Mapping[str, str] = "score",
        max_decisions: int | None = None,
        starts: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return a checked setup.

        Args:
            model: A model, or its name in the catalog with or without `/preset`.
            preset: A preset of a model that is given by name.
            params: Parameters that differ from the preset's, of a model that is given by name;
                values, or texts as on the command line.
            seats: The roles that the caller plays; empty stands for the model's default roles.
            others: One policy for all other roles, or policies by role. `OTHERS` plays the roles
                without one that must have a policy, and the model plays the rest.
            reward: "score", a metric's name, or either by seat; a minus before a metric's name
                turns its sign.
            max_decisions: See the attribute.
            starts: The attribute, as `{"record": PATH, "at": N}`.

        Raises:
            BadRecord: The record of *starts* cannot be read.
            UsageError: The model, preset, role, policy, metric or a parameter does not exist, a
                role is both a seat and among the others, or the limit is not a number above 0.
        """
        world = catalog.model(model, preset, params)
        chosen = (seats,) if isinstance(seats, str) and seats else tuple(seats)
        played = tuple(assign(world, dict.fromkeys(chosen, OTHERS))) or tuple(world.default_roles)
        policies = _others(world, played, others)
        roles = check_roles(world, frozenset([*played, *policies]))
        rewards = _rewards(played, reward)
        if set(rewards.values()) != {SCORE}:
            reward_values(
                Run(world, 0, roles), rewards.values()
            )  # the world may have no such metric
        if max_decisions is not None and not (type(max_decisions) is int and max_decisions > 0):
            given = short_repr(max_decisions)
            raise UsageError(f"max_decisions={given} was given; it is a whole number from 1")
        begins = None if starts is None else Start.of(starts)
        setup = cls(world, played, policies, rewards, max_decisions, begins)
        if begins is not None:
            begins.past(world, dict.fromkeys(played, ""), policies, None)  # or is refused
        return setup

    def begin(
        self,
        seed: int | None = 0,
        *,
        record: str | Path | None = None,
        past: Episode | None = None,
        label: str = "external",
    ) -> SteppedSession:
        """Return a new episode that waits for the first decision of a seat.

        Args:
            seed: A whole number of at least 0, None for 0. With `starts` it draws what no role can
                have observed by then; None plays on in the world of the record.
            record: The file that receives the episode line by line; None records nothing.
            past: A cut record of the same setup, whose decisions are made again first.
            label: The name of the caller as a policy, in the record.

        Raises:
            UsageError: The seed is wrong, or the file exists or is locked.
            BadRecord: The record of `starts` cannot be read or does not replay.
            ModelFailed: The model raised an exception.
            PolicyFailed: A policy of another role raised an exception.
        """
        if past is not None or self.starts is None:
            return self._session(seed or 0, record, past, label)
        past = self.starts.past(self.model, dict.fromkeys(self.seats, label), self.others, seed)
        if record is not None:
            write_past(past, record)
        try:
            with naming(self.starts.record, partial(past.header.changes, self.model)):
                session = self._session(past.header.seed, record, past, label)
        except DesimError:
            if record is not None:
                Path(record).unlink(missing_ok=True)
            raise
        session.rewards()  # those of the repeated decisions
        return session

    def _session(
        self, seed: int, record: str | Path | None, past: Episode | None, label: str
    ) -> SteppedSession:
        session = SteppedSession(
            self.model,
            seed,
            seats=dict.fromkeys(self.seats, label),
            others=self.others,
            rewards=self.rewards,
            max_decisions=self.max_decisions,
            record=record,
            past=past,
        )
        try:
            session.advance()
        except BaseException:
            session.close()
            raise
        return session


def _others(model: Model[Any], seats: Sequence[str], others: Policies) -> dict[str, Any]:
    """Return policies by role for the roles that are not seats."""
    named = others if isinstance(others, Mapping) else {"": others} if others is not None else {}
    explicit = assign(model, {role: one for role, one in named.items() if role})
    for role in seats:
        if role in explicit:
            raise UsageError(f"{role!r} is a seat of the caller; give policies to other roles only")
    left = [role for role in model.roles if role not in seats and role not in explicit]
    given = assign(model, named[""], left) if "" in named and left else {}
    needed = [role for role in model.default_roles if role in left and role not in given]
    given |= assign(model, OTHERS, needed) if needed else {}
    return {role: one for role, one in {**given, **explicit}.items() if role not in seats}


def _rewards(seats: Sequence[str], reward: str | Mapping[str, str]) -> dict[str, str]:
    if isinstance(reward, str):
        return dict.fromkeys(seats, reward)
    for role in reward:
        if role not in seats:
            raise UsageError(f"a reward for {role!r} was given; {possible(role, seats)}")
    return {role: reward.get(role, SCORE) for role in seats}


def is_same_setup(setup: Setup, recorded: Header, label: str) -> bool:
    """Return whether a header has the world, the policies, and the seats under a caller's label."""
    labels = dict.fromkeys(setup.seats, label)
    labels |= {role: label_of(policy) for role, policy in setup.others.items()}
    mine = Header.of(setup.model, recorded.seed, labels)
    same = all(
        getattr(mine, name) == getattr(recorded, name) for name in ("model", "params", "policies")
    )
    # An episode that began in another record has its futures, and one more.
    return same and (setup.starts is not None or not recorded.futures)
