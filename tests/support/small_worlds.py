"""A world of a few lines for tests of sweeps, and policies for it.

Worker processes import it as `support.small_worlds`, so the folder `tests` must be on their path
(see `PYTHONPATH` in `paths`). Run as a script, it sweeps into a folder and prints its progress.
"""

import itertools
import math
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from attrs import define, field, frozen
from attrs.validators import ge

from desim import Model, Policy, Seat
from desim.core.roles import Option, Role
from desim.core.world import World
from desim.studies.sweep import sweep

#: Names of the classes below, as the command line and workers use them.
WALK, GALE, STRANGE, DIARY, STRIDE, GATED, FAILS, WAITING, OUTAGE, ENDLESS = (
    f"support.small_worlds:{name}"
    for name in (
        "Walk",
        "Gale",
        "Strange",
        "Diary",
        "Stride",
        "Gated",
        "Fails",
        "Waiting",
        "Outage",
        "Endless",
    )
)


@frozen
class Spot:
    """The position of the walker before a step."""

    place: int
    step: int


@frozen
class Go:
    """Walk some places forward, or back if negative."""

    places: int = field(validator=ge(-100))


@define
class Trail:
    """All positions of the walker and all gusts of wind; its own ledger."""

    places: list[int]
    gusts: list[int]

    @property
    def ledgers(self) -> tuple["Trail", ...]:
        """Return the trail itself."""
        return (self,)

    def digest(self) -> str:
        """Return a fingerprint of all positions and gusts."""
        return sha256(repr((self.places, self.gusts)).encode()).hexdigest()


@frozen
class Walk(Model[Trail]):
    """A walk of some steps in a random wind; the score is the distance."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"short": {}, "long": {"steps": 9}}

    steps: int = field(default=3, validator=ge(1))
    wind: float = field(default=1.0, validator=ge(0))
    goals: tuple[int, ...] = (2, 5)
    pace: int = 1
    max_questions_per_tick: int = 50

    @property
    def roles(self) -> Mapping[str, Role]:
        """Return the walker, and an optional helper whose steps are added."""
        options = lambda _spot: [Option(Go(1), 1.0), Option(Go(2), 2.0)]  # noqa: E731
        return {
            "walker": Role(Spot, Go, options),
            "helper": Role(Spot, Go, options, optional=True),
        }

    def begin(self, world: World) -> Trail:
        """Start the walk."""
        path = Trail([0], [])
        world.process(self._walk(world, path))
        return path

    def _walk(self, world: World, path: Trail) -> Any:
        wind = world.stream("wind")
        for step in range(self.steps):
            for who in sorted(world.seats):
                spot = Spot(path.places[-1], step)
                go = yield world.ask(who, lambda spot=spot: spot)
                path.places.append(path.places[-1] + go.places)
            path.gusts.append(int(wind.integers(-5, 6)))
            yield world.timeout(self.pace)
        world.end("walked")

    def score(self, path: Trail) -> float:
        """Return the last position, plus what the wind adds."""
        return path.places[-1] + self.wind * sum(path.gusts)

    def metrics(self, path: Trail) -> Mapping[str, Any]:
        """Return one metric of every kind, a nested and an undefined one included."""
        far = path.places[-1]
        return {
            "far": far >= 2 * self.steps,
            "reached": {str(goal): far >= goal for goal in self.goals},
            "first_gust": path.gusts[0] or None,
            "ratio": float("nan") if far == 0 else sum(path.gusts) / far,
            "gusts": path.gusts,
        }


@frozen
class Gale(Walk):
    """The same model under another name."""


@frozen
class Strange(Walk):
    """A model with a parameter that cannot be written as JSON."""

    rule: Any = len


@frozen
class Diary(Walk):
    """A walk that reports every step: where it led, and its gust, unknown where it is 0."""

    def series(self, path: Trail) -> Mapping[str, Sequence[float]]:
        """Return one number a step."""
        return {"place": path.places[1:], "gust": [gust or math.nan for gust in path.gusts]}


@frozen
class Stride(Policy):
    """Takes steps of one size."""

    size: int = 1

    def decide(self, _spot: Spot) -> Go:
        """Take a step of the given size."""
        return Go(self.size)


@frozen
class Still(Walk):
    """A walk that is deterministic without wind."""

    wind: float = 0.0

    @property
    def deterministic(self) -> bool:
        """Return whether there is no wind."""
        return self.wind == 0


@frozen
class Slow(Stride):
    """A policy that takes long."""

    board_seeds = 2


@frozen
class Seer(Slow):
    """A policy that takes long and knows hidden state."""

    knows = "state"


@frozen
class Gated(Policy):
    """Waits before every step until the file that `GATE` in the environment names exists."""

    def decide(self, _spot: Spot) -> Go:
        """Take a step of one once the file exists."""
        while (gate := os.environ.get("GATE")) and not Path(gate).exists():
            time.sleep(0.01)
        return Go(1)


@define
class Counting(Policy):
    """Takes steps that grow by one with every decision of the instance."""

    made: int = 0

    def decide(self, _spot: Spot) -> Go:
        """Take a step one longer than the last."""
        self.made += 1
        return Go(self.made)


class Waiting(Policy):
    """Decides in a coroutine."""

    async def decide(self, _spot: Spot) -> Go:
        """Take a step of one."""
        return Go(1)


class Dice(Policy):
    """Draws from the global generators of Python and numpy, from its constructor on."""

    def __init__(self) -> None:
        self._first = random.randrange(9)  # noqa: S311

    def decide(self, _: Spot) -> Go:
        """Go on by chance."""
        return Go(self._first + random.randrange(9) + np.random.randint(9))  # noqa: NPY002, S311


class Tally(Policy):
    """Counts the decisions of all episodes of its process."""

    count = 0

    def decide(self, _: Spot) -> Go:
        """Go as many places as decisions were made."""
        Tally.count += 1
        return Go(Tally.count)


@define
class Fails(Policy):
    """Fails, in the way that `how` names, if the seed is a multiple of three."""

    needs_world_seed = True

    how: str = "raise"
    seed: int = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Keep the world's seed."""
        self.seed = seat.world_seed

    def decide(self, _spot: Spot) -> Any:
        """Take a step of one, or fail."""
        if self.seed % 3:
            return Go(1)
        match self.how:
            case "wrong":
                return Spot(0, 0)
            case "exit":
                sys.exit(4)
            case "die":
                os._exit(4)
            case _:
                raise ValueError(f"no idea\nat {object()!r}")


