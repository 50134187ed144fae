"""YC-Bench as a model: what a start-up's year is made of, by the names of `desim.Model`."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.reported import Figures, Periods, Refused, ScoreSeries, Texts, Time
from models.yc_bench import report
from models.yc_bench.actions import Command
from models.yc_bench.company.accounts import Purse
from models.yc_bench.company.clock import CompanyClock
from models.yc_bench.company.state import CompanyState, found
from models.yc_bench.desk import RULES, FounderDesk, briefing, default_action, effect, options
from models.yc_bench.founder import FOUNDER, founder
from models.yc_bench.params import YCBenchParams
from models.yc_bench.processes import lose_client, start_calendar, work


@frozen(kw_only=True, slots=False)
class YCBench(YCBenchParams, Model[CompanyState]):
    """A start-up's year: accept tasks, put people on them, meet payroll."""

    revision: ClassVar[int] = 2

    #: The rewards of an adversarial client contain its multiplier: a redraw keeps who they are.
    #: Tasks that replace others are drawn later, from the redrawn world.
    kept: ClassVar[tuple[str, ...]] = ("which clients are adversarial, and how disloyal they are",)

    #: A world file, too, holds only the first replacements; the seed draws the others.
    deterministic: ClassVar[bool] = False

    figures: ClassVar[Figures] = Figures(
        columns=report.METRIC_COLUMNS,
        series=report.SERIES_COLUMNS,
        score_series=ScoreSeries("Funds", ("funds_cents",)),
        board=("bankrupt_on",),
    )

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        return [given] if isinstance(given := params.get("world"), str) else []

    @property
    def roles(self) -> dict[str, Role]:
        act, thinking = default_action, self.thinking
        return {FOUNDER: Role(FounderDesk, Command, options, default_action=act, thinking=thinking)}

    @property
    def time(self) -> Time:
        return Time(
            calendar=self.open_hours.calendar,
            length=f"{self.horizon_years} year{'s' * (self.horizon_years > 1)}",
            date=lambda tick: CompanyClock(self).moment(tick).date(),
        )

    def texts(self, role: str) -> Texts:
        return Texts(RULES, briefing(self))

    def begin(self, world: World) -> CompanyState:
        company = found(world, self)
        company.start = lambda task: world.process(work(world, company, task))
        start_calendar(world, company)
        world.process(founder(world, company))
        return company

    def after(self, state: CompanyState, role: str, action: Any, observation: FounderDesk) -> str:
        reply = observation.reply
        if reply is None or reply.exit_code == 0:
            return effect(reply)
        out = reply.out
        return Refused(reply.stderr or (out.get("error", "") if isinstance(out, dict) else out))

    def score(self, state: CompanyState) -> float:
        return state.accounts.book.money(state.funds_at(state.last_tick))

    def metrics(self, state: CompanyState) -> dict[str, Any]:
        return report.paper_metrics(state)

    def series(self, state: CompanyState) -> dict[str, Periods]:
        return Periods.each(report.monthly_series(state), report.month_ends(state))

    def tables(self, state: CompanyState, role: str) -> dict[str, list[dict[str, Any]]]:
        return report.founder_tables(state)

    def purse(self, state: CompanyState) -> Purse:
        return state.accounts.purse

    def lose_client(self, state: CompanyState, client_name: str) -> None:
        """Let a client go at this tick, as `processes.lose_client` says."""
        lose_client(state, client_name)
