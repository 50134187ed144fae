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

#: The wrappers in place and what they verify, so that an inner context does not verify it again.
_VERIFIES: dict[Callable[..., None], object] = {}


class BrokenInvariant(AssertionError):
    """A ledger broke one of its promises.

    It is not a `LedgerError`, so that code which catches refusals does not catch it.
    """


@contextmanager
def checked() -> Iterator[None]:
    """Verify every `Book.post`, `Book.transfer` and `Stock.move` until the context is left.

    After each call, accepted or refused, balances must sum to zero and equal the sums of the
    journal's lines, inside places must not be negative, and the journal must have grown by that one
    entry or, after a refusal, not at all. Contexts nest; the inner ones have no effect
    and no cost. A subclass is covered if it calls the original method.

    Raises:
        BrokenInvariant: From the call that broke a promise; the sentence names its entry.
    """
    post, transfer, move = Book.post, Book.transfer, Stock.move
    if all(_VERIFIES.get(method) is checked for method in (post, transfer, move)):
        yield
        return
    shadows: Shadows = WeakKeyDictionary()
    with (
        _replaced(Book, "post", _checked_post(post, shadows), checked),
        _replaced(Book, "transfer", _checked_transfer(transfer, shadows), checked),
        _replaced(Stock, "move", _checked_move(move, shadows), checked),
    ):
        yield


@contextmanager
def checked_method(
    cls: type, name: str, faults: Callable[[Any], Iterable[str]], *, before: bool = False
) -> Iterator[None]:
    """Verify an object around every call of one of its methods until the context is left.

    Contexts with the same *faults* nest; the inner ones have no effect and no cost.

    Args:
        cls: Its class.
        name: The method, without arguments and result.
        faults: Returns a sentence for everything that is wrong with an object.
        before: Verify before the method is called instead of after it.

    Raises:
        BrokenInvariant: From the first call with a fault.
    """
    method = getattr(cls, name)
    if _VERIFIES.get(method) is faults:
        yield
        return

    @wraps(method)
    def checked_call(one: Any) -> None:
        if not before:
            method(one)
        for fault in faults(one):
            raise BrokenInvariant(fault)
        if before:
            method(one)

    with _replaced(cls, name, checked_call, faults):
        yield


@define
class Shadow:
    """The balances of a ledger, summed from the lines of its journal.

    Attributes:
        sums: Units by account or place.
        read: Journal entries summed so far.
    """

    sums: dict[str, Units] = field(factory=dict)
    read: int = 0

    def read_on(self, records: Sequence[Entry | Move]) -> set[str]:
        """Add the lines of the *records* not read before; return the names in these lines."""
        named = set()
        if len(records) > self.read:
            for record in records[self.read :]:
                for name, units in _lines(record):
                    self.sums[name] = self.sums.get(name, 0) + units
                    named.add(name)
        self.read = len(records)
        return named


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
        def says() -> str:
            return f"post {text_of(text)!r} at t={time!r}"

        _verified(book, shadows, lambda: post(book, time, text, amounts, **more), says)

    return checked_post


def _checked_transfer(transfer: Post, shadows: Shadows) -> Post:
    @wraps(transfer)
    def checked_transfer(
        book: Book, time: int, text: str | Memo, debit: str, credit: str, amount: int
    ) -> None:
        def says() -> str:
            return f"transfer {text_of(text)!r} at t={time!r}"

        _verified(book, shadows, lambda: transfer(book, time, text, debit, credit, amount), says)

    return checked_transfer


def _checked_move(move: Post, shadows: Shadows) -> Post:
    @wraps(move)
    def checked_move(stock: Stock, time: int, source: str, target: str, units: Units) -> None:
        def says() -> str:
            return f"move of {units!r} from {source!r} to {target!r} at t={time!r}"

        nothing = isinstance(units, Rational) and not units
        entries = 0 if nothing else 1
        _verified(stock, shadows, lambda: move(stock, time, source, target, units), says, entries)

    return checked_move


def _verified(
    ledger: Ledger,
    shadows: Shadows,
    change: Callable[[], None],
    says: Callable[[], str],
    entries: int = 1,
) -> None:
    """Verify *ledger* after a call that adds *entries* to its journal; a refused call adds none.

    Args:
        ledger: The ledger that *change* changes.
        shadows: The shadows of all ledgers.
        change: Makes the call.
        says: Returns the description of the call for the fault's sentence.
        entries: Number of entries that the call adds.
    """
    shadow = shadows.get(ledger)
    if shadow is None:
        shadow = shadows[ledger] = Shadow(dict.fromkeys(ledger.held, 0))
    shadow.read_on(_records(ledger))
    try:
        change()
    except BrokenInvariant:
        raise
    except Exception as refusal:
        for fault in _faults(ledger, shadow, 0):
            raise BrokenInvariant(f"after the refused {says()}, {fault}") from refusal
        raise
    for fault in _faults(ledger, shadow, entries):
        raise BrokenInvariant(f"after the {says()}, {fault}")


def _faults(ledger: Ledger, shadow: Shadow, entries: int) -> Iterator[str]:
    """Yield every promise that *ledger* does not keep, the most specific first."""
    records = _records(ledger)
    if (gained := len(records) - shadow.read) != entries:
        yield f"the journal gained {gained} entries, not {entries}"
    named = shadow.read_on(records)
    held = _held(ledger, named)
    if held != shadow.sums:  # the dicts are compared whole, because almost always they are equal
        for name, units in held.items():
            if units != (summed := shadow.sums.setdefault(name, 0)):
                yield f"{name!r} holds {units} but its lines sum to {summed}"
    if total := sum(held.values()):
        yield f"the balances sum to {total}, not to zero"
    if isinstance(ledger, Stock):
        for place in ledger.places:
            if held[place] < 0:
                yield f"{place!r} is inside and holds {held[place]}"


def _records(ledger: Ledger) -> Sequence[Entry | Move]:
    return ledger.journal if isinstance(ledger, Book) else ledger.moves


def _held(ledger: Ledger, named: Iterable[str]) -> dict[str, Units]:
    """Return every balance; those that the last call named through the method that models use."""
    held: dict[str, Units] = dict(ledger.held)
    read = ledger.balance if isinstance(ledger, Book) else ledger.__getitem__
    for name in named:
        held[name] = read(name)
    return held


def _lines(record: Entry | Move) -> Iterable[tuple[str, Units]]:
    if isinstance(record, Entry):
        return record.amounts.items()
    return ((record.source, -record.units), (record.target, record.units))


@contextmanager
def _replaced(
    cls: type, name: str, wrapper: Callable[..., None], verifies: object
) -> Iterator[None]:
    """Replace a method by a wrapper until the context is left."""
    method = getattr(cls, name)
    _VERIFIES[wrapper] = verifies
    # By name, because a type checker forbids the assignment, which is intended here.
    setattr(cls, name, wrapper)
    try:
        yield
    finally:
        setattr(cls, name, method)
        del _VERIFIES[wrapper]
