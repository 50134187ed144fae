"""A world that asks its one role two questions: the observation is a union of two classes."""

from collections.abc import Generator, Mapping
from functools import partial
from typing import Any

from attrs import field, frozen

from desim.core.roles import Role
from desim.core.world import World


@frozen
class Closing:
    """A month is closed.

    Attributes:
        cash: Dollars in the bank.
    """

    cash: int


@frozen
class Breakdown:
    """A machine is down.

    Attributes:
        machine: Its name.
        hours: How long it takes to repair.
    """

    machine: str
    hours: float


@frozen
class Spend:
    """Spend money.

    Attributes:
        dollars: How much.
    """

    dollars: int = 0


def _default(_: Closing | Breakdown) -> Spend:
    return Spend(1)


@frozen
class Workshop:
    """Machines break down in even months; months are closed in odd ones."""

    months: int = 4
    roles: Mapping[str, Role] = field(
        init=False,
        factory=lambda: {"boss": Role(Closing | Breakdown, Spend, default_action=_default)},
    )

    def begin(self, world: World) -> dict[str, int]:
        """Return the state, and start the months."""
        state = {"cash": 100}
        world.process(_months(world, self.months, state))
        return state

    def score(self, state: dict[str, int]) -> float:
        """Return the cash."""
        return float(state["cash"])

    def metrics(self, _: dict[str, int]) -> dict[str, Any]:
        """Return none."""
        return {}


def _months(world: World, months: int, state: dict[str, int]) -> Generator[Any, Any, None]:
    for month in range(months):
        yield world.timeout(1)
        spent = yield world.ask("boss", partial(_seen, month, state))
        state["cash"] -= spent.dollars


def _seen(month: int, state: dict[str, int]) -> Closing | Breakdown:
    return Closing(state["cash"]) if month % 2 else Breakdown("press", 1.5)
