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
option to `reset`, so options other than `record` are ignored here.

Tried with pettingzoo 1.25.0 and 1.27.0.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pettingzoo import AECEnv, ParallelEnv

from desim.adapters.gymnasium.rendering import MODES, Renderer
from desim.adapters.gymnasium.seats import DRAWN_SEEDS, FIELDS, Seat, View, begun, running
from desim.adapters.seat.seat_environment import SteppedSession
from desim.adapters.seat.seat_texts import end_facts, rules_of
from desim.adapters.seat.setup import Setup
from desim.core.model_protocols import Model, Rows
from desim.core.world import Decision
from desim.episodes.lineup import Policies
from desim.errors import UsageError, possible
from desim.short_repr import short_repr


class _Seats:
    """The shared data of both environments: the seats, the episode, and the last observations.

    Args:
        setup: The world and its policies.
        view: The form of the seats' observations and actions.
        render_mode: "ansi", "rgb_array" or None.
    """

    def __init__(self, setup: Setup, view: View, render_mode: str | None) -> None:
        self._setup = setup
        self._renderer = Renderer(render_mode)
        self._random = np.random.default_rng()
        self._shown: dict[str, Decision] = {}
        self.session: SteppedSession | None = None
        self.seats = {role: Seat(setup, role, view) for role in setup.seats}

    def begin(self, seed: int | None, options: Mapping[str, Any] | None) -> SteppedSession:
        """Begin the episode of a seed; without one it is drawn after the seed given last.

        Raises:
            UsageError: The seed or the file of `record` is refused, or no seat has a decision in
                the episode.
        """
        drawn = int(self._random.integers(DRAWN_SEEDS)) if seed is None else seed
        self.close()
        self._shown.clear()
        self._renderer.begin()
        record = (options or {}).get("record")
        self.session = session = begun(self._setup, drawn, record, "pettingzoo")
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.note()
        return session

    def running(self) -> SteppedSession:
        """Return the episode.

        Raises:
            UsageError: No episode has begun, or it is over.
        """
        return running(self.session)

    def open(self) -> dict[str, Decision]:
        """Return the decisions without an answer by role."""
        return {each.role: each for each in self.session.open} if self.session else {}

    def note(self) -> None:
        """Keep the open decisions, which their agents observe from now on."""
        self._shown.update(self.open())

    def answer(self, session: SteppedSession, decision: Decision, action: Any) -> None:
        """Answer a decision by an action that `Seat.action` returned.

        Raises:
            WrongAction: The action does not fit; nothing has changed.
        """
        session.answer(decision, action)
        self._renderer.taken(session, decision.role, action)

    def observed(self, role: str) -> Any:
        """Return an agent's observation: of its open or last decision, or a blank one."""
        shown, session = self._shown.get(role), self.session
        seat = self.seats[role]
        return seat.observation(session, shown) if shown and session else seat.blank()

    def info(self, role: str) -> dict[str, Any]:
        """Return the info of an agent, which accompanies its observation."""
        session = self.session
        assert session is not None
        decision = self.open().get(role)
        deciding = {"deciding": decision is not None and not session.done}
        mask = self.seats[role].mask(session, decision)
        ended = end_facts(session) if session.done else {}
        return {**deciding, **mask, **ended}

    def rules(self, role: str) -> str:
        """Return the rules of the world for a role."""
        return rules_of(self._setup.model, role)

    def tables(self, role: str) -> Mapping[str, Rows]:
        """Return the tables that the world lets a role look up now."""
        return self.running().tables(role)

    def render(self) -> Any:
        """Return what the render mode asks for."""
        return self._renderer.render(self.session, self._shown.values())

    def close(self) -> None:
        """Close the episode and its record."""
        if self.session is not None:
            self.session.close()
            self.session = None


