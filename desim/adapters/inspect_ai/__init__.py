"""Inspect AI: one task a world, so that `inspect eval desim/WORLD --model ...` plays it.

The tasks are found by the entry point group `inspect_ai`. A sample is an episode: a preset and a
seed. The model reads the rules of its seat and its observations, and acts by calls of tools, which
are all actions of the role; `tool_session` says why.

Options of every task (`-T NAME=VALUE`):

* `preset`: one, several with commas, or `all`; by default the first.
* `seeds`: `0:5` (without 5), or a list; by default the first 5.
* `seat`: the role that the model plays; by default the first of the world's default roles.
* `others`: a policy's spec for the other default roles, or specs by role.
* `params`: parameters that differ from the preset's, by name.
* `reward`, `max_decisions`: see `Setup.of`.
* `starts`: `{record: PATH, at: N}`, the decision on record at which each sample begins; the seed
  draws what no role can have observed then.
* `nudges`, `max_calls`, `history`: see `solver.AgentLimits`.
* `folder`: receives a record of every sample. A sample that was not finished goes on from there
  without asking the model again for what it has replied already.
* `message_limit`, `token_limit`, `time_limit` (seconds): Inspect's own limits of a sample.

A sample at such a limit is finished with the role's default action, and counted under `ended`.
`default_share` is the share of its decisions that are default actions. A sample in which it is
above one half is not played: its score is NaN, which Inspect leaves out of mean and standard error
and counts as unscored.
Tried with inspect-ai 0.3.285.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from desim import catalog
from desim.adapters.inspect_ai.solver import normalised, play_by_tools, world_score
from desim.adapters.seat.episodes_of import chosen_seeds, known_scale, setups_of
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import only_seat
from desim.core.model import revision_of, revision_text

__all__ = ["TASKS", "world_task"]


def world_task(
    world: str,
    preset: str | Sequence[str] = "",
    seeds: Any = "0:5",
    *,
    arguments: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    folder: str = "",
    inspect_limits: Mapping[str, Any] | None = None,
) -> Any:
    """Return the task of a world.

    Args:
        world: The model's name.
        preset: The option of this name.
        seeds: The option of this name.
        arguments: Further arguments of `Setup.of`; without `seats` the model plays the first of the
            world's default roles.
        limits: The attributes of `solver.AgentLimits`.
        folder: The option of this name.
        inspect_limits: Further arguments of Inspect's `Task`, such as `message_limit`.
    """
    setups, chosen = setups_of(world, preset, **(arguments or {})), chosen_seeds(seeds)
    given = {**(arguments or {}), "seats": next(iter(setups.values())).seats}
    episodes = [(name, seed) for name in setups for seed in chosen]
    samples = [_sample(world, setups[name], name, seed) for name, seed in episodes]
    scored = any(known_scale(setups[name], name, seed) for name, seed in episodes)
    return Task(
        dataset=MemoryDataset(samples, name=world),
        solver=play_by_tools(world, given, dict(limits or {}), folder),
        scorer=[world_score(), *([normalised(world, given)] if scored else [])],
        version=revision_text(revision_of(next(iter(setups.values())).model)),
        **(inspect_limits or {}),
    )


def _sample(world: str, setup: Setup, preset: str, seed: int) -> Any:
    return Sample(
        # Without the seed: another solver may send the input to the model.
        input=f"Play {only_seat(setup)} in {world}, preset {preset}.",
        id=f"{preset}-{seed}",
        metadata={"preset": preset, "seed": seed, "revision": revision_of(setup.model)},
    )


def _task_of(world: str) -> Callable[..., Any]:
    """Return the function of a world's task, whose arguments are the options of `-T`."""

    def make(
        *,
        preset: str | list[str] = "",
        seeds: str | list[int] = "0:5",
        seat: str = "",
        others: str | dict[str, str] | None = None,
        params: dict[str, Any] | None = None,
        reward: str = "score",
        max_decisions: int | None = None,
        starts: dict[str, Any] | None = None,
        nudges: int = 3,
        max_calls: int | None = None,
        history: int | None = None,
        folder: str = "",
        message_limit: int | None = None,
        token_limit: int | None = None,
        time_limit: int | None = None,
    ) -> Any:
        arguments = {
            "params": params,
            "seats": seat,
            "others": others,
            "reward": reward,
            "max_decisions": max_decisions,
            "starts": starts,
        }
        return world_task(
            world,
            preset,
            seeds,
            arguments=arguments,
            limits={"nudges": nudges, "max_calls": max_calls, "history": history},
            folder=folder,
            inspect_limits={
                "message_limit": message_limit,
                "token_limit": token_limit,
                "time_limit": time_limit,
            },
        )

    make.__doc__ = f"Play {world}; see desim.adapters.inspect_ai for the options."
    registered: Callable[..., Any] = task(name=world)(make)
    return registered


#: The tasks by the name of their world.
TASKS = {world: _task_of(world) for world in catalog.models()}
