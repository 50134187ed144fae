"""The jobs of a suite: worlds x entries x seeds x repeats, all checked before one is played.

A job is one episode, or a series of episodes in a row between which policies learn.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from desim import catalog
from desim.catalog.policy_spec import Spec
from desim.core.model import Model
from desim.engine.keep.budget import CommandBudget, MoneyLimit, spending
from desim.engine.keep.spending import Money, SpendingFile
from desim.engine.plan import safe_name
from desim.engine.policies import DEFAULT_HOST, HOST, host_of
from desim.engine.record_job import Built, RecordJob
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
    parsed_suite,
    read_suite,
)
from desim.suites.suite_seeds import entry_seed_faults, for_tuning, seeds_of, tuning_faults

#: The policy of a language model.
MODEL_POLICY = "llm"

#: The host of a policy that is built for a check alone, so that it needs no key; not contacted.
_NO_HOST = "http://127.0.0.1/v1"

#: The value of a policy's argument `learning` with which it learns in its first `train` episodes.
_OFFLINE = "offline"


@frozen
class PlannedWorld(Built):
    """A world of a suite, with its seeds.

    Attributes:
        name: Its name in the suite.
        table: Its table in the suite.
        seeds: Whole numbers of at least 0.
        repeats: Jobs with each seed.
        built: The frozen parameters; None in a plan whose results are only printed (see
            `plan_to_print`).
        clusters: The clusters of its seeds, in their order, where its model groups them and each
            job is one episode; otherwise empty.
    """

    name: str
    table: WorldTable
    seeds: tuple[int, ...]
    repeats: int
    built: Model[Any] | None = None
    clusters: tuple[str, ...] = ()

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
class SuiteJob(RecordJob):
    """One episode of a suite, or several in a row.

    Attributes:
        world: The name of the world.
        entry: The name of the entry that plays it.
        repeat: Counted from 0 among the jobs with this seed.
    """

    world: str = field(kw_only=True)
    entry: str = field(kw_only=True)
    repeat: int = field(kw_only=True)

    @property
    def seed(self) -> int:
        """The seed of the first episode; each further one has the next seed."""
        return self.seeds[0]


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
        published: The published numbers of a plan to print, by world, entry and column; None if
            they are read from the data files that the suite names.
        tuning: Whether its seeds are those for tuning, and its results no report.
    """

    path: Path
    suite: Suite
    worlds: Mapping[str, PlannedWorld]
    entries: Mapping[str, PlannedEntry]
    jobs: tuple[SuiteJob, ...] = field(default=(), repr=False)
    published: Mapping[tuple[str, str, str], str] | None = field(default=None, repr=False)
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


def money_of(plan: Plan, spent: SpendingFile) -> Money:
    """Return the money of a suite with the limits of each entry: its own and the suite's."""
    most = plan.suite.max_cost
    shared = [] if most is None else [MoneyLimit("max_cost", most, spent.cost)]
    limits = {
        name: (*_own_limits(plan, entry, spent), *shared) for name, entry in plan.entries.items()
    }
    return Money(spent, limits)


def _own_limits(plan: Plan, entry: PlannedEntry, spent: SpendingFile) -> Iterator[MoneyLimit]:
    if (most := entry.table.max_cost) is not None:
        jobs = [job.name for job in plan.jobs if job.entry == entry.name]
        # Without jobs it has spent nothing; `cost` without names sums over all jobs.
        cost = partial(spent.cost, *jobs) if jobs else float
        yield MoneyLimit(f"entries.{entry.name}.max_cost", most, cost)


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
    return evolve(_built(path, suite, faults, keys=keys), tuning=tuning)


def _chosen(path: Path, suite: Suite, *, tuning: bool) -> Suite:
    """Return a suite with the seeds that are played.

    Raises:
        UsageError: Its tuning seeds are played, and it has none, or they have a fault.
    """
    try:
        return for_tuning(suite) if tuning else suite
    except UsageError as fault:
        raise UsageError(f"{path}: {fault}") from None


