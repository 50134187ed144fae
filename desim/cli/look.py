"""`desim list`, `desim report`, `desim check`: what a world is, what was played, what is wrong."""

from typing import TYPE_CHECKING

import click
from attrs import evolve, field, frozen

from desim.cli.completion import complete_model
from desim.cli.exit_codes import fail
from desim.cli.options import PrintOptions, command
from desim.errors import UsageError
from desim.schema.signatures import given
from desim.studies.options import CheckOptions

if TYPE_CHECKING:  # commands start fast
    from desim.studies.check import CheckFinding


@frozen
class Listed:
    """The model or the policy that is listed.

    Attributes:
        model: A name in the catalog or `module:Class`, with or without `/preset`.
        policy: Show one policy: its arguments and what they set.
        schema: Print the JSON Schemas of MODEL: observation and action of each role, and the
            parameters, also of its parts.
    """

    model: str | None
    policy: str | None = field(default=None, kw_only=True)
    schema: bool = field(default=False, kw_only=True)


@command("list", model={"required": False}, policy={"metavar": "NAME"})
def list_command(listed: Listed, printed: PrintOptions) -> None:
    """Show all worlds in a line each, or with MODEL its roles, policies and parameters."""
    import msgspec

    from desim.catalog.summaries import schemas, summarise_catalog
    from desim.cli.tables import print_catalog, print_model, print_policy

    model, policy = listed.model, listed.policy
    if listed.schema:
        if model is None or policy:
            raise UsageError("--schema belongs to a model: desim list MODEL --schema")
        click.echo(msgspec.json.format(msgspec.json.encode(schemas(model)), indent=2))
        return
    summary = summarise_catalog([] if model is None else [model])
    if printed.as_json:
        click.echo(msgspec.json.encode(summary))
    elif policy:
        print_policy(policy, summary)
    elif model:
        print_model(model, summary)
    else:
        print_catalog(summary)


@frozen
class Reported:
    """What is reported, and where.

    Attributes:
        paths: A folder of a sweep or a suite, or records.
        out: The file; default: report.html in DIR, or NAME.html beside the first RECORD.
        against: Of a sweep: the policy with which the others are compared; default: the best one.
        minimise: Of a sweep: report on this figure, lower is better; default: the score.
        force: Replace the file even if it is no report.
        trust: Import and open whatever a record names.
        whole: Show every call and text of a conversation.
    """

    paths: tuple[str, ...]
    out: str | None = field(default=None, kw_only=True)
    against: str = field(default="", kw_only=True)
    minimise: str = field(default="", kw_only=True)
    force: bool = field(default=False, kw_only=True)
    trust: bool = field(default=False, kw_only=True)
    whole: bool = field(default=False, kw_only=True)


@command(
    "report",
    paths={"metavar": "DIR|RECORD...", "nargs": -1, "required": True, "type": click.Path()},
    out={"type": click.Path()},
    minimise={"metavar": "NAME"},
)
def report_command(options: Reported) -> None:
    """Write one HTML file that opens offline: tables and figures, with intervals.

    DIR is what `desim sweep --out` or `desim bench --out` wrote; a sweep may be unfinished.

    Of records, which may be cut, the page has the series over time with the decisions marked,
    statements, and each decision. Those of one world and seed are compared: a line each in every
    plot, the differences of their metrics, the first decision that differs. Others have sections of
    their own.

    The calls of language models are shown by decision, each text once, with reasoning, tokens and
    cost. Long texts are cut, and of many calls the first and the last are
    shown; --whole shows all.

    The answers on record are played again for it, without any policy. Nothing that a record names
    is imported or opened without --trust; of one that names something the page has what is on
    record.
    """
    from desim.reports.report import write_report

    click.echo(write_report(**given(options)))


@command(
    "check",
    without=["preset", "progress"],
    model={
        "nargs": -1,
        "required": True,
        "metavar": "MODEL[/PRESET]...",
        "shell_complete": complete_model,
    },
)
def check_command(options: CheckOptions, printed: PrintOptions) -> None:
    """Play MODEL in all the ways in which desim does, and name its faults.

    Each preset is played several times with options taken at random, recorded, replayed, resumed
    and redrawn; schema, rules, options, score, metrics, series and ledgers are compared with what
    was played. A check that fails has a sentence, and often names the function that it is about.
    With --policy, that policy plays the seeds, and the first one again.

    Exit code 1 if a check fails.
    """
    from desim.cli.tables import print_found
    from desim.studies.check import check

    failed: list[CheckFinding] = []
    for name in options.model:
        found = check(**given(evolve(options, model=name)))
        print_found(found, as_json=printed.as_json)
        failed += found.failed
    if failed:
        worlds = ", ".join(dict.fromkeys(one.world for one in failed))
        fail(f"{len(failed)} check{'s' * (len(failed) > 1)} failed in {worlds}")
