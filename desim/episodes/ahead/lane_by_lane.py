"""Policies without memory that decide for one episode at a time, as policies that answer lanes."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from desim.core.model_protocols import offers
from desim.core.policy_protocols import Memoryless, Policy, is_drawing, needs_world_seed
from desim.lanes.lane_columns import Columns
from desim.schema import codec


@frozen
class LaneByLane:
    """Decides for each lane that waits by the observation of that lane.

    Attributes:
        policy: The policy.
        kind: The class of its actions.
        texts: See `Lanes.texts`.
    """

    policy: Policy
    kind: Any
    texts: Mapping[str, tuple[str, ...]]

    def decide_all(self, observed: Columns) -> Columns:
        """Return an answer for each lane; those that do not wait get that of another one."""
        asks = observed.asks
        count = max(len(one) for one in observed.values() if getattr(one, "ndim", 0))
        waiting = [lane for lane in range(count) if asks is None or asks[lane]]
        take = codec(self.kind).take
        decided = {
            lane: take(self.policy.decide(observed.row(lane, self.texts)))[0] for lane in waiting
        }
        other = decided[waiting[0]]
        return Columns.of(self.kind, [decided.get(n, other) for n in range(count)], self.texts)


def decides_lane_by_lane(policy: Policy) -> bool:
    """Return whether a policy decides by the present observation alone, and without chance."""
    memoryless = offers(policy, Memoryless) and policy.memoryless
    return memoryless and not is_drawing(policy) and not needs_world_seed(policy)
