"""The declared layout of a statement: lines over accounts or categories, and totals of them."""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from attrs import field, frozen

from ledgers.book import UnknownAccount
from ledgers.errors import LedgerError, listed, unknown


class WrongLayout(LedgerError):
    """A statement cannot be computed as declared."""


@frozen
class Line:
    """A row with the sum of some accounts, or of some categories of cash.

    Attributes:
        name: Name of the row: "revenue".
        of: Codes of accounts, or categories; a single one may be given without a tuple.
        sign: 1 shows debits, and cash received, as positive; -1 shows credits as positive.

    Raises:
        WrongLayout: *sign* is neither.
    """

    name: str
    of: tuple[str, ...] = field(converter=listed)
    sign: Literal[1, -1] = 1

    def __attrs_post_init__(self) -> None:
        """Check the sign."""
        if self.sign not in (1, -1):
            raise WrongLayout(f"row {self.name!r}: the sign is 1 or -1, not {self.sign!r}")


@frozen
class Total:
    """A row that adds and subtracts rows above it.

    Attributes:
        name: Name of the row: "gross_profit".
        plus: Names of the rows added; a single one may be given without a tuple.
        minus: Names of the rows subtracted.
    """

    name: str
    plus: tuple[str, ...] = field(converter=listed)
    minus: tuple[str, ...] = field(default=(), converter=listed)


Row: TypeAlias = Line | Total


def _in_order(rows: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(rows)


@frozen
class Layout:
    """The rows of a statement, from top to bottom.

    Attributes:
        title: Title of the statement: "income statement".
        rows: Lines, and totals of rows above them.

    Raises:
        WrongLayout: The layout is empty, a name is used twice, or a total names a row that is not
            above it.
    """

    title: str
    rows: tuple[Row, ...] = field(converter=_in_order)

    def __attrs_post_init__(self) -> None:
        """Check the names of the rows."""
        above: list[str] = []
        if not self.rows:
            raise WrongLayout(f"{self.title}: declare at least one row")
        for row in self.rows:
            if row.name in above:
                raise WrongLayout(f"{self.title}: row {row.name!r} comes twice")
            for name in (*row.plus, *row.minus) if isinstance(row, Total) else ():
                if name not in above:
                    raise WrongLayout(
                        f"{self.title}: total {row.name!r}: {unknown('row above it', name, above)}"
                    )
            above.append(row.name)

    @property
    def sources(self) -> tuple[str, ...]:
        """Every account or category that a line shows, from top to bottom."""
        return tuple(source for row in self.rows if isinstance(row, Line) for source in row.of)

    def fill(self, amounts: Mapping[str, int]) -> dict[str, int]:
        """Return every row's units, computed from amounts by account or category.

        Args:
            amounts: Units, debits and cash received positive.

        Raises:
            UnknownAccount: A line shows an account or category without an amount.
        """
        filled: dict[str, int] = {}
        for row in self.rows:
            if isinstance(row, Line):
                filled[row.name] = row.sign * sum(_amount(amounts, source) for source in row.of)
            else:
                plus, minus = (sum(filled[name] for name in side) for side in (row.plus, row.minus))
                filled[row.name] = plus - minus
        return filled


def _amount(amounts: Mapping[str, int], source: str) -> int:
    if source not in amounts:
        raise UnknownAccount(unknown("account or category", source, amounts))
    return amounts[source]
