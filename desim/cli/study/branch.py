"""`desim branch`: play another end of a recorded episode, or compare two over many futures."""

from typing import Any

import click
from attrs import evolve, frozen

from desim.cli.options import POLICIES, PrintOptions, converted
from desim.cli.options import command as command_of
from desim.episodes.resume import BranchOptions, play_branch
from desim.errors import UsageError
from desim.schema.signatures import given


@frozen
class Compared:
    """A comparison of two ends of a record.

    Attributes:
        action: Compare: the other answer to decision N, such as {"do": "order", "quantity": 12}.
        then: Compare: the policy that plays on after the recorded answer and after the other one.
        futures: Compare: over how many redrawn futures; without it in the true one, which is
            hindsight.
        from_here: Compare: --policy makes all decisions from N on, and not decision N alone.
    """

    action: str | None = None
    then: Any = None
    futures: int | None = None
    from_here: bool = False


@command_of(
    "branch",
    without=["keep_steps", "keep_state", "series"],
    decisions={
        "option": "--at",
        "metavar": "N",
        "type": click.IntRange(min=1),
        "callback": converted(lambda number: number - 1),
    },
    future={"metavar": "SEED", "type": click.IntRange(min=0)},
    action={"metavar": "JSON"},
    then={**POLICIES, "option": "--then"},
    futures={"metavar": "COUNT", "type": click.IntRange(min=1)},
)
def command(options: BranchOptions, compared: Compared, printed: PrintOptions) -> None:
    """Repeat a record up to its decision N, then play on; FILE is not changed.

    A record that was altered is refused, also behind decision N. One that was cut has no digest:
    then the repeated decisions alone are checked, by repeating them.

    A policy that is given begins with decision N; the recorded ones decide again from the start.
    Also for the record of a run whose model failed: its error names an N before the failure.

    Without --future the branch plays on in the world of the record, and draws what that drew. With
    it, demand, markets, outcomes and whatever else no role can have observed when decision
    N is asked are drawn anew; what was observed stays. A trace holds the whole episode, and
    says from when on it was played.

    With --action, --then, --futures or --from-here two ends are compared: after the recorded answer
    to decision N, and after another one, by --action or by --policy. Who
    recorded it is not asked again: --then plays on in both. The table has the paired difference
    over the same futures with its interval. In the true future it is hindsight, luck as much as
    judgement; in redrawn ones (--futures 100) it judges the decision. With --from-here and no
    --then the rest of the record is the recorded end, in the true future.
    """
    if compared != Compared():
        _compare(options, compared, as_json=printed.as_json)
        return
    from desim.cli.tables import print_episode, print_traced

    episode = play_branch(**given(evolve(options, keep_steps=False)))
    print_episode(episode, as_json=printed.as_json)
    if options.record and not printed.as_json:
        click.echo(f"recorded in {options.record}", err=True)
    print_traced(options.trace, as_json=printed.as_json)


def _compare(options: BranchOptions, compared: Compared, *, as_json: bool) -> None:
    """Compare two ends of a record and print the table, or one line of JSON.

    Raises:
        UsageError: An option of a branch that plays one episode was given, or it is not clear what
            is compared.
    """
    for name in ("record", "future", "trace"):
        if getattr(options, name) is not None:
            raise UsageError(
                f"--{name} belongs to a branch that plays one episode, without --action, --then, "
                "--futures and --from-here"
            )
    if (compared.action is None) == (options.policies is None):
        raise UsageError("a comparison takes one of --action and --policy: what is done instead")
    from desim.cli.tables import print_found
    from desim.studies.decisions.branch_comparison import compare_branches

    found = compare_branches(
        options.path,
        options.decisions + 1,
        policy=options.policies,
        trust=options.trust,
        model=options.model,
        params=options.params,
        limits=options.limits,
        **given(compared),
    )
    print_found(found, as_json=as_json)
