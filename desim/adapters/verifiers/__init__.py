"""verifiers: a taskset of every world, played in process or by a tool server.

`vf-eval desim-worlds --env.taskset.world WORLD -m MODEL --client.base-url URL` evaluates a model,
and `vf-validate desim-worlds --taskset.world WORLD --runtime.type subprocess` checks the tasks. The
commands find a taskset by the name of a top-level package, so `desim_worlds` exports these classes.
A task is an episode: a preset and a seed. The tools are all actions of the role; `tool_session`
says why.

The harness that belongs to the taskset plays in the evaluating process: it needs no sandbox, no uv
and no tool server. Other harnesses play with `--env.taskset.task.served true`.

Tried with verifiers 0.4.0.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import verifiers.v1 as vf

from desim.adapters.seat.episodes_of import Evaluation, has_scale, normalised_score
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import (
    SHARE,
    ToolSession,
    only_seat,
    share_of_defaults,
    was_played,
)
from desim.adapters.verifiers.data import (
    RolloutState,
    WorldConfig,
    WorldData,
    WorldTaskConfig,
    setup_of,
)
from desim.adapters.verifiers.harness import WorldHarness
from desim.adapters.verifiers.tool_server import WorldToolset, served_instructions
from desim.core.model_protocols import revision_of
from desim.episodes.driver import play
from desim.errors import UsageError, possible
from desim.schema import TAG, tag, to_plain

__all__ = ["TASKSET", "WorldEnv", "WorldHarness", "WorldTaskset", "load_environment"]

#: The name by which the commands of verifiers find this taskset.
TASKSET = "desim-worlds"

_REWARDS = ("auto", "normalised", "score")


class WorldTask(vf.Task[WorldData, RolloutState, WorldTaskConfig]):
    """One episode of a world."""

    @property
    def key(self) -> str:
        """World, preset and seed."""
        return f"{self.data.world}/{self.data.preset}/{self.data.seed}"

    @classmethod
    def toolsets(cls, config: WorldTaskConfig) -> list[Any]:
        """Return the tool server of an episode, if the options ask for one."""
        return [WorldToolset(vf.ToolsetConfig())] if config.served else []

    async def finalize(self, trace: Any) -> None:
        """Write the facts of the episode, with its ledger digest, and the answers to the trace.

        An episode that a tool server has left unfinished is first played out by default actions,
        the same as an episode of our own harness.
        """
        if self.config.served and trace.num_turns and not trace.state.over:
            await self._played_out(trace.state)
        trace.info["desim"] = {**trace.state.facts, "all_answers": list(trace.state.answers)}

    async def _played_out(self, state: Any) -> None:
        setup = setup_of(self.data)
        with self.data.begin() as session:
            again = ToolSession(setup, session)
            while len(again.answers) < len(state.answers) and not again.done:
                answer = state.answers[len(again.answers)]  # defaults come by themselves
                await again.call(answer[TAG], {k: each for k, each in answer.items() if k != TAG})
            again.play_out()
            wrong = state.facts.get("wrong", 0)
            state.facts = {**again.facts(), "wrong": wrong, "stopped": True}
            state.answers = list(again.answers)

    async def validate(self, runtime: Any) -> bool | None:  # noqa: ARG002 (nothing runs there)
        """Return whether calls of tools play the same episode as a policy does.

        The policy is `greedy`; None where the role offers it no options, or the episode begins in a
        record.
        """
        setup = setup_of(self.data)
        seat = only_seat(setup)
        whole = self.data.start is None and not self.data.arguments["max_decisions"]
        if setup.model.roles[seat].options is None or not whole:
            return None
        policies = {**setup.others, seat: "greedy"}
        episode = play(setup.model, policies, self.data.seed, keep_state=False)
        assert episode.result is not None
        with setup.begin(self.data.seed) as session:
            called = ToolSession(setup, session)
            for step in episode.steps:
                if step.role == seat:
                    name = tag(type(step.action))  # type: ignore[arg-type] # classes do hash
                    await called.call(name, to_plain(step.action))
            facts = called.facts()
        reached = (facts["score"], facts.get("ledger_digest"))
        return reached == (episode.result.score, episode.result.ledger_digest)

    @vf.stop
    async def over(self, trace: vf.Trace) -> bool:
        """Stop before a call of the model after the end of the episode."""
        return bool(trace.state.over)

    @vf.reward
    async def outcome(self, trace: Any) -> float:
        """Return the score, or the normalised score, at least 0; 0 if no decision was played.

        With `credit` it is the sum of the advantages of all decisions.
        """
        score = trace.state.facts.get("score")
        if score is None:
            return 0.0
        if self.data.arguments["credit"]:
            return float(sum(trace.state.facts["advantages"]))
        if self.data.reward == "score":
            return float(score)
        setup = setup_of(self.data)
        found = normalised_score(setup, self.data.preset, self.data.seed, score) or 0.0
        # A rollout without a decision has 0, and must not pay more than one that plays badly.
        return max(0.0, found)

    @vf.metric
    async def counts(self, trace: Any) -> dict[str, float]:
        """Return the score, the counts, the share of default actions, and two flags.

        `ended` is 1 if the model itself played to the end. `played` is 0 if `default_share` is
        above one half: such a rollout has a reward, because training needs one, but it does not
        count as a result of the model.
        """
        facts = trace.state.facts
        names = ("score", "answers", "wrong", "defaults")
        found = {name: float(facts.get(name, 0)) for name in names}
        ended = bool(facts) and not facts["stopped"]
        share = share_of_defaults(facts)
        flags = {"ended": float(ended), "played": float(was_played(facts))}
        return {**found, SHARE: share, **flags}


class WorldTaskset(vf.Taskset[WorldTask, WorldConfig]):
    """The presets and seeds of one world."""

    def load(self) -> Iterable[WorldTask]:
        """Yield the tasks in the order of presets and seeds.

        Raises:
            UsageError: A field of the configuration is not one of those possible.
        """
        config = self.config
        if config.reward not in _REWARDS:
            hint = possible(config.reward, _REWARDS)
            raise UsageError(f"reward {config.reward!r} was given; {hint}")
        if config.credit and config.task.served:
            raise UsageError("credit goes with the taskset's own harness; leave served out")
        played = Evaluation.of(
            config.world,
            config.preset,
            config.seeds,
            seats=config.seat,
            others=dict(config.others) or None,
            params=dict(config.params),
            max_decisions=config.max_decisions,
            starts=config.starts,
            credit=config.credit,
            credit_futures=config.credit_futures,
        )
        # Each task has its own start.
        arguments = {key: one for key, one in played.arguments.items() if key != "starts"}
        for preset, seed in played.episodes:
            yield self._task(played.setups[preset], preset, seed, dict(arguments))

    def _task(self, setup: Setup, preset: str, seed: int, arguments: dict[str, Any]) -> WorldTask:
        config = self.config
        scaled = has_scale(setup, preset, seed)
        if config.reward == "normalised" and not scaled:
            raise UsageError(
                f"nothing is known of the scores of {config.world}/{preset} with seed {seed}; "
                "use reward score"
            )
        start = setup.starts.drawn(seed) if setup.starts else None
        with setup.begin(seed, start=start) as session:
            first = ToolSession(setup, session)
            system, prompt = first.instructions(), first.observation()
        data = WorldData(
            name=f"{config.world}/{preset}/{seed}",
            system_prompt=served_instructions(setup, system) if config.task.served else system,
            prompt=prompt,
            world=config.world,
            revision=revision_of(setup.model),
            preset=preset,
            seed=seed,
            arguments=arguments,
            reward="normalised" if scaled and config.reward != "score" else "score",
            start=(str(start.record.absolute()), start.at) if start else None,
        )
        return WorldTask(data, config.task)


class WorldEnvConfig(vf.EnvConfig):
    """One agent, in the process of the evaluation."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class WorldEnv(vf.Env[WorldEnvConfig]):
    """Plays each task with one agent."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play a task."""
        await agents.agent.run(task)


def load_environment(world: str, **options: Any) -> Any:
    """Return the environment of a world.

    Args:
        world: A model's name.
        options: Further fields of `WorldConfig`.

    Raises:
        UsageError: `WorldTaskset.load` refuses an option.
    """
    config: Mapping[str, Any] = {"taskset": {"id": TASKSET, "world": world, **options}}
    return vf.load_environment(vf.resolve_env_config(dict(config)))
