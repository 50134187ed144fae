"""The jobs of a suite: worlds x entries x seeds x repeats, all checked before one is played.

A job is one episode, or a series of episodes in a row between which policies learn.
"""

import contextlib
import hashlib
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim import catalog
from desim.catalog.policy_spec import Spec
from desim.core.model import Model
from desim.engine.budget import CommandBudget, spending
from desim.engine.opened_files import noting
from desim.engine.plan import RECORDS, Cell, safe_name
from desim.engine.policies import HOST, entries, host_of
from desim.episodes.lineup import Policies, assigned, resolve
from desim.errors import DesimError, UsageError
from desim.suites.suite_file import (
    MAX_JOBS,
    ROUTER,
    EntryTable,
    PooledTable,
    Suite,
    WorldTable,
    argument_text,
    at,
    read_suite,
)
from desim.suites.suite_folder import (
    REFERENCE,
    SUITE,
    holds_suite,
    job_name,
    refuse_earlier_format,
    was_tuning,
)
from desim.suites.suite_seeds import checked, for_tuning, seeds_of

#: The policy of a language model.
MODEL_POLICY = "llm"

#: The host of a policy that is built for a check alone, so that it needs no key; not contacted.
_NO_HOST = "http://127.0.0.1/v1"

#: The value of a policy's argument `learning` with which it learns in its first `train` episodes.
_OFFLINE = "offline"


