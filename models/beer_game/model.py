"""The Beer Game as a model: roles, start, score, metrics and tables."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self

from attrs import frozen

from desim import Role, World, from_preset
from models.beer_game import demand, options, processes, score, tables
from models.beer_game.actions import Order
from models.beer_game.observation import Stage
from models.beer_game.params import BeerGameParams
from models.beer_game.state import Chain

__all__ = ["BeerGame"]


@frozen(kw_only=True)
class BeerGame(BeerGameParams):
    """A serial supply chain on a weekly clock: orders travel up, goods travel down."""

    @classmethod
    def preset(cls, name: str = "", **changes: Any) -> Self:
        """Return a preset, the first one if *name* is empty, with some parameters changed."""
        return from_preset(cls, name, changes)

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the CSV file that the demand names, if any."""
        return [file] if (file := demand.file_of(params.get("demand"))) else []

    @property
    def default_roles(self) -> tuple[str, ...]:
        """The stage that a policy plays when no role is named."""
        return (self.controlled,)

    @property
    def roles(self) -> dict[str, Role]:
        """One role for every stage; a stage without a player follows the rule `opponents`."""
        choose = partial(options.options, self)
        role = Role(Stage, Order, choose, optional=True, default_action=options.default_action)
        return dict.fromkeys(self.stages, role)

    def begin(self, world: World) -> Chain:
        """Fill the pipelines and start the processes."""
        return processes.begin(world, self)

    def score(self, state: Chain) -> float:
        """Return minus the cost of the stages with a player, in money."""
        return score.score(state)

    def metrics(self, state: Chain) -> dict[str, Any]:
        """Return the metrics of reference SPEC section 7 and the cost of each stage."""
        return score.metrics(state)

    def series(self, state: Chain) -> dict[str, list[float]]:
        """Return orders, inventory, backlog (units) and cost (money) of each stage by week."""
        return score.series(state)

    def tables(self, state: Chain, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the weeks, stock moves and costs of the stage *role*."""
        return tables.tables(state, role)
