"""The jobs of a suite: worlds x entries x seeds x repeats, all checked before one is played.

A job is one episode, or a series of episodes in a row between which policies learn.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from attrs import evolve, field, frozen

from desim import catalog
from desim.catalog.policy_spec import Spec
from desim.core.model import Model
from desim.engine.keep.budget import CommandBudget, spending
from desim.engine.plan import RECORDS, Cell, Frame, safe_name, written
from desim.engine.policies import DEFAULT_HOST, HOST, entries, host_of
from desim.episodes.lineup import Policies, assigned, resolve
from desim.errors import DesimError, UsageError, possible
from desim.suites.suite_file import (
    MAX_JOBS,
    ROUTER,
    EntryTable,
    PooledTable,
    Suite,
    WorldTable,
    argument_text,
    entry_faults,
    option_faults,
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
from desim.suites.suite_seeds import entry_seed_faults, for_tuning, seeds_of, tuning_faults

#: The policy of a language model.
MODEL_POLICY = "llm"

#: The host of a policy that is built for a check alone, so that it needs no key; not contacted.
_NO_HOST = "http://127.0.0.1/v1"

#: The value of a policy's argument `learning` with which it learns in its first `train` episodes.
_OFFLINE = "offline"


@frozen
class PlannedWorld:
    """A world of a suite, with its seeds.

    Attributes:
        name: Its name in the suite.
        table: Its table in the suite.
        seeds: Whole numbers of at least 0.
        repeats: Jobs with each seed.
        built: The frozen parameters; None in a plan whose results are only printed (see
            `plan_to_print`).
    """

    name: str
    table: WorldTable
    seeds: tuple[int, ...]
    repeats: int
    built: Model[Any] | None = None

    @property
    def model(self) -> Model[Any]:
        """The frozen parameters."""
        assert self.built is not None, "a plan to print has no models"
        return self.built

    @property
    def episodes(self) -> int:
        """Episodes of each job."""
        return self.table.episodes

    @property
    def preset(self) -> str:
        """The name of its preset: the first where none is named; empty for a class without any."""
        named = self.table.preset or self.table.model.partition("/")[2]
        return named or next(iter(catalog.presets(type(self.model))), "")


@frozen
class PlannedTable:
    """A table over several worlds of a suite.

    Attributes:
        name: Its name in the suite.
        table: Its table in the suite.
    """

    name: str
    table: PooledTable


@frozen
class PlannedEntry:
    """A way to play.

    Attributes:
        name: Its name in the suite.
        table: Its table in the suite.
        policies: The policies for `desim.play`, in a world without its own options.
        host: The address that it contacts, or `DEFAULT_HOST`; empty if it contacts none.
        training: Episodes of a series that only train its policies (learning=offline,train=N).
    """

    name: str
    table: EntryTable
    policies: Policies
    host: str = ""
    training: int = 0

    def policies_in(self, world: PlannedWorld) -> Policies:
        """Return the policies for `desim.play` in a world."""
        of_world = world.table.policy
        if self.table.model and (world.table.options or of_world):
            return _policies(self.table, world.table)
        if self.table.model or not of_world:
            return self.policies
        own = self.policies if isinstance(self.policies, dict) else {"": self.policies}
        return {**of_world, **own}


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

    def frame(self) -> Frame:
        """Return what its rows hold beside seeds and results."""
        before, after = Cell.frame(self)
        own = {
            "job": self.job_prefix,
            "repeat": self.repeat,
            "train": self.training,
            "tuning": self.tuning,
        }
        return {**before, **written(own)}, after


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
        suite: The content of the file.
        worlds: By name.
        entries: By name.
        jobs: In the order in which they are started: every world and entry with the first seed,
            then with the next, so that early results compare all.
        reference: The folder of the published data files; None for those that ship with the models.
        tuning: Whether its seeds are those for tuning, and its results no report.
    """

    path: Path
    suite: Suite
    worlds: Mapping[str, PlannedWorld]
    entries: Mapping[str, PlannedEntry]
    jobs: tuple[SuiteJob, ...] = field(default=(), repr=False)
    reference: Path | None = None
    tuning: bool = False

    @property
    def tables(self) -> dict[str, PlannedTable]:
        """The tables over several worlds, by name."""
        return {name: PlannedTable(name, table) for name, table in self.suite.tables.items()}

    @property
    def shown(self) -> dict[str, PlannedWorld | PlannedTable]:
        """The tables of results by name: the worlds, then those over several of them."""
        return {**self.worlds, **self.tables}

    @property
    def episodes(self) -> int:
        """The episodes of all jobs."""
        return sum(job.episodes for job in self.jobs)

    @property
    def in_a_row(self) -> dict[str, bool]:
        """By the name of a job whether it has several episodes in a row."""
        return {job.name: job.is_series for job in self.jobs}


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
        UsageError: The suite has faults; the text lists all of them.
    """
    faults: list[str] = []
    suite = read_suite(path, faults)
    suite = suite if max_cost is None else evolve(suite, max_cost=max_cost)
    suite = _chosen(path, suite, tuning=tuning)
    return _built(path, suite, faults, keys=keys, tuning=tuning)


def _chosen(path: Path, suite: Suite, *, tuning: bool) -> Suite:
    """Return a suite with the seeds that are played.

    Raises:
        UsageError: Its tuning seeds are played, and it has none, or they have a fault.
    """
    try:
        return for_tuning(suite) if tuning else suite
    except UsageError as fault:
        raise UsageError(f"{path}: {fault}") from None


def plan_of_suite(printed: Plan) -> Plan:
    """Return a plan to print with its models and policies, as for a check of its records.

    The environment variables of keys need not be set, and no host is contacted.

    Raises:
        UsageError: There are faults; the text lists all of them.
    """
    made = _built(printed.path, printed.suite, [], keys=False, tuning=printed.tuning)
    return evolve(made, reference=printed.reference)


def _built(path: Path, suite: Suite, faults: list[str], *, keys: bool, tuning: bool) -> Plan:
    """Return the plan of a suite, with the models and the policies that it names."""
    faults += _table_faults(suite)
    worlds = {n: w for n, t in suite.worlds.items() if (w := _world(n, t, suite, faults))}
    given = {n: e for n, t in suite.entries.items() if (e := _entry(n, t, suite, faults, keys))}
    players = {
        # The other entries state in their tables what `_completed` reads from specs.
        name: _completed(entry, _its(entry, worlds))
        if not entry.host or "train" in entry.table.options
        else entry
        for name, entry in given.items()
    }
    pairs = _pairs(worlds, players, faults)
    for world, entry in pairs:
        _check_pair(world, entry, suite, faults, keys=keys)
    if faults:
        raise UsageError(_listed(path, faults))
    cells = {(world.name, entry.name): _cell(world, entry, tuning=tuning) for world, entry in pairs}
    reference = path.resolve().parent / suite.reference if suite.reference else None
    return Plan(path, suite, worlds, players, tuple(_jobs(pairs, cells)), reference, tuning)


def plan_to_print(folder: Path) -> Plan:
    """Return the plan of the suite in a folder, whose results are printed.

    Nothing that the suite names is imported or opened, as it may be a stranger's.

    Raises:
        UsageError: The folder holds no suite; or its copy has faults, which the text lists.
    """
    path, faults = folder / SUITE, list[str]()
    refuse_earlier_format(folder)
    if not holds_suite(folder):
        raise UsageError(f"{folder} holds no suite; desim bench SUITE.toml --out plays one into it")
    tuning = was_tuning(folder)
    suite = _chosen(path, read_suite(path, faults), tuning=tuning)
    faults += _table_faults(suite)
    worlds = {n: w for n, t in suite.worlds.items() if (w := _seeded(n, t, suite, faults))}
    entries = {
        name: PlannedEntry(name, table, table.policy, table.model and DEFAULT_HOST)
        for name, table in suite.entries.items()
    }
    pairs = _pairs(worlds, entries, faults)
    if faults:
        raise UsageError(_listed(path, faults))
    reference = folder / REFERENCE if suite.reference else None
    return Plan(path, suite, worlds, entries, tuple(_jobs(pairs, {})), reference, tuning)


def _pairs(
    worlds: Mapping[str, PlannedWorld], entries: Mapping[str, PlannedEntry], faults: list[str]
) -> list[tuple[PlannedWorld, PlannedEntry]]:
    """Return the worlds with the entries that play them; too many episodes are a fault."""
    pairs = [(w, e) for w in worlds.values() for e in entries.values() if _plays(e, w)]
    count = sum(len(world.seeds) * world.repeats * world.episodes for world, _ in pairs)
    if count > MAX_JOBS:
        faults.append(f"there are {count:,} episodes; a suite has at most {MAX_JOBS:,}")
    return pairs


def _listed(path: Path, faults: Iterable[str]) -> str:
    unique = list(dict.fromkeys(faults))
    if len(unique) == 1:
        return f"{path}: {unique[0]}"
    return f"{path} has {len(unique)} faults:" + "".join(f"\n  * {fault}" for fault in unique)


def _jobs(
    pairs: list[tuple[PlannedWorld, PlannedEntry]], cells: Mapping[tuple[str, str], SuiteCell]
) -> Iterator[SuiteJob]:
    """Yield the jobs: every world and entry with the first seed, then with the next."""
    jobs = [
        ((place, repeat), SuiteJob(world.name, entry.name, seed, repeat, world.episodes, cell))
        for world, entry in pairs
        for repeat in range(world.repeats)
        for cell in [_repeated(cells.get((world.name, entry.name)), repeat)]
        for place, seed in enumerate(world.seeds)
    ]
    return (job for _, job in sorted(jobs, key=lambda pair: pair[0]))


def _repeated(cell: SuiteCell | None, repeat: int) -> SuiteCell | None:
    return cell and evolve(cell, repeat=repeat)


def _cell(world: PlannedWorld, entry: PlannedEntry, *, tuning: bool) -> SuiteCell:
    (given,) = entries([entry.policies_in(world)], {}, world.model)
    return SuiteCell(
        world.model,
        given,
        catalog.model_name(type(world.model)),
        world.preset,
        episodes=world.episodes,
        usage=True,
        purse=entry.name,
        job_prefix=job_prefix(world.name, entry.name),
        training=entry.training,
        tuning=tuning,
    )


def _world(name: str, table: WorldTable, suite: Suite, faults: list[str]) -> PlannedWorld | None:
    faults += [f"worlds.{name}: {fault}" for fault in option_faults(table.options)]
    changes = {key: argument_text(value) for key, value in table.set.items()}
    try:
        model = catalog.model(table.model, table.preset, changes)
    except DesimError as fault:
        faults.append(f"worlds.{name}: {fault}")
        return None
    world = _seeded(name, table, suite, faults)
    return world and evolve(world, built=model)


def _table_faults(suite: Suite) -> Iterator[str]:
    yield from tuning_faults(suite)
    for name, entry in suite.entries.items():
        yield from (f"entries.{name}: {fault}" for fault in entry_seed_faults(entry))
    for name, table in suite.tables.items():
        if name in suite.worlds:
            yield f"tables.{name}: a world has the same name; give the table another one"
        if not table.worlds:
            yield f"tables.{name}: no world was given; name at least one"
        for world in sorted({one for one in table.worlds if table.worlds.count(one) > 1}):
            yield f"tables.{name}: world {world!r} was given twice; each counts once"
        for world in table.worlds:
            if world not in suite.worlds:
                yield f"tables.{name}: there is no world {world!r}; {possible(world, suite.worlds)}"


def _seeded(name: str, table: WorldTable, suite: Suite, faults: list[str]) -> PlannedWorld | None:
    """Return a world without its model, so that nothing is imported."""
    try:
        seeds = seeds_of(table.seeds or suite.seeds, table.episodes)
    except DesimError as fault:
        faults.append(f"worlds.{name}: {fault}")
        return None
    return PlannedWorld(name, table, seeds, table.repeats or suite.repeats)


def _entry(
    name: str,
    table: EntryTable,
    suite: Suite,
    faults: list[str],
    keys: bool,  # noqa: FBT001 (passed on)
) -> PlannedEntry | None:
    where, before = f"entries.{name}", len(faults)
    faults += [
        f"{where}: there is no world {world!r}; {possible(world, suite.worlds)}"
        for world in table.worlds
        if world not in suite.worlds
    ]
    faults += [f"{where}: {fault}" for fault in entry_faults(table, suite)]
    if keys and table.key_env and not os.environ.get(table.key_env):
        faults.append(f"{where}: the environment variable {table.key_env} (key_env) is not set")
    if len(faults) > before:
        return None
    if not table.model:
        return PlannedEntry(name, table, table.policy)
    return PlannedEntry(name, table, _policies(table), table.base_url or DEFAULT_HOST)


def _policies(table: EntryTable, world: WorldTable | None = None) -> Policies:
    """Return the policies of an entry of a language model, with what a world adds."""
    spec = str(Spec(MODEL_POLICY, _arguments(table, world.options if world else {})))
    others = table.policy if isinstance(table.policy, dict) else {"": table.policy}
    of_world = world.policy if world else {}
    beside = {role: one for role, one in {**of_world, **others}.items() if one}
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


def _completed(entry: PlannedEntry, worlds: Iterable[PlannedWorld]) -> PlannedEntry:
    """Return an entry with the host and the training episodes that only its specs name."""
    with contextlib.suppress(DesimError):  # the check of pairs finds faults of policies
        for world in worlds:
            for one, model in assigned(world.model, entry.policies_in(world)):
                entry = _with_spec(entry, Spec.read(one), model)
    return entry


def _with_spec(entry: PlannedEntry, spec: Spec, model: Model[Any]) -> PlannedEntry:
    # A plain policy may contact a host too, such as a language model given as a spec.
    host = entry.host or host_of(str(spec), model)
    train = spec.arguments.get("train", "")
    offline = spec.arguments.get("learning") == _OFFLINE and train.isdecimal()
    return evolve(entry, host=host, training=max(entry.training, int(train) if offline else 0))


def _its(entry: PlannedEntry, worlds: Mapping[str, PlannedWorld]) -> list[PlannedWorld]:
    return [world for world in worlds.values() if _plays(entry, world)]


def _plays(entry: PlannedEntry, world: PlannedWorld) -> bool:
    return not entry.table.worlds or world.name in entry.table.worlds


def _check_pair(
    world: PlannedWorld, entry: PlannedEntry, suite: Suite, faults: list[str], *, keys: bool
) -> None:
    """Check that the policies can play the world, by building them as for an episode."""
    if entry.training >= world.episodes:
        faults.append(
            f"entries.{entry.name} in worlds.{world.name}: train={entry.training} leaves none of "
            f"its {world.episodes} episodes in a row to be scored (episodes = N of the world)"
        )
    # A language model given as a spec refuses a limit of money if it has no prices.
    limits = [] if entry.table.model else [entry.table.max_cost, suite.max_cost]
    most = next((limit for limit in limits if limit is not None), None)
    try:
        with spending(CommandBudget(max_cost=most)):
            policies = entry.policies_in(world)
            named = policies if keys else with_hosts(world.model, policies)
            resolve(world.model, named, world.seeds[0])
    except DesimError as fault:
        faults.append(f"entries.{entry.name} in worlds.{world.name}: {fault}")


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
