"""`compare_branches`: one decision of a record, or all from there on, made otherwise."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from desim.core.limits import Limits
from desim.episodes.futures.past import (
    Arm,
    Past,
)
from desim.episodes.futures.what_if import (
    decided_at,
    fresh_roles,
    outcome,
    players,
    players_of_all,
)
from desim.episodes.lineup import Policies
from desim.errors import UsageError, WrongAction
from desim.records.episode import Episode
from desim.schema import codec
from desim.show.estimates import estimate_cells, interval_head
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
    plain_action,
    plain_difference,
    redrawn_notes,
)


@frozen
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


def compare_branches(
    record: str | Path | Episode,
    at: int,
    *,
    action: Any = None,
    policy: Policies = None,
    then: Policies = None,
    futures: int | None = None,
    from_here: bool = False,
    level: float = 0.95,
    trust: bool = False,
    model: str = "",
    params: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BranchComparison:
    """Compare a decision on record with another one, over the same futures.

    No policy of the record is built or asked: *then* plays on after the recorded action and after
    the other one. Decisions that were open together with the changed one keep their recorded
    answers.

    Args:
        record: A record, whole or cut, or an episode.
        at: How many decisions are repeated; the next one is changed.
        action: The other action: an instance, or its tagged object, also as JSON text.
        policy: Instead of an action: the policy that decides otherwise.
        then: Policies of all roles that play on. Without it, the rest of the record stands for the
            recorded continuation; this needs the true future and *from_here*.
        futures: How many futures are drawn, with the seeds 0, 1, ...; None plays both in the true
            future, which is hindsight.
        from_here: Whether *policy* makes all decisions of its roles from there on, and not just
            one.
        level: The level of the intervals, above 0 and below 1.
        trust: See `Past.read`.
        model: See `Past.read`.
        params: See `Past.read`.
        limits: See `Past.read`.
        progress: Called with the numbers of finished and of all episodes.

    Raises:
        BadRecord: The record cannot be read or does not replay.
        UsageError: The decision does not exist, the action is not in the role's schema, arguments
            do not fit together, a role has no policy, or a policy cannot play branches.
    """
    check_futures_count(futures)
    if (action is None) == (policy is None):
        raise UsageError("give an action or a policy to compare with the recorded decision, one")
    if from_here and policy is None:
        raise UsageError("an action answers one decision; a policy can play from there on")
    past = Past.read(record, trust=trust, model=model, params=params, limits=limits)
    place = place_of(past, at)
    mine, other, names = _arms(past, place, action, policy, then, from_here, futures)
    seeds: list[int | None] = [None] if futures is None else list(range(futures))
    scores = _scores(past, (mine, other), seeds, progress)
    return BranchComparison(
        place,
        plain_action(past.moment(at).action),
        None if other.action is None else plain_action(other.action),
        names,
        futures,
        scores,
        difference(scores[1], scores[0], level),
        (*_notes(past, futures), *fresh_note(other.then or {}, other.fresh)),
    )


def _arms(
    past: Past,
    place: Place,
    action: Any,
    policy: Policies,
    then: Policies,
    from_here: bool,  # noqa: FBT001 (passed on)
    futures: int | None,
) -> tuple[Arm, Arm, tuple[str, str]]:
    """Return the recorded continuation and the other one, and both in words."""
    at, role, redrawn = place.at, place.role, futures is not None
    made = past.moment(at).action
    recorded = f"recorded: {action_text(plain_action(made))}"
    others = players(past, policy, redrawn=redrawn)
    if from_here and then is None and not redrawn:
        if not past.ended:
            raise UsageError("the record has no end to compare with; name who plays on (--then)")
        everyone = players_of_all(past, policy, redrawn=redrawn)
        names = (f"{recorded}, and as recorded to the end", f"instead: {labels(others)} from there")
        return Arm(at, made, None), Arm(at, None, everyone, fresh_roles(past, everyone)), names
    base = players_of_all(past, then, redrawn=redrawn)
    after = f"then {labels(base)}"
    fresh = fresh_roles(past, base)
    mine = Arm(at, made, base, fresh)
    if from_here:
        named = f"instead: {labels(others)} from there"
        left = {one: base[one] for one in base if one not in others}
        named += f", beside {labels(left)}" if left else ""
        both = {**base, **others}
        return mine, Arm(at, None, both, fresh_roles(past, both)), (f"{recorded}, {after}", named)
    if action is None:
        if role not in others:
            raise UsageError(f"the decision is one of {role!r}; name a policy for that role")
        answer = _nth(decided_at(past, {role: others[role]}, base), at)
        by = f" ({labels({role: others[role]})})"
    else:
        answer, by = _read_action(past, role, action), ""
    named = f"instead: {action_text(plain_action(answer))}{by}, {after}"
    return mine, Arm(at, answer, base, fresh), (f"{recorded}, {after}", named)


def _read_action(past: Past, role: str, action: Any) -> Any:
    """Return a given action as an instance.

    Raises:
        UsageError: It is not in the role's schema.
    """
    try:
        form = codec(past.model.roles[role].action)
        return form.take(form.read(action) if isinstance(action, str | bytes) else action)[0]
    except WrongAction as wrong:
        raise UsageError(f"the action for {role!r} does not fit: {wrong}") from None


def _nth(answers: Any, at: int) -> Any:
    return next(answer for number, answer in enumerate(answers) if number == at)


def _scores(
    past: Past,
    arms: tuple[Arm, Arm],
    seeds: list[int | None],
    progress: Callable[[int, int], None] | None,
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    rows: tuple[list[float], list[float]] = ([], [])
    for done, seed in enumerate(seeds, 1):
        for arm, row in zip(arms, rows, strict=True):
            row.append(outcome(past, arm, seed))
        if progress is not None:
            progress(2 * done, 2 * len(seeds))
    return tuple(rows[0]), tuple(rows[1])


def _notes(past: Past, futures: int | None) -> tuple[str, ...]:
    if futures is None:
        return (hindsight_note(),)
    one = ("one future gives no interval; give more (--futures)",) if futures == 1 else ()
    return (*redrawn_notes(past), *one)
