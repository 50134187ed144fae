"""Two guards who walk; the left one may take time to decide, while a bell rings every day."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, ClassVar

from attrs import define, field, frozen

from desim import Model, Option, Policy, Role, World
from desim.core.calendar import Calendar
from desim.core.reported import Time
from desim.core.roles import Thinking


@frozen
class Post:
    """What a guard observes.

    Attributes:
        day: The present day.
        steps: The steps of both guards that have taken effect.
    """

    day: int
    steps: int


@frozen
class Step:
    """Walk.

    Attributes:
        steps: How far.
    """

    steps: int = 1


@define
class Diary:
    """What happened, with the day: rings of the bell and steps."""

    entries: list[tuple[int, str, int]] = field(factory=list)

    def steps(self) -> int:
        """Return the steps of both guards."""
        return sum(steps for _, who, steps in self.entries if who != "bell")


def one_step(_: Any) -> Sequence[Option]:
    """Return the only option."""
    return (Option(Step(), 1.0),)


@frozen
class Guards(Model[Diary]):
    """Guards who are asked once a day, or again when they have answered.

    Attributes:
        thinking: The time of the left guard; the right one takes none.
        days: After the last of them the episode ends.
        before: The rank of the bell, before which guards are asked; None: after it.
    """

    thinking: Thinking = field(factory=Thinking)
    days: int = 6
    before: int | None = None

    time: ClassVar[Time] = Time(calendar=Calendar(datetime(2025, 1, 6), timedelta(days=1)))  # noqa: DTZ001
    default_roles: ClassVar[tuple[str, ...]] = ("left", "right")

    @property
    def roles(self) -> Mapping[str, Role]:
        """The two guards."""
        quick = Role(Post, Step, one_step)
        return {"left": Role(Post, Step, one_step, thinking=self.thinking), "right": quick}

    def begin(self, world: World) -> Diary:
        """Start the bell and both guards."""
        diary = Diary()
        world.process(self._bell(world, diary))
        for name in world.seats and ("left", "right"):
            world.process(self._guard(world, diary, name))
        return diary

    def score(self, diary: Diary) -> float:
        """Return the steps of both guards."""
        return diary.steps()

    def metrics(self, diary: Diary) -> dict[str, Any]:
        """Return the diary."""
        return {"diary": [list(entry) for entry in diary.entries]}

    def _bell(self, world: World, diary: Diary) -> Iterator[Any]:
        for day in range(1, self.days + 1):
            yield world.timeout(day - world.now, rank=1)
            diary.entries.append((world.now, "bell", 0))
        yield world.timeout(0, rank=9)
        yield world.timeout(1)
        world.end("horizon")

    def _guard(self, world: World, diary: Diary, name: str) -> Iterator[Any]:
        while True:
            yield world.timeout(1)
            step = yield world.ask(name, lambda: Post(world.now, diary.steps()), self.before)
            diary.entries.append((world.now, name, step.steps))


def days_of(diary: Diary, who: str) -> list[int]:
    """Return the days of one guard's steps, or of the bell."""
    return [day for day, name, _ in diary.entries if name == who]


@frozen
class Tokens(Policy):
    """A policy whose notes say that it has used so many tokens and seconds."""

    tokens: int
    seconds: float = 0.0

    @property
    def notes(self) -> dict[str, Any]:
        """What a decision used."""
        return {"usage": {"completion_tokens": self.tokens, "seconds": self.seconds}}

    def decide(self, post: Post) -> Step:
        """Walk as many steps as days have passed."""
        return Step(post.day)
