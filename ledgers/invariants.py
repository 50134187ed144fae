"""The promises of book and stock, verified after every call while a test runs.

As in Beancount, the methods that change a ledger are wrapped, and the ledger itself stays free of
checks that only its own bugs could fail. Sums are kept a second time, from the journal alone, so
that a check costs microseconds whatever the length of the journal.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from numbers import Rational
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from attrs import define, field

from ledgers.book import Book
from ledgers.entry import Entry, Memo, text_of
from ledgers.stock import Move, Stock, Units

Ledger: TypeAlias = Book | Stock


class BrokenInvariant(AssertionError):
    """A ledger broke one of its promises.

    It is not a `LedgerError`, so that code which catches refusals does not catch it.
    """


@contextmanager
def checked() -> Iterator[None]:
    """Verify every `Book.post`, `Book.transfer` and `Stock.move` until the context is left.

    After each call, accepted or refused, balances must sum to zero and equal the sums of the
    journal's lines, inside places must not be negative, and the journal must have grown by that one
    entry or, after a refusal, not at all. Contexts nest. A subclass is covered where it calls the
    original method.

    Raises:
        BrokenInvariant: From the call that broke a promise; the sentence names its entry.
    """
    post, transfer, move = Book.post, Book.transfer, Stock.move
    shadows: Shadows = WeakKeyDictionary()
    _replace(Book, "post", _checked_post(post, shadows))
    _replace(Book, "transfer", _checked_transfer(transfer, shadows))
    _replace(Stock, "move", _checked_move(move, shadows))
    try:
        yield
    finally:
        _replace(Book, "post", post)
        _replace(Book, "transfer", transfer)
        _replace(Stock, "move", move)


@contextmanager
def checked_method(
    cls: type, name: str, faults: Callable[[Any], Iterable[str]], *, before: bool = False
) -> Iterator[None]:
    """Verify an object around every call of one of its methods until the context is left.

    Args:
        cls: Its class.
        name: The method, without arguments and result.
        faults: Returns a sentence for everything that is wrong with an object.
        before: Verify before the method is called instead of after it.

    Raises:
        BrokenInvariant: From the first call with a fault.
    """
    method = getattr(cls, name)

    @wraps(method)
    def checked_call(one: Any) -> None:
        if not before:
            method(one)
        for fault in faults(one):
            raise BrokenInvariant(fault)
        if before:
            method(one)

    _replace(cls, name, checked_call)
    try:
        yield
    finally:
        _replace(cls, name, method)


@define
class Shadow:
    """The balances of a ledger, summed from the lines of its journal.

    Attributes:
        sums: Units by account or place.
        read: Journal entries summed so far.
    """

    sums: dict[str, Units] = field(factory=dict)
    read: int = 0

    def read_on(self, records: Sequence[Entry | Move]) -> None:
        """Add the lines of the *records* that were not read before."""
        for record in records[self.read :]:
            for name, units in _lines(record):
                self.sums[name] = self.sums.get(name, 0) + units
        self.read = len(records)


Shadows: TypeAlias = WeakKeyDictionary[Ledger, Shadow]
Post: TypeAlias = Callable[..., None]


def _checked_post(post: Post, shadows: Shadows) -> Post:
    @wraps(post)
    def checked_post(
        book: Book,
        time: int,
        text: str | Memo,
        amounts: Mapping[str, int] | None = None,
        /,
        **more: int,
    ) -> None:
        with _verified(book, shadows, f"post {text_of(text)!r} at t={time!r}", 1):
            post(book, time, text, amounts, **more)

    return checked_post


def _checked_transfer(transfer: Post, shadows: Shadows) -> Post:
    @wraps(transfer)
    def checked_transfer(
        book: Book, time: int, text: str | Memo, debit: str, credit: str, amount: int
    ) -> None:
        with _verified(book, shadows, f"transfer {text_of(text)!r} at t={time!r}", 1):
            transfer(book, time, text, debit, credit, amount)

    return checked_transfer


def _checked_move(move: Post, shadows: Shadows) -> Post:
    @wraps(move)
    def checked_move(stock: Stock, time: int, source: str, target: str, units: Units) -> None:
        call = f"move of {units!r} from {source!r} to {target!r} at t={time!r}"
        nothing = isinstance(units, Rational) and not units
        with _verified(stock, shadows, call, 0 if nothing else 1):
            move(stock, time, source, target, units)

    return checked_move


@contextmanager
def _verified(ledger: Ledger, shadows: Shadows, call: str, entries: int) -> Iterator[None]:
    """Verify *ledger* after a call that adds *entries* to its journal, or none if it is refused."""
    shadow = shadows.setdefault(ledger, Shadow())
    shadow.read_on(_records(ledger))
    try:
        yield
    except BrokenInvariant:
        raise
    except Exception:
        _verify(ledger, shadow, f"the refused {call}", 0)
        raise
    _verify(ledger, shadow, f"the {call}", entries)


def _verify(ledger: Ledger, shadow: Shadow, call: str, entries: int) -> None:
    for fault in _faults(ledger, shadow, entries):
        raise BrokenInvariant(f"after {call}, {fault}")


def _faults(ledger: Ledger, shadow: Shadow, entries: int) -> Iterator[str]:
    """Yield every promise that *ledger* does not keep, the most specific first."""
    records = _records(ledger)
    if (gained := len(records) - shadow.read) != entries:
        yield f"the journal gained {gained} entries, not {entries}"
    shadow.read_on(records)
    held = _held(ledger)
    for name, units in held.items():
        if units != (summed := shadow.sums.get(name, 0)):
            yield f"{name!r} holds {units} but its lines sum to {summed}"
    if total := sum(held.values()):
        yield f"the balances sum to {total}, not to zero"
    for place in ledger.places if isinstance(ledger, Stock) else ():
        if held[place] < 0:
            yield f"{place!r} is inside and holds {held[place]}"


def _records(ledger: Ledger) -> Sequence[Entry | Move]:
    return ledger.journal if isinstance(ledger, Book) else ledger.moves


def _held(ledger: Ledger) -> dict[str, Units]:
    """Return every balance, read through the methods that a model uses."""
    if isinstance(ledger, Book):
        return {account: ledger.balance(account) for account in ledger.accounts}
    return {place: ledger[place] for place in (*ledger.places, *ledger.outside)}


def _lines(record: Entry | Move) -> Iterable[tuple[str, Units]]:
    if isinstance(record, Entry):
        return record.amounts.items()
    return ((record.source, -record.units), (record.target, record.units))


def _replace(cls: type, method: str, function: Callable[..., None]) -> None:
    # By name, because a type checker forbids the assignment, which is intended here.
    setattr(cls, method, function)
