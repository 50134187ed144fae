"""A small world whose draws are made when needed or at the beginning, and ways of a look ahead."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, ClassVar

import pytest
from attrs import define, field, frozen

from desim import Model, Role, World
from desim.core.calendar import Calendar
from desim.core.reported import Time
from desim.episodes import ahead
from desim.episodes.child import in_child


@frozen
class Seen:
    """The rolls so far, and what is on the table of the player."""

    rolls: tuple[int, ...]


@frozen
class Guess:
    """Guess the next roll."""

    number: int


@define
class Cup:
    """The rolls and the guesses of an episode; its own ledger.

    Attributes:
        table: Rolls that were made at the beginning, by round.
        rolls: Those that happened.
        guesses: By round.
    """

    table: list[int]
    rolls: list[int] = field(factory=list)
    guesses: list[int] = field(factory=list)

    @property
    def ledgers(self) -> tuple["Cup", ...]:
        """Return the cup itself."""
        return (self,)

    def digest(self) -> str:
        """Return a fingerprint of all rolls and guesses."""
        return sha256(repr((self.rolls, self.guesses)).encode()).hexdigest()


@frozen
class Forgetful(Model[Cup]):
    """A roll a round, which two players have seen when they guess the next one.

    It declares no future: with *ahead*, no redraw reaches its table.

    Attributes:
        rounds: How many.
        ahead: Whether all rolls are made at the beginning.
    """

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"short": {}}

    rounds: int = 6
    ahead: bool = False

    @property
    def roles(self) -> dict[str, Role]:
        """Return two players."""
        return dict.fromkeys(("left", "right"), Role(Seen, Guess))

    @property
    def time(self) -> Time:
        """Return days."""
        start = datetime.fromisoformat("2025-01-01")
        return Time(calendar=Calendar(start, timedelta(days=1)))

    def begin(self, world: World) -> Cup:
        """Roll ahead, and start the rounds."""
        cup = Cup(rolled(world, self.rounds) if self.ahead else [])
        world.process(self._play(world, cup))
        return cup

    def score(self, cup: Cup) -> float:
        """Return how many guesses were right."""
        pairs = zip(cup.guesses, cup.rolls[1:], strict=False)
        return float(sum(guess == roll for guess, roll in pairs))

    def metrics(self, cup: Cup) -> Mapping[str, Any]:
        """Return the rolls."""
        return {"rolls": list(cup.rolls)}

    def _play(self, world: World, cup: Cup) -> Any:
        dice = None if self.ahead else world.stream("dice")
        for at in range(self.rounds):
            cup.rolls.append(cup.table[at] if dice is None else int(dice.integers(1_000_000)))
            asked = [world.ask(role, lambda: Seen(tuple(cup.rolls))) for role in self.roles]
            yield world.all_of(asked)
            cup.guesses.extend(one.value.number for one in asked)
            yield world.timeout(1)
        world.end("rolled")


@frozen
class Rolls(Forgetful):
    """The same world with a declared future: the rolls of later rounds are made again."""

    @property
    def kept(self) -> Sequence[str]:
        """Return nothing: no role is behind what is kept."""
        return ()

    def redraw(self, world: World, cup: Cup) -> None:
        """Roll again what has not happened."""
        if self.ahead:
            now = len(cup.rolls)
            cup.table[now:] = rolled(world, self.rounds)[now:]


#: Names of the class, as the command line and records use it.
DECLARED = "support.futures:Rolls"


def rolled(world: World, rounds: int) -> list[int]:
    """Return rolls for all rounds."""
    return [int(roll) for roll in world.stream("dice").integers(1_000_000, size=rounds)]


def zeros(seen: Seen) -> Guess:
    """Guess 0."""
    return Guess(0)


def always_forks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let every rollout play in a child process; return what these return, as it comes."""
    found: list[Any] = []

    def kept(score: Any) -> Any:
        found.append(in_child(score))
        return found[-1]

    # Other tests may have left idle threads.
    monkeypatch.setattr(ahead, "can_fork", lambda: True)
    monkeypatch.setattr(ahead, "FORKS_FROM", 0)
    monkeypatch.setattr(ahead, "in_child", kept)
    return found
