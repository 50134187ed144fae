"""`regret`: the decisions of a record that cost most, compared with alternative actions."""

import contextlib
import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim.core.streams import generator
from desim.engine.opened_files import noting, opened_by
from desim.engine.plan import Cell, Grid, limits_text
from desim.engine.policies import PolicyEntry, inside
from desim.engine.policies import players as parts_of
from desim.engine.run.executors import Executor, ProcessExecutor
from desim.engine.run.play_job import in_time
from desim.engine.run.playing import Playing, check_jobs
from desim.engine.run.worker_pools import WorkerDied
from desim.engine.sources import text_digest
from desim.engine.store import Kept, Store
from desim.episodes.counterfactual import (
    Arm,
    Past,
    decided_at,
    fresh_roles,
    outcome,
    players,
    players_of_all,
)
from desim.errors import DesimError, UsageError, possible
from desim.schema import tagged, to_plain
from desim.schema.codecs import tagged_object
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.progress import shown_progress
from desim.statistics.intervals import checked_level
from desim.statistics.pairing import difference, simultaneous
from desim.studies.branches import fresh_notes, future_note, labels, place_of, seeds_of_futures
from desim.studies.options import OPTIONS, RegretOptions
from desim.studies.regret_table import DecisionRegret, RegretTable

#: Work that takes less than this many seconds is not worth starting processes.
_SECONDS_ALONE = 2.0

#: Relative differences of two scores up to this size are rounding errors.
_DUST = 1e-12


class RegretStopped(KeyboardInterrupt):
    """Ctrl-C; the text says how to go on.

    Attributes:
        found: The table of the decisions that were judged; None if no decision was.
    """

    def __init__(self, text: str, found: RegretTable | None) -> None:
        super().__init__(text)
        self.found = found


@takes(RegretOptions)
def regret(options: RegretOptions) -> RegretTable:
    """Estimate for each recorded decision how much better another action would have been.

    For each decision the recorded action and other actions are played: the decisions before it are
    repeated, those open together with it keep their recorded answers, and *then* plays on after
    every action alike, over the same futures. Policies of the record are neither built nor called.

    The best other action is chosen on the first half of the futures and compared with the recorded
    one on the second: the largest of several means is biased upwards on the futures that chose it,
    so that noise would count as a mistake.

    Raises:
        BadRecord: The record cannot be read or does not replay.
        UsageError: The role or a decision does not exist, the role offers no options, a policy is
            missing or cannot play branches, or *out* holds decisions of other code or is in use.
        PolicyFailed: A policy failed.
        WorkerDied: A worker process ended.
        RegretStopped: Ctrl-C.

    Warns:
        SweepWarning: Rows in *out* were damaged or discarded.
    """
    seeds = seeds_of_futures(options.futures)
    checked_level(options.level)
    check_jobs(options.jobs)
    if type(options.most_options) is not int or options.most_options < 1:
        given = short_repr(options.most_options)
        raise UsageError(f"{given} options were given; at least 1 is played")
    start = time.perf_counter()
    with noting():  # for a model that reads a file once for all episodes
        past = Past.read(options.record, options, options.limits)
    seconds = time.perf_counter() - start
    base = players_of_all(past, options.then, redrawn=options.futures is not None)
    others, questions = _alternatives(past, options, base)
    fresh = fresh_roles(past, base)
    decisions = _decisions(past, options, base, others, questions)
    plan = Grid((decisions,), [*decisions.questions])
    continuations = len(seeds) * sum(len(one.actions) for one in questions)
    alone = options.jobs <= 1 or seconds * continuations < _SECONDS_ALONE
    # Dead workers are not replaced: only an episode can become a failed row.
    executor = Executor() if alone else ProcessExecutor(min(options.jobs, len(plan)), restarts=0)
    table = RegretTable(
        lines=(),
        then=labels(base),
        against=decisions.against,
        futures=options.futures,
        level=options.level,
        model=past.header.model,
        seed=past.header.seed,
        notes=(future_note(past, options.futures), *fresh_notes(base, fresh)),
    )
    with (
        contextlib.closing(executor),
        Store(options.out, restart=options.restart) as store,
        shown_progress(options.progress, "decisions") as show,
    ):
        kept = store.of(plan)
        playing = Playing(plan, kept, executor, show, Judge(past.bare(), base, fresh, seeds))
        try:
            playing.play(range(len(plan)))
        except (KeyboardInterrupt, WorkerDied) as fault:
            count = f"{len(kept):,} of {len(plan):,} decisions"
            goes_on = "" if options.out else "with --out FOLDER "
            text = f"stopped after {count}; {goes_on}the same command goes on from there"
            if isinstance(fault, WorkerDied):
                raise WorkerDied(f"{fault}; {text}") from None
            about, *others_said = table.notes
            notes = (about, f"stopped: {count} were judged", *others_said)
            found = _filled(evolve(table, notes=notes), past, questions, kept) if kept else None
            raise RegretStopped(text, found) from None
        return _filled(table, past, questions, kept)


