"""A world of a few lines for tests of sweeps, and the company that plays it.

Workers import it as `small_worlds:Walk`, so its folder must be on the path of the test process.
Run as a script it sweeps into a folder and tells how far it is.
"""

import os
import sys
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from attrs import define, field, frozen
from attrs.validators import ge

from desim.kernel import Option, Role
from desim.seating import Seat
from desim.sweeps.sweep import sweep
from desim.world import World


@frozen
class Spot:
    """Where the walker stands."""

    place: int
    step: int


@frozen
class Go:
    """Walk some places."""

    places: int = field(validator=ge(-100))


@define
class Trail:
    """Where the walker was; its own ledger."""

    places: list[int]
    gusts: list[int]

    @property
    def ledgers(self) -> tuple["Trail", ...]:
        """It keeps its own books."""
        return (self,)

    def digest(self) -> str:
        """Return what a ledger would."""
        return sha256(repr((self.places, self.gusts)).encode()).hexdigest()


@frozen
class Walk:
    """Walk some steps in a wind; further is better."""

    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"short": {}, "long": {"steps": 9}}

    steps: int = field(default=3, validator=ge(1))
    wind: float = field(default=1.0, validator=ge(0))
    goals: tuple[int, ...] = (2, 5)
    pace: int = 1
    patience: int = 50

    @property
    def roles(self) -> Mapping[str, Role]:
        """Return the one who walks, and the one who may push."""
        options = lambda _spot: [Option(Go(1), 1.0), Option(Go(2), 2.0)]  # noqa: E731
        return {
            "walker": Role(Spot, Go, options),
            "helper": Role(Spot, Go, options, optional=True),
        }

    def begin(self, world: World) -> Trail:
        """Start to walk."""
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
        """Return how far one came."""
        return path.places[-1] + self.wind * sum(path.gusts)

    def metrics(self, path: Trail) -> Mapping[str, Any]:
        """Return figures of every kind a metric may have."""
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
    """The same under another name."""


@frozen
class Strange(Walk):
    """A model with a parameter that cannot be written down."""

    rule: Any = len


@frozen
class Stride:
    """Always the same step."""

    size: int = 1

    def decide(self, _spot: Spot) -> Go:
        """Answer."""
        return Go(self.size)


@frozen
class Gated:
    """Waits for a file before every step, if the environment names one."""

    def decide(self, _spot: Spot) -> Go:
        """Answer."""
        while (gate := os.environ.get("GATE")) and not Path(gate).exists():
            time.sleep(0.01)
        return Go(1)


@define
class Counting:
    """One place more with every decision it ever made."""

    made: int = 0

    def decide(self, _spot: Spot) -> Go:
        """Answer."""
        self.made += 1
        return Go(self.made)


class Waiting:
    """A coroutine."""

    async def decide(self, _spot: Spot) -> Go:
        """Answer."""
        return Go(1)


@frozen
class Fails:
    """Breaks down in one way or another where the seed is a multiple of three."""

    seed: int
    how: str = "raise"

    @classmethod
    def seated(cls, seat: Seat, how: str = "raise") -> "Fails":
        """Remember the seed."""
        return cls(seat.seed, how)

    def decide(self, _spot: Spot) -> Any:
        """Answer, or do not."""
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


def main(out: str, jobs: str, seeds: str) -> None:
    """Sweep into a folder; each line tells how many episodes are done of how many."""
    try:
        sweep(
            "small_worlds:Walk",
            ["small_worlds:Stride", "small_worlds:Gated", "small_worlds:Fails"],
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
