"""The four bots of the published runner, played through the commands (`bots.md`).

One task at a time, with everybody on it: browse, accept, assign, dispatch, resume. The preset
decides whether this is the published runner (`direct`) or the same rules through the published
console (`default`).
"""

from collections.abc import Sequence
from itertools import count

from attrs import define, field

from desim import Seat
from models.yc_bench.actions import (
    CompanyStatus,
    EndTurn,
    MarketBrowse,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskDispatch,
)
from models.yc_bench.desk import FounderDesk
from models.yc_bench.world import stream
from policies.heuristics.yc_bench.generator_policy import (
    Commands,
    GeneratorPolicy,
    Row,
    pay,
    reply,
    rows,
    work,
)

#: The published staff.
_EVERYBODY = tuple(f"Emp_{i}" for i in range(1, 9))

#: Level from which the prestige bot chooses as the throughput bot does.
_ENOUGH = 5


@define
class PublishedThroughput(GeneratorPolicy):
    """Take the task with the largest reward a unit of work."""

    #: The highest level the last status showed.
    _prestige: float = field(default=1.0, init=False, repr=False)

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (one signature for all)
        """Choose among the rows of the market: the best paid a unit, the first of equals."""
        return max(listed, key=pay)

    def commands(self, desk: FounderDesk) -> Commands:
        """Start a task whenever none is active, and resume."""
        self._prestige = 1.0
        for turn in count(1):
            if not desk.active:
                desk = yield MarketBrowse()
                if listed := rows(desk, "tasks"):
                    task = self.choose(listed, turn)["task_id"]
                    yield TaskAccept(task)
                    yield TaskAssign(task, _EVERYBODY)
                    yield TaskDispatch(task)
            yield SimResume()
            desk = yield CompanyStatus()
            self._prestige = max(reply(desk)["prestige"].values())
            desk = yield EndTurn()


@define
class PublishedGreedy(PublishedThroughput):
    """Take the task with the largest reward."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (one signature for all)
        """Choose the best paid, the first of equals."""
        return max(listed, key=lambda row: row["reward_funds_cents"])


@define
class PublishedPrestige(PublishedThroughput):
    """Take the task with the most prestige a unit of work, until prestige suffices."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:
        """Choose by prestige a unit below level 5, else by reward a unit."""
        winning = [row for row in listed if row["reward_prestige_delta"] > 0]
        if self._prestige < _ENOUGH and winning:
            return max(winning, key=lambda row: row["reward_prestige_delta"] / work(row))
        return super().choose(listed, turn)


@define
class PublishedRandom(PublishedThroughput):
    """Take a random task, drawn as the published runner draws it.

    A draw depends on the world's seed and on the turn alone.
    """

    draws = True
    needs_world_seed = True
    # The published runner seeds its bot with the world's seed; the rule uses it for nothing else.
    knows = "observation"

    _seed: int = field(init=False)

    def seated(self, seat: Seat) -> None:
        """Take the world's seed."""
        self._seed = seat.world_seed

    def choose(self, listed: Sequence[Row], turn: int) -> Row:
        """Draw one of the rows (SPEC section 3, stream `bot_random_select:T`)."""
        return stream(self._seed, f"bot_random_select:{turn}").choice(listed)