@frozen
class SuiteCell(Cell):
    """An entry in a world, with one of the repeats of every seed.

    Attributes:
        job_prefix: The beginning of the names of its jobs; safe in every file system.
        repeat: Counted from 0 among the jobs with one seed.
        training: Episodes of a job in a row that only train its policies.
        tuning: Whether its seeds are those for tuning.
        told: A digest of what its policies know from other episodes of the suite.
    """

    job_prefix: str = field(default="", kw_only=True)
    repeat: int = field(default=0, kw_only=True)
    training: int = field(default=0, kw_only=True)
    tuning: bool = field(default=False, kw_only=True)
    told: str = field(default="", kw_only=True)

    @cached_property
    def host(self) -> str:
        """The address that a policy waits for, or `DEFAULT_HOST`; empty if none does."""
        each = assigned(self.model, self.entry.policies)
        return next(filter(None, (host_of(one, of) for one, of in each)), "")

    def __str__(self) -> str:
        return self.job_prefix.replace("__", ", ")

    def plays(self) -> dict[str, str]:
        """Return the data that determine the episodes, by topic; equal entries share none."""
        told = {"told": self.told} if self.told else {}
        job = {"job": self.job_prefix, "repeat": str(self.repeat + 1)}
        return {**job, **Cell.plays(self), **told}

    def record_name(self, seed: int) -> str:
        """Return the name of the record of a job; of episodes in a row that of a folder."""
        plays = msgspec.json.encode(evolve(self, told="", out=None).plays(), order="sorted")
        name = job_name(self.job_prefix, seed, self.repeat)
        end = ".jsonl" if self.episodes == 1 else ""
        return f"{RECORDS}/{name}__{hashlib.sha256(plays).hexdigest()[:8]}{end}"

    def frame(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what its rows hold before seeds and results, and after them."""
        before, after = Cell.frame(self)
        own = {
            "job": self.job_prefix,
            "repeat": self.repeat,
            "train": self.training,
            "tuning": self.tuning,
        }
        return {**before, **own}, after


@frozen
class SuiteJob:
    """One episode of a suite, or several in a row.

    Attributes:
        world: The name of the world.
        entry: The name of the entry that plays it.
        seed: The seed of the first episode; each further one has the next seed.
        repeat: Counted from 0 among the jobs with this seed.
        episodes: Episodes in a row.
        cell: What plays it; None in a plan to print.
    """

    world: str
    entry: str
    seed: int
    repeat: int = 0
    episodes: int = 1
    cell: SuiteCell | None = field(default=None, repr=False, eq=False)

    @property
    def name(self) -> str:
        """The name of the job, with which that of its record begins."""
        return job_name(job_prefix(self.world, self.entry), self.seed, self.repeat)

    @property
    def is_series(self) -> bool:
        """Whether it has several episodes in a row."""
        return self.episodes > 1


def job_prefix(world: str, entry: str) -> str:
    """Return the beginning of the names of the jobs of an entry in a world."""
    return f"{safe_name(world)}__{safe_name(entry)}"


@frozen
class Plan:
    """All jobs of a suite.

    Attributes:
        path: The suite's file.
        suite: The content of the file, with the seeds and repeats of each world.
        jobs: In the order in which they are started: every world and entry with the first seed,
            then with the next, so that early results compare all.
        reference: The folder of the published data files; None for those that ship with the models.
        tuning: Whether its seeds are those for tuning, and its results no report.
    """

    path: Path
    suite: Suite
    jobs: tuple[SuiteJob, ...] = field(repr=False)
    reference: Path | None = None
    tuning: bool = False

    @property
    def shown(self) -> dict[str, WorldTable | PooledTable]:
        """The tables of results by name: the worlds, then those over several of them."""
        return {**self.suite.worlds, **self.suite.tables}

    @property
    def episodes(self) -> int:
        """The episodes of all jobs."""
        return sum(job.episodes for job in self.jobs)

    @property
    def in_a_row(self) -> dict[str, bool]:
        """By the name of a job whether it has several episodes in a row."""
        return {job.name: job.is_series for job in self.jobs}

    @property
    def cells(self) -> dict[tuple[str, str], SuiteCell]:
        """The first repeat of each world and entry; none in a plan to print."""
        pairs = {(job.world, job.entry): job.cell for job in reversed(self.jobs)}
        return {pair: cell for pair, cell in reversed(pairs.items()) if cell is not None}


def read_plan(
    path: Path, *, keys: bool = True, max_cost: float | None = None, tuning: bool = False
) -> Plan:
    """Read a suite and check all that it names; nothing is played, and no host is contacted.

    Args:
        path: The suite's file.
        keys: Whether the environment variables of keys must be set.
        max_cost: A limit of money instead of the suite's own.
        tuning: Whether its tuning seeds are played instead of those of its report.

    Raises:
        UsageError: The suite has a fault; the text has its place.
    """
    plan = _plan(path, tuning=tuning, max_cost=max_cost)
    suite = plan.suite
    reference = path.resolve().parent / suite.reference if suite.reference else None
    return with_cells(evolve(plan, reference=reference), keys=keys)


def plan_to_print(folder: Path) -> Plan:
    """Return the plan of the suite in a folder, whose results are printed; its jobs have no cells.

    Nothing that the suite names is imported or opened, as it may be a stranger's.

    Raises:
        UsageError: The folder holds no suite, or its copy has a fault.
    """
    refuse_earlier_format(folder)
    if not holds_suite(folder):
        raise UsageError(f"{folder} holds no suite; desim bench SUITE.toml --out plays one into it")
    plan = _plan(folder / SUITE, tuning=was_tuning(folder))
    return evolve(plan, reference=folder / REFERENCE) if plan.suite.reference else plan


def _plan(path: Path, *, tuning: bool, max_cost: float | None = None) -> Plan:
    """Return the plan of a suite without cells."""
    suite = read_suite(path, max_cost)
    with at(path):
        suite = for_tuning(checked(suite)) if tuning else checked(suite)
        pairs = [
            (name, entry, seeds_of(world.seeds, world.episodes), world)
            for name, world in suite.worlds.items()
            for entry, table in suite.entries.items()
            if name in (table.worlds or suite.worlds)
        ]
        count = sum(len(seeds) * (w.repeats or 1) * w.episodes for _, _, seeds, w in pairs)
        if count > MAX_JOBS:
            raise UsageError(f"there are {count:,} episodes; a suite has at most {MAX_JOBS:,}")
    jobs = [
        ((place, repeat), SuiteJob(name, entry, seed, repeat, world.episodes))
        for name, entry, seeds, world in pairs
        for place, seed in enumerate(seeds)
        for repeat in range(world.repeats or 1)
    ]
    ordered = sorted(jobs, key=lambda pair: pair[0])
    return Plan(path, suite, tuple(job for _, job in ordered), tuning=tuning)


@noting()  # for a model or a policy that reads a file when it is imported
def with_cells(plan: Plan, *, keys: bool) -> Plan:
    """Return a plan with the models and the policies that it names, built once for a check.

    Args:
        plan: The plan.
        keys: Whether the environment variables of keys must be set.

    Raises:
        UsageError: The plan has a fault; the text has its place.
    """
    suite = plan.suite
    with at(plan.path):
        for name, entry in suite.entries.items():
            if keys and entry.key_env and not os.environ.get(entry.key_env):
                variable = f"the environment variable {entry.key_env} (key_env)"
                raise UsageError(f"entries.{name}: {variable} is not set")
        models = {name: _model(name, world) for name, world in suite.worlds.items()}
        cells: dict[tuple[str, str], SuiteCell] = {}
        for world, name in dict.fromkeys((job.world, job.entry) for job in plan.jobs):
            with at(f"entries.{name} in worlds.{world}"):
                cell = _cell(world, name, suite, models[world], tuning=plan.tuning)
                _check_cell(cell, suite.entries[name], suite, keys=keys)
            cells[world, name] = cell
    repeated = {
        (world, name, repeat): evolve(cell, repeat=repeat)
        for (world, name), cell in cells.items()
        for repeat in range(suite.worlds[world].repeats or 1)
    }
    jobs = (evolve(job, cell=repeated[job.world, job.entry, job.repeat]) for job in plan.jobs)
    return evolve(plan, jobs=tuple(jobs))


def _model(name: str, table: WorldTable) -> Model[Any]:
    changes = {key: argument_text(value) for key, value in table.set.items()}
    with at(f"worlds.{name}"):
        return catalog.model(table.model, table.preset, changes)


def _cell(world: str, name: str, suite: Suite, model: Model[Any], *, tuning: bool) -> SuiteCell:
    table, entry = suite.worlds[world], suite.entries[name]
    policies = _policies(entry, table)
    preset = table.preset or table.model.partition("/")[2]
    (given,) = entries([policies], {}, model)
    return SuiteCell(
        model,
        given,
        catalog.model_name(type(model)),
        preset or next(iter(catalog.presets(type(model))), ""),
        episodes=table.episodes,
        usage=True,
        purse=name,
        job_prefix=job_prefix(world, name),
        training=max((_training(one) for one, _ in assigned(model, policies)), default=0),
        tuning=tuning,
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
    policies = cell.entry.policies
    with spending(CommandBudget(max_cost=most)):
        named = policies if keys else with_hosts(cell.model, policies)
        resolve(cell.model, named, 0)


def _policies(table: EntryTable, world: WorldTable) -> Policies:
    """Return the policies of an entry in a world."""
    if not table.model:
        own = table.policy if isinstance(table.policy, dict) else {"": table.policy}
        return {**world.policy, **own} if world.policy else table.policy
    spec = str(Spec(MODEL_POLICY, _arguments(table, world.options)))
    others = table.policy if isinstance(table.policy, dict) else {"": table.policy}
    beside = {role: one for role, one in {**world.policy, **others}.items() if one}
    policies = {**beside, **dict.fromkeys(table.roles or [""], spec)}
    return spec if policies.keys() == {""} else policies


def _arguments(table: EntryTable, options: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of the policy of a language model, as text."""
    own = {
        "model": table.model,
        "base_url": table.base_url,
        "key_env": table.key_env,
        "price_in": table.price_in or "",
        "price_out": table.price_out or "",
        "method": "" if table.method == ROUTER else table.method,
        "router": _router(table) if table.method == ROUTER else "",
    }
    named = {key: str(value) for key, value in own.items() if value != ""}
    return named | {k: argument_text(value) for k, value in {**options, **table.options}.items()}


def _router(table: EntryTable) -> str:
    learned = f"{table.learn}_model" if table.rules == "model" else table.learn
    return learned or "table_4"


def with_hosts(model: Model[Any], policies: Policies) -> Any:
    """Return policies in which each spec that would contact its default host names another one.

    So they are built without a key.
    """
    if isinstance(policies, Mapping):
        return {role: _with_host(model, one) for role, one in policies.items()}
    return _with_host(model, policies)


def _with_host(model: Model[Any], policy: Any) -> Any:
    if not isinstance(policy, str):
        return policy
    with contextlib.suppress(DesimError):  # a line-up, or a fault that building it finds
        if host_of(policy, model):
            spec = Spec.read(policy)
            return str(evolve(spec, arguments={HOST: _NO_HOST, **spec.arguments}))
    return policy
