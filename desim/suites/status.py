"""The status of a suite: episodes under way, money spent and expected, the time left.

The command that plays writes it to `status.json` once a second; `desim bench DIR --watch` reads it.

The use of the episodes left is estimated from played episodes of the same entry in the same world.
If an entry has played none, the calls and tokens of other language models in that world are used,
at the entry's own prices; without such episodes, the calls that its method declares.
"""

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import msgspec
from attrs import define, evolve, field, frozen

from desim.catalog.policy_spec import Spec
from desim.core.limits import Limits
from desim.core.model import ItemsModel, rules_of
from desim.core.policy import OutsidePolicy
from desim.engine.keep.outcome import JobOutcome, Played
from desim.engine.keep.spending import SpendingFile
from desim.engine.run.play_record import Watch
from desim.episodes.driver import play
from desim.episodes.lineup import assign, maker_of
from desim.errors import DesimError
from desim.suites.suite_file import ROUTER
from desim.suites.suite_plan import Plan, PlannedEntry, PlannedWorld

_MILLION = 1_000_000

#: Characters of a token, and tokens of a reply without reasoning, in a rough estimate.
_CHARACTERS, _WRITTEN = 4, 120

#: Wall time of the episode of `random` from which decisions are counted.
_RANDOM_SECONDS = 20.0

_BASIS = "decisions of random"

#: The sums of an episode's usage that are expected.
_USED = ("calls", "prompt_tokens", "completion_tokens")


@frozen
class Expectation:
    """The expected use of one entry in one world.

    Attributes:
        world: Its name.
        entry: Its name.
        left: Episodes left.
        calls: Calls expected for all of them; None if not known.
        cost: Money expected for all of them; None if not known.
        basis: The number of episodes on which this rests, and whose they are.
        prompt_tokens: Tokens read, expected for all of them; None if not known.
        completion_tokens: Tokens written; likewise.
    """

    world: str
    entry: str
    left: int
    calls: float | None
    cost: float | None
    basis: str
    prompt_tokens: float | None = None
    completion_tokens: float | None = None


def expectations(
    plan: Plan,
    outcomes: Mapping[str, JobOutcome],
    written: int | None = None,
    *,
    declared: bool = False,
) -> list[Expectation]:
    """Return the expected use of each entry in each world in which it has episodes left.

    Args:
        plan: The suite.
        outcomes: What has been played.
        written: Tokens that a model writes in a call, instead of those that were written.
        declared: Whether an entry in whose world no language model has played yet is expected to
            need the calls that its method declares; an episode of `random` is played for it.
    """
    left: dict[tuple[str, str], int] = {}
    ended: dict[tuple[str, str], list[Played]] = {}
    for job in plan.jobs:
        pair = (job.world, job.entry)
        outcome = outcomes.get(job.name) or JobOutcome(job=job.name)
        ended.setdefault(pair, []).extend(one for one in outcome.each if one.score is not None)
        if not outcome.final:
            left[pair] = left.get(pair, 0) + job.episodes - outcome.ended_episodes
    found = []
    for world, entry in itertools.product(plan.worlds.values(), plan.entries.values()):
        if count := left.get((world.name, entry.name)):
            expected = _expected(world.name, entry, count, ended)
            if expected.calls is None and declared:
                expected = _declared(world, entry, count)
            found.append(_with_written(expected, entry, written) if written else expected)
    return found


def expected_cost(lines: Sequence[Expectation]) -> float | None:
    """Return the money that all are expected to use; None if that of one is not known."""
    costs = [line.cost for line in lines]
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _expected(
    world: str,
    entry: PlannedEntry,
    count: int,
    ended: Mapping[tuple[str, str], Sequence[Played]],
) -> Expectation:
    if not entry.host:
        return Expectation(world, entry.name, count, 0.0, 0.0, "no language model")
    own = ended.get((world, entry.name), ())
    known = own or list(_others(world, ended))
    basis = f"{len(own)} of its own" if own else f"{len(known)} of other models"
    if not known:
        return Expectation(world, entry.name, count, None, _cost(entry, None, None), "none")
    calls, read, wrote = (count * _mean(known, name) for name in _USED)
    cost = _cost(entry, read, wrote)
    return Expectation(world, entry.name, count, calls, cost, basis, read, wrote)


def _declared(world: PlannedWorld, entry: PlannedEntry, count: int) -> Expectation:
    """Return the use by the calls that methods declare, on the decisions of an episode of `random`.

    A call reads the rules and the observation, without the conversation before it.
    """
    unknown = Expectation(world.name, entry.name, count, None, _cost(entry, None, None), "none")
    model, table = world.model, entry.table
    if table.method == ROUTER and table.rules == "table" and isinstance(model, ItemsModel):
        return Expectation(world.name, entry.name, count, 0.0, 0.0, "stored answers", 0.0, 0.0)
    given = {r: p for r, p in assign(model, entry.policies_in(world)).items() if isinstance(p, str)}
    calls = {r: n for r, p in given.items() if (n := _calls_a_decision(Spec.read(p), model))}
    try:
        limits = Limits(seconds=_RANDOM_SECONDS)
        played = play(
            model, {**given, **dict.fromkeys(calls, "random")}, world.seeds[0], limits=limits
        )
    except DesimError:
        return unknown
    if not calls:
        return unknown
    asked = [step for step in played.steps if step.role in calls]
    rules = {role: len(rules_of(model, role)) for role in calls}
    read = sum(calls[s.role] * (rules[s.role] + len(s.observed)) for s in asked) / _CHARACTERS
    sent = sum(calls[step.role] for step in asked)
    wrote = sent * _WRITTEN
    cost = _cost(entry, count * read, count * wrote)
    return Expectation(
        world.name, entry.name, count, count * sent, cost, _BASIS, count * read, count * wrote
    )


