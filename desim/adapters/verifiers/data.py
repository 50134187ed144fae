"""The shared classes of the verifiers adapter: a task's data, a rollout's state, the options.

Tried with verifiers 0.4.0.
"""

from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from desim.adapters.seat.setup import Setup
from desim.adapters.seat.starts import Start
from desim.adapters.seat.stepped_session import SteppedSession


class WorldTaskConfig(vf.TaskConfig):
    """Options under `--env.taskset.task.*`."""

    served: bool = False
    """Whether a tool server plays the episode, for harnesses that speak MCP, such as `null`; our
    own harness needs none."""


class WorldConfig(vf.TasksetConfig):
    """Options under `--env.taskset.*` (of `vf-validate`: `--taskset.*`)."""

    task: WorldTaskConfig = WorldTaskConfig()
    world: str = ""
    """A model's name, as `desim list` shows it; there is no default."""
    preset: str = ""
    """One, several with commas, or `all`; by default the first."""
    seeds: str = "0:5"
    """As `A:B` (without B) or `A,B,...`; every preset is played with each."""
    seat: str = ""
    """The role that the model plays; by default the first of the world's default roles."""
    others: dict[str, str] = Field(default_factory=dict)
    """Specs of policies by role, for the other default roles."""
    params: dict[str, Any] = Field(default_factory=dict)
    """Parameters that differ from the preset's."""
    reward: str = "auto"
    """What the reward is: `normalised` (0 the floor of the known scores, 1 their bound), `score`,
    or `auto`: the first of these where it is known."""
    max_decisions: int | None = None
    """Decisions after which an episode is truncated."""
    credit: str = ""
    """A policy: the reward is then the sum of the advantages of all decisions over it, and
    `advantages` in the facts of a trace has each of them. Only with the taskset's own harness."""
    credit_futures: int = 8
    """Over how many redrawn futures each decision is judged."""
    starts: Any = None
    """A record, a folder of records, `{"record": path, "at": n}`, or a list of these, from whose
    decisions the episodes begin; the seed draws the decision, and what no role can have observed
    by then."""


class WorldData(vf.TaskData):
    """One episode: what `setup_of` needs, and the seed. No harness shows these fields."""

    world: str
    revision: int | dict[str, int]
    preset: str
    seed: int
    arguments: dict[str, Any]
    reward: str
    start: tuple[str, int] | None = None

    def begin(self, record: Path | None = None) -> SteppedSession:
        """Begin the episode of the task."""
        start = Start.of(*self.start) if self.start else None
        return setup_of(self).begin(self.seed, record=record, start=start)


class RolloutState(vf.State):
    """The state of a rollout.

    `facts` are those of `AgentLoop.facts`; empty before the first call.
    """

    facts: dict[str, Any] = Field(default_factory=dict)
    answers: list[dict[str, Any]] = Field(default_factory=list)
    over: bool = False


def setup_of(data: WorldData) -> Setup:
    """Return the setup of a task."""
    return Setup.of(data.world, data.preset, **data.arguments)
