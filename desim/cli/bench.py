"""`desim bench` and `desim verify`: a whole benchmark from one file, and its folder checked."""

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import field, frozen

from desim.cli.exit_codes import FAILED, fail, warnings_as_sentences
from desim.cli.options import PrintOptions, command
from desim.errors import BadRecord, PolicyWarning, UsageError

if TYPE_CHECKING:  # commands start fast
    from desim.engine.keep.outcome import JobOutcome
    from desim.engine.keep.record_folder import RecordFolder
    from desim.engine.keep.spending import SpendingFile
    from desim.engine.run.play_record import Watch
    from desim.show.table import Table
    from desim.suites.suite_plan import Plan, SuiteJob


@frozen
class BenchOptions:
    """The suite that is played, or whose results are printed.

    Attributes:
        suite: The file of a suite, or the folder of its results.
        out: The folder of the suite.
        jobs: Episodes at once: of language models at each endpoint (default: the suite's
            `concurrent`), and of other policies (default: one a core).
        max_cost: Money that the suite may use in all, by its prices; replaces the suite's own
            limit.
        tuning: Play the tuning seeds of the suite instead of those of its report.
        dry_run: Check the suite, print what is left and what it takes, play nothing.
        written: With --dry-run: tokens that a model writes in a call, reasoning included, instead
            of those that a stub wrote.
        yes: Do not ask, whatever the suite is expected to cost.
        restart: Discard the episodes in --out, of this suite or another, and play anew; what a
            language model was asked there is not paid for again.
        watches: Show how far the command in DIR is.
    """

    suite: Path
    out: Path | None = field(default=None, kw_only=True)
    jobs: int | None = field(default=None, kw_only=True)
    max_cost: float | None = field(default=None, kw_only=True)
    tuning: bool = field(default=False, kw_only=True)
    dry_run: bool = field(default=False, kw_only=True)
    written: int | None = field(default=None, kw_only=True)
    yes: bool = field(default=False, kw_only=True)
    restart: bool = field(default=False, kw_only=True)
    watches: bool = field(default=False, kw_only=True)

    @property
    def plays(self) -> bool:
        """Whether an option was given that belongs to playing a suite."""
        numbers = self.max_cost is not None or self.written is not None
        given = [self.out, self.jobs, numbers, self.tuning, self.dry_run, self.yes, self.restart]
        return any(given)


@command(
    "bench",
    suite={"metavar": "SUITE.toml|DIR", "type": click.Path(path_type=Path)},
    out={"type": click.Path(file_okay=False, path_type=Path)},
    jobs={"type": click.IntRange(min=1, max=1_000), "default": None},
    written={"type": click.IntRange(min=1, max=1_000_000), "default": None},
    watches={"option": "--watch"},
)
def bench_command(options: BenchOptions) -> None:
    """Play every world of SUITE.toml with every entry, or print the results in DIR.

    Each episode has a record of its own in --out, also one of several in a row. The same command
    goes on where it was stopped or killed: no reply is bought twice, episodes that failed are tried
    again, and those that a limit of money has stopped go on under a larger one. If code or a file
    that the episodes depend on has changed, it is refused.

    The results in DIR are printed from its data; nothing that it names is imported or opened.
    `desim verify DIR` replays its records and compares.
    """
    from desim.engine.keep.record_folder import RecordFolder
    from desim.engine.keep.store import SweepWarning

    suite, watches = options.suite, options.watches
    with warnings_as_sentences(SweepWarning, PolicyWarning):
        if suite.is_dir():
            if options.plays:
                raise UsageError(
                    "a folder's results are printed; give SUITE.toml and --out to play"
                )
            _show(RecordFolder(suite), watches=watches)
            return
        if watches:
            raise UsageError("--watch shows a suite that is played; give the folder of its --out")
        if options.written and not options.dry_run:
            raise UsageError("--written belongs to --dry-run, which prints what a suite takes")
        if options.dry_run:
            _dry_run(options)
        else:
            _play(options)


def _show(folder: "RecordFolder", *, watches: bool) -> None:
    """Print the results in a folder, after a look at the command that plays there if wanted."""
    from desim.engine.keep.record_check import check_records
    from desim.suites.manifest import plan_of

    plan = plan_of(folder)
    if watches:
        from desim.cli.bench_progress import watch

        watch(folder.status)
    folder.refuse_unknown_records()
    check_records(folder, plan.jobs, folder.outcomes())
    if _print_results(plan, folder).damaged:  # a sentence was printed
        sys.exit(FAILED)


