"""The trial balance of a book: every account with its balance, in debits and credits."""

from attrs import frozen

from ledgers.amounts import grouped

__all__ = ["TrialBalance"]


@frozen
class TrialBalance:
    """Every account with its balance, and the two totals, which are equal.

    Attributes:
        rows: Pairs of account and balance, in the order of the chart; `dict(rows)` looks one up.
        digits: Decimals of the currency that one integer unit is.
    """

    rows: tuple[tuple[str, int], ...]
    digits: int

    @property
    def debits(self) -> int:
        """Sum of the positive balances."""
        return sum(balance for _, balance in self.rows if balance > 0)

    @property
    def credits(self) -> int:
        """Minus the sum of the negative balances."""
        return -sum(balance for _, balance in self.rows if balance < 0)

    def __str__(self) -> str:
        """Return a table of debits and credits in the currency."""
        lines = [("account", "debit", "credit")]
        lines += [(name, self._cell(units), self._cell(-units)) for name, units in self.rows]
        lines += [("total", self._cell(self.debits), self._cell(self.credits))]
        name, debit, credit = (max(map(len, column)) for column in zip(*lines, strict=True))
        return "\n".join(f"{a:{name}}  {d:>{debit}}  {c:>{credit}}".rstrip() for a, d, c in lines)

    def _cell(self, units: int) -> str:
        return grouped(units, self.digits) if units > 0 else ""
