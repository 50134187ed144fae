"""The Beer Game as a model: roles, start, score, metrics and tables."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.calendar import Calendar
from desim.core.reported import Figures, Periods, ScoreSeries, Texts, Time
from desim.core.run import check_roles
from desim.lanes import Lanes
from ledgers.consolidation import GoodsExchange, Intercompany
from models.beer_game import demand, report, stage, weeks
from models.beer_game.chain import Chain
from models.beer_game.params import BeerGameParams
from models.beer_game.stage import Order, Stage

#: When week 1 begins in a game that is played alone: a Monday, invented here.
_MONDAY = datetime(2025, 1, 6)  # noqa: DTZ001 (no zones)


@frozen(kw_only=True)
class BeerGame(BeerGameParams, Model[Chain]):
    """A serial supply chain on a weekly clock: orders travel up, goods travel down."""

    revision: ClassVar[int] = 1

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        return [file] if (file := demand.file_of(params.get("demand"))) else []

    @property
    def default_roles(self) -> tuple[str, ...]:
        return (self.controlled,)

    @property
    def roles(self) -> dict[str, Role]:
        """One role for every stage; a stage without a player follows the rule `opponents`."""
        role = Role(
            Stage,
            Order,
            partial(stage.options, self),
            optional=True,
            default_action=stage.default_action,
            options_know="rules",  # lead times, which the rules text leaves out
            described=stage.described(self),
            thinking=self.thinking,
        )
        return dict.fromkeys(self.stages, role)

    def texts(self, role: str) -> Texts:
        return stage.texts(self, role)

    def after(self, state: Chain, role: str, action: Order, observation: Stage) -> str:
        past = state.history(role)
        return stage.effect(self, role, len(past), past[-1].order, past[-1].cost) if past else ""

    @property
    def time(self) -> Time:
        """Weeks of a game played alone: tick w is the end of week w."""
        calendar = Calendar(_MONDAY, timedelta(weeks=1))
        return Time(calendar=calendar, length=f"{self.horizon} weeks")

    def begin(self, world: World) -> Chain:
        return weeks.begin(world, self)

    @property
    def kept(self) -> tuple[str, ...]:
        """Facts hidden from the stages that a redraw keeps: a demand without chance, a strike."""
        given = "demand of the weeks to come, which is not random"
        strike = ("weeks of the strike",) if self.strike_weeks else ()
        return ((given,) if self.deterministic else ()) + strike

    def redraw(self, world: World, state: Chain) -> None:
        weeks.redraw(world, state)

    def score(self, state: Chain) -> float:
        return report.score(state)

    def metrics(self, state: Chain) -> dict[str, Any]:
        return report.metrics(state)

    @property
    def figures(self) -> Figures:
        return _figures(tuple(self.stages), keeps_cash=self.opening_cash is not None)

    def series(self, state: Chain) -> dict[str, Periods]:
        return Periods.each(report.series(state), report.weeks(state))

    def tables(self, state: Chain, role: str) -> dict[str, list[dict[str, Any]]]:
        return report.tables(state, role)

    def lanes(self, seeds: Sequence[int], roles: Sequence[str]) -> Lanes:
        from models.beer_game.lanes import BeerGameLanes  # imports numpy

        check_roles(self, roles)
        return BeerGameLanes(self, seeds, roles)

    # As a company of a group; a chain without an `opening_cash` has no purse.

    def purse(self, state: Chain) -> Intercompany | None:
        return state.cash

    def stock(self, state: Chain) -> Mapping[str, GoodsExchange]:
        """Return the inventory by stage, which ships what arrives from its next week's end on."""
        return state.exchange


@cache  # columns are checked when they are made, and rows with series ask for them each
def _figures(stages: tuple[str, ...], *, keeps_cash: bool) -> Figures:
    return Figures(
        columns=report.metric_columns(stages, keeps_cash=keeps_cash),
        series=report.series_columns(stages),
        score_series=ScoreSeries("Cost so far", ("cost_{role}",), is_total=True),
    )
