"""`desim branch`: play another end of a recorded episode, or compare two over many futures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from desim.cli.completion import complete_policy
from desim.cli.options import (
    json_option,
    key_option,
    limit_options,
    policy_option,
    read_key_option,
    read_parameters,
    trace_option,
    trust_options,
)
from desim.errors import UsageError

if TYPE_CHECKING:  # commands start fast
    from desim.core.limits import Limits


@click.command("branch")
@click.argument("file", type=click.Path())
@click.option(
    "--at",
    "decisions",
    type=click.IntRange(min=0),
    required=True,
    metavar="N",
    help="How many decisions are repeated.",
)
@policy_option
@click.option(
    "--future",
    type=click.IntRange(min=0),
    metavar="SEED",
    help="Draw with this seed what no role can have observed by then.",
)
@click.option("--record", type=click.Path(dir_okay=False), help="Write the episode to a new file.")
@click.option(
    "--action",
    metavar="JSON",
    help='Compare: the other answer to decision N, such as {"do": "order", "quantity": 12}.',
)
@click.option(
    "--then",
    multiple=True,
    metavar="[ROLE=]SPEC",
    help="Compare: the policy that plays on after the recorded answer and after the other one.",
    shell_complete=complete_policy,
)
@click.option(
    "--futures",
    type=click.IntRange(min=1),
    metavar="COUNT",
    help="Compare: over how many redrawn futures; without it in the true one, which is hindsight.",
)
@click.option(
    "--from-here",
    is_flag=True,
    help="Compare: --policy makes all decisions from N on, and not decision N alone.",
)
@key_option
@limit_options
@trust_options
@trace_option
@json_option
def command(
    *,
    file: str,
    decisions: int,
    specs: tuple[str, ...],
    future: int | None,
    record: str | None,
    action: str | None,
    then: tuple[str, ...],
    futures: int | None,
    from_here: bool,
    key_file: str | None,
    limits: "Limits | None",
    model: str,
    sets: tuple[str, ...],
    trust: bool,
    trace: str | None,
    as_json: bool,
) -> None:
    """Repeat the first N decisions of a record, then play on; FILE is not changed.

    A record that was altered is refused, also behind decision N. One that was cut has no digest:
    then the N decisions alone are checked, by repeating them.

    A policy that is given begins after them; the recorded ones decide again from the start. Also
    for the record of a run whose model failed: its error names an N before the failure.

    Without --future the branch plays on in the world of the record, and draws what that drew. With
    it, demand, markets, outcomes and whatever else no role can have observed when decision
    N + 1 is asked are drawn anew; what was observed stays. A trace holds the whole episode, and
    says from when on it was played.

    With --action, --then, --futures or --from-here two ends are compared: after the recorded answer
    to the decision that follows the N, and after another one, by --action or by --policy. Who
    recorded it is not asked again: --then plays on in both. The table has the paired difference
    over the same futures with its interval. In the true future it is hindsight, luck as much as
    judgement; in redrawn ones (--futures 100) it judges the decision. With --from-here and no
    --then the rest of the record is the recorded end, in the true future.
    """
    named: dict[str, Any] = {"trust": trust, "model": model, "params": read_parameters(sets)}
    named["limits"] = limits
    if action is not None or then or futures is not None or from_here:
        _refuse({"--record": record, "--future": future, "--key": key_file, "--trace": trace})
        _compare(file, decisions, specs, action, then, futures, from_here, named, as_json)
        return
    from desim.catalog.policy_spec import read_policies
    from desim.cli.tables import print_episode, print_traced
    from desim.episodes.futures.branched_record import play_branch

    episode = play_branch(
        file,
        decisions,
        read_policies(specs) if specs else None,
        future=future,
        record=record,
        keep_steps=False,
        key=read_key_option(key_file),
        trace=trace,
        **named,
    )
    print_episode(episode, as_json=as_json)
    if record and not as_json:
        click.echo(f"recorded in {record}", err=True)
    print_traced(trace, as_json=as_json)


def _compare(
    file: str,
    decisions: int,
    specs: tuple[str, ...],
    action: str | None,
    then: tuple[str, ...],
    futures: int | None,
    from_here: bool,  # noqa: FBT001 (passed on)
    named: Mapping[str, Any],
    as_json: bool,  # noqa: FBT001 (passed on)
) -> None:
    """Compare two ends of a record and print the table, or one line of JSON."""
    import msgspec

    from desim.catalog.policy_spec import read_policies
    from desim.cli.tables import progress_bar
    from desim.show.console import console
    from desim.studies.decisions.branch_comparison import compare_branches

    if (action is None) == (not specs):
        raise UsageError("a comparison takes one of --action and --policy: what is done instead")
    with progress_bar("branch") as progress:
        found = compare_branches(
            file,
            decisions,
            action=action,
            policy=read_policies(specs) if specs else None,
            then=read_policies(then) if then else None,
            futures=futures,
            from_here=from_here,
            progress=progress,
            **named,
        )
    if as_json:
        click.echo(msgspec.json.encode(found.plain()))
    else:
        console().print(found)


def _refuse(given: Mapping[str, object]) -> None:
    """Refuse options of a branch that plays one episode.

    Raises:
        UsageError: Such an option was given.
    """
    for name, value in given.items():
        if value is not None:
            raise UsageError(
                f"{name} belongs to a branch that plays one episode, without --action, --then, "
                "--futures and --from-here"
            )