def _dry_run(options: BenchOptions) -> None:
    """Check a suite, also where the variables of keys are not set, and print what is left."""
    from desim.engine.keep.record_folder import RecordFolder
    from desim.suites.manifest import check_suite
    from desim.suites.suite_plan import read_plan

    out, most = options.out, options.max_cost
    plan = read_plan(options.suite, keys=False, max_cost=most, tuning=options.tuning)
    if out:
        check_suite(RecordFolder(out), plan)
    _print_expected(plan, RecordFolder(out).outcomes() if out else {}, options.written)
    for name, entry in plan.entries.items():
        if entry.table.key_env and not os.environ.get(entry.table.key_env):
            variable = f"environment variable {entry.table.key_env}"
            click.echo(f"entries.{name}: the {variable} (key_env) is not set; it is needed to play")


def _play(options: BenchOptions) -> None:
    from desim.engine.keep.record_check import check_records
    from desim.engine.keep.record_folder import RecordFolder
    from desim.suites.manifest import opened_suite
    from desim.suites.suite_plan import read_plan

    plan = read_plan(options.suite, max_cost=options.max_cost, tuning=options.tuning)
    if options.out is None:
        raise UsageError("give --out FOLDER, which keeps the records and continues a killed suite")
    folder = RecordFolder(options.out)
    with (
        opened_suite(folder, plan, restart=options.restart),
        folder.spent(write=True) as spent,
    ):
        check_records(folder, plan.jobs, folder.outcomes())
        folder.count_records(plan.jobs, folder.outcomes(), spent)
        if not options.yes:
            _ask(plan, folder.outcomes())
        try:
            outcomes = _played(plan, folder, spent, options)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped; the same command goes on") from None
    _print_results(plan, folder)
    _fail_unless_whole(plan, outcomes)


def _ask(plan: "Plan", outcomes: "Mapping[str, JobOutcome]") -> None:
    """Ask before more money than the suite states is spent, or an amount that is not known.

    Raises:
        UsageError: The answer is no.
    """
    from desim.suites.status import expectations, expected_cost

    expected = expected_cost(expectations(plan, outcomes))
    most = plan.suite.max_cost
    if expected is None and most is not None and most <= plan.suite.ask_above:
        return
    if expected is not None and expected <= plan.suite.ask_above:
        return
    amount = "an amount that is not known" if expected is None else f"about {expected:.4g}"
    limit = "no limit" if most is None else f"the limit {most:g}"
    try:
        agreed = click.confirm(f"This will cost {amount}, with {limit}. Play?", err=True)
    except click.Abort:
        agreed = False
    if not agreed:
        raise UsageError(
            f"nothing was played: it would cost {amount}; --yes plays without a question, "
            "--max-cost sets a limit, --dry-run shows what is left"
        )


def _print_expected(
    plan: "Plan", outcomes: "Mapping[str, JobOutcome]", written: int | None
) -> None:
    """Print the episodes that are left, with the calls, tokens and money expected."""
    from desim.show.console import console
    from desim.show.table import print_tables
    from desim.suites.expected_table import expected_table, total_line
    from desim.suites.status import expectations

    lines = expectations(plan, outcomes, written, declared=True)
    out = console()
    print_tables(out, [*_endpoint_tables(plan), expected_table(lines, written)])
    out.print(total_line(plan, lines), highlight=False)


def _endpoint_tables(plan: "Plan") -> "Iterator[Table]":
    """Yield what each language model of a suite is called, where it is, its prices and its note."""
    from desim.show.estimates import short_cell
    from desim.show.table import Table

    rows = [
        [n, one.model, one.base_url, short_cell(one.price_in), short_cell(one.price_out), one.note]
        for n, one in ((name, entry.table) for name, entry in plan.entries.items())
        if one.model or one.note
    ]
    if rows:
        heads = ["entry", "model", "address", "price_in", "price_out", "note"]
        yield Table(heads, rows, (0, 1, 2, 5))


def _played(
    plan: "Plan", folder: "RecordFolder", spent: "SpendingFile", options: BenchOptions
) -> "dict[str, JobOutcome]":
    """Play what is left, write results, and return all outcomes."""
    from desim.cli.bench_progress import line, progress_shown
    from desim.engine.run.event_loop import Workers, play_all
    from desim.suites.result_files import result_files
    from desim.suites.status import StatusClock
    from desim.suites.suite_plan import money_of

    outcomes, running = folder.outcomes(), dict[str, "Watch"]()
    jobs = options.jobs
    at_once = jobs or plan.suite.concurrent
    workers = Workers(at_once, jobs or os.cpu_count() or 1)
    money = money_of(plan, spent)
    clock = StatusClock(plan, spent, running, outcomes)
    try:
        with progress_shown(folder.status, clock.now) as tick:
            for some in _parts(plan, folder, outcomes):
                left = [job for job in some if not (o := outcomes.get(job.name)) or not o.final]
                for event in play_all(left, folder, money, workers, running, tick):
                    if event.outcome:
                        outcomes[event.job.name] = event.outcome
                        click.echo(line(event.job, event.outcome, clock.now()), err=True)
    finally:
        for name, content in result_files(plan, outcomes).items():
            folder.write(name, content)
    return outcomes