@define
class Outage(Policy):
    """Fails on seeds from the one that `OUTAGE` in the environment names."""

    needs_world_seed = True

    seed: int = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Keep the world's seed."""
        self.seed = seat.world_seed

    def decide(self, _spot: Spot) -> Go:
        """Take a step of one, or fail."""
        if self.seed >= int(os.environ.get("OUTAGE", self.seed + 1)):
            raise ConnectionError("no answer")
        return Go(1)


@define
class Endless(Policy):
    """Never answers on seed 1, in the way that `how` names."""

    needs_world_seed = True

    how: str
    seed: int = field(init=False, repr=False)

    def seated(self, seat: Seat) -> None:
        """Keep the world's seed, or never return."""
        while self.how == "build" and seat.world_seed == 1:
            pass
        self.seed = seat.world_seed

    def decide(self, _spot: Spot) -> Go:
        """Take a step of one, or never return."""
        while self.seed == 1:
            try:
                # A call into C that never returns cannot be interrupted by an exception.
                max(itertools.repeat(1)) if self.how == "in C" else time.sleep(0.01)
            except BaseException:
                if self.how != "catch":
                    raise
        return Go(1)


def main(out: str, jobs: str, seeds: str) -> None:
    """Sweep into a folder and print the finished episodes and the total after every chunk.

    Args:
        out: The folder.
        jobs: The number of worker processes.
        seeds: The number of seeds.
    """
    try:
        sweep(
            WALK,
            [STRIDE, GATED, FAILS],
            range(int(seeds)),
            set={"steps": [3, 6], "policy.size": [1, 2, 3]},
            jobs=int(jobs),
            out=out,
            progress=lambda done, total: print(done, total, flush=True),  # noqa: T201
        )
    except KeyboardInterrupt as stop:
        print(stop, flush=True)  # noqa: T201
        sys.exit(130)


if __name__ == "__main__":
    main(*sys.argv[1:])
