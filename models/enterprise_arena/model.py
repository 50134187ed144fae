"""EnterpriseArena as a model: its role, its processes, its score and its statements."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.catalog.known_scores import KnownScores, read_known_scores
from desim.core.calendar import Months, month_end
from desim.core.reported import ScoreSeries, SeatBriefing
from desim.show.column import Column
from models.enterprise_arena import (
    options,
    processes,
    rules_text,
    score,
    series,
    tables,
)
from models.enterprise_arena.accounting import statements
from models.enterprise_arena.actions import Command
from models.enterprise_arena.economy import (
    draws,
    regimes,
)
from models.enterprise_arena.observation import BareMonth, Header, Month
from models.enterprise_arena.officer import desk
from models.enterprise_arena.params import ArenaParams
from models.enterprise_arena.state import CFO, Lender


@frozen(kw_only=True, slots=False)
class EnterpriseArena(ArenaParams, Model[Lender]):
    """132 months of a consumer lender under one chief financial officer.

    The parameters are those of `ArenaParams`.
    """

    revision: ClassVar[int] = 2

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.history == "regimes":
            # A table to which no model can be fitted is refused here, not in the first episode.
            regimes.fit(self.table, self.growth_column)

    @classmethod
    def known_scores(cls, preset: str) -> KnownScores | None:
        """Return the known scores of a preset, from `known_scores.json`."""
        return read_known_scores(__file__).get(preset)

    @classmethod
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the macro table, where the parameter is a path."""
        return [given] if isinstance(given := params.get("macro"), str) else []

    @property
    def length(self) -> str:
        """The months of an episode that no bankruptcy ends."""
        return f"{self.horizon} months"

    @property
    def roles(self) -> dict[str, Role]:
        """The chief financial officer, who gives one command at a time."""
        role = Role(
            Month if self.header == "full" else BareMonth,
            Command,
            options.options,
            default_action=options.default_action,
            described=options.described(self),
            thinking=self.thinking,
        )
        return {CFO: role}

    def rules_for(self, role: str) -> str:
        """Return the rules text that *role* may read."""
        return rules_text.rules(self)

    def briefing_for(self, role: str) -> SeatBriefing:
        """Return the rules of *role* in five answers."""
        return rules_text.briefing(self)

    def refusal(self, role: str, observation: Mapping[str, Any]) -> str:
        """Return why the last command was refused, from the next observation."""
        reply = observation["reply"]
        return "" if reply is None or reply["ok"] else str(reply["out"])

    def effect_of(self, state: Lender, role: str, action: Command, observation: Header) -> str:
        """Return what the last command did, and when the rest of it shows."""
        return desk.effect(state, action)

    def begin(self, world: World) -> Lender:
        """Post the opening balances and start the processes."""
        return processes.begin(world, self)

    @property
    def kept(self) -> tuple[str, ...]:
        """Facts hidden from the officer that a redraw keeps: README, "Redrawn futures"."""
        return draws.kept(self)

    def redraw(self, world: World, state: Lender) -> None:
        """Draw noise, funding and macro figures of the time to come again."""
        draws.redraw(world, state)

    def score(self, state: Lender) -> float:
        """Return the value at the end, or the value added, less the charge for tools, dollars."""
        return score.score(state)

    @property
    def worst_score(self) -> float | None:
        """0, the score of a bankrupt lender; None if tools are charged without a limit.

        None as well for the value added, of which a bankrupt lender loses what it has raised.
        """
        return None if self.tool_charge or self.score_of == "value_added" else 0.0

    def score_series(self, roles: Sequence[str]) -> ScoreSeries:
        """Return the cash, which the lender must not run out of; its value is known at the end."""
        return ScoreSeries("Cash in the bank", ("cash",))

    def metrics(self, state: Lender) -> dict[str, Any]:
        """Return the columns of the paper's Table 2, and the score net of debt."""
        return score.metrics(state)

    @property
    def board_metrics(self) -> tuple[str, str, str]:
        """Survival, money raised, and of value and value added the one that is not the score."""
        other = "value" if self.score_of == "value_added" else "value_added"
        return "survived", "total_raised", other

    @property
    def metric_columns(self) -> Mapping[str, Column]:
        """Units of score and metrics."""
        return score.METRIC_COLUMNS

    def series(self, state: Lender) -> dict[str, Sequence[float]]:
        """Return the monthly series by name; `series.py` states the units."""
        return series.series(state)

    @property
    def series_columns(self) -> dict[str, Column]:
        """Unit and label of every series."""
        return series.COLUMNS

    def series_ticks(self, state: Lender) -> dict[str, range]:
        """Return the tick of each month closed, for every series."""
        return dict.fromkeys(series.COLUMNS, range(state.months_closed))

    def tables(self, state: Lender, role: str) -> dict[str, list[dict[str, Any]]]:
        """Return the tables that a person in the role may look up, by name; money in dollars."""
        assert role == CFO
        return tables.tables(state)

    def statements(self, state: Lender) -> dict[str, list[dict[str, Any]]]:
        """Return the yearly statements of the episode, by name.

        They are "income_statement", "balance_sheet" and "cash_flow". A row is a line of the
        statement, with its name under "line" and a column for each year, named by the last day of
        its last month; amounts are dollars.
        """
        return statements.statements(state, self.date)

    def role_time(self, state: Lender, role: str, tick: int) -> str:
        """Return the anonymised name of a month: its date would reveal the economy to come."""
        labels = state.macro.label
        return labels[tick] if 0 <= tick < len(labels) else ""

    def date(self, tick: int) -> dt.date:
        """Return the last day of a month; tick -1 is the day of the opening balances."""
        return month_end(self.calendar.start.date(), tick)

    @property
    def calendar(self) -> Months:
        """Months of the macro table; a tick is the end of its month, and -1 the start of the first.

        All entries of a month are posted at its tick.
        """
        return Months(dt.datetime.fromisoformat(f"{self.table.date[0]}-01"), opening=-1)

    def cash(self, state: Lender) -> int:
        """Return the cash in the bank in cents; below 0 before a bankruptcy."""
        return state.cash

    def receive_cash(self, state: Lender, cents: int, partner: str) -> None:
        """Post cash that a company of the group has sent; at least 1 cent.

        Raises:
            ValueError: It is less than 1 cent, or no whole number.
        """
        state.receive_cash(cents, partner)

    def pay_cash(self, state: Lender, cents: int, partner: str) -> None:
        """Post cash that is sent to a company of the group.

        Raises:
            ValueError: It is more than the cash in the bank, less than 1 cent, or no whole number.
        """
        state.pay_cash(cents, partner)

    def intercompany(self, state: Lender) -> dict[str, int]:
        """Return the balances by company of the group, cents; above 0 is owed to the lender."""
        return state.books.intercompany.balances
