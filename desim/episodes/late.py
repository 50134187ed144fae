"""A policy that begins after some decisions, which are repeated from a record."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from attrs import define, evolve

from desim.core.model_protocols import offers
from desim.core.policy_protocols import LooksAhead, Noted, Policy, Resumable
from desim.episodes.lineup import Lineup
from desim.episodes.record import Step

__all__ = ["Late", "with_starts"]


@define
class Late:
    """Repeats the recorded actions of a role, then leaves the decisions to a policy.

    Attributes:
        repeats: The recorded steps of the role, in order.
        policy: Decides after them.
    """

    repeats: Iterator[Step]
    policy: Policy
    _step: Step | None = None

    def decide(self, observation: Any) -> Any:
        """Return the next recorded action, or what the policy decides."""
        self._step = next(self.repeats, None)
        return self.policy.decide(observation) if self._step is None else self._step.action

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