class _Environment:
    """The part of PettingZoo's contract that both environments have.

    Attributes:
        possible_agents: The seats.
        agents: The seats until the episode has ended, then none.
        seats: The seats' spaces, rules and tables.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(MODES),
        "render_fps": 4,
        "is_parallelizable": True,
        "name": "desim",
    }

    def __init__(self, setup: Setup, view: View, render_mode: str | None = None) -> None:
        self.seats = _Seats(setup, view, render_mode)
        self.render_mode = render_mode
        self.possible_agents = list(setup.seats)
        self.agents: list[str] = []
        self.observation_spaces = {r: s.observation_space for r, s in self.seats.seats.items()}
        self.action_spaces = {r: s.action_space for r, s in self.seats.seats.items()}

    @property
    def episode_seed(self) -> int:
        """The seed of the episode, for training and evaluation; no info contains it.

        Raises:
            UsageError: No episode has begun.
        """
        if self.seats.session is None:
            raise UsageError("no episode has begun; call reset first")
        return self.seats.session.seed

    def observation_space(self, agent: str) -> Any:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def rules(self, agent: str) -> str:
        """Return the rules of the world for an agent, and the fields of its observations."""
        return self.seats.rules(agent)

    def tables(self, agent: str) -> Mapping[str, Rows]:
        """Return the tables that the world lets an agent look up now."""
        return self.seats.tables(agent)

    def encode(self, agent: str, action: Any) -> Any:
        """Return the member of the space of `action="fields"` for an action or tagged object."""
        return self.seats.seats[agent].encode(action)

    def render(self) -> Any:
        """Return what the render mode asks for; None without one."""
        return self.seats.render()

    def close(self) -> None:
        """Close the episode and its record."""
        self.seats.close()


class SeatsParallel(_Environment, ParallelEnv):
    """Several seats whose agents act together."""

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin the episode of a seed; returns observations and infos by agent.

        Args:
            seed: The seed of the episode; None draws one.
            options: `record`: the file that receives the episode.
        """
        self.seats.begin(seed, options)
        self.agents = list(self.possible_agents)
        return self._each(self.seats.observed), self._each(self.seats.info)

    def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """Answer every open decision and run until the next ones.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent.

        Raises:
            WrongAction: An action does not fit; nothing has changed.
            UsageError: An agent with an open decision has no action, an agent does not exist, or
                the episode is over.
        """
        session = self.seats.running()
        taken = [(each, self._checked(each, actions)) for each in session.open]
        for agent in actions:
            if agent not in self.possible_agents:
                hint = possible(str(agent), self.possible_agents)
                raise UsageError(f"an action of {short_repr(agent)} was given; {hint}")
        for decision, action in taken:
            self.seats.answer(session, decision, action)
        session.advance()
        self.seats.note()
        rewards = session.rewards()
        ended, truncated = session.result is not None, session.truncated
        returned = (
            self._each(self.seats.observed),
            self._each(rewards.__getitem__),
            self._each(lambda _: ended),
            self._each(lambda _: truncated),
            self._each(self.seats.info),
        )
        self.agents = [] if session.done else self.agents
        return returned

    def _checked(self, decision: Decision, actions: Mapping[str, Any]) -> Any:
        """Return the checked action for a decision, so that none is taken before all fit."""
        role = decision.role
        if role not in actions:
            raise UsageError(f"{role!r} has an open decision, and no action was given for it")
        session = self.seats.running()
        action = self.seats.seats[role].action(session, decision, actions[role])
        return self.seats.seats[role].checked(action)

    def _each(self, of: Callable[[str], Any]) -> dict[str, Any]:
        return {agent: of(agent) for agent in self.agents}


class SeatsAEC(_Environment, AECEnv):
    """Several seats whose agents act one after the other."""

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin the episode of a seed.

        Args:
            seed: The seed of the episode; None draws one.
            options: `record`: the file that receives the episode.
        """
        self.seats.begin(seed, options)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self._mark()

    def observe(self, agent: str) -> Any:
        """Return what an agent observes now."""
        return self.seats.observed(agent)

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
        session = self.seats.running()
        decision = self.seats.open()[agent]
        given = self.seats.seats[agent].action(session, decision, action)
        self.seats.answer(session, decision, given)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if not session.open:
            session.advance()
            self.seats.note()
            self.rewards.update(session.rewards())
        self._accumulate_rewards()
        self._mark()

    def _mark(self) -> None:
        """Set ends and infos of the agents, and select the next one."""
        session = self.seats.session
        assert session is not None
        self.terminations = dict.fromkeys(self.agents, session.result is not None)
        self.truncations = dict.fromkeys(self.agents, session.truncated)
        self.infos = {agent: self.seats.info(agent) for agent in self.agents}
        self.agent_selection = self.agents[0] if session.done else session.open[0].role


def aec_env(model: Model[Any] | str, preset: str = "", **options: Any) -> SeatsAEC:
    """Return seats of a world whose agents act one after the other.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        **options: The options of `parallel_env`.
    """
    return SeatsAEC(*_arguments(model, preset, **options))


def parallel_env(model: Model[Any] | str, preset: str = "", **options: Any) -> SeatsParallel:
    """Return seats of a world whose agents act together.

    Args:
        model: The world, or its name in the catalog.
        preset: A preset of a world that is given by name.
        **options: `seats`, the roles, empty for the world's default roles; `params`, `others`,
            `reward` (also by seat) and `max_decisions` of `Setup.of`; `action`, `flat`,
            `max_options`, `max_text`, `max_entries` and `render_mode` of
            `desim.adapters.gymnasium.SeatEnv`.

    Raises:
        UsageError: An argument is not one of those possible.
    """
    return SeatsParallel(*_arguments(model, preset, **options))


def _arguments(
    model: Model[Any] | str,
    preset: str,
    *,
    seats: Sequence[str] | str = (),
    others: Policies = None,
    params: Mapping[str, Any] | None = None,
    reward: str | Mapping[str, str] = "score",
    action: str = FIELDS,
    flat: bool = False,
    max_decisions: int | None = None,
    max_options: int = 32,
    max_text: int = 1_000,
    max_entries: int = 16,
    render_mode: str | None = None,
) -> tuple[Setup, View, str | None]:
    setup = Setup.of(
        model,
        preset,
        params=params,
        seats=seats,
        others=others,
        reward=reward,
        max_decisions=max_decisions,
    )
    view = View.of(action, flat, max_options, max_text=max_text, max_entries=max_entries)
    return setup, view, render_mode
