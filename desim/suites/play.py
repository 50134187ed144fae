"""Plays a suite into its folder: a sweep of its cells, with records and limits of money.

Jobs of routers are played after the others, as they know what these have answered.
"""

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import define, evolve, field

from desim.catalog.policy_spec import Spec
from desim.engine.budget import CommandBudget, MoneyLimit, spending
from desim.engine.plan import RECORDS, Cell, Grid
from desim.engine.run.job_results import has_record
from desim.engine.run.play_series import record_of, set_aside
from desim.engine.run.playing import Playing, playing
from desim.errors import DesimError, UsageError
from desim.records.episode import Episode
from desim.show.files import write_whole
from desim.suites.predictions import FILE, Predictions, is_routed, writers
from desim.suites.published import data_files
from desim.suites.result_files import result_files
from desim.suites.suite_file import suite_content
from desim.suites.suite_folder import (
    REFERENCE,
    SUITE,
    Outcomes,
    Played,
    check_folder,
    check_records,
    is_whole,
    outcomes_of,
)
from desim.suites.suite_plan import Plan, SuiteCell, SuiteJob


@define
class SuitePlaying:
    """A suite that is played into its folder.

    Attributes:
        plan: The suite.
        out: The folder.
        at_once: Episodes of language models at each host, and so calls.
        processes: Processes of the other episodes.
        restart: Whether results of other code are discarded, or else all of this suite.
        outcomes: The outcomes so far.
    """

    plan: Plan
    out: Path
    at_once: int
    processes: int
    restart: bool = False
    outcomes: dict[str, tuple[Played, ...]] = field(factory=dict)

    def play(self, agree: Callable[[Outcomes], None]) -> None:
        """Play what is left, and write results, also after Ctrl-C.

        Args:
            agree: Called with what is kept before anything is played; raises an exception if
                nothing is to be played.

        Raises:
            UsageError: The folder cannot be used, or holds episodes of other code.
            BadRecord: A record is not that of its outcome.
        """
        check_folder(self.out)
        routed = [job for job in self.plan.jobs if is_routed(self.plan, job)]
        with self._opened(self.plan.jobs, restart=self.restart, retry_failed=True) as started:
            self._write_suite()
            for job in self.plan.jobs if self.restart else ():
                self._set_aside(job)
            check_records(self.out, self.outcomes, self.plan.in_a_row)
            agree(self.outcomes)
            budget = budget_of(self.plan, self.outcomes, self.out, self.at_once)
            with spending(budget):
                self._play(started, (job for job in self.plan.jobs if job not in routed))
        if routed:
            with spending(budget):
                self._play_routed(routed)

    def _play_routed(self, routed: Sequence[SuiteJob]) -> None:
        """Play the jobs of routers, if the others in their worlds have ended.

        The first episode of a router whose rules a model writes is played before its others, which
        take its rules, and not if it fails. If what the others answered has changed, all are
        played anew.
        """
        worlds = {job.world for job in routed}
        others = (job for job in self.plan.jobs if job.world in worlds and job not in routed)
        if not all(self._is_whole(job) for job in others):
            return
        found = Predictions.of(self.plan, self.outcomes, self.out)
        file, writing = self.out / FILE, writers(self.plan)
        if not file.is_file() or file.read_bytes() != found.content:
            for job in routed:
                self._set_aside(job)
            write_whole(file, [found.content])
        how = {"restart": self.restart, "retry_failed": True}
        if writing:
            with self._opened(found.told(routed), **how) as started:
                self._play(started, writing)
            found, how = found.with_rules(self.outcomes, self.out), {}
        unwritten = [job.entry for job in writing if not self._is_whole(job)]
        with self._opened(found.told(routed), **how) as started:
            self._play(started, (job for job in routed if job.entry not in unwritten))
        # So the store notes the cells of the whole suite, whose rows are printed.
        with self._opened([*(j for j in self.plan.jobs if j not in routed), *found.told(routed)]):
            pass

    @contextmanager
    def _opened(self, jobs: Iterable[SuiteJob], **how: bool) -> Iterator[Playing]:
        """Open the folder for the cells of some jobs; results are written at the end."""
        grid = grid_of(jobs, self.out)
        hosts = len({cell.host for cell in self.plan.cells.values() if cell.host})
        executor = f"processes={self.processes},concurrent={self.at_once * max(1, hosts)}"
        with playing(grid, out=self.out, executor=executor, **how) as started:
            self._add_outcomes(started)
            try:
                yield started
            finally:
                self._add_outcomes(started)
                for name, content in result_files(self.plan, self.outcomes).items():
                    write_whole(self.out / name, [content])

    def _add_outcomes(self, started: Playing) -> None:
        jobs = sorted(started.kept)
        self.outcomes |= outcomes_of(map(started.plan.row, jobs, started.kept.results(jobs)))

    def _play(self, started: Playing, jobs: Iterable[SuiteJob]) -> None:
        grid = started.plan
        cells = {_key(cell): place for place, cell in enumerate(grid.cells)}
        seeds = {seed: place for place, seed in enumerate(grid.seeds)}
        started.play(cells[_key(job.cell)] * len(seeds) + seeds[job.seed] for job in jobs)

    def _set_aside(self, job: SuiteJob) -> None:
        """Set the record of a job aside whose results were discarded."""
        assert job.cell is not None
        played = evolve(job.cell, out=self.out).job(job.seed)
        if job.name not in self.outcomes and has_record(played):
            set_aside(played)

    def _is_whole(self, job: SuiteJob) -> bool:
        return is_whole(self.outcomes, job.name, job.episodes)

    def _write_suite(self) -> None:
        """Copy the suite's file, and the published figures that it names, into the folder."""
        try:
            (self.out / RECORDS).mkdir(exist_ok=True)
            write_whole(self.out / SUITE, [suite_content(self.plan.path).encode()])
            for file in data_files(self.plan):
                (self.out / REFERENCE).mkdir(exist_ok=True)
                shutil.copyfile(file, self.out / REFERENCE / file.name)
        except OSError as fault:
            raise UsageError(f"cannot write {self.out}: {fault.strerror}") from None


