"""YC-Bench as a model: roles, begin, score, metrics and tables, on top of all other files.

The beginning of an episode: a company is founded, and its calendar and founder start.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.catalog.known_scores import KnownScores, read_known_scores
from desim.core.calendar import Calendar
from desim.core.reported import ScoreSeries, SeatBriefing
from desim.show.column import Column
from models.yc_bench.actions import Command
from models.yc_bench.company.clock import CompanyClock
from models.yc_bench.company.state import CompanyState, found
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
    def known_scores(cls, preset: str) -> KnownScores | None:
        """Return the known scores of a preset, from `known_scores.json`."""
        return read_known_scores(__file__).get(preset)

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the world file, where the parameter is a path."""
        return [given] if isinstance(given := params.get("world"), str) else []

    @property
    def length(self) -> str:
        """The years of an episode that no bankruptcy ends."""
        return f"{self.horizon_years} year{'s' * (self.horizon_years > 1)}"

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

    def rules_for(self, role: str) -> str:
        """Return the rules text that *role* may read."""
        return RULES

    def briefing_for(self, role: str) -> SeatBriefing:
        """Return the rules of *role* in five answers."""
        return briefing(self)

    def refusal(self, role: str, observation: Mapping[str, Any]) -> str:
        """Return what the console wrote where it did not carry out the last command."""
        reply = observation["reply"]
        if reply is None or reply["exit_code"] == 0:
            return ""
        out = reply["out"]
        return str(reply["stderr"] or (out.get("error", "") if isinstance(out, dict) else out))

    def effect_of(self, state: CompanyState, role: str, action: Any, observation: Any) -> str:
        """Return what the last command did, and what follows from it."""
        return effect(observation.reply)

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

    def score_series(self, roles: Sequence[str]) -> ScoreSeries:
        """Return the funds at the end of each month."""
        return ScoreSeries("Funds", ("funds_cents",))

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
    def board_metrics(self) -> tuple[str]:
        """The share of companies that went bankrupt."""
        return ("bankrupt_on",)

    @property
    def metric_columns(self) -> Mapping[str, Column]:
        """Units of score and metrics."""
        return METRIC_COLUMNS

    def series(self, state: CompanyState) -> dict[str, list[float]]:
        """Return money and tasks of each month of the last episode."""
        return monthly_series(state)

    @property
    def series_columns(self) -> dict[str, Column]:
        """Unit and label of every series."""
        return SERIES_COLUMNS

    def series_ticks(self, state: CompanyState) -> dict[str, list[int]]:
        """Return the last tick of each month, for every series by month."""
        return dict.fromkeys(SERIES_COLUMNS, month_ends(state))

    def tables(self, state: CompanyState, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the published ledger and the funds, in cents."""
        return founder_tables(state)

    def date(self, tick: int) -> dt.date:
        """Return the day of a tick; after a company has opened again, days simply go on."""
        return CompanyClock.of(self).moment(tick).date()

    # -- in a group: only the books change, so all later events are the same ----------------------

    @property
    def calendar(self) -> Calendar:
        """Microseconds from the opening hour of `start_date`; they go on when a company reopens."""
        return self.open_hours.calendar

    def cash(self, state: CompanyState) -> int:
        """Return the funds in cents: of the last episode; below 0 after a bankruptcy."""
        return state.accounts.intercompany.cash

    def receive_cash(self, state: CompanyState, cents: int, partner: str) -> None:
        """Post cash that *partner* has sent at this tick; it undoes no bankruptcy.

        Raises:
            ValueError: It is less than 1 cent, or no whole number.
        """
        late = state.bankrupt
        state.accounts.intercompany.receive(state.world.now, partner, cents)
        state.rescued_late = late

    def pay_cash(self, state: CompanyState, cents: int, partner: str) -> None:
        """Post cash that is sent to *partner* at this tick.

        Raises:
            ValueError: It is more than the funds, less than 1 cent, or no whole number.
        """
        state.accounts.intercompany.pay(state.world.now, partner, cents)

    def intercompany(self, state: CompanyState) -> dict[str, int]:
        """Return the balances by partner in cents, over all episodes: above 0 is owed to us."""
        # Debts and claims of a bankrupt company stay in its partners' books.
        total: Counter[str] = Counter()
        for accounts in (*[each.accounts for each in state.past], state.accounts):
            total.update(accounts.intercompany.balances)
        return dict(total)

    def lose_client(self, state: CompanyState, client_name: str) -> None:
        """Let a client go at this tick: no more tasks of it, and those under way are cancelled.

        It is free of charge; the founder's resume ends at this instant and reports it. A company
        that is over does not change, and one that opens again has all its clients.

        Raises:
            UsageError: The client is unknown, or already lost.
        """
        lose_client(state, client_name)
