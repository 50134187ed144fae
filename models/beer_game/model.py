"""The Beer Game as a model: roles, start, score, metrics and tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.catalog.known_scores import KnownScores, read_known_scores
from desim.core.calendar import Calendar
from desim.core.reported import ScoreSeries, SeatBriefing
from desim.core.run import check_roles
from desim.lanes.lane_protocols import Lanes
from desim.show.column import Column
from ledgers.consolidation import Intercompany
from models.beer_game import demand, report, stage, weeks
from models.beer_game.chain import Chain, Units, shown
from models.beer_game.params import BeerGameParams
from models.beer_game.stage import Order, Stage

#: When week 1 begins in a game that is played alone: a Monday, invented here.
_MONDAY = datetime(2025, 1, 6)  # noqa: DTZ001 (no zones)


@frozen(kw_only=True)
class BeerGame(BeerGameParams, Model[Chain]):
    """A serial supply chain on a weekly clock: orders travel up, goods travel down."""

    revision: ClassVar[int] = 1

    @classmethod
    def known_scores(cls, preset: str) -> KnownScores | None:
        """Return the known scores of a preset, from `known_scores.json`."""
        return read_known_scores(__file__).get(preset)

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the CSV file that the demand names, if any."""
        return [file] if (file := demand.file_of(params.get("demand"))) else []

    @property
    def default_roles(self) -> tuple[str, ...]:
        """The stage that a policy plays when no role is named."""
        return (self.controlled,)

    @property
    def length(self) -> str:
        """The weeks of an episode."""
        return f"{self.horizon} weeks"

    @property
    def roles(self) -> dict[str, Role]:
        """One role for every stage; a stage without a player follows the rule `opponents`.

        The options use lead times, which the rules text leaves out.
        """
        choose = partial(stage.options, self)
        role = Role(
            Stage,
            Order,
            choose,
            optional=True,
            default_action=stage.default_action,
            options_know="rules",
            described=stage.described(self),
            thinking=self.thinking,
        )
        return dict.fromkeys(self.stages, role)

    def rules_for(self, role: str) -> str:
        """Return the rules text that *role* may read."""
        return stage.rules(self, role)

    def briefing_for(self, role: str) -> SeatBriefing:
        """Return the rules of *role* in five answers."""
        return stage.briefing(self, role)

    def effect_of(
        self,
        state: Chain,
        role: str,
        action: Order,
        observation: Stage,
    ) -> str:
        """Return what the last order of *role* did."""
        log = state.echelon(role).log
        if not log:
            return ""
        money = state.book.money(int(log[-1].cost))
        return stage.effect(self, role, len(log), shown(log[-1].order), money)

    def begin(self, world: World) -> Chain:
        """Fill the pipelines and start the weeks."""
        return weeks.begin(world, self)

    @property
    def kept(self) -> tuple[str, ...]:
        """Facts hidden from the stages that a redraw keeps: a demand without chance, a strike."""
        given = "demand of the weeks to come, which is not random"
        strike = ("weeks of the strike",) if self.strike_weeks else ()
        return ((given,) if self.deterministic else ()) + strike

    def redraw(self, world: World, state: Chain) -> None:
        """Draw the customers' demand of the weeks to come again."""
        weeks.redraw(world, state)

    def score(self, state: Chain) -> float:
        """Return minus the cost of the stages with a player, in money."""
        return report.score(state)

    def score_series(self, roles: Sequence[str]) -> ScoreSeries:
        """Return the weekly costs of the stages, which are added up."""
        return ScoreSeries("Cost so far", tuple(f"cost_{role}" for role in roles), is_total=True)

    def metrics(self, state: Chain) -> dict[str, Any]:
        """Return the metrics of reference SPEC section 7 and the cost of each stage."""
        return report.metrics(state)

    @property
    def metric_columns(self) -> Mapping[str, Column]:
        """Units and directions of metrics."""
        return report.metric_columns(self.stages)

    def series(self, state: Chain) -> dict[str, list[float]]:
        """Return orders, inventory, backlog (units) and cost (money) of each stage by week.

        A chain that keeps cash adds `cash` and `unpaid` (money).
        """
        return report.series(state)

    @property
    def series_columns(self) -> dict[str, Column]:
        """Unit and label of every series."""
        return report.series_columns(self.stages)

    def series_ticks(self, state: Chain) -> dict[str, range]:
        """Return the tick at the end of each week, for every series."""
        return dict.fromkeys(self.series_columns, report.weeks(state))

    def tables(self, state: Chain, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the weeks, stock moves and costs of the stage *role*."""
        return report.tables(state, role)

    def lanes(self, seeds: Sequence[int], roles: Sequence[str]) -> Lanes:
        """Return episodes that are played together, one for each seed.

        Args:
            seeds: The seeds of the episodes.
            roles: The stages that are asked; the others follow the rule `opponents`.

        Raises:
            NoLanes: The chain keeps cash, orders of a rule may be fractions, or a price or a
                quantity is outside the exact range.
            UsageError: The chain has no such stage, or a seed is not a whole number of at least 0.
        """
        from models.beer_game.lanes.games import BeerGameLanes  # imports numpy

        check_roles(self, roles)
        return BeerGameLanes(self, seeds, roles)

    # -- as a company of a group -------------------------------------------------------------------

    @property
    def calendar(self) -> Calendar:
        """The calendar of the game played alone: tick w is the end of week w."""
        return Calendar(_MONDAY, timedelta(weeks=1))

    def cash(self, state: Chain) -> int:
        """Return the cash on hand in cents.

        Raises:
            ValueError: The chain keeps no cash, because it has no `opening_cash`.
        """
        return _kept(state).cash

    def receive_cash(self, state: Chain, cents: int, partner: str) -> None:
        """Post cash that *partner* has sent; the chain pays its debts from it when the week ends.

        Raises:
            ValueError: The chain keeps no cash, or the amount is not a whole number above 0.
        """
        _kept(state).receive(state.world.now, partner, cents)

    def pay_cash(self, state: Chain, cents: int, partner: str) -> None:
        """Post cash that is sent to *partner*.

        Raises:
            ValueError: The chain keeps no cash or less than the amount, or the amount is not a
                whole number above 0.
        """
        _kept(state).pay(state.world.now, partner, cents)

    def intercompany(self, state: Chain) -> dict[str, int]:
        """Return the balances by partner in cents: above 0 is owed to this company."""
        return state.cash.balances if state.cash else {}

    def goods(self, state: Chain, stage: str) -> Units:
        """Return the units on hand at a stage.

        Raises:
            ValueError: The stage is unknown.
        """
        return state.units[state.echelon(stage).on_hand]

    def deliver_goods(self, state: Chain, stage: str, units: int, partner: str) -> None:
        """Add units that *partner* delivers now to the inventory of a stage.

        The stage ships them from its next week's end on.

        Raises:
            ValueError: The stage is unknown, or the units are not a whole number above 0.
        """
        place = state.echelon(stage).on_hand
        state.exchange.receive(state.world.now, place, units, partner)

    def take_goods(self, state: Chain, stage: str, units: int, partner: str) -> None:
        """Hand over units to *partner* now, out of the inventory of a stage.

        Raises:
            ValueError: The stage is unknown, the units are not a whole number above 0, or the stage
                has fewer on hand.
        """
        place = state.echelon(stage).on_hand
        state.exchange.hand_over(state.world.now, place, units, partner)

    def exchanged_goods(self, state: Chain) -> dict[str, int]:
        """Return by partner the units received from it less those handed over to it."""
        return state.exchange.balances


def _kept(state: Chain) -> Intercompany:
    if state.cash is None:
        raise ValueError("the plant keeps no cash; give it an opening_cash, which may be 0")
    return state.cash
