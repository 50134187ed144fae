"""`regret`: the decisions of a record that cost most, compared with alternative actions."""

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import msgspec
from attrs import evolve, frozen

from desim.core.streams import generator
from desim.engine.fingerprint import text_digest
from desim.engine.opened_files import noting, opened_by
from desim.engine.plan import Cell, Grid, limits_text
from desim.engine.policies import PolicyEntry, inside
from desim.engine.policies import players as parts_of
from desim.engine.run.executors import Executor, ProcessExecutor, check_jobs
from desim.engine.run.play_job import in_time, with_noted
from desim.engine.run.playing import Playing
from desim.engine.store import Store
from desim.episodes.counterfactual import (
    Past,
    decided_at,
    fresh_roles,
    outcome,
    players,
    players_of_all,
)
from desim.errors import DesimError, UsageError, WrongAction, possible
from desim.schema import TAG, codec, tagged, to_plain
from desim.schema.codecs import tagged_object
from desim.schema.signatures import takes
from desim.short_repr import short_repr
from desim.show.progress import shown_progress
from desim.statistics.intervals import checked_level
from desim.statistics.pairing import paired, simultaneous
from desim.studies.branches import Place, labels, notes_on, seeds_of_futures
from desim.studies.options import OPTIONS, RegretOptions
from desim.studies.regret_table import DecisionRegret, RegretTable