def grid_of(jobs: Iterable[SuiteJob], out: Path) -> Grid:
    """Return the plan of a sweep with the cells of some jobs; each is to play some of its seeds."""
    some = list(jobs)
    cells = {_key(job.cell): job.cell for job in some if job.cell is not None}
    return Grid(tuple(cells.values()), sorted({job.seed for job in some})).changed(out=out)


def _key(cell: Cell | None) -> tuple[str, int]:
    assert isinstance(cell, SuiteCell)
    return cell.job_prefix, cell.repeat


# -- money -----------------------------------------------------------------------------------------


def budget_of(plan: Plan, outcomes: Outcomes, out: Path, at_once: int) -> CommandBudget:
    """Return the budget of a suite, in which each entry has a purse with its limits of money.

    What was spent before is the cost in rows, and of the replies in records of jobs without a row.

    Args:
        plan: The suite.
        outcomes: The outcomes of earlier commands.
        out: The folder of the suite.
        at_once: Most calls under way at one host.
    """
    before = dict.fromkeys(plan.suite.entries, 0.0)
    for job in plan.jobs:
        before[job.entry] += sum(_costs(job, outcomes, out))
    most, purses = plan.suite.max_cost, {}
    whole = () if most is None else (MoneyLimit("max_cost", most, sum(before.values())),)
    for name, entry in plan.suite.entries.items():
        key, own = f"entries.{name}.max_cost", entry.max_cost
        limits = () if own is None else (MoneyLimit(key, own, before[name]),)
        purses[name] = CommandBudget(calls_at_once=at_once, shared=(*limits, *whole))
    return CommandBudget(purses=purses)


def _costs(job: SuiteJob, outcomes: Outcomes, out: Path) -> Iterator[float]:
    """Yield what was spent for the episodes of a job."""
    if job.name in outcomes:
        yield from (one.usage.get("cost", 0.0) for one in outcomes[job.name])
        return
    assert job.cell is not None
    played = evolve(job.cell, out=out).job(job.seed)
    for number in range(1, job.episodes + 1):
        record = record_of(played, number)
        if record is not None and record.exists():
            with suppress(DesimError):  # its job fails with a sentence
                yield sum(_prices(Episode.read(record, whole=False, keep_steps=False)))


def _prices(episode: Episode) -> Iterator[float]:
    """Yield the price of each reply on record, as of a decision that a kill has prevented."""
    for line in episode.transcript:
        reply = line.entry.get("reply") if isinstance(line.entry, Mapping) else None
        if isinstance(reply, Mapping):
            given = Spec.read(episode.header.policies[line.role]).arguments
            price_in, price_out = (float(given.get(f"price_{way}", 0)) for way in ("in", "out"))
            read, wrote = reply.get("prompt_tokens", 0), reply.get("completion_tokens", 0)
            cached = min(reply.get("cached_tokens", 0), read)
            price_cached = float(given.get("price_cached", price_in))
            cost = (read - cached) * price_in + cached * price_cached + wrote * price_out
            cost /= 1_000_000  # prices are for a million tokens
            yield max(cost, reply.get("reported_cost") or 0.0)
