"""Several seats of a world as a parallel PettingZoo environment.

    from desim.adapters.pettingzoo import SeatsEnv

    env = SeatsEnv("corner_shop", seats=("owner", "clerk"), action="options", flat=True)

Decisions of one instant are handed out together: no agent observes the answer of another. An agent
is the name of a role. It stays in `agents` until the episode ends, which it does for all agents at
once. If roles decide at different instants, `infos[agent]["deciding"]` is true for an agent with an
open decision. Every agent has an observation, as PettingZoo's tests require: one without an open
decision its last observation, or a blank one before its first; its action is ignored and may be
absent. `pettingzoo.utils.parallel_to_aec` returns the environment in which agents act in turn.

Rewards, spaces, masks and ends are those of `desim.adapters.gymnasium.SeatEnv`; the reward is the
change of the score since the last instant at which an agent decided. PettingZoo's own tests pass an
option to `reset`, so options other than `record` (see `SeatEnv.reset`) are ignored here.

Tried with pettingzoo 1.25.0 and 1.27.0.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pettingzoo import ParallelEnv

from desim.adapters.seat.spaced import SpacesEnvironment
from desim.core.model import Model, rules_of
from desim.errors import UsageError, possible
from desim.short_repr import short_repr


class SeatsEnv(ParallelEnv):
    """Several seats of a world, whose agents act together.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        options: `seats`, the roles, empty for the world's default roles; `reward`, also by seat;
            and the other options of `desim.adapters.gymnasium.SeatEnv` but `seat`.

    Attributes:
        possible_agents: The seats.
        agents: The seats until the episode has ended, then none.

    Raises:
        UsageError: An argument is not one of those possible.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": [],
        "is_parallelizable": True,
        "name": "desim",
    }
    render_mode = None

    def __init__(self, model: Model[Any] | str, preset: str = "", **options: Any) -> None:
        self._world = SpacesEnvironment(model, preset, "pettingzoo", **options)
        self._random = np.random.default_rng()
        self.possible_agents = list(self._world.setup.seats)
        self.agents: list[str] = []
        seats = self._world.seats.items()
        self.observation_spaces = {role: seat.observation_space for role, seat in seats}
        self.action_spaces = {role: seat.action_space for role, seat in seats}

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the episode of a seed, or of one that is drawn after the seed given last.

        Returns:
            Observations and infos by agent.
        """
        self._world.reset(seed, options, self._random)
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        return self._observed(), self._infos()

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Answer every open decision and run until the next ones.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent.

        Raises:
            WrongAction: An action does not fit; nothing has changed.
            UsageError: An agent with an open decision has no action, an agent does not exist, or
                the episode is over.
        """
        world = self._world
        open_ = [each.role for each in world.running().open]
        for agent in actions:
            if agent not in self.possible_agents:
                hint = possible(str(agent), self.possible_agents)
                raise UsageError(f"an action of {short_repr(agent)} was given; {hint}")
        for agent in open_:
            if agent not in actions:
                raise UsageError(f"{agent!r} has an open decision, and no action was given for it")
        rewards = world.take(actions)
        ends = (dict.fromkeys(self.agents, over) for over in (world.ended, world.truncated))
        returned = (self._observed(), rewards, *ends, self._infos())
        self.agents = [] if world.ended or world.truncated else self.agents
        return returned

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def close(self) -> None:
        """Close the episode and its record."""
        self._world.close()

    @property
    def episode_seed(self) -> int:
        """The seed of the episode, for training and evaluation; no info contains it."""
        return self._world.seed

    def rules(self, agent: str) -> str:
        """Return the rules of the world for an agent, and the fields of its observations."""
        return rules_of(self._world.setup.model, agent)

    def encode(self, agent: str, action: Any) -> Any:
        """Return the member of the space of `action="fields"` for an action or tagged object."""
        return self._world.seats[agent].actions.encode(action)

    def _observed(self) -> dict[str, Any]:
        return {agent: self._world.observed(agent) for agent in self.agents}

    def _infos(self) -> dict[str, Any]:
        session = self._world.session
        asked = {each.role for each in session.open} if session else set()
        over = self._world.ended or self._world.truncated
        return {
            agent: {
                "deciding": agent in asked and not over,
                **self._world.info(agent, deciding=agent in asked),
            }
            for agent in self.agents
        }
