"""`desim bench` and `desim verify`: a whole benchmark from one file, and its folder checked."""

import os
from pathlib import Path

import click
from attrs import asdict, field, frozen

from desim.cli.exit_codes import FAILED, fail
from desim.cli.options import PrintOptions, command
from desim.cli.tables import print_json
from desim.errors import BadRecord, UsageError
from desim.show.console import console
from desim.show.estimates import short_cell
from desim.show.table import Table, print_tables
from desim.suites.expected import expectations, expected_cost, expected_table, total_line
from desim.suites.play import SuitePlaying
from desim.suites.result_table import result_table
from desim.suites.results import results
from desim.suites.suite_folder import (
    Outcomes,
    ended_episodes,
    outcomes_in,
    read_folder,
    used,
)
from desim.suites.suite_plan import Plan, read_plan
from desim.suites.verify import Verified, verify_suite


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
        dry_run: Check the suite, print what is left and what it takes, play nothing.
        yes: Do not ask, whatever the suite is expected to cost.
        restart: Discard what --out keeps of episodes of other code, or else of this suite, and play
            anew; what a language model was asked there is not paid for again.
    """

    suite: Path
    out: Path | None = field(default=None, kw_only=True)
    jobs: int | None = field(default=None, kw_only=True)
    max_cost: float | None = field(default=None, kw_only=True)
    dry_run: bool = field(default=False, kw_only=True)
    yes: bool = field(default=False, kw_only=True)
    restart: bool = field(default=False, kw_only=True)


@command(
    "bench",
    suite={"metavar": "SUITE.toml|DIR", "type": click.Path(path_type=Path)},
    out={"type": click.Path(file_okay=False, path_type=Path)},
    jobs={"type": click.IntRange(min=1, max=1_000), "default": None},
)
def bench_command(options: BenchOptions) -> None:
    """Play every world of SUITE.toml with every entry, or print results.

    Each episode has a record of its own in --out, also one of several in a row. The same command
    goes on where it was stopped or killed: no reply is bought twice, episodes that failed are tried
    again, and those that a limit of money has stopped go on under a larger one. If code or a file
    that the episodes depend on has changed, it is refused.

    The results in DIR are printed from its data; nothing that it names is imported or opened.
    `desim verify DIR` replays its records and compares.
    """
    if options.suite.is_dir():
        if options != BenchOptions(options.suite):
            raise UsageError("a folder's results are printed; give SUITE.toml and --out to play")
        _print_results(*read_folder(options.suite))
    elif options.dry_run:
        _dry_run(options)
    else:
        _play(options)


def _dry_run(options: BenchOptions) -> None:
    """Check a suite, also where the variables of keys are not set, and print what is left."""
    out = options.out
    plan = read_plan(options.suite, keys=False, max_cost=options.max_cost)
    lines = expectations(plan, outcomes_in(out, plan) if out else {})
    entries, tables = plan.suite.entries, [expected_table(lines)]
    endpoints = [
        [n, one.model, one.base_url, short_cell(one.price_in), short_cell(one.price_out), one.note]
        for n, one in entries.items()
        if one.model or one.note
    ]
    if endpoints:
        heads = ["entry", "model", "address", "price_in", "price_out", "note"]
        tables.insert(0, Table(heads, endpoints, (0, 1, 2, 5)))
    print_tables(console(), tables)
    console().print(total_line(plan, lines))
    for name, entry in entries.items():
        if entry.key_env and not os.environ.get(entry.key_env):
            variable = f"environment variable {entry.key_env}"
            click.echo(f"entries.{name}: the {variable} (key_env) is not set; it is needed to play")


def _play(options: BenchOptions) -> None:
    """Play a suite, and end with exit code 1 if episodes failed or are left."""
    plan = read_plan(options.suite, max_cost=options.max_cost)
    if options.out is None:
        raise UsageError("give --out FOLDER, which keeps the records and continues a killed suite")
    at_once, processes = options.jobs or plan.suite.concurrent, options.jobs or os.cpu_count() or 1
    playing = SuitePlaying(plan, options.out.absolute(), at_once, processes, options.restart)
    playing.play(lambda outcomes: None if options.yes else _ask(plan, outcomes))
    outcomes = playing.outcomes
    _print_results(plan, outcomes)
    each = [one for of_job in outcomes.values() for one in of_job]
    if failed := [one for one in each if one.state == "failed"]:
        fail(
            f"{len(failed)} of {plan.episodes} episodes failed, the first because "
            f"{failed[0].error}; the same command tries them again"
        )
    if left := plan.episodes - ended_episodes(each):
        spent = "the limit of money is spent, or leaves less than a call can cost"
        reasons = (f" ({one.limit})" for one in each if one.limit and one.score is None)
        fail(f"{left} of {plan.episodes} episodes are left: {spent}{next(reasons, '')}")


def _ask(plan: Plan, outcomes: Outcomes) -> None:
    """Ask before more money than the suite states is spent, or an amount that is not known.

    Raises:
        UsageError: The answer is no.
    """
    expected, most = expected_cost(expectations(plan, outcomes)), plan.suite.max_cost
    largest = most if expected is None else expected
    if largest is not None and largest <= plan.suite.ask_above:
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


def _print_results(plan: Plan, outcomes: Outcomes) -> None:
    """Print a table for each world, and what was spent."""
    lines, spent = results(plan, outcomes), used(outcomes)
    by_world = {world: [line for line in lines if line.world == world] for world in plan.shown}
    print_tables(console(), (result_table(world, mine) for world, mine in by_world.items() if mine))
    money, calls = spent.get("cost", 0.0), spent.get("calls", 0.0)
    click.echo(f"\nspent {money:.6g} in {calls:,.0f} calls")


@frozen
class Subject:
    """The folder to verify.

    Attributes:
        folder: The folder of a suite.
        trust: Import the modules and open the files that it names.
    """

    folder: Path
    trust: bool = field(default=False, kw_only=True)


@command(
    "verify",
    folder={"metavar": "DIR", "type": click.Path(file_okay=False, path_type=Path)},
)
def verify_command(subject: Subject, printed: PrintOptions) -> None:
    """Play the episodes of a suite's folder again, and compare.

    A rule decides again by what it observes; the recorded replies of a language model are read
    again. Tables are computed anew. Each difference is printed. A suite that names modules or files
    of one's own needs --trust.

    Exit code: 0 all is as it claims, 1 something differs, 2 it cannot be verified here.
    """
    try:
        found = verify_suite(subject.folder, trust=subject.trust)
    except BadRecord as fault:
        found = Verified(differences=(str(fault),))
    if printed.as_json:
        print_json(asdict(found))
    else:
        for each in found.differences:
            click.echo(each)
        count = f"{found.episodes:,} episodes" if found.episodes != 1 else "1 episode"
        same = "all as recorded" if not found.differences else "see above"
        click.echo(f"{subject.folder}: {count} played again; {same}")
    click.get_current_context().exit(FAILED if found.differences else 0)
