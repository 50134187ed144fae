"""An episode of the start-up with links: operations at ticks between the events of the company."""

from collections.abc import Callable, Mapping
from typing import Any

from support.yc_snapshot import snapshot

from desim import Run
from models.yc_bench.actions import Command
from models.yc_bench.company.state import CompanyState
from models.yc_bench.model import YCBench

#: What a link does to the company.
Link = Callable[[CompanyState], object]

#: Ticks of an hour and of a day.
HOUR = 3_600 * 10**6
DAY = 24 * HOUR


class LinkedRun:
    """Plays an episode; links act as on a common clock.

    Args:
        model: The parameters.
        seed: Of the episode.
        links: By tick. The clock is moved to that tick when all events up to it have happened; one
            that falls on an instant at which the founder is asked acts when time goes on.

    Attributes:
        run: The episode.
        desks: All observations so far.
        states: The state at each of them, as `snapshot` returns it.
    """

    def __init__(self, model: YCBench, seed: int, links: Mapping[int, Link] | None = None) -> None:
        self.run = Run(model, seed)
        self.desks: list[Any] = []
        self.states: list[dict[str, Any]] = []
        self._links = sorted((links or {}).items())
        self._handed = self.run.advance()

    @property
    def company(self) -> CompanyState:
        """The state."""
        return self.run.state

    def play(self, decide: Callable[[Any], Command], *, keep: bool = True) -> None:
        """Let a policy's `decide` answer until the run ends; states take much memory to keep."""
        while self._handed:
            desk = self._handed[0].observation
            if keep:
                self.desks.append(desk)
                self.states.append(snapshot(self.company))
            self.run.answer(self._handed[0], decide(desk))
            self._handed = self._advance()

    def _advance(self) -> list[Any]:
        run, world = self.run, self.run.world
        run._release()
        while self._links:
            tick, link = self._links[0]
            while world._queue[0][0] <= tick and not (world.asked or world.ended):
                world.step()
            if world.asked or world.ended:
                break
            world._now = tick
            del self._links[0]
            link(run.state)
        return run.advance()
