"""`compare_branches`: a decision of a record made otherwise, over the same futures.

Also how decisions and policies are named in such tables, and the notes below them; for `regret`.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from attrs import asdict, frozen

from desim.catalog.policy_spec import label
from desim.core.model import kept_facts
from desim.core.streams import kept_globals
from desim.episodes.counterfactual import (
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
from desim.short_repr import short_repr, shortened
from desim.show.estimates import estimate_cells, interval_head
from desim.show.labels import is_number, number_text
from desim.show.progress import shown_progress
from desim.show.table import Table, Tabular
from desim.statistics.intervals import Interval, interval
from desim.statistics.pairing import Difference, difference
from desim.studies.options import BranchComparisonOptions

#: Most futures of a comparison.
MOST_FUTURES = 100_000

#: Characters of an action in a table.
_ACTION = 57


@frozen
class Place:
    """The place of a decision in an episode.

    Attributes:
        at: Its number in the episode, from 1, the value of `desim branch --at`.
        t: The tick.
        date: Its date in ISO form; None in a model without dates.
        role: Who decided.
    """

    at: int
    t: int
    date: str | None
    role: str

    @classmethod
    def of(cls, past: Past, at: int) -> "Place":
        """Return where a decision is.

        Raises:
            UsageError: The record has no such decision.
        """
        moment, date = past.moment(at), past.model.time.date
        return cls(at, moment.t, date(moment.t).isoformat() if date else None, moment.role)

    @property
    def when(self) -> str:
        """The date, or the tick."""
        return self.date or f"t={self.t}"


@frozen(repr=False)
class BranchComparison(Tabular):
    """Two continuations of one record, over the same futures.

    Attributes:
        place: The decision that differs.
        recorded: The recorded action as its tagged object.
        instead: The other one.
        arms: What the two continuations are, in words: the recorded one, and the other.
        futures: How many were drawn; None if both were played in the true one.
        scores: The scores of the recorded action and of the other, one for each future.
        found: The difference: the other's scores less the recorded one's.
        notes: What a reader must know.
    """

    place: Place
    recorded: Mapping[str, Any]
    instead: Mapping[str, Any]
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
        place, paired = self.place, self.found.paired
        title = f"decision {place.at} ({place.when}, {place.role})"
        heads = [title, "n", "mean score", interval_head(paired.level)]
        names = (*self.arms, "difference: instead less recorded")
        rows = zip(names, (*self.means, paired), strict=True)
        lines = [[name, one.n, *estimate_cells(one, sd=False)] for name, one in rows]
        return (Table(heads, lines, notes=self.notes),)

    def plain(self) -> dict[str, Any]:
        """Return what `--json` prints: one plain object."""
        paired = self.found.paired
        recorded, instead = self.means
        return {
            **asdict(self.place),
            "recorded": self.recorded,
            "instead": self.instead,
            "arms": list(self.arms),
            "futures": self.futures,
            "n": paired.n,
            "recorded_mean": recorded.mean,
            "instead_mean": instead.mean,
            "difference": paired.mean,
            "low": paired.low,
            "high": paired.high,
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
    seeds = seeds_of_futures(options.futures)
    if (options.action is None) == (options.policy is None):
        raise UsageError(
            "a comparison takes one of an action (--action) and a policy (--policy): what is done "
            "instead"
        )
    past = Past.read(options.record, options.limits, trust=options.trust)
    place, redrawn = Place.of(past, options.at), options.futures is not None
    made = past.moment(place.at).action
    others = players(past, options.policy, redrawn=redrawn)
    base = players_of_all(past, options.then, redrawn=redrawn)
    fresh = fresh_roles(past, base)
    answer, by = _other_answer(past, place, options.action, others, base)
    recorded, instead = tagged_object(made), tagged_object(answer)
    scores: tuple[list[float], list[float]] = ([], [])
    with shown_progress(options.progress) as show, kept_globals():
        for done, seed in enumerate(seeds, 1):
            for action, of_action in zip((made, answer), scores, strict=True):
                of_action.append(outcome(past, place.at - 1, action, base, seed, fresh))
            show(2 * done, 2 * len(seeds))
    then = f"then {labels(base)}"
    return BranchComparison(
        place,
        recorded,
        instead,
        (
            f"recorded: {action_text(recorded)}, {then}",
            f"instead: {action_text(instead)}{by}, {then}",
        ),
        options.futures,
        (tuple(scores[0]), tuple(scores[1])),
        difference(scores[1], scores[0], options.level),
        tuple(notes_on(past, options.futures, base, fresh)),
    )


def _other_answer(
    past: Past, place: Place, action: Any, others: Mapping[str, Any], base: Mapping[str, Any]
) -> tuple[Any, str]:
    """Return the answer to compare with the recorded one, and the policy that gives it as text."""
    role, moment = place.role, past.moment(place.at)
    if action is None:
        if role not in others:
            raise UsageError(f"the decision is one of {role!r}; name a policy for that role")
        mine = {role: others[role]}
        answers = decided_at(past, mine, base)
        return next(islice(answers, place.at - 1, None)), f" ({labels(mine)})"
    try:
        form = codec(past.asked(moment).action)
        return form.take(form.read(action) if isinstance(action, str | bytes) else action)[0], ""
    except WrongAction as wrong:
        raise UsageError(f"the action for {role!r} does not fit: {wrong}") from None


def action_text(action: Mapping[str, Any]) -> str:
    """Return a tagged object in a few words.

    >>> action_text({"do": "order", "quantity": 12})
    'order quantity=12'
    """
    # Texts as JSON, because one of a stranger's record may move the cursor.
    texts = (
        f" {key}={number_text(one) if is_number(one) else msgspec.json.encode(one).decode()}"
        for key, one in action.items()
        if key != "do"
    )
    return shortened(f"{action['do']}{''.join(texts)}", _ACTION)


def labels(policies: Mapping[str, Any]) -> str:
    """Return the policies of some roles as text; one that plays all of them is named once."""
    named = {role: label(one) for role, one in policies.items()}
    if len({*named.values()}) == 1:
        return next(iter(named.values()))
    return ", ".join(f"{role}={name}" for role, name in named.items())


def seeds_of_futures(futures: int | None) -> tuple[int | None, ...]:
    """Return the seeds of a number of futures; None means the true one alone.

    Raises:
        UsageError: The number is not a whole number from 1 to `MOST_FUTURES`.
    """
    if futures is None:
        return (None,)
    if type(futures) is not int or not 1 <= futures <= MOST_FUTURES:
        raise UsageError(
            f"{short_repr(futures)} futures were given; 1 to {MOST_FUTURES:,} are possible"
        )
    return tuple(range(futures))


def notes_on(
    past: Past, futures: int | None, policies: Mapping[str, Any], fresh: Collection[str]
) -> Iterator[str]:
    """Yield the sentences about the futures of a comparison, and about who plays in them.

    Args:
        past: The record.
        futures: How many were drawn; None for the true one.
        policies: Who plays on, by role.
        fresh: Roles whose policies observe nothing before they decide.
    """
    if futures is None:
        yield (
            "hindsight: played in the future that came, which no role could observe, so the "
            "difference is luck as much as judgement and has no interval; redrawn futures "
            "(--futures) judge the decision"
        )
    elif kept := kept_facts(past.model):
        yield (
            "redrawn futures: later draws were made anew, the same for every action; hidden facts "
            f"stayed, so the differences depend on these as well: {'; '.join(kept)}"
        )
    else:
        yield (
            "redrawn futures: what no role could have observed when the decision was open was "
            "drawn anew, the same for every action, so the differences judge the decision and not "
            "the luck that followed it"
        )
    if futures == 1:
        yield "one future gives no interval; give more (--futures)"
    if fresh:
        names = labels({role: one for role, one in policies.items() if role in fresh})
        yield (
            f"{names} cannot follow decisions that others made: it begins after the changed one, "
            "without a memory of what came before"
        )
