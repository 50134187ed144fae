"""The jobs of a suite: worlds x entries x seeds x repeats, all checked before one is played.

A job is one episode, or a series of episodes in a row between which policies learn.
"""

import hashlib
import itertools
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from attrs import evolve, field, frozen

from desim import catalog
from desim.catalog.policy_spec import Spec
from desim.core.model import Model
from desim.core.policy import OutsidePolicy
from desim.engine.budget import CommandBudget, spending
from desim.engine.grid import checked_seeds
from desim.engine.opened_files import noting
from desim.engine.plan import RECORDS, Cell, Frame, safe_name
from desim.engine.policies import DEFAULT_HOST, entries, host_of
from desim.episodes.lineup import Policies, assigned, maker_of, resolve
from desim.errors import UsageError
from desim.studies.sweep import read_seeds
from desim.suites.suite_file import (
    MAX_JOBS,
    EntryTable,
    PooledTable,
    Suite,
    WorldTable,
    argument_text,
    at,
    read_suite,
)

#: The policy of a language model.
MODEL_POLICY = "llm"

#: The value of a policy's argument `learning` with which it learns in its first `train` episodes.
_OFFLINE = "offline"


class JobKey(NamedTuple):
    """One episode, or several in a row, of an entry in a world.

    The seed is that of the first episode; repeats of a seed are counted from 0.
    """

    world: str
    entry: str
    seed: int
    repeat: int = 0

    def __str__(self) -> str:
        names = f"{safe_name(self.world)}__{safe_name(self.entry)}"
        return f"{names}__seed{self.seed}__{self.repeat + 1}"


@frozen
class SuiteCell(Cell):
    """An entry in a world, with one of the repeats of every seed; its purse is that of the entry.

    Attributes:
        training: Episodes of a job in a row that only train its policies.
        told: A digest of what its policies know from other episodes of the suite.
    """

    world: str = field(default="", kw_only=True)
    repeat: int = field(default=0, kw_only=True)
    training: int = field(default=0, kw_only=True)
    told: str = field(default="", kw_only=True)

    @cached_property
    def host(self) -> str:
        """The address that a policy waits for, or `DEFAULT_HOST`; empty if none does."""
        each = assigned(self.model, self.entry.policies)
        return next(filter(None, (host_of(one, of) for one, of in each)), "")

    def __str__(self) -> str:
        return f"{self.world}, {self.purse}"

    def plays(self) -> dict[str, str]:
        """Return the data that determine the episodes, by topic; equal entries share none."""
        told = {"told": self.told} if self.told else {}
        job = {"world": self.world, "entry": self.purse, "repeat": str(self.repeat + 1)}
        return {**job, **Cell.plays(self), **told}

    def record_name(self, seed: int) -> str:
        """Return the name of the record of a job; of episodes in a row that of a folder."""
        plays = msgspec.json.encode(evolve(self, told="", out=None).plays(), order="sorted")
        name = JobKey(self.world, self.purse, seed, self.repeat)
        end = ".jsonl" if self.episodes == 1 else ""
        return f"{RECORDS}/{name}__{hashlib.sha256(plays).hexdigest()[:8]}{end}"

    def frame(self) -> Frame:
        """Return what its rows hold before seeds and results, and after them."""
        before, after = Cell.frame(self)
        names = ("world", "purse", "repeat", "training")
        return {**before, **{f"of_{name}": getattr(self, name) for name in names}}, after


@frozen
class Plan:
    """All jobs of a suite.

    Attributes:
        path: The suite's file.
        suite: The content of the file, with the seeds and repeats of each world.
        jobs: In the order in which they are started: every world and entry with the first seed,
            then with the next, so that early results compare all.
        cells: The first repeat of each world and entry; empty in a plan to print.
    """

    path: Path
    suite: Suite
    jobs: tuple[JobKey, ...] = field(repr=False)
    cells: Mapping[tuple[str, str], SuiteCell] = field(factory=dict, repr=False)

    @property
    def shown(self) -> dict[str, WorldTable | PooledTable]:
        """The tables of results by name: the worlds, then those over several of them."""
        return {**self.suite.worlds, **self.suite.tables}

    @property
    def episodes(self) -> int:
        """The episodes of all jobs."""
        return sum(self.suite.worlds[job.world].episodes for job in self.jobs)

    def cell(self, job: JobKey) -> SuiteCell:
        """Return the cell of a job; the plan is not one to print."""
        return evolve(self.cells[job.world, job.entry], repeat=job.repeat)


def read_plan(path: Path, *, keys: bool = True, max_cost: float | None = None) -> Plan:
    """Read a suite and check all that it names; nothing is played, and no host is contacted.

    Args:
        path: The suite's file.
        keys: Whether the environment variables of keys must be set.
        max_cost: A limit of money instead of the suite's own.

    Raises:
        UsageError: The suite has a fault; the text has its place.
    """
    return with_cells(plan_to_print(path, max_cost), keys=keys)


