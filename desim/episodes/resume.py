"""Continue an episode whose record was cut.

A policy that begins after some decisions, which are repeated from a record.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from attrs import define, evolve, field, frozen

from desim.core.model import offers
from desim.core.points import Points
from desim.core.policy import (
    LooksAhead,
    Noted,
    Policy,
    Resumable,
    decide_arguments,
)
from desim.core.roles import Role
from desim.core.streams import kept_globals, seed_globals
from desim.episodes.driver import play_session, play_session_async
from desim.episodes.episode_options import EpisodeOptions, TrustOptions
from desim.episodes.lineup import Lineup, Policies, resolve
from desim.episodes.session import Session
from desim.episodes.trust import recorded_roles, trusted_model, trusted_policies
from desim.errors import BadRecord, UsageError
from desim.records.episode import Episode
from desim.records.lines import Step
from desim.records.record_lock import RecordLock
from desim.schema.signatures import takes


@define
class Late(Policy):
    """Repeats the recorded actions of a role, then leaves the decisions to a policy.

    Attributes:
        repeats: The recorded steps of the role, in order.
        policy: Decides after them.
    """

    repeats: Iterator[Step]
    policy: Policy
    _step: Step | None = None

    takes_role: ClassVar[bool] = True

    def decide(self, observation: Any, narrowed: Role | None = None) -> Any:
        """Return the next recorded action, or what the policy decides."""
        self._step = next(self.repeats, None)
        if self._step is not None:
            return self._step.action
        return self.policy.decide(*decide_arguments(self.policy, observation, narrowed))

    @property
    def notes(self) -> Mapping[str, Any]:
        """Those of the recorded step, or the policy's."""
        if self._step is not None:
            return self._step.notes or {}
        return self.policy.notes if isinstance(self.policy, Noted) else {}

    @property
    def transcript(self) -> Callable[[Any], None]:
        """Writes what the policy receives to the record; set by the framework."""
        return self.policy.transcript if isinstance(self.policy, Resumable) else _write_nothing

    @transcript.setter
    def transcript(self, transcript: Callable[[Any], None]) -> None:
        if isinstance(self.policy, Resumable):
            self.policy.transcript = transcript

    def resume(self, entries: Iterable[Any], /) -> None:
        """Pass transcript entries on to the policy."""
        if isinstance(self.policy, Resumable):
            self.policy.resume(entries)


# A class of its own, because an episode keeps its answers for a policy that looks ahead.
@define
class LateLooking(Late):
    """The same for a policy that looks ahead."""

    def take_simulator(self, simulator: Any, /) -> None:
        """Pass the simulator of the episode on to the policy."""
        assert isinstance(self.policy, LooksAhead)
        self.policy.take_simulator(simulator)


def with_starts(lineup: Lineup, starts: Mapping[str, int], steps: Sequence[Step]) -> Lineup:
    """Return a lineup in which some policies begin after some decisions of the episode.

    Args:
        lineup: The policies.
        starts: Decisions of the episode before the policy of a role begins.
        steps: The recorded decisions, which may be on disk; each of these roles reads them once.
    """
    policies = dict(lineup.policies)
    for role, start in starts.items():
        if role in policies:
            policy = policies[role]
            late = LateLooking if offers(policy, LooksAhead) else Late
            policies[role] = late(_of(role, steps, start), policy)
    return evolve(lineup, policies=policies)


def _of(role: str, steps: Sequence[Step], start: int) -> Iterator[Step]:
    return (step for step in islice(steps, start) if step.role == role)


def _write_nothing(_: Any) -> None:
    """Write nothing: the policy has no transcript."""


@frozen(kw_only=True, slots=False)
class ResumeOptions(EpisodeOptions, TrustOptions):
    """The arguments of `resume`.

    Attributes:
        path: The record of a killed run. A whole record is not changed.
        policies: NAME or module:Name, then ,KEY=VALUE for each argument; needed where those on
            record have no spec. Several that name different roles play together. In Python as
            for `play`, for all roles or some.
    """

    path: str | Path = field(kw_only=False)
    policies: Policies = field(default=None, kw_only=False)


@takes(ResumeOptions)
def resume(options: ResumeOptions) -> Episode:
    """Play a cut record to its end, in the same file.

    The policies are built anew and decide again; their decisions must equal those on record. A
    policy receives its transcript entries, so that no paid call is made twice. The record is locked
    meanwhile.

    Returns:
        The whole episode.

    Raises:
        BadRecord: The record cannot be read, or a decision differs from the one on record.
        UsageError: A policy cannot be built from its label on record, the record names something
            outside and is not trusted, or another process writes it; or the file of the trace
            exists, or a trace or the series of a whole record are requested.
    """
    if (ended := _ended(options)) is not None:
        return ended
    with kept_globals(), _session(options) as at_play:
        return play_session(at_play)


@takes(ResumeOptions)
async def resume_async(options: ResumeOptions) -> Episode:
    """Play a cut record to its end in the event loop that runs; otherwise as `resume`."""
    if (ended := _ended(options)) is not None:
        return ended
    with _session(options) as at_play:
        return await play_session_async(at_play)


def _ended(options: ResumeOptions) -> Episode | None:
    """Return the episode of a whole record, which needs no lock."""
    path = options.path
    episode = Episode.read(path, whole=False, keep_steps=options.keep_steps)
    if episode.result is None:
        return None
    if options.trace is not None:
        raise UsageError(
            f"{path} has ended, so that nothing is played; desim export {path} --format trace "
            "writes its trace"
        )
    if options.series:
        raise UsageError(
            f"{path} has ended, so that nothing is played; desim.replay({str(path)!r}, "
            "series=True) has its series"
        )
    return episode


@contextlib.contextmanager
def _session(options: ResumeOptions) -> Iterator[Session]:
    """Open a session that continues a record, under its lock."""
    path, policies = options.path, options.policies
    with RecordLock(path):
        past = Episode.read(path, whole=False, keep_steps=False)
        if past.result is not None:
            raise UsageError(f"{path} has been ended by another process; nothing was changed")
        # Before the session is made: the file of the trace may exist.
        tracing = options.tracing(len(past.steps))
        header = past.header
        world = trusted_model(path, header, options, recorded_roles(header, policies))
        try:
            given = trusted_policies(path, header, world, policies)
            seed_globals(header.seed)
            lineup = resolve(world, given, header.seed, header.policies)
            lineup = with_starts(lineup, header.starts, past.steps)
            points = Points() if options.series else None
            session = Session(
                world, lineup, header.seed, path, past, options, points=points, tracing=tracing
            )
        except BadRecord as fault:
            raise BadRecord(f"{path}: {fault}") from None
        except UsageError as fault:
            if policies is not None:
                raise
            raise UsageError(
                f"{path}: {fault}; a policy that its name does not build is given by "
                "desim.resume(path, policies) or --policy ROLE=SPEC"
            ) from None
        try:
            with session:
                yield session
        except BadRecord as fault:
            raise BadRecord(f"{path}: {fault}") from None
