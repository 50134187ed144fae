"""`desim audit`: plans that use no knowledge of a world, against its honest rules."""

from attrs import evolve, frozen

from desim.cli.completion import complete_model
from desim.cli.exit_codes import fail
from desim.cli.options import PrintOptions
from desim.cli.options import command as command_of
from desim.schema.signatures import given
from desim.studies.study_options import AuditOptions


@frozen
class AuditPrintOptions(PrintOptions):
    """Whether exploits are kept.

    Attributes:
        write: List a plan that outranks the honest rules under this name in exploits.json, in the
            model's folder.
    """

    write: str = ""


@command_of(
    "audit",
    without=["preset", "executor", "progress"],
    model={
        "nargs": -1,
        "required": True,
        "metavar": "MODEL[/PRESET]...",
        "shell_complete": complete_model,
    },
    honest={"multiple": True, "metavar": "SPEC"},
    episodes={"metavar": "N"},
    write={"metavar": "NAME"},
)
def command(options: AuditOptions, printed: AuditPrintOptions) -> None:
    """Play plans that use no knowledge of MODEL against the honest rules of each preset.

    The plans are degenerate ones (idle, constants, the smallest and the largest action, spam, odd
    texts, what was observed, all at the end) and those of a search over rules of constants and
    observed values. The best one on training seeds is compared with the best honest rule on
    held-out seeds. With --out, the same command goes on, and an episode of that plan is recorded.

    Exit code 1 if it outranks the honest rule, unless exploits.json in the model's folder lists an
    exploit of that preset.
    """
    from desim.catalog import model
    from desim.cli.tables import print_found
    from desim.studies.audit.audit import audit
    from desim.studies.audit.exploits import write_exploit
    from desim.studies.boards.leaderboard import everything

    outranked = []
    for name in everything(options.model):
        # A single job has a worker process, too: no plan can end or block the command itself.
        chosen = evolve(options, model=name, executor=f"processes={options.jobs}")
        found = audit(**given(chosen))
        print_found(found, as_json=printed.as_json)
        if found.beaten and printed.write:
            write_exploit(model(name), found.name.partition("/")[2], found.exploit(printed.write))
        elif found.outranked:
            outranked.append(name)
    if outranked:
        fail(f"a plan outranks the honest rules of {', '.join(outranked)}")