def plan_of_suite(path: Path, suite: Suite, *, tuning: bool = False) -> Plan:
    """Return the plan of a suite that was read already, as for a check of its records.

    The environment variables of keys need not be set, and no host is contacted.

    Args:
        path: The suite's file, which is not opened.
        suite: The suite.
        tuning: Whether its tuning seeds are played instead of those of its report.

    Raises:
        UsageError: There are faults; the text lists all of them.
    """
    return evolve(_built(path, _chosen(path, suite, tuning=tuning), [], keys=False), tuning=tuning)


def _built(path: Path, suite: Suite, faults: list[str], *, keys: bool) -> Plan:
    """Return the plan of a suite, with the models and the policies that it names."""
    faults += _table_faults(suite)
    worlds = {n: w for n, t in suite.worlds.items() if (w := _world(n, t, suite, faults))}
    entries = {n: e for n, t in suite.entries.items() if (e := _entry(n, t, suite, faults, keys))}
    entries = {
        # The other entries state in their tables what `_completed` reads from specs.
        name: _completed(entry, _its(entry, worlds))
        if not entry.host or "train" in entry.table.options
        else entry
        for name, entry in entries.items()
    }
    pairs = _pairs(worlds, entries, faults)
    for world, entry in pairs:
        _check_pair(world, entry, suite, faults, keys=keys)
    if faults:
        raise UsageError(_listed(path, faults))
    return Plan(path, suite, worlds, entries, tuple(_jobs(pairs)))


def plan_to_print(
    path: Path,
    content: str,
    played: Mapping[str, tuple[str, int]],
    published: Mapping[tuple[str, str, str], str],
    clusters: Mapping[str, tuple[str, ...]],
    *,
    tuning: bool = False,
) -> Plan:
    """Return the plan of a suite whose results are printed: nothing that it names is imported.

    Args:
        path: The suite's file, which is not opened.
        content: The content of the file.
        played: The host of each entry, and how many episodes train it.
        published: See `Plan`.
        clusters: By world the clusters of its seeds.
        tuning: See `Plan`.

    Raises:
        UsageError: The content has faults; the text lists all of them.
    """
    faults: list[str] = []
    suite = _chosen(path, parsed_suite(path, content, faults), tuning=tuning)
    faults += _table_faults(suite)
    seeded = {n: w for n, t in suite.worlds.items() if (w := _seeded(n, t, suite, faults))}
    worlds = {name: evolve(w, clusters=clusters.get(name, ())) for name, w in seeded.items()}
    entries = {
        name: PlannedEntry(name, table, table.policy, *played.get(name, ("", 0)))
        for name, table in suite.entries.items()
    }
    pairs = _pairs(worlds, entries, faults)
    if faults:
        raise UsageError(_listed(path, faults))
    return Plan(path, suite, worlds, entries, tuple(_jobs(pairs)), published, tuning)


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


def _jobs(pairs: list[tuple[PlannedWorld, PlannedEntry]]) -> Iterator[SuiteJob]:
    jobs = [
        ((place, repeat), _job(world, entry, policies, seed, repeat))
        for world, entry, policies in ((w, e, e.policies_in(w)) for w, e in pairs)
        for place, seed in enumerate(world.seeds)
        for repeat in range(world.repeats)
    ]
    return (job for _, job in sorted(jobs, key=lambda pair: pair[0]))


def _job(
    world: PlannedWorld, entry: PlannedEntry, policies: Policies, seed: int, repeat: int
) -> SuiteJob:
    return SuiteJob(
        name=f"{safe_name(world.name)}__{safe_name(entry.name)}__seed{seed}__{repeat + 1}",
        built=world.built,
        policies=policies,
        seeds=range(seed, seed + world.episodes),
        training=entry.training,
        host=entry.host,
        purse=entry.name,
        world=world.name,
        entry=entry.name,
        repeat=repeat,
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
    if world is None:
        return None
    found = tuple(filter(None, map(model.cluster, world.seeds)))
    return evolve(world, built=model, clusters=found if table.episodes == 1 else ())


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