def plan_to_print(path: Path, max_cost: float | None = None) -> Plan:
    """Return the plan of a suite without cells: nothing that it names is imported or opened."""
    suite = read_suite(path, max_cost)
    with at(path):
        worlds = {
            name: evolve(world, repeats=world.repeats or suite.repeats)
            for name, world in suite.worlds.items()
        }
        jobs, count = [], 0
        for name, world in worlds.items():
            names = [e for e, table in suite.entries.items() if name in (table.worlds or worlds)]
            with at(f"worlds.{name}"):
                seeds = _seeds_in(world.seeds or suite.seeds, world.episodes)
            count += len(names) * len(seeds) * (world.repeats or 1) * world.episodes
            if count > MAX_JOBS:
                raise UsageError(f"there are {count:,} episodes; a suite has at most {MAX_JOBS:,}")
            jobs += [
                ((place, repeat), JobKey(name, entry, seed, repeat))
                for entry in names
                for place, seed in enumerate(seeds)
                for repeat in range(world.repeats or 1)
            ]
    ordered = tuple(job for _, job in sorted(jobs, key=lambda pair: pair[0]))
    return Plan(path, evolve(suite, worlds=worlds), ordered)


def _seeds_in(given: str | list[int], episodes: int) -> Sequence[int]:
    """Return the seeds of a world, each of which begins a number of episodes in a row."""
    seeds = checked_seeds(read_seeds(given) if isinstance(given, str) else given)
    if any(after - before < episodes for before, after in itertools.pairwise(sorted(seeds))):
        raise UsageError(
            f"seeds {given!r} and episodes = {episodes} were given, so that two series would play "
            f"the same seed; give seeds {episodes} apart, such as [0, {episodes}]"
        )
    return seeds


# -- cells -----------------------------------------------------------------------------------------


@noting()  # for a model or a policy that reads a file when it is imported
def with_cells(plan: Plan, *, keys: bool) -> Plan:
    """Return a plan with the models and the policies that it names, built once for a check."""
    suite, models, cells = plan.suite, dict[str, Model[Any]](), {}
    with at(plan.path):
        for name, entry in suite.entries.items():
            if keys and entry.key_env and not os.environ.get(entry.key_env):
                variable = f"the environment variable {entry.key_env} (key_env)"
                raise UsageError(f"entries.{name}: {variable} is not set")
        for name, table in suite.worlds.items():
            changes = {key: argument_text(value) for key, value in table.set.items()}
            with at(f"worlds.{name}"):
                models[name] = catalog.model(table.model, "", changes)
        for world, name in dict.fromkeys(job[:2] for job in plan.jobs):
            with at(f"entries.{name} in worlds.{world}"):
                cell = _cell(world, name, suite, models[world])
                _check_cell(cell, suite.entries[name], suite, keys=keys)
            cells[world, name] = cell
    return evolve(plan, cells=cells)


def _cell(world: str, name: str, suite: Suite, model: Model[Any]) -> SuiteCell:
    table, entry = suite.worlds[world], suite.entries[name]
    policies = _policies(entry, table)
    preset = table.model.partition("/")[2]
    (given,) = entries([policies], {}, model)
    return SuiteCell(
        model,
        given,
        catalog.model_name(type(model)),
        preset or next(iter(catalog.presets(type(model))), ""),
        episodes=table.episodes,
        usage=True,
        purse=name,
        world=world,
        training=max((_training(one) for one, _ in assigned(model, policies)), default=0),
    )


def _training(policy: Any) -> int:
    """Return how many episodes in a row only train a policy, by its spec."""
    arguments = Spec.read(policy).arguments if isinstance(policy, str) else {}
    train = arguments.get("train", "")
    return int(train) if arguments.get("learning") == _OFFLINE and train.isdecimal() else 0


def _check_cell(cell: SuiteCell, table: EntryTable, suite: Suite, *, keys: bool) -> None:
    """Check that the policies can play the world, by building them as for an episode."""
    if cell.training >= cell.episodes:
        raise UsageError(
            f"train={cell.training} leaves none of its {cell.episodes} episodes in a row to be "
            "scored (episodes = N of the world)"
        )
    # A language model given as a spec refuses a limit of money if it has no prices.
    limits = [] if table.model else [table.max_cost, suite.max_cost]
    most = next((limit for limit in limits if limit is not None), None)
    if keys or cell.host != DEFAULT_HOST:  # which needs a key
        with spending(CommandBudget(max_cost=most)):
            resolve(cell.model, cell.entry.policies, 0)


def _policies(table: EntryTable, world: WorldTable) -> Policies:
    """Return the policies of an entry in a world: by role, or one for all default roles."""
    own = table.policy if isinstance(table.policy, dict) else {"": table.policy}
    if not table.model:
        return {**world.policy, **own} if world.policy else table.policy
    spec = str(Spec(MODEL_POLICY, _arguments(table, world.options)))
    beside = {role: one for role, one in {**world.policy, **own}.items() if one}
    policies = {**beside, **dict.fromkeys(table.roles or [""], spec)}
    return spec if policies.keys() == {""} else policies


def _arguments(table: EntryTable, options: Mapping[str, Any]) -> dict[str, str]:
    keys = ("model", "base_url", "key_env", "price_in", "price_out", "method")
    named = {key: str(value) for key in keys if (value := getattr(table, key))}
    return named | {k: argument_text(value) for k, value in {**options, **table.options}.items()}


def outside_class(spec: str, model: Model[Any]) -> type[OutsidePolicy]:
    """Return the class of a policy; `OutsidePolicy` itself for one that asks nobody outside."""
    maker = maker_of(spec, model)
    if isinstance(maker, type) and issubclass(maker, OutsidePolicy):
        return maker
    return OutsidePolicy
