"""The columns of EnterpriseArena's Table 2, from our episodes."""

from collections.abc import Callable

from arena_targets import shown
from attrs import frozen
from published import Line

from desim import Rows

#: Our metric for a column of Table 2, and its factor.
COLUMNS = {
    "score": ("score", 1),
    "survival_pct": ("survived", 100),
    "months_survived": ("months", 1),
    "equity_raised": ("equity_raised", 1),
    "debt_raised": ("debt_raised", 1),
    "total_raised": ("total_raised", 1),
    "fundraise_success_pct": ("success_rate", 100),
    "peak_cash": ("peak_cash", 1),
    "end_cash": ("end_cash", 1),
    "low_cash": ("low_cash", 1),
    "tools_per_month": ("tool_calls_per_month", 1),
    "fr_action_pct": ("request_share", 100),
    "fr_success_action_pct": ("successful_request_share", 100),
    "book_closing_pct": ("closing_share", 100),
    "pass_count": ("passes", 1),
    "pass_pct": ("pass_share", 100),
}


@frozen
class Episodes:
    """Episodes of one rule, preset `paper`."""

    policy: str
    rows: Callable[[], Rows] | None

    def column(self, _: Line, column: str) -> list[float]:
        """Return a column of Table 2, one value for each episode."""
        name, scale = COLUMNS[column]
        return [scale * value for value in shown(self._mine, name)]

    def closings(self, *_: object) -> list[float]:
        """Return the number of book closings of each episode."""
        months = self._mine.values("months")
        shares = self._mine.values("closing_share")
        return [share * (month + 1) for share, month in zip(shares, months, strict=True)]

    @property
    def _mine(self) -> Rows:
        assert self.rows is not None
        return self.rows().where(policy=self.policy)
