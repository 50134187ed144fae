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

__all__ = ["command"]

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
    help="Draw all decisions over time; a new .svg or .png file.",
)
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
    futures: int,
    hindsight: bool,
    most_options: int,
    top: int,
    plot: str | None,
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
    """
    import msgspec
    from attrs import evolve

    from desim.cli.tables import progress_bar
    from desim.episodes.spec import read_policies
    from desim.sweeps.regret import OPTIONS, regret
    from desim.ui.console import console

    if plot is not None:
        from desim.reports.regret_plot import check_plot

        check_plot(Path(plot))
    if against == (OPTIONS,):
        against = ()
    with progress_bar("regret") as progress:
        found = regret(
            file,
            read_policies(then) if then else None,
            against=read_policies(against) if against else OPTIONS,
            role=role,
            decisions=read_slice(numbers),
            futures=None if hindsight else futures,
            most_options=most_options,
            jobs=jobs,
            trust=trust,
            model=model,
            params=read_parameters(sets),
            limits=limits,
            progress=progress,
        )
    if plot is not None:
        from desim.reports.regret_plot import write_plot

        write_plot(found, Path(plot))
        click.echo(f"drawn in {plot}", err=True)
    if as_json:
        click.echo(msgspec.json.encode(found.plain()))
    else:
        console().print(evolve(found, top=top))


def read_slice(text: str) -> slice | None:
    """Return the decisions that `A:B[:K]` names; None for all.

    Raises:
        UsageError: It is not of that form.
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
