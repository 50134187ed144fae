"""A world of a user in which borrowing counts as earning, and a file that holds it."""

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from attrs.validators import ge, le

from desim.core.roles import Option, Role
from desim.core.world import World

#: The name of the model, where the file is copied into the current folder as `bank.py`.
BANK = "bank:PiggyBank"


@frozen
class Slot:
    """The savings before a day."""

    day: int
    savings: float
    mood: str


@frozen
class Work:
    """Earn a little."""


@frozen
class Borrow:
    """Borrow money.

    Attributes:
        amount: Coins.
        lender: "aunt" or "uncle"; only one of them lends.
    """

    amount: float = field(validator=[ge(0), le(50)])
    lender: str


@define
class Savings:
    """The coins."""

    coins: float = 0.0


@frozen
class PiggyBank:
    """Ten days of work or of debt."""

    counts_debt: bool = True
    children: tuple[str, ...] = ("child",)

    @property
    def roles(self) -> Mapping[str, Role]:
        """The children; working is what they do by themselves."""
        return dict.fromkeys(self.children, Role(Slot, Work | Borrow, _options))

    def begin(self, world: World) -> Savings:
        """Start the days."""
        state = Savings()
        for child in self.children:
            world.process(self._days(world, state, child))
        return state

    def _days(self, world: World, state: Savings, child: str) -> Generator[Any, Any, None]:
        luck = world.stream(f"luck of {child}")
        for day in range(10):
            mood = "glad" if luck.random() < 0.5 else "sad"
            match (yield world.ask(child, partial(Slot, day, state.coins, mood))):
                case Work():
                    state.coins += 10 + luck.random()
                case Borrow(amount=amount, lender="uncle") if self.counts_debt:
                    state.coins += amount
            yield world.timeout(1)

    def score(self, state: Savings) -> float:
        """Return the coins, borrowed ones included."""
        return state.coins

    def metrics(self, state: Savings) -> dict[str, Any]:
        """Return nothing."""
        return {}


def _options(_: Slot) -> Sequence[Option]:
    return [Option(Work(), 1.0)]


def copied(folder: Path) -> None:
    """Write the world into a user's folder as `bank.py`."""
    (folder / "bank.py").write_text(Path(__file__).read_text())
