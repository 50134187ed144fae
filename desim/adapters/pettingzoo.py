"""Several seats of a world as PettingZoo environments: one after the other, and in parallel.

    from desim.adapters.pettingzoo import aec_env, parallel_env

    env = parallel_env("corner_shop", seats=("owner", "clerk"), action="options", flat=True)

Decisions of one instant are handed out together: no agent observes the answer of another. An agent
is the name of a role. It stays in `agents` until the episode ends, which it does for all agents at
once. If roles decide at different instants, `infos[agent]["deciding"]` is true for an agent with an
open decision. The AEC environment selects only such agents. The parallel one returns an observation
for every agent, as PettingZoo's tests require: for an agent without an open decision its last
observation, or a blank one before its first; its action is ignored and may be absent.

Rewards, spaces, masks and ends are those of `desim.adapters.gymnasium.SeatEnv`; the reward is the
change of the score since the last instant at which an agent decided. PettingZoo's own tests pass an
option to `reset`, so options other than `record` (see `SeatEnv.reset`) are ignored here.

Tried with pettingzoo 1.25.0 and 1.27.0.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from pettingzoo import AECEnv, ParallelEnv

from desim.adapters.seat.spaced import MODES, SpacesEnvironment
from desim.core.events import Decision
from desim.core.model import Model, rules_of
from desim.core.reported import Rows
from desim.errors import UsageError, possible
from desim.short_repr import short_repr


class _Agents:
    """The part of PettingZoo's contract that both environments have.

    Attributes:
        possible_agents: The seats.
        agents: The seats until the episode has ended, then none.
        world: The seats and their episodes.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(MODES),
        "render_fps": 4,
        "is_parallelizable": True,
        "name": "desim",
    }

    def __init__(self, model: Model[Any] | str, preset: str, options: dict[str, Any]) -> None:
        self.world = SpacesEnvironment(model, preset, "pettingzoo", **options)
        self.render_mode = options.get("render_mode")
        self._random = np.random.default_rng()
        self.possible_agents = list(self.world.setup.seats)
        self.agents: list[str] = []
        seats = self.world.seats.items()
        self.observation_spaces = {role: seat.observation_space for role, seat in seats}
        self.action_spaces = {role: seat.action_space for role, seat in seats}

    @property
    def episode_seed(self) -> int:
        """The seed of the episode, for training and evaluation; no info contains it."""
        return self.world.seed

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def rules(self, agent: str) -> str:
        """Return the rules of the world for an agent, and the fields of its observations."""
        return rules_of(self.world.setup.model, agent)

    def tables(self, agent: str) -> Mapping[str, Rows]:
        """Return the tables that the world lets an agent look up now."""
        return self.world.running().tables(agent)

    def encode(self, agent: str, action: Any) -> Any:
        """Return the member of the space of `action="fields"` for an action or tagged object."""
        return self.world.seats[agent].encode(action)

    def render(self) -> Any:
        """Return the text of the render mode; None without one."""
        return self.world.render()

    def close(self) -> None:
        """Close the episode and its record."""
        self.world.close()

    def _begin(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """Begin the episode of a seed, or of one that is drawn after the seed given last."""
        self.world.reset(seed, options, self._random)
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)

    def _open(self) -> dict[str, Decision]:
        """Return the open decisions by agent."""
        session = self.world.session
        return {each.role: each for each in session.open} if session else {}

    def _over(self) -> tuple[bool, bool]:
        """Return whether the world has ended, and whether a limit has ended the episode."""
        return self.world.ended, self.world.truncated

    def _infos(self) -> dict[str, Any]:
        return {agent: self._info(agent) for agent in self.agents}

    def _info(self, agent: str) -> dict[str, Any]:
        asked = agent in self._open()
        deciding = asked and not any(self._over())
        return {"deciding": deciding, **self.world.info(agent, deciding=asked)}


class SeatsParallel(_Agents, ParallelEnv):
    """Several seats whose agents act together."""

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the episode of a seed; returns observations and infos by agent."""
        self._begin(seed, options)
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
        self.world.running()
        for agent in actions:
            if agent not in self.possible_agents:
                hint = possible(str(agent), self.possible_agents)
                raise UsageError(f"an action of {short_repr(agent)} was given; {hint}")
        for agent in self._open():
            if agent not in actions:
                raise UsageError(f"{agent!r} has an open decision, and no action was given for it")
        rewards = self.world.take(actions)
        seen = self._observed()
        ends = (dict.fromkeys(self.agents, over) for over in self._over())
        returned = (seen, rewards, *ends, self._infos())
        self.agents = [] if any(self._over()) else self.agents
        return returned

    def _observed(self) -> dict[str, Any]:
        return {agent: self.world.observed(agent) for agent in self.agents}


class SeatsAEC(_Agents, AECEnv):
    """Several seats whose agents act one after the other."""

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin the episode of a seed."""
        self._begin(seed, options)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._mark()

    def observe(self, agent: str) -> Any:
        """Return what an agent observes now."""
        return self.world.observed(agent)

    def step(self, action: Any) -> None:
        """Answer the decision of the selected agent; with the last open one, run on.

        Raises:
            WrongAction: The action does not fit; nothing has changed.
            UsageError: No episode has begun, or no agent is left.
        """
        if not self.agents:
            raise UsageError("no episode is under way; call reset first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self.rewards = self.world.take({agent: action})  # 0 for all while a decision is open
        self._cumulative_rewards[agent] = 0.0
        self._accumulate_rewards()
        self._mark()

    def _mark(self) -> None:
        """Set ends and infos of the agents, and select the next one."""
        ends = (dict.fromkeys(self.agents, over) for over in self._over())
        self.terminations, self.truncations = ends
        self.infos = self._infos()
        agents = self.agents if any(self._over()) else self._open()
        self.agent_selection = next(iter(agents))


def aec_env(model: Model[Any] | str, preset: str = "", **options: Any) -> SeatsAEC:
    """Return seats of a world whose agents act one after the other; see `parallel_env`."""
    return SeatsAEC(model, preset, options)


def parallel_env(model: Model[Any] | str, preset: str = "", **options: Any) -> SeatsParallel:
    """Return seats of a world whose agents act together.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        **options: `seats`, the roles, empty for the world's default roles; `reward`, also by seat;
            and the other options of `desim.adapters.gymnasium.SeatEnv` but `seat`.

    Raises:
        UsageError: An argument is not one of those possible.
    """
    return SeatsParallel(model, preset, options)
