"""The conclusion of a sweep in sentences: the best policy, by how much, where that changes."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from attrs import frozen

from desim.reports.page import clean
from desim.rows.known_means import knowledge
from desim.rows.rows import Rows
from desim.show.labels import estimate_text, value_text
from desim.statistics.intervals import Interval
from desim.studies.boards.ranking import BoardLine, families, ranked

#: Policies that are compared in pairs, at most, and worlds that are listed.
_MOST_RANKED, _MOST_WORLDS = 60, 12

#: What is said of a policy that is compared with none.
_ALONE = "it has no rival in this sweep"

#: Characters of a policy's name.
_NAME = 80


@frozen
class Finding:
    """The best policy of one world among those that know what their roles observe.

    Attributes:
        best: The line with the best mean.
        second: The next one; None without a rival.
        decided: Whether the data exclude that another policy is as good.
        informed: The best line of policies that know more, if its mean is better.
    """

    best: BoardLine
    second: BoardLine | None
    decided: bool
    informed: BoardLine | None = None

    @property
    def name(self) -> str:
        """The best policy."""
        return clean(self.best.name, _NAME)


def conclusion(
    worlds: Mapping[str, Rows], levels: Mapping[str, Any], minimise: str = ""
) -> Iterator[str]:
    """Yield sentences on the best policy.

    Args:
        worlds: The rows of each world by its name.
        levels: By world the value of the only parameter that varies; empty if several vary.
        minimise: The figure that is compared, of which lower is better; empty for the score.
    """
    found = {name: one for name, rows in worlds.items() if (one := _finding(rows, minimise))}
    if len(worlds) == 1:
        for one in found.values():
            yield from _of_world(one, minimise)
    elif found:
        yield from _of_worlds(found, levels, minimise)


def _mean_text(minimise: str) -> str:
    """Return what the best policy has."""
    return f"lowest mean {minimise}" if minimise else "highest mean score"


def _finding(rows: Rows, minimise: str) -> Finding | None:
    """Return the two best of the least informed policies; None without a mean."""
    if len({*rows.column("policy")}) > _MOST_RANKED:
        return None
    knows = knowledge({cell["policy"]: cell for cell in rows.gathered.cells})
    lines = families(ranked(rows, knows, minimise=minimise))
    known = [line for line in lines[0] if line.estimate] if lines else []
    if not known:
        return None
    best, *others = known
    decided = not any(line.may_be_best for line in others)
    sign = -1 if minimise else 1
    means = [
        (sign * line.estimate.mean, line)
        for each in (known[:1], *lines[1:])
        for line in each
        if line.estimate
    ]
    _, top = max(means, key=itemgetter(0))
    return Finding(best, others[0] if others else None, decided, None if top is best else top)


def _of_world(one: Finding, minimise: str) -> Iterator[str]:
    mean = _interval_text(one.best.estimate)
    if one.second is None:
        figure = minimise or "score"
        alone = "no other policy here knows as little" if one.informed else _ALONE
        yield f"The mean {figure} of {one.name} is {mean}; {alone}."
        yield from _informed(one)
        return
    second = clean(one.second.name, _NAME)
    gap = _gap(one, -1 if minimise else 1)
    among = "Among the policies that know least the" if one.informed else "The"
    best = f"{among} {_mean_text(minimise)} is that of {one.name}"
    yield f"{best}: {mean}. The next is {second}{gap}."
    yield from _undecided(one, second)
    yield from _informed(one)


def _informed(one: Finding) -> Iterator[str]:
    """Yield the better mean of a policy that knows more."""
    if one.informed:
        name, knows = clean(one.informed.name, _NAME), one.informed.knows
        mean = _interval_text(one.informed.estimate)
        yield (
            f"The mean of {name}, which knows more ({knows}), is better: {mean}; policies are "
            "ranked with those that know as much."
        )


def _gap(one: Finding, sign: int) -> str:
    """Return by how much the next policy is worse, with the interval where there is one."""
    found = one.second.difference if one.second else None
    if found is None:
        return ""
    paired = found.paired
    text = (
        f", {'lower' if sign > 0 else 'higher'} by {estimate_text(abs(paired.mean), paired.half)}"
    )
    if paired.low is None or paired.high is None or paired.low == paired.high:
        return text
    ends = (
        estimate_text(end, paired.half) for end in sorted((-sign * paired.low, -sign * paired.high))
    )
    return f"{text} [{' to '.join(ends)}] on the same {paired.n:,} seeds"


def _undecided(one: Finding, second: str) -> Iterator[str]:
    if one.decided:
        yield f"No other {'of these' if one.informed else 'policy'} may be the best (95 %)."
        return
    n = one.best.estimate.n if one.best.estimate else 0
    needed = one.second.to_tell if one.second else None
    more = (
        f"about {needed:,} seeds would decide it if the difference is as large as it seems"
        if needed
        else "more seeds than can be estimated would be needed, or the two are equal"
    )
    yield f"Whether {one.name} or {second} is better is open after {n:,} seeds: {more}."


def _interval_text(found: Interval | None) -> str:
    """Return a mean with its 95 % interval."""
    if found is None:
        return "not known"
    mean = estimate_text(found.mean, found.half)
    if found.low is None or found.high is None or found.low == found.high:
        return mean
    ends = (estimate_text(end, found.half) for end in (found.low, found.high))
    return f"{mean} [{' to '.join(ends)}]"


def _of_worlds(
    found: Mapping[str, Finding], levels: Mapping[str, Any], minimise: str
) -> Iterator[str]:
    """Yield which policy is best where: along a parameter, or in how many worlds."""
    names = [one.name for one in found.values()]
    if len({*names}) == 1:
        best = f"{names[0]} has the {_mean_text(minimise)}"
        yield f"{best} in each of the {len(found):,} worlds."
    elif levels:
        runs = "; ".join(_runs(found, levels))
        yield f"The best policy changes with {_parameter(found)}: {runs}."
    else:
        each = (f"{one.name} at {world}" for world, one in [*found.items()][:_MOST_WORLDS])
        more = f" and {len(found) - _MOST_WORLDS:,} more" if len(found) > _MOST_WORLDS else ""
        yield f"The best policy differs between worlds: {'; '.join(each)}{more}."
    yield from _open_worlds(found)
    if better := sum(one.informed is not None for one in found.values()):
        yield f"In {better:,} of {len(found):,} worlds a policy that knows more has a better mean."


def _parameter(found: Mapping[str, Finding]) -> str:
    return next(iter(found)).partition("=")[0]


def _runs(found: Mapping[str, Finding], levels: Mapping[str, Any]) -> Iterator[str]:
    """Yield each stretch of the parameter with one best policy."""
    places = sorted(found, key=levels.__getitem__)
    for name, run in groupby(places, key=lambda world: found[world].name):
        ends = [levels[world] for world in run]
        low, high = value_text(ends[0]), value_text(ends[-1])
        yield f"{name} at {low}" if len(ends) == 1 else f"{name} from {low} to {high}"


def _open_worlds(found: Mapping[str, Finding]) -> Iterator[str]:
    """Yield how many worlds are not decided, and the seeds that would decide them."""
    undecided: Sequence[Finding] = [one for one in found.values() if not one.decided]
    if not undecided:
        yield "In every world no other policy may be the best (95 %)."
        return
    needed = [one.second.to_tell for one in undecided if one.second and one.second.to_tell]
    seeds = f"; about {max(needed):,} seeds would decide these worlds" if needed else ""
    yield (f"In {len(undecided):,} of {len(found):,} worlds another policy may be as good{seeds}.")