def _parts(
    plan: "Plan", folder: "RecordFolder", outcomes: "dict[str, JobOutcome]"
) -> "Iterator[list[SuiteJob]]":
    """Yield the jobs without routers, then those with them, which know what the others answered.

    The first episode of a router whose rules a model writes is played before its others, which take
    its rules, and not if it fails. If what the others answered has changed, routers are played
    anew. The file that holds it is written after them.
    """
    from desim.suites.predictions import FILE, Predictions, is_final, is_routed, writers

    routed = [job for job in plan.jobs if is_routed(plan, job)]
    others = [job for job in plan.jobs if not is_routed(plan, job)]
    yield others
    worlds = {job.world for job in routed}
    if not all(is_final(outcomes, job) for job in others if job.world in worlds):
        return
    found = Predictions.of(plan, outcomes, folder)
    content, file = found.content, folder.path / FILE
    if not file.is_file() or file.read_bytes() != content:
        for job in routed:
            folder.set_aside(job)
            outcomes.pop(job.name, None)
    writing = writers(plan)
    yield [found.told(job) for job in writing]
    found = found.with_rules(outcomes, folder)
    unwritten = [job.entry for job in writing if not is_final(outcomes, job)]
    yield [found.told(job) for job in routed if job.entry not in unwritten]
    if content:
        folder.write(FILE, content)


def _print_results(plan: "Plan", folder: "RecordFolder") -> "SpendingFile":
    from desim.engine.keep.spending import count_outcomes
    from desim.show.console import console
    from desim.show.table import print_tables
    from desim.suites.result_table import result_table
    from desim.suites.results import results

    outcomes = folder.outcomes()
    lines = results(plan, outcomes)
    by_world = {world: [line for line in lines if line.world == world] for world in plan.shown}
    spent = folder.spent()
    count_outcomes(plan.jobs, outcomes, spent)
    out = console()
    print_tables(out, (result_table(world, mine) for world, mine in by_world.items() if mine))
    out.print()
    out.print(f"spent {spent.cost():.6g} in {spent.calls():,} calls", highlight=False)
    return spent


def _fail_unless_whole(plan: "Plan", outcomes: "dict[str, JobOutcome]") -> None:
    failed = [o for o in outcomes.values() if o.state == "failed"]
    if failed:
        fail(
            f"{len(failed)} of {plan.episodes} episodes failed, the first because "
            f"{failed[0].error}; the same command tries them again"
        )
    left = plan.episodes - sum(outcome.ended_episodes for outcome in outcomes.values())
    if left:
        spent = "the limit of money is spent, or leaves less than a call can cost"
        fail(f"{left} of {plan.episodes} episodes are left: {spent}")


@frozen
class Subject:
    """What is verified.

    Attributes:
        path: The folder of a suite, or a record.
        trust: Import the modules and open the files that it names.
    """

    path: Path
    trust: bool = field(default=False, kw_only=True)


@command(
    "verify",
    path={"metavar": "DIR|RECORD", "type": click.Path(exists=True, path_type=Path)},
)
def verify_command(subject: Subject, printed: PrintOptions) -> None:
    """Play every record of a suite's folder again, ask its policies again, and compare.

    A rule decides again by what it observes; the recorded replies of a language model are read
    again; answers of people are repeated. Tables and money are computed anew. Each difference is
    printed. A suite that names modules or files of one's own needs --trust.

    Exit code: 0 all is as it claims, 1 something differs, 2 it cannot be verified here.
    """
    import msgspec
    from attrs import asdict

    from desim.engine.keep.record_folder import RecordFolder
    from desim.show.progress import shown_progress
    from desim.suites.verify import Verified, verify_record, verify_suite

    try:
        with warnings_as_sentences(PolicyWarning), shown_progress(None) as progress:
            found = (
                verify_suite(RecordFolder(subject.path), trust=subject.trust, progress=progress)
                if subject.path.is_dir()
                else verify_record(subject.path, trust=subject.trust)
            )
    except BadRecord as fault:
        found = Verified(differences=(str(fault),))
    if printed.as_json:
        click.echo(msgspec.json.encode(asdict(found)))
    else:
        for each in found.differences:
            click.echo(each)
        count = f"{found.asked:,} episodes played again by their policies"
        asked = count if found.asked != 1 else "1 episode played again by its policies"
        repeated = f", {found.repeated:,} with their recorded answers" if found.repeated else ""
        same = "all as recorded" if not found.differences else "see above"
        click.echo(f"{subject.path}: {asked}{repeated}; {same}")
    click.get_current_context().exit(FAILED if found.differences else 0)
