"""The four rules of the published bot runner, played through the commands (`bots.md`).

One task at a time, with everybody on it: browse, accept, assign, dispatch, resume. The world
decides whether this is the published runner (preset `direct`) or the same rules through the
published console (preset `default`).
"""

import hashlib
import random
from collections.abc import Sequence
from itertools import count
from typing import Any, Self

from attrs import define, field

from desim.seating import Seat
from models.yc_bench import (
    CompanyStatus,
    Desk,
    EndTurn,
    MarketBrowse,
    SimResume,
    TaskAccept,
    TaskAssign,
    TaskDispatch,
)
from policies.heuristics.yc_bench.course import EVERYBODY, Course, Row, Started, rows

__all__ = ["Greedy", "Prestige", "Random", "Throughput"]

#: Prestige from which the prestige rule turns to throughput.
_ENOUGH = 5


@define
class _OneAtATime(Started):
    """One task at a time; a subclass chooses it.

    Attributes:
        prestige: The highest level the last status showed.
    """

    prestige: float = field(default=1.0, init=False)
    _course: Course | None = field(default=None, init=False, repr=False)

    def choose(self, listed: Sequence[Row], turn: int) -> Row:
        """Choose among the rows of the market, of which there is at least one."""
        raise NotImplementedError

    def course(self, desk: Desk) -> Course:
        """Fill the desk when it is empty, and resume."""
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
class Greedy(_OneAtATime):
    """Take the task with the largest reward."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (the rules' shape)
        """Choose the first of the best paid."""
        return max(listed, key=lambda row: row["reward_funds_cents"])


@define
class Throughput(_OneAtATime):
    """Take the task with the largest reward a unit of work."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (the rules' shape)
        """Choose the first of the best paid by the unit."""
        return max(listed, key=_pay)


@define
class Prestige(_OneAtATime):
    """Take the task with the most prestige a unit of work, until prestige suffices."""

    def choose(self, listed: Sequence[Row], turn: int) -> Row:  # noqa: ARG002 (the rules' shape)
        """Choose by prestige a unit below level 5, else by reward a unit."""
        winning = [row for row in listed if row["reward_prestige_delta"] > 0]
        if self.prestige < _ENOUGH and winning:
            return max(winning, key=lambda row: row["reward_prestige_delta"] / _work(row))
        return max(listed, key=_pay)


@define
class Random(_OneAtATime):
    """Take any task, drawn as the published runner draws it.

    Attributes:
        seed: The episode's; a draw depends on it and on the turn alone.
    """

    seed: int = field(kw_only=True)

    @classmethod
    def seated(cls, seat: Seat) -> Self:
        """Take the episode's seed."""
        return cls(seed=seat.seed)

    def choose(self, listed: Sequence[Row], turn: int) -> Row:
        """Draw one of the rows (SPEC section 3, stream `bot_random_select:T`)."""
        return _stream(self.seed, turn).choice(listed)


def _stream(seed: int, turn: int) -> random.Random:
    digest = hashlib.sha256(f"{seed}:bot_random_select:{turn}".encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 (the published draw)


def _work(row: Row) -> Any:
    return row["requirements"][0]["required_qty"]


def _pay(row: Row) -> Any:
    return row["reward_funds_cents"] / _work(row)
