"""`desim branch` and `desim regret`: other answers to the decisions of a record."""

import re
from pathlib import Path

import click
from attrs import evolve, frozen

from desim.cli.options import POLICIES, PrintOptions, command
from desim.cli.tables import print_episode, print_found
from desim.episodes.resume import BranchOptions, play_branch
from desim.errors import UsageError
from desim.reports.drawing import check_plot
from desim.reports.regret_plot import write_plot
from desim.schema.signatures import given
from desim.studies.options import RegretOptions
from desim.studies.regret import regret

#: `A:B[:K]`: which decisions.
_SLICE = re.compile(r"(\d{,9}):(\d{,9})(?::([1-9]\d{,8})?)?", re.ASCII)


@frozen
class RegretPrintOptions(PrintOptions):
    """The table and the picture of the decisions.

    Attributes:
        hindsight: Play in the future that came, and in no other.
        top: Lines to print.
        plot: Draw all decisions over time; a new .png, .svg or .pdf file.
    """

    hindsight: bool = False
    top: int = 10
    plot: str | None = None


def read_slice(text: str) -> slice:
    """Return the decisions that `A:B[:K]` names.

    Raises:
        UsageError: The text does not have that form.
    """
    if not (found := _SLICE.fullmatch(text)):
        raise UsageError(
            f"--decisions {text!r} is not A:B or A:B:K, in whole numbers, with K at least 1"
        )
    return slice(*(int(part) if part else None for part in found.groups()))


@command(
    "regret",
    record={"metavar": "RECORD", "type": click.Path(dir_okay=False)},
    then={**POLICIES, "option": "--then"},
    against={**POLICIES, "option": "--against", "metavar": "options|ACTION|[ROLE=]SPEC"},
    decisions={"metavar": "A:B[:K]", "type": read_slice},
    kinds={"option": "--do", "multiple": True, "metavar": "NAME"},
    futures={"type": click.IntRange(min=1)},
    most_options={"type": click.IntRange(min=1)},
    top={"type": click.IntRange(min=1)},
)
def regret_command(options: RegretOptions, shown: RegretPrintOptions) -> None:
    """Print which decisions of a record cost most, with intervals.

    For each decision the recorded answer and others are played over the same redrawn futures: the
    decisions before it are repeated, and --then plays on after any of them alike. The players of
    the record, models or people, are not asked. The table says how much higher the score would have
    been on average with the best other option, or with the action or what the policy in --against
    would have done.

    With --out the same command continues one that was stopped or killed, and one with another
    --role, --decisions or --do plays only what is new. A record of hundreds of decisions takes
    minutes: --do, --decisions 1:401:5, fewer --futures and fewer --most-options shorten it.
    """
    if shown.plot is not None:
        check_plot(Path(shown.plot))
    if shown.hindsight:
        options = evolve(options, futures=None)
    found = regret(**given(options))
    if shown.plot is not None:
        write_plot(found, Path(shown.plot))
        click.echo(f"drawn in {shown.plot}", err=True)
    print_found(evolve(found, top=shown.top), as_json=shown.as_json)


@command(
    "branch",
    series=None,
    decisions={"option": "--at", "metavar": "N", "type": click.IntRange(min=1)},
    future={"metavar": "SEED", "type": click.IntRange(min=0)},
)
def branch_command(options: BranchOptions, printed: PrintOptions) -> None:
    """Repeat a record up to its decision N, then play on.

    FILE is not changed; it may be cut, or of a run whose model failed: its error names an N before
    the failure. A policy that is given begins with decision N; the recorded ones decide again from
    the start. With --future whatever no role can have observed when decision N is asked is drawn
    anew. `desim regret` compares another answer to a decision over many futures.
    """
    episode = play_branch(
        **given(evolve(options, decisions=options.decisions - 1, keep_steps=False))
    )
    print_episode(episode, as_json=printed.as_json, record=options.record, trace=options.trace)
