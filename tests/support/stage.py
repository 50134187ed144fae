"""A model of one or more processes, for tests of the kernel."""

from collections.abc import Callable, Generator
from typing import Any

from attrs import field, frozen
from attrs.validators import ge

from desim import Model, Role, World

Story = Callable[[World, list[Any]], Generator[Any, Any, None]]


@frozen
class Seen:
    """An observation: a number."""

    n: int


@frozen
class Bid:
    """Bid a number."""

    n: int = field(validator=ge(0))


@frozen
class Stage(Model[list[Any]]):
    """A model made of one or more processes that share a log."""

    stories: tuple[Story, ...]
    observation: type = Seen
    names: tuple[str, ...] = ("ann",)
    optional: bool = False
    max_questions_per_tick: int = 1_000

    @property
    def roles(self) -> dict[str, Role]:
        """Every role bids numbers."""
        return {name: Role(self.observation, Bid, optional=self.optional) for name in self.names}

    def begin(self, world: World) -> list[Any]:
        """Start the stories."""
        log: list[Any] = []
        for story in self.stories:
            world.process(story(world, log))
        return log

    def score(self, state: list[Any]) -> float:
        """Count the lines."""
        return len(state)

    def metrics(self, state: list[Any]) -> dict[str, Any]:
        """Show the log."""
        return {"log": list(state)}


def asking(observe: Callable[[], Any], times: int = 1) -> Story:
    """Return a process that asks once a tick."""

    def story(world: World, log: list[Any]) -> Generator[Any, Any, None]:
        for _ in range(times):
            bid = yield world.ask("ann", observe)
            log.append(bid.n)
            yield world.timeout(1)

    return story
