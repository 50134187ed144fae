"""EnterpriseArena as a model: its role, its processes, its score and its statements."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.calendar import Months, month_end
from desim.core.reported import Figures, Periods, Refused, ScoreSeries, Texts, Time
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
from models.enterprise_arena.state import CFO, Lender, Purse


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
    def files(cls, params: Mapping[str, Any]) -> Sequence[str]:
        """Return the macro table, where the parameter is a path."""
        return [given] if isinstance(given := params.get("macro"), str) else []

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

    def texts(self, role: str) -> Texts:
        """Return the rules that *role* may read."""
        return Texts(rules_text.rules(self), rules_text.briefing(self))

    def after(self, state: Lender, role: str, action: Command, observation: Header) -> str:
        """Return what the last command did, and when the rest of it shows."""
        reply = observation.reply
        return desk.effect(state, action) if reply is None or reply.ok else Refused(reply.out)

    @property
    def time(self) -> Time:
        """Months of the macro table; a tick is the end of its month, and -1 the start of the first.

        All entries of a month are posted at its tick. A role knows the anonymised names of months,
        as dates would reveal the economy to come.
        """
        calendar = Months(dt.datetime.fromisoformat(f"{self.table.date[0]}-01"), opening=-1)
        return Time(
            calendar=calendar,
            length=f"{self.horizon} months",
            date=self._month_end,
            role_time=_anonymised,
        )

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

    def metrics(self, state: Lender) -> dict[str, Any]:
        """Return the columns of the paper's Table 2, and the score net of debt."""
        return score.metrics(state)

    @property
    def figures(self) -> Figures:
        """Units of metrics and series.

        The lowest score is that of a bankrupt lender, 0; there is none if tools are charged without
        a limit, nor for the value added, of which a bankrupt lender loses what it has raised. The
        series of the score is the cash, as the value is known at the end alone. Boards show
        survival, money raised, and of value and value added the one that is not the score.
        """
        adds = self.score_of == "value_added"
        return Figures(
            columns=score.METRIC_COLUMNS,
            series=series.COLUMNS,
            score_series=ScoreSeries("Cash in the bank", ("cash",)),
            board=("survived", "total_raised", "value" if adds else "value_added"),
            score_range=None if self.tool_charge or adds else (0.0, None),
        )

    def series(self, state: Lender) -> dict[str, Periods]:
        """Return the monthly series by name; `series.py` states the units."""
        return Periods.each(series.series(state), range(state.months_closed))

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
        return statements.statements(state, self._month_end)

    def _month_end(self, month: int) -> dt.date:
        return month_end(dt.date.fromisoformat(f"{self.table.date[0]}-01"), month)

    def purse(self, state: Lender) -> Purse:
        """Return the cash in the bank; it is below 0 before a bankruptcy."""
        return Purse(state)


def _anonymised(state: Lender, _role: str, tick: int) -> str:
    labels = state.macro.label
    return labels[tick] if 0 <= tick < len(labels) else ""