# -- which decisions, and with which actions each is compared --------------------------------------


@frozen
class Question:
    """A decision and its alternative actions.

    Attributes:
        at: How many decisions precede it.
        actions: The recorded action first, then the others.
        left_out: The number of options that are left out because there are too many.
    """

    at: int
    actions: tuple[Any, ...]
    left_out: int = 0


def _alternatives(
    past: Past, options: RegretOptions, base: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[Question]]:
    """Return the policies with which the record is compared, none for options; and the questions.

    Raises:
        UsageError: No decision is meant, the role offers no options, or no policy is named for it.
    """
    numbers = _chosen(past, options.role, options.decisions, options.kinds)
    if options.against == OPTIONS:
        return {}, [of_options(past, at, options.most_options) for at in numbers]
    others = players(past, options.against, redrawn=options.futures is not None)
    if options.role and options.role not in others:
        names = ", ".join(others)
        raise UsageError(f"--against names no policy for {options.role!r}; it names {names}")
    with noting():
        answers = [*decided_at(past, others, base)]
    found = [
        Question(at, _distinct(past.moments[at].action, [answers[at]]))
        for at in numbers
        if past.moments[at].role in others
    ]
    if not found:
        raise UsageError(f"none of these decisions is one of {' or '.join(map(repr, others))}")
    return others, found


def of_options(past: Past, at: int, most: int) -> Question:
    """Return a decision with the options of its role as alternatives.

    Raises:
        UsageError: The role offers no options.
    """
    moment = past.moments[at]
    options = past.asked(moment).options
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
    return Question(at, actions, len(offered) - len(taken))


def _distinct(recorded: Any, others: Iterable[Any]) -> tuple[Any, ...]:
    """Return the recorded action first, then the others that differ from it and from each other."""
    found: dict[bytes, Any] = {}
    for one in (recorded, *others):
        found.setdefault(tagged(one), one)
    return tuple(found.values())


def _chosen(
    past: Past, role: str, decisions: slice | None, kinds: Collection[str]
) -> Sequence[int]:
    """Return for each decision that is judged how many precede it."""
    count = len(past.moments)
    if role and role not in past.header.policies:
        roles = ", ".join(past.header.policies)
        raise UsageError(f"no policy plays {role!r} in the record; its roles are {roles}")
    if not count:
        raise UsageError("the record has no decision")
    numbers = range(count)[_from_0(decisions or slice(None))]
    if not numbers:
        raise UsageError(f"no decision of the record is meant; it has {count}: 1 to {count}")
    found = [at for at in numbers if role in ("", past.moments[at].role)]
    if not found:
        raise UsageError(f"none of these {len(numbers)} decisions is one of {role!r}")
    names = {at: tagged_object(past.moments[at].action)["do"] for at in found}
    for kind in kinds:
        if kind not in names.values():
            known = possible(kind, dict.fromkeys(names.values()))
            raise UsageError(f"none of these {len(found)} decisions was {kind!r}; {known}")
    return [at for at in found if not kinds or names[at] in kinds]


