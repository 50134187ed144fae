"""`desim check`: the faults of a world, each with its place in the file."""

from typing import TYPE_CHECKING

from attrs import evolve

from desim.cli.completion import complete_model
from desim.cli.exit_codes import fail
from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of
from desim.schema.signatures import given
from desim.studies.study_options import CheckOptions

if TYPE_CHECKING:  # commands start fast
    from desim.studies.checks.check_findings import CheckFinding


@command_of(
    "check",
    without=["preset", "progress"],
    model={
        "nargs": -1,
        "required": True,
        "metavar": "MODEL[/PRESET]...",
        "shell_complete": complete_model,
    },
)
def command(options: CheckOptions, printed: PrintOptions) -> None:
    """Play MODEL in all the ways in which desim does, and name its faults.

    Each preset is played several times with options taken at random, recorded, replayed, resumed,
    redrawn and exported; schema, rules, options, score, metrics, series and ledgers are compared
    with what was played. A check that fails has a sentence, and names the function that it is
    about. With --policy, that policy plays the seeds, and the first one again.

    Exit code 1 if a check fails.
    """
    from desim.cli.tables import print_found
    from desim.studies.checks.check import check
    from desim.studies.checks.wording import counted

    failed: list[CheckFinding] = []
    for name in options.model:
        found = check(**given(evolve(options, model=name)))
        print_found(found, as_json=printed.as_json)
        failed += found.failed
    if failed:
        worlds = ", ".join(dict.fromkeys(one.world for one in failed))
        fail(f"{counted(len(failed), 'check')} failed in {worlds}")