#: Relative differences of two scores up to this size are rounding errors.
_DUST = 1e-12


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
        KeyboardInterrupt: Ctrl-C; with *out* its text says how to go on.

    Warns:
        SweepWarning: Rows in *out* were damaged or discarded.
    """
    seeds = seeds_of_futures(options.futures)
    checked_level(options.level)
    check_jobs(options.jobs)
    if type(options.most_options) is not int or options.most_options < 1:
        given = short_repr(options.most_options)
        raise UsageError(f"{given} options were given; at least 1 is played")
    with noting():  # for a model that reads a file once for all episodes
        past = Past.read(options.record, options.limits, trust=options.trust)
    base = players_of_all(past, options.then, redrawn=options.futures is not None)
    against, others, questions = _alternatives(past, options, base)
    decisions = Decisions(
        model=past.model,
        entry=PolicyEntry(labels(base), base),
        limits=past.limits,
        past=past,
        fresh=fresh_roles(past, base),
        seeds=seeds,
        questions={one.at: one for one in questions},
        against=against,
        others=others,
        most_options=options.most_options,
        trust=options.trust,
    )
    plan, jobs = Grid((decisions,), [*decisions.questions]), min(options.jobs, len(questions))
    work = evolve(decisions, questions={}, others={})  # workers need neither
    # Dead workers are not replaced: only an episode can become a failed row.
    executor = ProcessExecutor(jobs, restarts=0) if jobs > 1 else Executor()
    with (
        contextlib.closing(executor),
        Store(options.out, restart=options.restart) as store,
        shown_progress(options.progress, "decisions") as show,
    ):
        kept = store.of(plan)
        Playing(plan, kept, executor, show, work, options.out).play(range(len(plan)))
        found = [msgspec.json.decode(one, type=Judged) for one in kept.results(range(len(plan)))]
    return RegretTable(
        lines=tuple(_lines(past, questions, found, options.level)),
        then=decisions.entry.label,
        against=against,
        futures=options.futures,
        level=options.level,
        model=past.header.model,
        seed=past.header.seed,
        notes=tuple(notes_on(past, options.futures, base, decisions.fresh)),
    )


# -- which decisions, and with which actions each is compared --------------------------------------


@frozen
class Question:
    """A decision, by how many precede it: the recorded action first, then the others.

    Of a role with too many options some are left out.
    """

    at: int
    actions: tuple[Any, ...]
    left_out: int = 0


def _alternatives(
    past: Past, options: RegretOptions, base: Mapping[str, Any]
) -> tuple[str, Mapping[str, Any], list[Question]]:
    """Return the alternatives in words, the policies among them, and the questions."""
    numbers, against = _chosen(past, options), options.against
    if against == OPTIONS:
        return OPTIONS, {}, [of_options(past, at, options.most_options) for at in numbers]
    if _is_action(past, against):
        answers = {at: _fitting(past, at, against) for at in numbers}
        text, others = tagged(answers[numbers[0]]).decode(), dict[str, Any]()
    else:
        others = players(past, against, redrawn=options.futures is not None)
        text = labels(others)
        numbers = [at for at in numbers if past.moments[at].role in others]
        if not numbers:
            raise UsageError(f"none of these decisions is one of {' or '.join(map(repr, others))}")
        with noting():
            answers = dict(enumerate(decided_at(past, others, base)))
    pairs = {at: _distinct(past.moments[at].action, answers[at]) for at in numbers}
    return text, others, [Question(at, actions) for at, actions in pairs.items()]


def _is_action(past: Past, given: Any) -> bool:
    """Return whether an alternative is an action: an instance, a tagged object, or its JSON."""
    if isinstance(given, str):
        return given.startswith("{")
    if isinstance(given, Mapping):
        return TAG in given
    kinds = [codec(role.action).classes.values() for role in past.model.roles.values()]
    return any(type(given) in classes for classes in kinds)


def _fitting(past: Past, at: int, given: Any) -> Any:
    """Return an action as the role of a decision takes it."""
    moment = past.moments[at]
    form = codec(past.asked(moment).action)
    try:
        return form.take(form.read(given) if isinstance(given, str) else given)[0]
    except WrongAction as wrong:
        raise UsageError(f"the action for {moment.role!r} does not fit: {wrong}") from None


def of_options(past: Past, at: int, most: int) -> Question:
    """Return a decision with the options of its role as alternatives."""
    moment = past.moments[at]
    options = past.asked(moment).options
    if options is None:
        raise UsageError(
            f"role {moment.role!r} offers no options; name a policy instead (--against SPEC), or "
            "a role that offers some (--role)"
        )
    offered = list(options(moment.observation))
    best, *others = sorted(range(len(offered)), key=lambda n: -offered[n].value) or [0]
    if left_out := max(0, len(offered) - most):
        draws = generator(past.header.seed, "regret", str(at))
        some = draws.choice(others, most - 1, replace=False) if most > 1 else ()
        offered = [offered[n] for n in sorted({best, *map(int, some)})]
    return Question(at, _distinct(moment.action, *(one.action for one in offered)), left_out)


def _distinct(*actions: Any) -> tuple[Any, ...]:
    """Return the actions that differ from those before them."""
    found: dict[bytes, Any] = {}
    for one in actions:
        found.setdefault(tagged(one), one)
    return tuple(found.values())


def _chosen(past: Past, options: RegretOptions) -> list[int]:
    """Return how many decisions precede each one that is judged."""
    count, role = len(past.moments), options.role
    if role and role not in past.header.policies:
        roles = ", ".join(past.header.policies)
        raise UsageError(f"no policy plays {role!r} in the record; its roles are {roles}")
    numbers = range(count)[_from_0(options.decisions or slice(None))]
    found = [at for at in numbers if role in ("", past.moments[at].role)]
    if not found:
        whose = f" of {role!r}" if role else ""
        raise UsageError(f"no decision{whose} of the record is meant; it has {count}: 1 to {count}")
    names = {at: tagged_object(past.moments[at].action)["do"] for at in found}
    for kind in options.kinds:
        if kind not in names.values():
            known = possible(kind, dict.fromkeys(names.values()))
            raise UsageError(f"none of these {len(found)} decisions was {kind!r}; {known}")
    return [at for at in found if not options.kinds or names[at] in options.kinds]


def _from_0(decisions: slice) -> slice:
    """Return a slice of numbers from 1 as one of places from 0; below 0 both count from the end."""
    first, end = decisions.start, decisions.stop
    if 0 in (first, end):
        raise UsageError(f"decisions {first}:{end} were given; the first decision is 1")
    first, end = (n - 1 if n and n > 0 else n for n in (first, end))
    return slice(first, end, decisions.step)


# -- how they are played and kept ------------------------------------------------------------------


@frozen
class Judged:
    """Scores of the recorded action and of the best other one, a pair for each future.

    *best* is the index of the other action among the actions; 0 without one.
    """

    best: int
    recorded: tuple[float, ...]
    others: tuple[float, ...]


@frozen(kw_only=True)
class Decisions(Cell):
    """The decisions of a record: a cell whose seeds are their numbers, which plays its own jobs.

    Attributes:
        fresh: Roles whose policies observe nothing before they decide.
        seeds: The seeds of the futures; None for the true one.
        others: The policies with which they are compared; none for options and an action.
        most_options: Options of one decision that are played.
        trust: Whether files count that the record names in its parameters.
    """

    past: Past
    fresh: frozenset[str]
    seeds: tuple[int | None, ...]
    questions: Mapping[int, Question]
    against: str
    others: Mapping[str, Any]
    most_options: int
    trust: bool

    # Each decision has scores of its own.
    is_fixed = False

    def __str__(self) -> str:
        return f"decisions of a record, {self.entry.label} against {self.against}"

    def job(self, seed: int) -> Question:
        """Return the question of a decision."""
        return self.questions[seed]

    def plays(self) -> dict[str, str]:
        """Return the data that determine how a decision is judged, by topic.

        Which decisions are judged is no part of it: a folder may receive further ones.
        """
        header, model, past = self.past.header, self.model, self.past
        recorded = [[one.t, one.role, msgspec.Raw(tagged(one.action))] for one in past.moments]
        # Futures as texts, like the seeds: a seed may have more digits than JSON readers take.
        begun = [str(header.seed), [list(map(str, each)) for each in header.futures], recorded]
        begun += [type(model).__qualname__, to_plain(model), [*header.policies]]
        return {
            "record": text_digest(msgspec.json.encode(begun)),
            "then": self.entry.label,
            "against": self.against,
            "futures": "the true one" if self.seeds == (None,) else str(len(self.seeds)),
            **({"most options": str(self.most_options)} if self.against == OPTIONS else {}),
            "limits": limits_text(past.limits),
        }

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """The classes, functions and texts that judge a decision."""
        # Files that a stranger's record names in its parameters are not opened.
        of_model = [one for one in inside(self.model) if self.trust or not isinstance(one, str)]
        compared = [*parts_of(self.model, self.others)]
        files = opened_by(compared) if compared else ()
        playing = parts_of(self.model, self.entry.policies)
        return Decisions, *of_model, *playing, *compared, *files

    def __call__(self, questions: Iterable[Question]) -> Iterator[bytes]:
        """Yield the scores of some questions as JSON of a `Judged`; see `in_time`."""
        play = lambda one: msgspec.json.encode(self.judged(one))  # noqa: E731 (of any question)
        return in_time(questions, lambda one: with_noted(partial(play, one), self))

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
        at, action = question.at, question.actions[number]
        then: Any = self.entry.policies
        try:
            return tuple(outcome(self.past, at, action, then, seed, self.fresh) for seed in seeds)
        except DesimError as fault:
            what = f"decision {at + 1} answered with {short_repr(action)}"
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


def _lines(
    past: Past, questions: Sequence[Question], found: Sequence[Judged], level: float
) -> Iterator[DecisionRegret]:
    """Yield what each decision cost; the intervals hold together."""
    each = simultaneous(level, sum(1 for judged in found if judged.best))
    for question, judged in zip(questions, found, strict=True):
        line = DecisionRegret(
            Place.of(past, question.at + 1),
            tagged_object(question.actions[0]),
            played=len(question.actions) - 1,
            left_out=question.left_out,
        )
        if judged.best:
            line = evolve(
                line,
                best=tagged_object(question.actions[judged.best]),
                found=paired(_without_dust(judged), judged.recorded, each),
                recorded_mean=sum(judged.recorded) / len(judged.recorded),
            )
        yield line


def _without_dust(judged: Judged) -> list[float]:
    """Return the scores of the other action; those that differ by rounding do not differ."""
    # Sums in another order differ by the same amount on all futures: an interval excludes 0.
    pairs = zip(judged.others, judged.recorded, strict=True)
    return [mine if math.isclose(other, mine, rel_tol=_DUST) else other for other, mine in pairs]
