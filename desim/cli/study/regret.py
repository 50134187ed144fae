"""`desim regret`: which decisions of a record cost most."""

from pathlib import Path

import click
from attrs import evolve, frozen

from desim.cli.options import POLICIES, PrintOptions, converted
from desim.cli.options import command as command_of
from desim.errors import UsageError
from desim.schema.signatures import given
from desim.studies.decisions.decision_options import OPTIONS, RegretOptions

#: `--decisions A:B:K` has at most three numbers.
_NUMBERS = 3

#: Digits of one of them.
_LONGEST = 9


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
    parts = text.split(":")
    digits = all((part.isascii() and part.isdigit()) or not part for part in parts)
    if not 1 < len(parts) <= _NUMBERS or not digits or max(map(len, parts)) > _LONGEST:
        raise UsageError(f"--decisions {text!r} is not A:B or A:B:K, in whole numbers")
    first, end, every = (int(part) if part else None for part in [*parts, ""][:_NUMBERS])
    if every == 0:
        raise UsageError(f"--decisions {text!r} takes every 0th decision; K is at least 1")
    return slice(first, end, every)


def _compared_with(specs: tuple[str, ...]) -> object:
    from desim.catalog.policy_spec import read_policies

    return OPTIONS if specs == (OPTIONS,) else read_policies(specs)


@command_of(
    "regret",
    without=["level", "progress"],
    record={"metavar": "RECORD", "type": click.Path(dir_okay=False)},
    then={**POLICIES, "option": "--then"},
    against={
        **POLICIES,
        "option": "--against",
        "metavar": "options|[ROLE=]SPEC",
        "callback": converted(_compared_with),
    },
    decisions={"metavar": "A:B[:K]", "callback": converted(read_slice)},
    kinds={"option": "--do", "multiple": True, "metavar": "NAME"},
    futures={"type": click.IntRange(min=1)},
    most_options={"type": click.IntRange(min=1)},
    top={"type": click.IntRange(min=1)},
)
def command(options: RegretOptions, shown: RegretPrintOptions) -> None:
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
    minutes: --do, --decisions 1:401:5, fewer --futures and fewer --most-options shorten it. On
    Ctrl-C the table of the decisions judged so far is printed.
    """
    from desim.cli.exit_codes import warnings_as_sentences
    from desim.cli.tables import print_found
    from desim.engine.keep.store import SweepWarning
    from desim.studies.decisions.regret import RegretStopped, regret

    if shown.plot is not None:
        from desim.reports.elements.drawing import check_plot

        check_plot(Path(shown.plot))
    if options.restart and options.out is None:
        raise UsageError("--restart belongs to --out, the folder whose decisions are discarded")
    if shown.hindsight:
        options = evolve(options, futures=None)
    try:
        with warnings_as_sentences(SweepWarning):
            found = regret(**given(options))
    except RegretStopped as stop:
        if stop.found is not None:
            print_found(evolve(stop.found, top=shown.top), as_json=shown.as_json)
        raise
    if shown.plot is not None:
        from desim.reports.regret_plot import write_plot

        write_plot(found, Path(shown.plot))
        click.echo(f"drawn in {shown.plot}", err=True)
    print_found(evolve(found, top=shown.top), as_json=shown.as_json)
