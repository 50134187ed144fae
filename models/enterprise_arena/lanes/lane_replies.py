"""The fields of an observation that are texts or objects, made for a lane when they are read."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from attrs import define

from desim.lanes.lane_columns import Array
from desim.schema import members, tag
from models.enterprise_arena.accounting.accounts import dollars
from models.enterprise_arena.actions import (
    DEBT,
    INSTRUMENTS,
    BookClosing,
    Command,
    FundRaisingRequest,
    Pass,
)
from models.enterprise_arena.lanes.lane_state import (
    DRAWN,
    ISSUED,
    NO_COMMAND,
    NOTHING,
    OUT_OF_CALLS,
    UNDER_WAY,
    LaneState,
)
from models.enterprise_arena.observation import (
    DEBT_DELIVERED,
    DECLINED,
    EQUITY_DELIVERED,
    CommandReply,
    Month,
)
from models.enterprise_arena.officer.commands import calls_used_up, cash_position
from models.enterprise_arena.officer.funding import PENDING, goes_on, wrong_amount
from models.enterprise_arena.params import ArenaParams

_COMMANDS = members(Command)


@define(eq=False)
class LaneColumn:
    """A column whose entries are made when they are read.

    Attributes:
        entry: Returns the entry of a lane.
        lanes: The number of lanes.
    """

    entry: Callable[[int], Any]
    lanes: int
    ndim: ClassVar[int] = 1

    def __len__(self) -> int:
        """Return the number of lanes."""
        return self.lanes

    def __getitem__(self, lane: int) -> Any:
        """Return the entry of a lane."""
        return self.entry(lane)


@define(eq=False)
class Correspondence:
    """Notifications, replies and flash figures at one decision of all lanes.

    Attributes:
        params: The parameters.
        labels: Anonymised names of the months.
        state: The state of all lanes.
        earned: Revenue since month 0, see `Operated.earned`.
        header: Columns of the observation: what the cash tool returns.
    """

    params: ArenaParams
    labels: Sequence[str]
    state: LaneState
    earned: Array
    header: dict[str, Array]

    def columns(self) -> dict[str, Any]:
        """Return the columns by field of the observation."""
        flash = self._column(self._flash) if self.params.flash else None
        return {
            "date": self._column(self._date),
            "notifications": self._column(self._notifications),
            "reply": self._column(self._reply),
            "flash": flash,
        }

    def _column(self, entry: Callable[[int], Any]) -> LaneColumn:
        return LaneColumn(entry, len(self.state.month))

    def _date(self, lane: int) -> str:
        return self.labels[int(self.state.month[lane])]

    def _notifications(self, lane: int) -> tuple[dict[str, Any], ...]:
        notice, month = self.state.notice, int(self.state.month[lane])
        event, amount = int(notice.event[lane]), float(notice.received[lane]) / 100
        if event == NOTHING:
            return ()
        if event == ISSUED:
            issued = amount / self.params.share_price
            shown = {"event": EQUITY_DELIVERED, "month": month, "amount": amount}
            return ({**shown, "shares_issued": issued},)
        if event == DRAWN:
            rate = float(notice.rate[lane])
            shown = {"event": DEBT_DELIVERED, "month": month, "amount": amount}
            return ({**shown, "contract_rate": rate},)
        kind = INSTRUMENTS[int(notice.instrument[lane])]
        return ({"event": DECLINED, "month": month, "type": kind},)

    def _reply(self, lane: int) -> CommandReply | None:
        given = int(self.state.reply.to[lane])
        if given == NO_COMMAND:
            return None
        kind = _COMMANDS[given]
        if kind is FundRaisingRequest:
            return self._to_request(lane)
        if kind is BookClosing:
            closed = self.labels[int(self.state.reply.month[lane])]
            return CommandReply(tag(kind), ok=True, out={"closed": closed})
        if kind is Pass:
            return CommandReply(tag(kind), ok=True, out={})
        if self.state.reply.fault[lane] == OUT_OF_CALLS:
            return CommandReply(tag(kind), ok=False, out=calls_used_up(self.params.tool_budget))
        return CommandReply(tag(kind), ok=True, out=self._cash(lane))

    def _to_request(self, lane: int) -> CommandReply:
        reply, name = self.state.reply, tag(FundRaisingRequest)
        amount, fault = float(reply.amount[lane]), int(reply.fault[lane])
        if fault:
            why = PENDING if fault == UNDER_WAY else wrong_amount(self.params, amount)
            return CommandReply(name, ok=False, out=goes_on(why) if reply.goes_on[lane] else why)
        kind = INSTRUMENTS[int(reply.instrument[lane])]
        out = {"status": "submitted", "type": kind, "amount": amount}
        if kind == DEBT:
            out["indicative_rate"] = float(reply.rate[lane])
        return CommandReply(name, ok=True, out=out)

    def _cash(self, lane: int) -> dict[str, Any]:
        shown = {name: column[lane].item() for name, column in self.header.items()}
        raised = dollars(int(self.state.tallies.equity_raised[lane]))
        return cash_position(self.params, Month(date=self._date(lane), **shown), raised)

    def _flash(self, lane: int) -> dict[str, float] | None:
        last = int(self.state.month[lane]) - 1
        if last < 0:
            return None
        money = self.state.money
        revenue = self.earned[last + 1, lane] - self.earned[last, lane]
        return {
            "revenue": float(revenue) / 100,
            "net_cash_flow": float(money.closing[lane] - money.before[lane]) / 100,
            "cash": float(money.closing[lane]) / 100,
        }