def _from_0(decisions: slice) -> slice:
    """Return a slice of numbers from 1 as one of places from 0; below 0 both count from the end."""
    first, end = decisions.start, decisions.stop
    if 0 in (first, end):
        raise UsageError(f"decisions {first}:{end} were given; the first decision is 1")
    first, end = (n - 1 if n and n > 0 else n for n in (first, end))
    return slice(first, end, decisions.step)


# -- how they are played and kept ------------------------------------------------------------------


@frozen(kw_only=True)
class _Decisions(Cell):
    """The decisions of a record: a cell whose seeds are their numbers.

    Attributes:
        questions: By how many decisions precede each.
        against: The alternatives with which they are compared, in words.
        data: The data that determine how a decision is judged, by topic.
        code: The classes, functions and texts that judge it.
    """

    questions: Mapping[int, Question]
    against: str
    data: dict[str, str]
    code: Sequence[Any]

    # Each decision has scores of its own.
    is_fixed = False

    def __str__(self) -> str:
        return f"decisions of a record, {self.entry.label} against {self.against}"

    def job(self, seed: int) -> Question:
        """Return the question of a decision."""
        return self.questions[seed]

    def plays(self) -> dict[str, str]:
        """Return the data that determine how a decision is judged, by topic."""
        return self.data

    def parts(self) -> Iterator[Any]:
        """Yield the classes, functions and texts that judge a decision."""
        return iter(self.code)


def _decisions(
    past: Past,
    options: RegretOptions,
    base: Mapping[str, Any],
    others: Mapping[str, Any],
    questions: Sequence[Question],
) -> _Decisions:
    """Return the cell of the questions.

    Which decisions are judged is no part of its data: a folder may receive further ones.
    """
    header, model = past.header, past.model
    then, against = labels(base), labels(others) if others else OPTIONS
    recorded = [[one.t, one.role, msgspec.Raw(tagged(one.action))] for one in past.moments]
    # Futures as texts, like the seeds: a seed may have more digits than JSON readers take.
    begun = [str(header.seed), [list(map(str, each)) for each in header.futures], recorded]
    played = [type(model).__qualname__, to_plain(model), [*header.policies]]
    data = {
        "record": text_digest(msgspec.json.encode(begun)),
        "model": text_digest(msgspec.json.encode(played)),
        "then": then,
        "against": against,
        "futures": "the true one" if options.futures is None else str(options.futures),
        **({} if others else {"most options": str(options.most_options)}),
        "limits": limits_text(past.limits),
    }
    # Files that a stranger's record names in its parameters are not opened.
    texts = options.trust or bool(options.params)
    of_model = [one for one in inside(model) if texts or not isinstance(one, str)]
    files = opened_by(parts_of(model, others)) if others else ()
    return _Decisions(
        model=model,
        entry=PolicyEntry(then, base),
        limits=past.limits,
        questions={one.at: one for one in questions},
        against=against,
        data=data,
        code=[Judge, *of_model, *parts_of(model, base), *parts_of(model, others), *files],
    )


@frozen
class Judged:
    """The scores of a question's recorded action and of its best alternative.

    Attributes:
        best: The index of the best other action among the actions; 0 without other actions.
        recorded: Scores of the recorded action, one for each future on which they are compared.
        others: Scores of the best other action.
    """

    best: int
    recorded: tuple[float, ...]
    others: tuple[float, ...]


