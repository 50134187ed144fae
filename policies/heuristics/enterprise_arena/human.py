"""The schedule of the two human experts of the paper's Table 2, as far as it is published."""

import math

from attrs import define, field
from attrs.validators import ge, in_

from desim import Policy, Seat
from models.enterprise_arena.desk import (
    DEBT,
    DEBT_DELIVERED,
    EQUITY,
    EQUITY_DELIVERED,
    Action,
    BookClosing,
    FundRaisingRequest,
    Header,
    Pass,
    VerifyCashPosition,
)
from policies.heuristics.enterprise_arena.replies import LESS, refused
from policies.heuristics.enterprise_arena.rules import free

#: Equity of one request in dollars by expert: with two rounds, and with three or more.
_TWO = {"A": 66_000_000.0, "B": 90_000_000.0}
_MORE = {"A": 43_000_000.0, "B": 60_000_000.0}
#: The months from which expert B requests the first debt and the second.
_DEBT_FROM = (63, 84)
#: Debt of one request, dollars.
_BORROWED = 90_000_000.0
#: Months in which the expert passes instead of closing the books.
_PASSES = (40, 80, 120)
#: Months from one call of the cash tool to the next, from month 5 on: 26 calls in 132 months.
_CALL_EVERY = 5


@define
class HumanLike(Policy):
    """Raise equity early in a few large rounds; expert B borrows twice after the second surge.

    Equity is requested whenever no request is under way, until `tranches` rounds have closed. Then
    B requests debt whenever no request is under way, from month 63 until one note is drawn and from
    month 84 until a second is. All other months close the books, except 40, 80 and 120, which pass.
    Where a request is refused, which no published world does, later ones are smaller.

    It knows the `future`: months 63 and 84 were fitted to the experts' published cash.

    Attributes:
        expert: "A" or "B"; empty for A on even seeds and B on odd ones.
        tranches: Equity rounds: two of 66 (A) or 90 million (B), three or more of 43 or 60.

    Source: reference targets.json, `human_like` and `human_like_three_tranches`.
    """

    knows = "future"
    draws = True
    needs_world_seed = True

    expert: str = field(default="", validator=in_(("", "A", "B")))
    tranches: int = field(default=2, validator=ge(1))
    _rounds: int = field(default=0, init=False)
    _debts: int = field(default=0, init=False)
    _month: int = field(default=-1, init=False)
    _largest: float = field(default=math.inf, init=False)
    _submitted: FundRaisingRequest | None = field(default=None, init=False)

    def seated(self, seat: Seat) -> None:
        """Choose the expert by the episode's seed if none is named."""
        self.expert = self.expert or "AB"[seat.world_seed % 2]

    def decide(self, month: Header) -> Action | VerifyCashPosition:
        """Call the cash tool if it is due, then submit a request, close the books or pass."""
        now = month.current_month
        if self._submitted and refused(month):
            self._largest = LESS * self._submitted.amount
        if now > self._month:
            self._month = now
            events = [notification["event"] for notification in month.notifications]
            self._rounds += events.count(EQUITY_DELIVERED)
            self._debts += events.count(DEBT_DELIVERED)
            if now and now % _CALL_EVERY == 0:
                return VerifyCashPosition()
        self._submitted = self._wanted(now) if free(month) else None
        if self._submitted:
            return self._submitted
        return Pass() if now in _PASSES else BookClosing()

    def _wanted(self, now: int) -> FundRaisingRequest | None:
        if self._rounds < self.tranches:
            amounts = _TWO if self.tranches <= len(_TWO) else _MORE
            return FundRaisingRequest(EQUITY, min(amounts[self.expert], self._largest))
        borrows = self.expert == "B" and self._debts < len(_DEBT_FROM)
        if borrows and now >= _DEBT_FROM[self._debts]:
            return FundRaisingRequest(DEBT, min(_BORROWED, self._largest))
        return None
