"""What a suite does now: its episodes under way, what is spent and expected, the time left.

The command that plays writes it to `status.json` once a second; `desim bench DIR --watch` reads it.
"""

import time
from collections.abc import Mapping
from statistics import fmean

import msgspec
from attrs import define, field

from desim.suites.expected import expectations, expected_cost
from desim.suites.ledger import Ledger
from desim.suites.outcome import Outcome
from desim.suites.plan import Plan
from desim.suites.runner import Running

__all__ = ["Status", "StatusClock", "UnderWay"]


class UnderWay(msgspec.Struct, frozen=True):
    """A job that runs.

    Attributes:
        job: Its name.
        decisions: Decisions of its present episode so far.
        score: The score of its present episode so far; None where it is not known.
        calls: Calls so far.
        tokens: Tokens read and written up to the last look.
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
    """What a suite does now.

    Attributes:
        time: When it was written, seconds since 1970.
        jobs: All episodes.
        ended: Those that have ended, those of a series one by one.
        failed: Those at which a job failed that was not tried again yet.
        calls: Calls of all commands so far.
        spent: Money of all commands so far.
        expected: Money that the episodes left are expected to use; None where it is not known.
        seconds_left: None where it is not known.
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
        ledger: What is spent.
        running: The episodes under way.
        outcomes: Of all commands so far; the command adds to it.
        ended_before: Episodes that had ended when the command began.
    """

    plan: Plan
    ledger: Ledger
    running: Running
    outcomes: Mapping[str, Outcome]
    ended_before: int = 0
    _start: float = field(factory=time.monotonic, init=False)
    _in_a_row: Mapping[str, int] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._in_a_row = {job.name: job.world.episodes for job in self.plan.jobs}
        self.ended_before = self._ended()

    def now(self, *, finished: bool = False) -> Status:
        """Return the present status."""
        states = [outcome.state for outcome in self.outcomes.values()]
        watches = sorted(self.running.watches.items())
        return Status(
            time=time.time(),
            jobs=self.plan.episodes,
            ended=self._ended(),
            failed=states.count("failed"),
            calls=self.ledger.calls(),
            spent=self.ledger.cost(),
            expected=expected_cost(expectations(self.plan, self.outcomes)),
            seconds_left=self._seconds_left(),
            running=[
                UnderWay(
                    name,
                    watch.decisions,
                    watch.score,
                    self.ledger.calls(name),
                    sum(watch.usage.get(f"{kind}_tokens", 0) for kind in ("prompt", "completion")),
                    self.ledger.cost(name),
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
        ended = {name: watch.episode - 1 for name, watch in list(self.running.watches.items())}
        for name, outcome in self.outcomes.items():
            ended[name] = max(outcome.ended_episodes, ended.get(name, 0))
        return sum(max(0, count) for count in ended.values())

    def _seconds_left(self) -> float | None:
        """Return the time left, at the pace of this command so far."""
        ended = self._ended()
        if ended == self.ended_before:
            each = [played for outcome in self.outcomes.values() for played in outcome.each]
            known = [played.seconds_played for played in each if played.score is not None]
            at_once = max(1, len(self.running.watches))
            return fmean(known) * (self.plan.episodes - ended) / at_once if known else None
        pace = (time.monotonic() - self._start) / (ended - self.ended_before)
        return pace * (self.plan.episodes - ended)