@frozen
class Judge:
    """Plays the continuations of some questions; a worker receives one.

    Attributes:
        past: The record, without observations.
        then: The policies of all roles, which play on after the action.
        fresh: Roles whose policies observe nothing before they decide.
        seeds: The seeds of the futures; None for the true one.
    """

    past: Past
    then: Mapping[str, Any]
    fresh: frozenset[str]
    seeds: tuple[int | None, ...]

    def __call__(self, questions: Sequence[Question]) -> Iterator[bytes]:
        """Yield the scores of some questions as JSON of a `Judged`; see `in_time`."""
        play = lambda one: msgspec.json.encode(self.judged(one))  # noqa: E731 (of any question)
        return in_time(questions, play, lambda _: self.parts())

    def parts(self) -> Iterator[Any]:
        """Yield the classes and functions of the model and the policies, whose files are noted."""
        yield from inside(self.past.model)
        yield from parts_of(self.past.model, self.then)

    def judged(self, question: Question) -> Judged:
        """Choose the best other action on some futures, and compare it on the others."""
        others = range(1, len(question.actions))
        if not others:
            return Judged(0, (), ())
        choosing, estimating = parted(self.seeds, len(others))
        means = [sum(self._scores(question, one, choosing)) for one in others]
        # Ties go to the first option, so that the result does not depend on chance.
        best = 1 + means.index(max(means))
        recorded, other = (self._scores(question, one, estimating) for one in (0, best))
        return Judged(best, recorded, other)

    def _scores(
        self, question: Question, number: int, seeds: Sequence[int | None]
    ) -> tuple[float, ...]:
        """Return the score of one action in each future."""
        action = question.actions[number]
        arm = Arm(question.at, action, self.then, self.fresh)
        try:
            return tuple(outcome(self.past, arm, seed) for seed in seeds)
        except DesimError as fault:
            what = f"decision {question.at + 1} answered with {short_repr(action)}"
            raise type(fault)(f"{what}: {fault}") from fault


def parted(
    seeds: Sequence[int | None], others: int
) -> tuple[Sequence[int | None], Sequence[int | None]]:
    """Return the futures on which the best of some other actions is chosen, and the rest.

    With one other action nothing is chosen. A single future serves for both.

    >>> parted((0, 1, 2), 4), parted((0, 1, 2), 1), parted((None,), 2)
    (((0,), (1, 2)), ((), (0, 1, 2)), ((None,), (None,)))
    """
    if others <= 1:
        return seeds[:0], seeds
    half = len(seeds) // 2
    return (seeds[:half], seeds[half:]) if half else (seeds, seeds)


# -- what it cost ----------------------------------------------------------------------------------


def _filled(
    table: RegretTable, past: Past, questions: Sequence[Question], kept: Kept
) -> RegretTable:
    """Return a table with the decisions that were judged; their intervals hold together."""
    places = [place for place in range(len(questions)) if place in kept]
    found = [msgspec.json.decode(row, type=Judged) for row in kept.results(places)]
    level = simultaneous(table.level, sum(1 for judged in found if judged.best))
    lines = (
        _regret_of(past, questions[place], judged, level)
        for place, judged in zip(places, found, strict=True)
    )
    return evolve(table, lines=tuple(lines))


def _regret_of(past: Past, question: Question, judged: Judged, level: float) -> DecisionRegret:
    compared = bool(judged.best)
    return DecisionRegret(
        place_of(past, question.at + 1),
        tagged_object(question.actions[0]),
        played=len(question.actions) - 1,
        left_out=question.left_out,
        best=tagged_object(question.actions[judged.best]) if compared else None,
        found=difference(_without_dust(judged), judged.recorded, level) if compared else None,
        recorded_mean=sum(judged.recorded) / len(judged.recorded) if compared else None,
    )


def _without_dust(judged: Judged) -> list[float]:
    """Return the scores of the other action, set to the recorded one's if they differ by rounding.

    Sums of floats in another order differ in their last digits, by the same amount on all futures:
    an interval of such differences would exclude 0.
    """
    pairs = zip(judged.others, judged.recorded, strict=True)
    return [mine if math.isclose(other, mine, rel_tol=_DUST) else other for other, mine in pairs]
