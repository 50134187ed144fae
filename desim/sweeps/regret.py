"""`regret`: which decisions of a record cost most, against what else could have been done."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from desim.core.limits import Limits
from desim.core.streams import generator
from desim.episodes.episode import Episode
from desim.episodes.lineup import Policies
from desim.episodes.what_if import (
    Arm,
    Past,
    decided_at,
    fresh_roles,
    outcome,
    players,
    players_of_all,
)
from desim.errors import DesimError, UsageError
from desim.schema import tagged
from desim.short_repr import short_repr
from desim.statistics.intervals import checked_level
from desim.statistics.pairing import difference, simultaneous
from desim.sweeps.alternatives import (
    check_futures_count,
    fresh_note,
    labels,
    place_of,
    plain_action,
)
from desim.sweeps.in_workers import in_workers
from desim.sweeps.regret_table import DecisionRegret, RegretTable

__all__ = ["OPTIONS", "regret"]

#: The name of the comparison with all options of a role.
OPTIONS = "options"

#: Work that takes less than this many seconds is not worth starting processes.
_SECONDS_ALONE = 2.0

#: Relative differences of two scores that are rounding.
_DUST = 1e-12

#: Tasks for each worker: they finish at about the same time, and a bar moves.
_TASKS_PER_WORKER = 16


@frozen
class _Question:
    """A decision and what else could have been answered.

    Attributes:
        at: How many decisions precede it.
        actions: The recorded action first, then the others.
        left_out: How many options are not among them, as there are too many.
    """

    at: int
    actions: tuple[Any, ...]
    left_out: int = 0


@frozen
class _Judged:
    """What was played of a question.

    Attributes:
        best: The place of the best other action among the actions; 0 where there is no other.
        recorded: Scores of the recorded action, one for each future on which they are compared.
        others: Scores of the best other action.
    """

    best: int
    recorded: tuple[float, ...]
    others: tuple[float, ...]


@frozen
class _Judge:
    """Plays the continuations of some questions; a worker receives one.

    Attributes:
        past: The record, without observations.
        then: Policies of all roles that play on.
        fresh: Roles whose policies observe nothing before they decide.
        seeds: Of the futures; None for the true one.
    """

    past: Past
    then: Mapping[str, Any]
    fresh: frozenset[str]
    seeds: tuple[int | None, ...]

    def __call__(self, questions: Sequence[_Question]) -> list[_Judged]:
        return [self.judged(question) for question in questions]

    def judged(self, question: _Question) -> _Judged:
        """Choose the best other action on some futures, and compare it on the others.

        The best of several means is too high where it was chosen: there it is best by luck, too. So
        futures that choose do not estimate.
        """
        others = range(1, len(question.actions))
        if not others:
            return _Judged(0, (), ())
        choosing, estimating = parted(self.seeds, len(others))
        means = {
            number: sum(self.scores(question, number, choosing)) for number in others if choosing
        }
        # The first of equals: options come in an order, and a result must not depend on chance.
        best = max(means, key=means.__getitem__) if means else 1
        recorded, other = (self.scores(question, number, estimating) for number in (0, best))
        return _Judged(best, recorded, other)

    def scores(
        self, question: _Question, number: int, seeds: Sequence[int | None]
    ) -> tuple[float, ...]:
        """Return the scores of one action, future by future."""
        action = question.actions[number]
        arm = Arm(question.at, action, self.then, self.fresh)
        try:
            return tuple(outcome(self.past, arm, seed) for seed in seeds)
        except DesimError as fault:
            what = f"decision {question.at} answered with {short_repr(action)}"
            raise type(fault)(f"{what}: {fault}") from fault


def parted(
    seeds: Sequence[int | None], others: int
) -> tuple[Sequence[int | None], Sequence[int | None]]:
    """Return the futures on which the best of some other actions is chosen, and the rest.

    One other action needs no choice. A single future has to do both.

    >>> parted((0, 1, 2), 4), parted((0, 1, 2), 1), parted((None,), 2)
    (((0,), (1, 2)), ((), (0, 1, 2)), ((None,), (None,)))
    """
    if others <= 1:
        return seeds[:0], seeds
    half = len(seeds) // 2
    return (seeds[:half], seeds[half:]) if half else (seeds, seeds)


def regret(
    record: str | Path | Episode,
    then: Policies = None,
    *,
    against: Policies = OPTIONS,
    role: str = "",
    decisions: slice | None = None,
    futures: int | None = 30,
    most_options: int = 12,
    level: float = 0.95,
    jobs: int = 1,
    trust: bool = False,
    model: str = "",
    params: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RegretTable:
    """Estimate for each decision on record how much better another one would have been.

    For each decision the recorded action and other actions are played: the decisions before it are
    repeated, those open together with it keep their recorded answers, and *then* plays on after
    every action alike, over the same futures. No policy of the record is built or asked.

    The best other action is chosen on the first half of the futures and compared with the recorded
    one on the second: the largest of several means is too large on the futures that chose it, and
    would call noise a mistake.

    Args:
        record: A record, whole or cut, or an episode.
        then: Policies of all roles that play on.
        against: "options" for all that `Role.options` offers, or a policy, or policies by role.
        role: The role whose decisions are judged; empty for all that *against* can judge.
        decisions: Which, by their numbers from 0; None for all.
        futures: How many are drawn, with the seeds 0, 1, ...; None takes the true one alone, which
            is hindsight.
        most_options: Of a decision with more options, the one of the highest value and a random
            sample of the others are played; at least 1.
        level: At which all intervals hold together, above 0 and below 1.
        jobs: Worker processes; the result is the same for any number.
        trust: As in `Past.read`, like *model*, *params* and *limits*.
        model: As above.
        params: As above.
        limits: As above.
        progress: Called with the numbers of finished and of all episodes.

    Raises:
        BadRecord: The record cannot be read or does not replay.
        UsageError: There is no such role or decision, the role offers no options, or a policy is
            missing or cannot play branches.
        PolicyFailed: A policy failed.
    """
    check_futures_count(futures)
    checked_level(level)
    if type(most_options) is not int or most_options < 1:
        raise UsageError(f"{short_repr(most_options)} options were given; at least 1 is played")
    start = time.perf_counter()
    past = Past.read(record, trust=trust, model=model, params=params, limits=limits)
    seconds = time.perf_counter() - start
    redrawn = futures is not None
    base = players_of_all(past, then, redrawn=redrawn)
    chosen = _chosen(past, role, decisions)
    if against == OPTIONS:
        questions = [_of_options(past, at, most_options) for at in chosen]
        name = OPTIONS
    else:
        others = players(past, against, redrawn=redrawn)
        _check_judges(others, role)
        questions = _of_policies(past, chosen, others, base)
        name = labels(others)
    seeds = (None,) if futures is None else tuple(range(futures))
    fresh = fresh_roles(past, base)
    judge = _Judge(past.bare(), base, fresh, seeds)
    judged = _judged(judge, questions, jobs, seconds, progress)
    return RegretTable.of(
        past,
        _lines(past, questions, judged, level),
        then=labels(base),
        against=name,
        futures=futures,
        level=level,
        notes=fresh_note(base, fresh),
    )


def _chosen(past: Past, role: str, decisions: slice | None) -> list[int]:
    """Return the numbers of the decisions that are judged.

    Raises:
        UsageError: There is none.
    """
    if role and role not in past.header.policies:
        roles = ", ".join(past.header.policies)
        raise UsageError(f"nobody plays {role!r} in the record; its roles are {roles}")
    count = len(past.moments)
    numbers = range(count)[decisions or slice(None)]
    if not numbers:
        raise UsageError(f"no decision of the record is meant; it has {count}: 0 to {count - 1}")
    found = [at for at in numbers if role in ("", past.moments[at].role)]
    if not found:
        raise UsageError(f"none of these {len(numbers)} decisions is one of {role!r}")
    return found


def _of_options(past: Past, at: int, most: int) -> _Question:
    """Return a decision with the options of its role.

    Raises:
        UsageError: The role offers none.
    """
    moment = past.moments[at]
    options = past.model.roles[moment.role].options
    if options is None:
        raise UsageError(
            f"role {moment.role!r} offers no options; name a policy instead (--against SPEC), or "
            "a role that offers some (--role)"
        )
    offered = list(options(moment.observation))
    ranked = sorted(range(len(offered)), key=lambda n: -offered[n].value)
    taken = offered
    if len(offered) > most:
        draws = generator(past.header.seed, "regret", str(at))
        some = draws.choice(ranked[1:], most - 1, replace=False) if most > 1 else ()
        taken = [offered[n] for n in sorted({ranked[0], *map(int, some)})]
    actions = _distinct(moment.action, [one.action for one in taken])
    return _Question(at, actions, len(offered) - len(taken))


def _check_judges(others: Mapping[str, Any], role: str) -> None:
    if role and role not in others:
        raise UsageError(f"--against names no policy for {role!r}; it names {', '.join(others)}")


def _of_policies(
    past: Past, chosen: Sequence[int], others: Mapping[str, Any], base: Mapping[str, Any]
) -> list[_Question]:
    """Return decisions with what a policy of their role would have done."""
    wanted = frozenset(chosen)
    found = [
        _Question(at, _distinct(past.moments[at].action, [action]))
        for at, action in enumerate(decided_at(past, others, base))
        if at in wanted and past.moments[at].role in others
    ]
    if not found:
        raise UsageError(f"none of these decisions is one of {' or '.join(map(repr, others))}")
    return found


def _distinct(recorded: Any, others: Iterable[Any]) -> tuple[Any, ...]:
    """Return the recorded action, and the others that differ from it and from each other."""
    return tuple({tagged(one): one for one in (*reversed([*others]), recorded)}.values())[::-1]


def _judged(
    judge: _Judge,
    questions: Sequence[_Question],
    jobs: int,
    seconds: float,
    progress: Callable[[int, int], None] | None,
) -> list[_Judged]:
    """Play all questions, in this process where that is soon done."""
    costs = [_episodes(judge, question) for question in questions]
    total, done = sum(costs), 0
    alone = jobs <= 1 or seconds * total < _SECONDS_ALONE
    # Every k-th one together: a late decision takes as long as an early one, but those of one
    # stretch may have more options than others.
    tasks = len(questions) if alone else min(len(questions), _TASKS_PER_WORKER * jobs)
    parts = [range(first, len(questions), tasks) for first in range(tasks)]
    work = [[questions[number] for number in part] for part in parts]
    found: dict[int, _Judged] = {}
    for task, results in in_workers(judge, work, 1 if alone else jobs):
        found |= dict(zip(parts[task], results, strict=True))
        done += sum(costs[number] for number in parts[task])
        if progress is not None:
            progress(done, total)
    return [found[number] for number in range(len(questions))]


def _episodes(judge: _Judge, question: _Question) -> int:
    """Return how many episodes a question takes."""
    others = len(question.actions) - 1
    choosing, estimating = parted(judge.seeds, others)
    return len(choosing) * others + 2 * len(estimating) if others else 0


def _lines(
    past: Past, questions: Sequence[_Question], judged: Sequence[_Judged], level: float
) -> tuple[DecisionRegret, ...]:
    """Return a line for each decision; their intervals hold together."""
    compared = sum(1 for one in judged if one.best)
    together = simultaneous(level, compared)
    return tuple(
        _line(past, question, one, together)
        for question, one in zip(questions, judged, strict=True)
    )


def _line(past: Past, question: _Question, judged: _Judged, level: float) -> DecisionRegret:
    line = DecisionRegret(
        place_of(past, question.at),
        plain_action(question.actions[0]),
        played=len(question.actions) - 1,
        left_out=question.left_out,
    )
    if not judged.best:
        return line
    return evolve(
        line,
        best=plain_action(question.actions[judged.best]),
        found=difference(_without_dust(judged), judged.recorded, level),
        recorded_mean=sum(judged.recorded) / len(judged.recorded),
    )


def _without_dust(judged: _Judged) -> list[float]:
    """Return the scores of the other action; those equal but for rounding are made equal.

    Sums of floats in another order differ in their last digits, on all futures alike: an interval
    of such differences would be above 0.
    """
    pairs = zip(judged.others, judged.recorded, strict=True)
    return [mine if math.isclose(other, mine, rel_tol=_DUST) else other for other, mine in pairs]
