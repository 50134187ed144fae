"""YC-Bench as a model: roles, begin, score, metrics and tables, on top of all other files.

The beginning of an episode: a company is founded, and its calendar and founder start.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.reported import Figures, Periods, Refused, ScoreSeries, Texts, Time
from models.yc_bench.actions import Command
from models.yc_bench.company.clock import CompanyClock
from models.yc_bench.company.state import CompanyState, Purse, found
from models.yc_bench.desk import RULES, FounderDesk, briefing, default_action, effect, options
from models.yc_bench.founder import FOUNDER, founder
from models.yc_bench.params import YCBenchParams
from models.yc_bench.processes import lose_client, start_calendar, work
from models.yc_bench.report import (
    METRIC_COLUMNS,
    SERIES_COLUMNS,
    founder_tables,
    month_ends,
    monthly_series,
    paper_metrics,
)


def begin(world: World, params: YCBenchParams) -> CompanyState:
    """Return the state at tick 0, with all processes started."""
    company = found(world, params)
    company.start = lambda task: world.process(work(world, company, task))
    start_calendar(world, company)
    world.process(founder(world, company))
    return company


@frozen(kw_only=True, slots=False)
class YCBench(YCBenchParams, Model[CompanyState]):
    """A start-up's year: accept tasks, put people on them, meet payroll."""

    revision: ClassVar[int] = 2

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the world file, where the parameter is a path."""
        return [given] if isinstance(given := params.get("world"), str) else []

    @property
    def roles(self) -> dict[str, Role]:
        """The founder, who gives one command at a time."""
        role = Role(
            FounderDesk,
            Command,
            options,
            default_action=default_action,
            thinking=self.thinking,
        )
        return {FOUNDER: role}

    def texts(self, role: str) -> Texts:
        """Return the rules that *role* may read."""
        return Texts(RULES, briefing(self))

    def after(self, state: CompanyState, role: str, action: Any, observation: FounderDesk) -> str:
        """Return what the last command did, or what the console wrote instead."""
        reply = observation.reply
        if reply is None or reply.exit_code == 0:
            return effect(reply)
        out = reply.out
        return Refused(reply.stderr or (out.get("error", "") if isinstance(out, dict) else out))

    @property
    def time(self) -> Time:
        """Microseconds from the opening hour of `start_date`; they go on when a company reopens."""
        return Time(
            calendar=self.open_hours.calendar,
            length=f"{self.horizon_years} year{'s' * (self.horizon_years > 1)}",
            date=lambda tick: CompanyClock.of(self).moment(tick).date(),
        )

    def begin(self, world: World) -> CompanyState:
        """Draw the world, or take it from its file, and start its processes."""
        return begin(world, self)

    def score(self, state: CompanyState) -> float:
        """Return the funds at the end of the last episode, in dollars: higher is better."""
        return state.accounts.book.money(state.funds_at(state.last_tick))

    #: Facts hidden from the founder that a redraw keeps: the rewards of an adversarial client
    #: already contain its multiplier, so another client cannot become adversarial in its place.
    #: It replaces nothing: tasks that replace others are drawn later, from the redrawn world.
    kept: ClassVar[tuple[str, ...]] = ("which clients are adversarial, and how disloyal they are",)

    def metrics(self, state: CompanyState) -> dict[str, Any]:
        """Return the paper's figures."""
        return paper_metrics(state)

    @property
    def deterministic(self) -> bool:
        """False in every preset: the seed draws the tasks.

        Even a world file holds only the first replacements of each slot; later ones are drawn.
        """
        return False

    @property
    def figures(self) -> Figures:
        """Units of metrics and series; boards show the share of companies that went bankrupt."""
        return Figures(
            columns=METRIC_COLUMNS,
            series=SERIES_COLUMNS,
            score_series=ScoreSeries("Funds", ("funds_cents",)),
            board=("bankrupt_on",),
        )

    def series(self, state: CompanyState) -> dict[str, Periods]:
        """Return money and tasks of each month of the last episode."""
        return Periods.each(monthly_series(state), month_ends(state))

    def tables(self, state: CompanyState, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the published ledger and the funds, in cents."""
        return founder_tables(state)

    # -- in a group: only the books change, so all later events are the same ----------------------

    def purse(self, state: CompanyState) -> Purse:
        """Return the funds."""
        return Purse(state)

    def lose_client(self, state: CompanyState, client_name: str) -> None:
        """Let a client go at this tick: no more tasks of it, and those under way are cancelled.

        It is free of charge; the founder's resume ends at this instant and reports it. A company
        that is over does not change, and one that opens again has all its clients.

        Raises:
            UsageError: The client is unknown, or already lost.
        """
        lose_client(state, client_name)
