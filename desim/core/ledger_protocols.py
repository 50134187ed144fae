"""What desim reads of ledgers, whose classes it does not import, and what companies exchange."""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import (
    Any,
    ClassVar,
    Protocol,
    runtime_checkable,
)

from desim.errors import UsageError
from desim.short_repr import short_repr

#: A table that a person may look up: plain rows of text, numbers or None by column.
Rows = Sequence[Mapping[str, Any]]


# Not the class of the folder `ledgers`, which desim does not import: any object with a digest is
# accepted.
class Ledger(Protocol):
    """The member that the framework needs of a ledger."""

    def digest(self) -> str:
        """Return a fingerprint: equal for equal entries in equal order."""
        ...


def ledgers_of(state: Any) -> Sequence[Any]:
    """Return the ledgers of a state, always in the same order; empty for one without `ledgers`."""
    ledgers: Sequence[Any] = getattr(state, "ledgers", ())
    return ledgers


def inner_ledger(ledger: Any) -> Any:
    """Return the ledger itself of one of a part, which adds the part's name; any other as it is."""
    return getattr(ledger, "ledger", ledger)


def entries_of(ledger: Any) -> Sequence[Any] | None:
    """Return the entries or moves of a ledger, which grow with it; None if it shows neither."""
    entries: Sequence[Any] | None = getattr(ledger, "journal", getattr(ledger, "moves", None))
    return entries


def scale_of(ledger: Any) -> int:
    """Return how many units of a ledger are 1 of its currency; 1 for a ledger without `digits`."""
    scale: int = 10 ** getattr(ledger, "digits", 0)
    return scale


@runtime_checkable
class Exportable(Protocol):
    """A ledger that can be written in forms which other programs read."""

    #: The forms that `export` offers, such as "csv".
    export_forms: ClassVar[tuple[str, ...]]

    @property
    def name(self) -> str:
        """Distinguishes the ledgers of one state in file names; may be empty."""
        ...

    def export(self, form: str, date: Callable[[int], dt.date] | None = None) -> Mapping[str, str]:
        """Return texts by file name.

        Args:
            form: One of `export_forms`.
            date: Returns the day of a tick, if the model has dates.

        Raises:
            ValueError: The ledger cannot be written in that form.
        """
        ...


# Not the class of the folder `ledgers`, for the same reason as `Ledger`.
@runtime_checkable
class Statement(Protocol):
    """A statement with an amount for each of its lines, such as `ledgers.statements.Statement`."""

    def money(self) -> Mapping[str, float]:
        """Return the amounts in the currency itself, by line from top to bottom."""
        ...


@runtime_checkable
class HasIntercompany(Protocol):
    """A model of a company that can exchange cash with the other companies of a group.

    Cash that is received raises what the company owes to the partner, or lowers what the partner
    owes to it: an intercompany account, which its statements show.
    """

    def cash(self, state: Any) -> int:
        """Return the cash on hand in cents."""
        ...

    def receive_cash(self, state: Any, cents: int, partner: str) -> None:
        """Post cash that *partner* has sent at this tick; at least 1 cent."""
        ...

    def pay_cash(self, state: Any, cents: int, partner: str) -> None:
        """Post cash that is sent to *partner* at this tick.

        Raises:
            ValueError: It is more than the cash on hand, or less than 1 cent.
        """
        ...

    def intercompany(self, state: Any) -> Mapping[str, int]:
        """Return the balances by partner in cents: above 0 is owed to this company."""
        ...


@runtime_checkable
class HasGoodsExchange(Protocol):
    """A model of a company that can exchange goods with the other companies of a group."""

    def goods(self, state: Any, place: str) -> int | Fraction:
        """Return the units on hand at a place.

        Raises:
            ValueError: The company has no such place.
        """
        ...

    def deliver_goods(self, state: Any, place: str, units: int, partner: str) -> None:
        """Add units that *partner* delivers at this tick to a place; at least 1 unit."""
        ...

    def take_goods(self, state: Any, place: str, units: int, partner: str) -> None:
        """Hand over units of a place to *partner* at this tick.

        Raises:
            ValueError: The place has fewer units on hand, or the units are fewer than 1.
        """
        ...

    def exchanged_goods(self, state: Any) -> Mapping[str, int]:
        """Return by partner the units received from it less those handed over to it."""
        ...


def rows_of(name: str, given: Rows | Statement) -> Rows:
    """Return a table as rows; a statement gives its lines and amounts, as "line" and "amount".

    Args:
        name: What error texts call the table.
        given: Rows, or an object with `money`.

    Raises:
        UsageError: The value is neither rows nor a statement.
    """
    if isinstance(given, Statement):
        return [{"line": line, "amount": amount} for line, amount in given.money().items()]
    if isinstance(given, Sequence) and all(isinstance(row, Mapping) for row in given):
        return given
    raise UsageError(
        f"the table {name!r} is {short_repr(given)}; a table is a list of mappings by column, or "
        "a statement with `money`"
    )
