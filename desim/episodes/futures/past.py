"""A record whose decisions were repeated, and the answers of another course of the episode."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from attrs import evolve, field, frozen

from desim.collector import rare_collections
from desim.core.limits import Limits
from desim.core.model import Model, offers
from desim.core.reported import HasDates
from desim.core.roles import Role
from desim.core.run import Run
from desim.core.world import Decision
from desim.episodes.episode_options import UNTRUSTED, TrustOptions
from desim.episodes.prefix import naming_changes, repeat, repeat_step
from desim.episodes.trust import trusted_model
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.lines import Header, Step
from desim.short_repr import short_repr


class Moment(NamedTuple):
    """One decision of a record, as it was open when the record was repeated.

    Attributes:
        t: The tick.
        role: The role that decided.
        observation: The role's observation; None in a `Past` for workers, which do not need it.
        action: The role's action, as an instance.
        until: The number, from 0, of the first decision that was handed out later: those between
            were open together, so none of them depends on another's answer.
        narrowed: The role with the actions that the question takes; None if it takes all.
        delay: Ticks until the answer took effect.
    """

    t: int
    role: str
    observation: Any
    action: Any
    until: int
    narrowed: Role | None = None
    delay: int = 0


@frozen
class Past:
    """A record whose decisions were all repeated and found the same.

    Attributes:
        model: The frozen parameters.
        header: The record's header.
        moments: Its decisions in their order.
        ended: Whether the episode ended with them.
        limits: The limits of each episode that is played from here.
    """

    model: Model[Any]
    header: Header
    moments: tuple[Moment, ...] = field(repr=False)
    ended: bool
    limits: Limits | None = None

    @classmethod
    def read(
        cls,
        record: str | Path | Episode,
        trusted: TrustOptions = UNTRUSTED,
        limits: Limits | None = None,
    ) -> "Past":
        """Read a record, build its model, and repeat its decisions; no policy of it is built.

        Args:
            record: A record, whole or cut or of a run that failed; or an episode.
            trusted: What may be used of what the record names, and the model and the parameters
                instead of the recorded ones.
            limits: The limits of each episode, this repetition included.

        Raises:
            BadRecord: The record cannot be read, or a decision differs from the one on record.
            UsageError: The record names something outside and is not trusted.
        """
        path = "the episode" if isinstance(record, Episode) else record
        episode = record if isinstance(record, Episode) else Episode.read(record, whole=False)
        world = trusted_model(path, episode.header, trusted)
        try:
            with rare_collections():
                moments = _repeated(world, episode, limits)
        except BadRecord as fault:
            raise BadRecord(f"{path}: {fault}") from None
        return cls(world, episode.header, moments, episode.result is not None, limits)

    def moment(self, number: int) -> Moment:
        """Return a decision by its number, from 1.

        Raises:
            UsageError: The record does not have that decision.
        """
        most = len(self.moments)
        if type(number) is not int or not 1 <= number <= most:
            possible = f"1 to {most} are possible" if most else "there is none to change"
            raise UsageError(
                f"decision {short_repr(number)} was given; the record has {most} decisions: "
                f"{possible}"
            )
        return self.moments[number - 1]

    def role_of(self, moment: Moment) -> Role:
        """Return the role of a decision, with the actions that its question took alone."""
        return moment.narrowed or self.model.roles[moment.role]

    def day(self, t: int) -> dt.date | None:
        """Return the date of a tick; None in a model without dates."""
        return self.model.date(t) if offers(self.model, HasDates) else None

    def bare(self) -> "Past":
        """Return the same without observations and narrowed roles, which is smaller."""
        bare = (one._replace(observation=None, narrowed=None) for one in self.moments)
        return evolve(self, moments=tuple(bare))


@frozen
class Arm:
    """The answers to the decisions of an episode from one of them on.

    Attributes:
        at: The number of decisions that are repeated from the record.
        action: Answers the next one; None leaves it to *then*.
        then: Policies of all roles, who answer the others; None means the recorded actions.
        fresh: Roles whose policies observe nothing before they decide, see `fresh_roles`; those of
            memoryless policies need not be among them.
    """

    at: int
    action: Any
    then: Mapping[str, Any] | None
    fresh: frozenset[str] = frozenset()


def _repeated(model: Model[Any], episode: Episode, limits: Limits | None) -> tuple[Moment, ...]:
    """Repeat all decisions of a record and return them.

    Raises:
        BadRecord: One differs.
    """
    header, moments = episode.header, list[Moment]()

    def answer(run: Run[Any], number: int, decision: Decision, step: Step) -> None:
        repeat_step(run, number, decision, step)
        until = run.decisions + len(run.handed_out)
        t = run.world.now
        role, seen, made = decision.role, decision.observation, decision.action
        narrowed, delay = decision.narrowed, decision.delay
        moments.append(Moment(t, role, seen, made, until, narrowed, delay))

    run = Run(model, header.seed, [*header.policies], limits, header.futures)
    with naming_changes(header, model):
        repeat(run, episode.steps, answer)
    return tuple(moments)
