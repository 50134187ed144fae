"""What desim reads of ledgers, whose classes it does not import."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Protocol, runtime_checkable

from desim.errors import UsageError
from desim.short_repr import short_repr

#: A table that a person may look up: plain rows of text, numbers or None by column.
Rows = Sequence[Mapping[str, Any]]


def ledgers_of(state: Any) -> Sequence[Any]:
    """Return the ledgers of a state, always in the same order; empty for one without `ledgers`.

    Each has `digest()`, equal for equal entries in equal order; it may also have `name`, `digits`,
    `held`, and a `journal` or `moves`.
    """
    ledgers: Sequence[Any] = getattr(state, "ledgers", ())
    return ledgers


def inner_ledger(ledger: Any) -> Any:
    """Return the ledger itself of one of a part, which adds the part's name; any other as it is."""
    return getattr(ledger, "ledger", ledger)


@runtime_checkable
class Exportable(Protocol):
    """A ledger that can be written in forms which other programs read, such as "csv"."""

    export_forms: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str:
        """Distinguishes the ledgers of one state in file names; may be empty."""
        ...

    def export(self, form: str, date: Callable[[int], dt.date] | None = None) -> Mapping[str, str]:
        """Return texts by file name; *date* returns the day of a tick."""
        ...


@runtime_checkable
class Statement(Protocol):
    """A statement with an amount for each of its lines, such as `ledgers.statements.Statement`."""

    def money(self) -> Mapping[str, float]:
        """Return the amounts in the currency itself, by line from top to bottom."""
        ...


class Holding(Protocol):
    """Cash or goods that a company exchanges with the other companies of its group.

    Times are the company's ticks, amounts whole cents or units of at least 1.
    """

    @property
    def held(self) -> int | Fraction:
        """The cents or units on hand."""
        ...

    @property
    def balances(self) -> Mapping[str, int]:
        """The open balance with each partner, who has the same with the opposite sign."""
        ...

    def receive(self, time: int, partner: str, amount: int, /) -> None:
        """Add what *partner* has sent."""
        ...

    def send(self, time: int, partner: str, amount: int, /) -> None:
        """Hand over to *partner*; a ValueError if it is more than is on hand, or less than 1."""
        ...


def rows_of(name: str, given: Rows | Statement) -> Rows:
    """Return a table as rows, of a statement with "line" and "amount"; errors call it *name*."""
    if isinstance(given, Statement):
        return [{"line": line, "amount": amount} for line, amount in given.money().items()]
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        return given
    raise UsageError(
        f"the table {name!r} is {short_repr(given)}; a table is a list of mappings by column, or "
        "a statement with `money`"
    )
