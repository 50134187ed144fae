"""`desim regret`: which decisions of a record cost most."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from desim.cli.completion import complete_policy
from desim.cli.options import (
    jobs_option,
    json_option,
    limit_options,
    read_parameters,
    trust_options,
)
from desim.errors import UsageError

if TYPE_CHECKING:  # commands start fast
    from desim.core.limits import Limits
    from desim.studies.decisions.regret_table import RegretTable


#: `--decisions A:B:K` has at most three numbers.
_NUMBERS = 3

#: Digits of one of them.
_LONGEST = 9


@click.command("regret")
@click.argument("file", metavar="RECORD", type=click.Path())
@click.option(
    "--then",
    multiple=True,
    metavar="[ROLE=]SPEC",
    help="The policy that plays on after each decision; one for every role.",
    shell_complete=complete_policy,
)
@click.option(
    "--against",
    multiple=True,
    metavar="options|[ROLE=]SPEC",
    help="With what the decisions are compared: all options of the role (default), or a policy.",
    shell_complete=complete_policy,
)
@click.option("--role", default="", help="The role whose decisions are judged; default: all.")
@click.option(
    "--decisions",
    "numbers",
    default="",
    metavar="A:B[:K]",
    help="Decisions A to B without B, counted from 0 as by `desim branch --at`; every K-th.",
)
@click.option(
    "--do",
    "kinds",
    multiple=True,
    metavar="NAME",
    help="Judge only decisions whose recorded action has this name, such as task_accept.",
)
@click.option(
    "--futures",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="How many futures are drawn for each decision.",
)
@click.option("--hindsight", is_flag=True, help="Play in the future that came, and in no other.")
@click.option(
    "--most-options",
    type=click.IntRange(min=1),
    default=12,
    show_default=True,
    help="Options of one decision that are played, a sample of more.",
)
@click.option(
    "--top", type=click.IntRange(min=1), default=10, show_default=True, help="Lines to print."
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False),
    help="Draw all decisions over time; a new .png, .svg or .pdf file.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="A folder that keeps every judged decision, from which the command goes on.",
)
@click.option("--restart", is_flag=True, help="Discard the decisions in --out and start anew.")
@jobs_option
@limit_options
@trust_options
@json_option
def command(
    *,
    file: str,
    then: tuple[str, ...],
    against: tuple[str, ...],
    role: str,
    numbers: str,
    kinds: tuple[str, ...],
    futures: int,
    hindsight: bool,
    most_options: int,
    top: int,
    plot: str | None,
    out: str | None,
    restart: bool,
    jobs: int,
    limits: "Limits | None",
    model: str,
    sets: tuple[str, ...],
    trust: bool,
    as_json: bool,
) -> None:
    """Print which decisions of a record cost most, with intervals.

    For each decision the recorded answer and others are played over the same redrawn futures: the
    decisions before it are repeated, and --then plays on after any of them alike. The players of
    the record, models or people, are not asked. The table says how much higher the score would have
    been on average with the best other option, or with what the policy in --against would have
    done.

    Half of the futures choose the best option and the other half estimate what it gains, because
    the largest of several means is too large where it was chosen. All intervals hold together. In
    redrawn futures the differences judge the decisions; with --hindsight they are luck as much as
    judgement, and have no intervals. They do not add up to a loss: each changes one decision alone.

    With --out the same command continues one that was stopped or killed, and one with another
    --role, --decisions or --do plays only what is new. A record of hundreds of decisions takes
    minutes: --do, --decisions 0:400:5, fewer --futures and fewer --most-options shorten it. On
    Ctrl-C the table of the decisions judged so far is printed.
    """
    from desim.catalog.policy_spec import read_policies
    from desim.cli.exit_codes import warnings_as_sentences
    from desim.cli.tables import progress_bar
    from desim.jobs.keep.store import SweepWarning
    from desim.studies.decisions.decision_options import OPTIONS
    from desim.studies.decisions.regret import RegretStopped, regret

    if plot is not None:
        from desim.reports.elements.drawing import check_plot

        check_plot(Path(plot))
    if restart and out is None:
        raise UsageError("--restart belongs to --out, the folder whose decisions are discarded")
    if against == (OPTIONS,):
        against = ()
    try:
        with progress_bar("regret") as progress, warnings_as_sentences(SweepWarning):
            found = regret(
                file,
                read_policies(then) if then else None,
                against=read_policies(against) if against else OPTIONS,
                role=role,
                decisions=read_slice(numbers),
                kinds=kinds,
                futures=None if hindsight else futures,
                most_options=most_options,
                jobs=jobs,
                out=out,
                restart=restart,
                trust=trust,
                model=model,
                params=read_parameters(sets),
                limits=limits,
                progress=progress,
            )
    except RegretStopped as stop:
        if stop.found is not None:
            _print(stop.found, top, as_json=as_json)
        raise
    if plot is not None:
        from desim.reports.regret_plot import write_plot

        write_plot(found, Path(plot))
        click.echo(f"drawn in {plot}", err=True)
    _print(found, top, as_json=as_json)


def _print(found: "RegretTable", top: int, *, as_json: bool) -> None:
    """Print a table, or one line of JSON."""
    import msgspec
    from attrs import evolve

    from desim.show.console import console

    if as_json:
        click.echo(msgspec.json.encode(found.plain()))
    else:
        console().print(evolve(found, top=top))


def read_slice(text: str) -> slice | None:
    """Return the decisions that `A:B[:K]` names; None for all.

    Raises:
        UsageError: The text does not have that form.
    """
    if not text:
        return None
    parts = text.split(":")
    digits = all((part.isascii() and part.isdigit()) or not part for part in parts)
    if not 1 < len(parts) <= _NUMBERS or not digits or max(map(len, parts)) > _LONGEST:
        raise UsageError(f"--decisions {text!r} is not A:B or A:B:K, in whole numbers")
    first, end, every = (int(part) if part else None for part in [*parts, ""][:_NUMBERS])
    if every == 0:
        raise UsageError(f"--decisions {text!r} takes every 0th decision; K is at least 1")
    return slice(first, end, every)
