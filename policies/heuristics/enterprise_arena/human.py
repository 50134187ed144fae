"""The schedule of the two human experts behind the paper's Table 2, as far as it can be told."""

from typing import Self

from attrs import define, field
from attrs.validators import ge, in_

from desim import Seat
from models.enterprise_arena import BookClosing, FundRaisingRequest, Month, Pass, VerifyCashPosition
from models.enterprise_arena.actions import Action
from policies.heuristics.enterprise_arena.rules import free

__all__ = ["HumanLike"]

#: Equity of one request, dollars, by expert: in two rounds, and in three or more.
_TWO = {"A": 66_000_000.0, "B": 90_000_000.0}
_MORE = {"A": 43_000_000.0, "B": 60_000_000.0}
#: Expert B asks for the first debt and for the second from these months on.
_DEBT_FROM = (63, 84)
_DEBT = 90_000_000.0
#: Months in which the books stay open.
_PASSES = (40, 80, 120)
#: A look at the bank account in every fifth month but the first: 26 in 132 months.
_LOOK_EVERY = 5


@define
class HumanLike:
    """Raise equity early in a few large rounds; expert B borrows twice after the second surge.

    Equity is asked for whenever free until `tranches` rounds have closed. Then B asks for debt
    whenever free, from month 63 until one has come and from month 84 until a second has. All
    other months close the books but 40, 80 and 120, which pass.

    Attributes:
        expert: "A" or "B"; from a spec without it, A plays even seeds and B odd ones.
        tranches: Equity rounds: two of 66 (A) or 90 million (B), three or more of 43 or 60.

    Source: reference targets.json, `human_like` and `human_like_three_tranches`.
    """

    expert: str = field(default="A", validator=in_(("A", "B")))
    tranches: int = field(default=2, validator=ge(1))
    _rounds: int = field(default=0, init=False)
    _debts: int = field(default=0, init=False)
    _month: int = field(default=-1, init=False)

    @classmethod
    def seated(cls, seat: Seat, expert: str = "", tranches: int = 2) -> Self:
        """Take the expert of the episode's seed where none is named."""
        return cls(expert or "AB"[seat.seed % 2], tranches)

    def decide(self, month: Month) -> Action | VerifyCashPosition:
        """Look at the bank account if it is time, then ask, close the books or pass."""
        now = month.current_month
        if now > self._month:
            self._month = now
            self._count(month)
            if now and now % _LOOK_EVERY == 0:
                return VerifyCashPosition()
        if free(month) and (request := self._wanted(now)):
            return request
        return Pass() if now in _PASSES else BookClosing()

    def _count(self, month: Month) -> None:
        came = [told["event"] for told in month.notifications]
        self._rounds += came.count("equity_delivered")
        self._debts += came.count("debt_delivered")

    def _wanted(self, now: int) -> FundRaisingRequest | None:
        if self._rounds < self.tranches:
            amounts = _TWO if self.tranches <= len(_TWO) else _MORE
            return FundRaisingRequest("equity", amounts[self.expert])
        borrows = self.expert == "B" and self._debts < len(_DEBT_FROM)
        if borrows and now >= _DEBT_FROM[self._debts]:
            return FundRaisingRequest("debt", _DEBT)
        return None
