"""The four bots of the published runner, played through the commands (`bots.md`).

One task at a time, with everybody on it: browse, accept, assign, dispatch, resume. The preset
decides whether this is the published runner (`direct`) or the same rules through the published
console (`default`).
"""

from collections.abc import Sequence
from itertools import count
from typing import Any

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
    EVERYBODY,
    Commands,
    GeneratorPolicy,
    Row,
    rows,
)

#: Level from which the prestige bot chooses as the throughput bot does.
_ENOUGH = 5


@define
class _OneAtATime(GeneratorPolicy):
    """One task at a time; a subclass chooses it.

    Attributes:
        prestige: The highest level the last status showed.
    """

    prestige: float = field(default=1.0, init=False)
    _commands: Commands | None = field(default=None, init=False, repr=False)

    def choose(self, listed: Sequence[Row], turn: int) -> Row:
        """Choose among the rows of the market, of which there is at least one."""
        raise NotImplementedError

    def commands(self, desk: FounderDesk) -> Commands:
        """Start a task whenever none is active, and resume."""
        self.prestige = 1.0
        for turn in count(1):
            if not desk.active:
                desk = yield MarketBrowse()
                if listed := rows(desk, "tasks"):
                    task = self.choose(listed, turn)["task_id"]
                    yield TaskAccept(task)
                    yield TaskAssign(task, EVERYBODY)
                    yield TaskDispatch(task)
            yield SimResume()
            desk = yield CompanyStatus()
            assert desk.reply is not None
            self.prestige = max(desk.reply.out["prestige"].values())
            desk = yield EndTurn()


@define
class PublishedGreedy(_OneAtATime):
    """Take the task with the largest reward."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (one signature for all four)
        """Choose the best paid, the first of equals."""
        return max(listed, key=lambda row: row["reward_funds_cents"])


@define
class PublishedThroughput(_OneAtATime):
    """Take the task with the largest reward a unit of work."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (one signature for all four)
        """Choose the best paid a unit, the first of equals."""
        return max(listed, key=_pay)


@define
class PublishedPrestige(_OneAtATime):
    """Take the task with the most prestige a unit of work, until prestige suffices."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (one signature for all four)
        """Choose by prestige a unit below level 5, else by reward a unit."""
        winning = [row for row in listed if row["reward_prestige_delta"] > 0]
        if self.prestige < _ENOUGH and winning:
            return max(winning, key=lambda row: row["reward_prestige_delta"] / _work(row))
        return max(listed, key=_pay)


@define
class PublishedRandom(_OneAtATime):
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


def _work(row: Row) -> Any:
    return row["requirements"][0]["required_qty"]


def _pay(row: Row) -> Any:
    return row["reward_funds_cents"] / _work(row)
