"""Inspect AI: one task a world, so that `inspect eval desim/WORLD --model ...` plays it.

The tasks are found by the entry point group `inspect_ai`. A sample is an episode: a preset and a
seed. The model reads the rules of its seat and its observations, and acts by calls of tools, which
are all actions of the role; `tool_session` says why.

A sample at a limit of Inspect's is finished with the role's default action, and counted under
`ended`. `default_share` is the share of its decisions that are default actions. A sample in which
it is above one half is not played: its score is NaN, which Inspect leaves out of mean and standard
error and counts as unscored.
Tried with inspect-ai 0.3.285.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from desim import catalog
from desim.adapters.inspect_ai.solver import known_scale, normalised, play_by_tools, world_score
from desim.adapters.seat.setup import Setup
from desim.adapters.seat.tool_session import only_seat
from desim.core.model import revision_of, revision_text
from desim.engine.grid import checked_seeds
from desim.errors import UsageError
from desim.studies.sweep import read_seeds

__all__ = ["TASKS", "world_task"]


def world_task(
    world: str,
    preset: str | Sequence[str] = "",
    seeds: str | Sequence[int] = "0:5",
    *,
    seat: str = "",
    others: str | Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    reward: str = "score",
    max_decisions: int | None = None,
    starts: Mapping[str, Any] | None = None,
    nudges: int = 3,
    history: int | None = None,
    folder: str = "",
) -> Any:
    """Return the task of a world. Its arguments are the options (`-T NAME=VALUE`) of every task.

    Args:
        world: The model's name.
        preset: One, several with commas or as a list, or `all`; by default the first.
        seeds: `0:5` (without 5), or a list.
        seat: The role that the model plays; by default the first of the world's default roles.
        others: A policy's spec for the other default roles, or specs by role.
        params: Parameters that differ from the preset's, by name.
        reward: See `Setup.of`.
        max_decisions: See `Setup.of`.
        starts: `{record: PATH, at: N}`, the decision on record at which each sample begins; the
            seed draws what no role can have observed then.
        nudges: Successive replies without an action after which the next such reply leads to the
            role's default action.
        history: Rounds of the conversation that are sent with the rules and the first observation;
            None sends all. A round is a reply and the messages after it up to the next reply.
        folder: Receives a record of every sample. The record of an unfinished one is replaced;
            with Inspect's `--cache` its replies are not asked for again.

    Raises:
        UsageError: The world, preset, role, policy or a parameter does not exist, or a number is
            not one of those possible.
    """
    first = catalog.model(world).default_roles[0]
    given: dict[str, Any] = {
        "seats": seat or first,
        "others": others,
        "params": params,
        "reward": reward,
        "max_decisions": max_decisions,
        "starts": starts,
    }
    setups = {name: Setup.of(world, name, **given) for name in _presets(world, preset)}
    episodes = [(name, seed) for name in setups for seed in _seeds(seeds)]
    scored = any(known_scale(setups[name], name, seed) for name, seed in episodes)
    return Task(
        dataset=MemoryDataset(
            [_sample(world, setups[name], name, seed) for name, seed in episodes], name=world
        ),
        solver=play_by_tools(world, given, nudges, history, folder),
        scorer=[world_score(), *([normalised(world, given)] if scored else [])],
        version=revision_text(revision_of(next(iter(setups.values())).model)),
    )


def _presets(world: str, given: str | Sequence[str]) -> list[str]:
    known = catalog.presets(catalog.model_class(world))
    if given == "all":
        return list(known)
    names = given.split(",") if isinstance(given, str) else [str(name) for name in given]
    if not names:
        raise UsageError("no preset was given; give at least one, or all")
    return list(dict.fromkeys(name.strip() or known[0] for name in names))


def _seeds(given: Any) -> tuple[int, ...]:
    """Return the seeds of a text or a list, in which a command line has texts."""
    if isinstance(given, str):
        return checked_seeds(read_seeds(given))
    if not isinstance(given, Sequence):
        raise UsageError(
            f"seeds {given!r} were given; write A:B (without B) in quotation marks of YAML "
            "(\"'1:30'\"), as it reads 1:30 as a number, or a list ([3])"
        )
    listed = [each for each in given if each != ""]
    return checked_seeds(
        int(each) if isinstance(each, str) and each.isdecimal() else each for each in listed
    )


def _sample(world: str, setup: Setup, preset: str, seed: int) -> Any:
    return Sample(
        # Without the seed: another solver may send the input to the model.
        input=f"Play {only_seat(setup)} in {world}, preset {preset}.",
        id=f"{preset}-{seed}",
        metadata={"preset": preset, "seed": seed, "revision": revision_of(setup.model)},
    )


def _task_of(world: str) -> Callable[..., Any]:
    made: Any = partial(world_task, world)
    made.__module__ = __name__  # of which Inspect reads the package
    registered: Callable[..., Any] = task(name=world)(made)
    return registered


#: The tasks by the name of their world.
TASKS = {world: _task_of(world) for world in catalog.models()}
