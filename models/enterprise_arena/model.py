"""EnterpriseArena as a model: its role, its start, its score and its reports."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import frozen

from desim import Model, Role, World
from desim.core.calendar import Months, month_end
from desim.core.reported import Figures, Periods, Refused, ScoreSeries, Texts, Time
from ledgers.consolidation import Intercompany
from models.enterprise_arena import options, processes, regimes, report, statements, tools
from models.enterprise_arena.desk import BareMonth, Command, Header, Month, Pass
from models.enterprise_arena.lender import CFO, Lender
from models.enterprise_arena.params import ArenaParams

Rows = list[dict[str, Any]]


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
        return [given] if isinstance(given := params.get("macro"), str) else []

    @property
    def roles(self) -> dict[str, Role]:
        role = Role(
            Month if self.header == "full" else BareMonth,
            Command,
            options.options,
            default_action=_pass,
            described=options.described(self),
            thinking=self.thinking,
        )
        return {CFO: role}

    def texts(self, role: str) -> Texts:
        return Texts(options.rules(self), options.briefing(self))

    def after(self, state: Lender, role: str, action: Command, observation: Header) -> str:
        reply = observation.reply
        return tools.effect(state, action) if reply is None or reply.ok else Refused(reply.out)

    @property
    def time(self) -> Time:
        # A tick is the end of its month, -1 the start of the first. A role knows the anonymised
        # names of months, as dates would reveal the economy to come.
        calendar = Months(dt.datetime.fromisoformat(f"{self.table.date[0]}-01"), opening=-1)
        return Time(
            calendar=calendar,
            length=f"{self.horizon} months",
            date=self._month_end,
            role_time=_anonymised,
        )

    def _month_end(self, month: int) -> dt.date:
        return month_end(dt.date.fromisoformat(f"{self.table.date[0]}-01"), month)

    def begin(self, world: World) -> Lender:
        return processes.begin(world, self)

    @property
    def kept(self) -> tuple[str, ...]:
        if self.history == "table":
            macro = "macro figures of the months to come, which are those of a given table"
        else:
            macro = "the rest of a surge of borrower growth under way"
        forced = ("outcomes of funding that the parameters force",) if self.forced else ()
        return (macro, *forced)

    def redraw(self, world: World, state: Lender) -> None:
        processes.redraw(world, state)

    def score(self, state: Lender) -> float:
        return report.score(state)

    def metrics(self, state: Lender) -> dict[str, Any]:
        return report.metrics(state)

    @property
    def figures(self) -> Figures:
        # The lowest score is that of a bankrupt lender, 0. It has no bound if calls of tools cost,
        # nor for the value added, of which a bankrupt lender loses what it raised. The series of
        # the score is the cash, as the value is known at the end alone.
        adds = self.score_of == "value_added"
        return Figures(
            columns=report.METRIC_COLUMNS,
            series=report.SERIES_COLUMNS,
            score_series=ScoreSeries("Cash in the bank", ("cash",)),
            board=("survived", "total_raised", "value" if adds else "value_added"),
            score_range=None if self.tool_charge or adds else (0.0, None),
        )

    def series(self, state: Lender) -> dict[str, Periods]:
        return Periods.each(report.series(state), range(state.months_closed))

    def tables(self, state: Lender, role: str) -> dict[str, Rows]:
        return report.tables(state)

    def statements(self, state: Lender) -> dict[str, Rows]:
        return statements.yearly(state, self._month_end)

    def purse(self, state: Lender) -> Intercompany:
        return state.books.intercompany


def _pass(_: Header) -> Pass:
    return Pass()


def _anonymised(state: Lender, _role: str, tick: int) -> str:
    labels = state.macro.label
    return labels[tick] if 0 <= tick < len(labels) else ""
