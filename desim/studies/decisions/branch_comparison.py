"""`compare_branches`: one decision of a record, or all from there on, made otherwise."""

from collections.abc import Mapping
from itertools import islice
from typing import Any

from attrs import frozen

from desim.core.streams import kept_globals
from desim.episodes.counterfactual import (
    Arm,
    Moment,
    Past,
    decided_at,
    fresh_roles,
    outcome,
    players,
    players_of_all,
)
from desim.errors import UsageError, WrongAction
from desim.schema import codec
from desim.schema.codecs import tagged_object
from desim.schema.signatures import takes
from desim.show.estimates import estimate_cells, interval_head
from desim.show.progress import Progress, shown_progress
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import Difference, difference
from desim.studies.decisions.branch_table import (
    Place,
    action_text,
    check_futures_count,
    fresh_note,
    hindsight_note,
    labels,
    place_of,
    plain_difference,
    redrawn_notes,
)
from desim.studies.decisions.decision_options import BranchComparisonOptions


@frozen(repr=False)
class BranchComparison(Tabular):
    """Two continuations of one record, over the same futures.

    Attributes:
        place: The decision that differs.
        recorded: The recorded action as its tagged object.
        instead: The other one; None if it depends on the future.
        arms: What the two continuations are, in words: the recorded one, and the other.
        futures: How many were drawn; None if both were played in the true one.
        scores: The scores of the recorded action and of the other, one for each future.
        found: The difference: the other's scores less the recorded one's.
        notes: What a reader must know.
    """

    place: Place
    recorded: Mapping[str, Any]
    instead: Mapping[str, Any] | None
    arms: tuple[str, str]
    futures: int | None
    scores: tuple[tuple[float, ...], tuple[float, ...]]
    found: Difference
    notes: tuple[str, ...]

    @property
    def means(self) -> tuple[Interval, Interval]:
        """The means of the two, each with its own interval."""
        level = self.found.paired.level
        return interval(self.scores[0], level), interval(self.scores[1], level)

    def tables(self) -> tuple[Table]:
        """Return the table of the two means and their difference."""
        place = self.place
        title = f"decision {place.at} ({place.when}, {place.role})"
        heads = [title, "n", "mean score", interval_head(self.found.paired.level)]
        rows = zip(
            (*self.arms, "difference: instead less recorded"),
            (*self.means, self.found.paired),
            strict=True,
        )
        lines = [[name, one.n, *estimate_cells(one, sd=False)] for name, one in rows]
        return (Table(heads, lines, notes=self.notes),)

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints: one plain object."""
        paired = self.found.paired
        recorded, instead = self.means
        return {
            **self.place.plain(),
            "recorded": self.recorded,
            "instead": self.instead,
            "arms": list(self.arms),
            "futures": self.futures,
            "n": paired.n,
            "recorded_mean": recorded.mean,
            "instead_mean": instead.mean,
            **plain_difference(paired),
            "level": paired.level,
            "correlation": self.found.correlation,
            "notes": list(self.notes),
        }


@takes(BranchComparisonOptions)
def compare_branches(options: BranchComparisonOptions) -> BranchComparison:
    """Compare a decision on record with another one, over the same futures.

    No policy of the record is built or asked: *then* plays on after the recorded action and after
    the other one. Decisions that were open together with the changed one keep their recorded
    answers.

    Raises:
        BadRecord: The record cannot be read or does not replay.
        UsageError: The decision does not exist, the action is not in the role's schema, arguments
            do not fit together, a role has no policy, or a policy cannot play branches.
    """
    futures = options.futures
    check_futures_count(futures)
    if (options.action is None) == (options.policy is None):
        raise UsageError("give an action or a policy to compare with the recorded decision, one")
    if options.from_here and options.policy is None:
        raise UsageError("an action answers one decision; a policy can play from there on")
    past = Past.read(options.record, options, options.limits)
    place = place_of(past, options.at)
    mine, other, names = _arms(past, place, options)
    seeds: list[int | None] = [None] if futures is None else list(range(futures))
    with shown_progress(options.progress) as show:
        scores = _scores(past, (mine, other), seeds, show)
    return BranchComparison(
        place,
        tagged_object(past.moment(place.at).action),
        None if other.action is None else tagged_object(other.action),
        names,
        futures,
        scores,
        difference(scores[1], scores[0], options.level),
        (*_notes(past, futures), *fresh_note(other.then or {}, other.fresh)),
    )


def _arms(
    past: Past, place: Place, options: BranchComparisonOptions
) -> tuple[Arm, Arm, tuple[str, str]]:
    """Return the recorded continuation and the other one, and both in words."""
    at, redrawn = place.at - 1, options.futures is not None
    made = past.moment(place.at).action
    recorded = f"recorded: {action_text(tagged_object(made))}"
    others = players(past, options.policy, redrawn=redrawn)
    if options.from_here and options.then is None and not redrawn:
        if not past.ended:
            raise UsageError("the record has no end to compare with; name who plays on (--then)")
        everyone = players_of_all(past, options.policy, redrawn=redrawn)
        names = (f"{recorded}, and as recorded to the end", f"instead: {labels(others)} from there")
        return Arm(at, made, None), Arm(at, None, everyone, fresh_roles(past, everyone)), names
    base = players_of_all(past, options.then, redrawn=redrawn)
    after = f"then {labels(base)}"
    fresh = fresh_roles(past, base)
    mine = Arm(at, made, base, fresh)
    if options.from_here:
        named = f"instead: {labels(others)} from there"
        left = {one: base[one] for one in base if one not in others}
        named += f", beside {labels(left)}" if left else ""
        both = {**base, **others}
        return mine, Arm(at, None, both, fresh_roles(past, both)), (f"{recorded}, {after}", named)
    answer, by = _other_answer(past, place, options.action, others, base)
    named = f"instead: {action_text(tagged_object(answer))}{by}, {after}"
    return mine, Arm(at, answer, base, fresh), (f"{recorded}, {after}", named)


def _other_answer(
    past: Past, place: Place, action: Any, others: Mapping[str, Any], base: Mapping[str, Any]
) -> tuple[Any, str]:
    """Return the answer to compare with the recorded one, and the policy that gives it as text."""
    at, role = place.at, place.role
    if action is not None:
        return _given_action(past, past.moment(at), action), ""
    if role not in others:
        raise UsageError(f"the decision is one of {role!r}; name a policy for that role")
    mine = {role: others[role]}
    return next(islice(decided_at(past, mine, base), at, None)), f" ({labels(mine)})"


def _given_action(past: Past, moment: Moment, action: Any) -> Any:
    """Return a given action as an instance.

    Raises:
        UsageError: It is not an action that the question takes.
    """
    try:
        form = codec((moment.narrowed or past.model.roles[moment.role]).action)
        return form.take(form.read(action) if isinstance(action, str | bytes) else action)[0]
    except WrongAction as wrong:
        raise UsageError(f"the action for {moment.role!r} does not fit: {wrong}") from None


@kept_globals()
def _scores(
    past: Past,
    arms: tuple[Arm, Arm],
    seeds: list[int | None],
    show: Progress,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    rows: tuple[list[float], list[float]] = ([], [])
    for done, seed in enumerate(seeds, 1):
        for arm, row in zip(arms, rows, strict=True):
            row.append(outcome(past, arm, seed))
        show(2 * done, 2 * len(seeds))
    return tuple(rows[0]), tuple(rows[1])


def _notes(past: Past, futures: int | None) -> tuple[str, ...]:
    if futures is None:
        return (hindsight_note(),)
    one = ("one future gives no interval; give more (--futures)",) if futures == 1 else ()
    return (*redrawn_notes(past), *one)