def _calls_a_decision(spec: Spec, model: Any) -> int:
    maker = maker_of(str(spec), model)
    if isinstance(maker, type) and issubclass(maker, OutsidePolicy):
        return maker.calls_a_decision(spec.arguments)
    return 0


def _with_written(expected: Expectation, entry: PlannedEntry, written: int) -> Expectation:
    """Return an expectation with so many tokens written in each call."""
    if not expected.calls:
        return expected
    wrote = expected.calls * written
    cost = _cost(entry, expected.prompt_tokens, wrote)
    return evolve(expected, completion_tokens=wrote, cost=cost)


def _others(world: str, ended: Mapping[tuple[str, str], Sequence[Played]]) -> Iterator[Played]:
    """Yield the ended episodes of language models in a world."""
    for (name, _), outcomes in ended.items():
        if name == world:
            yield from (outcome for outcome in outcomes if outcome.usage.get("calls"))


def _mean(outcomes: Sequence[Played], name: str) -> float:
    return fmean(outcome.usage.get(name, 0.0) for outcome in outcomes)


def _cost(entry: PlannedEntry, read: float | None, written: float | None) -> float | None:
    """Return the money for tokens by the entry's prices; None if it is not known."""
    price_in, price_out = entry.table.price_in, entry.table.price_out
    if price_in == price_out == 0:
        return 0.0
    if price_in is None or price_out is None or read is None or written is None:
        return None
    return (read * price_in + written * price_out) / _MILLION


class UnderWay(msgspec.Struct, frozen=True):
    """A running job.

    Attributes:
        job: Its name.
        decisions: Decisions of its present episode so far.
        score: The score of its present episode so far; None if it is not known.
        calls: Calls so far.
        tokens: Tokens read and written up to the last reading.
        cost: Money so far.
        episode: The present episode, from 1.
        episodes: Its episodes in a row.
    """

    job: str
    decisions: int
    score: float | None
    calls: int
    tokens: float
    cost: float
    episode: int = 1
    episodes: int = 1


class Status(msgspec.Struct, frozen=True):
    """The status of a suite.

    Attributes:
        time: The time of writing, in seconds since 1970.
        jobs: The number of all episodes.
        ended: Episodes that have ended; those of a series count one by one.
        failed: Episodes at which a job failed that was not tried again yet.
        calls: Calls of all commands so far.
        spent: Money of all commands so far.
        expected: Money that the episodes left are expected to use; None if it is not known.
        seconds_left: The time left in seconds; None if it is not known.
        running: The episodes under way.
        finished: Whether the command has ended.
    """

    time: float
    jobs: int
    ended: int
    failed: int
    calls: int
    spent: float
    expected: float | None
    seconds_left: float | None
    running: list[UnderWay]
    finished: bool = False


@define
class StatusClock:
    """Makes a status at any moment of a command.

    Attributes:
        plan: The suite.
        spent: The money spent.
        running: The episodes under way.
        outcomes: The outcomes of all commands so far; the command adds to it.
        ended_before: Episodes that had ended when the command began.
    """

    plan: Plan
    spent: SpendingFile
    running: Mapping[str, Watch]
    outcomes: Mapping[str, JobOutcome]
    ended_before: int = 0
    _start: float = field(factory=time.monotonic, init=False)
    _in_a_row: Mapping[str, int] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._in_a_row = {job.name: job.episodes for job in self.plan.jobs}
        self.ended_before = self._ended()

    def now(self, *, finished: bool = False) -> Status:
        """Return the present status."""
        states = [outcome.state for outcome in self.outcomes.values()]
        watches = sorted(self.running.items())
        return Status(
            time=time.time(),
            jobs=self.plan.episodes,
            ended=self._ended(),
            failed=states.count("failed"),
            calls=self.spent.calls(),
            spent=self.spent.cost(),
            expected=expected_cost(expectations(self.plan, self.outcomes)),
            seconds_left=self._seconds_left(),
            running=[
                UnderWay(
                    name,
                    watch.decisions,
                    watch.score,
                    self.spent.calls(name),
                    sum(watch.usage.get(f"{kind}_tokens", 0) for kind in ("prompt", "completion")),
                    self.spent.cost(name),
                    max(1, watch.episode),
                    self._in_a_row[name],
                )
                for name, watch in watches
            ],
            finished=finished,
        )

    def _ended(self) -> int:
        """Return the episodes that have ended, those of a series under way included."""
        # A copy in one step: threads add to it and remove from it.
        ended = {name: watch.episode - 1 for name, watch in list(self.running.items())}
        for name, outcome in self.outcomes.items():
            ended[name] = max(outcome.ended_episodes, ended.get(name, 0))
        return sum(max(0, count) for count in ended.values())

    def _seconds_left(self) -> float | None:
        """Return the time left, at the pace of this command so far."""
        ended = self._ended()
        if ended == self.ended_before:
            each = [played for outcome in self.outcomes.values() for played in outcome.each]
            known = [played.seconds_played for played in each if played.score is not None]
            at_once = max(1, len(self.running))
            return fmean(known) * (self.plan.episodes - ended) / at_once if known else None
        pace = (time.monotonic() - self._start) / (ended - self.ended_before)
        return pace * (self.plan.episodes - ended)
