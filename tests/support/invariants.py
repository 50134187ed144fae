"""The promises of book and stock, verified after every call while a test runs.

As in Beancount, the methods that change a ledger are wrapped, and the ledger itself stays free of
checks that only its own bugs could fail. Sums are kept a second time, from the journal alone.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from attrs import define, field

from ledgers.book import Book
from ledgers.entry import Entry
from ledgers.stock import Stock, Units

Ledger: TypeAlias = Book | Stock
Method: TypeAlias = Callable[..., None]

#: The wrappers in place and what they verify, so that an inner context does not verify it again.
_VERIFIES: dict[Method, object] = {}


class BrokenInvariant(AssertionError):
    """A ledger broke one of its promises; it is not a `LedgerError`, which a world may catch."""


@contextmanager
def checked() -> Iterator[None]:
    """Verify every `Book.post`, `Book.transfer` and `Stock.move` until the context is left.

    After each call, accepted or refused, balances must sum to zero and equal the sums of the
    journal's lines, inside places must not be negative, and the journal must have grown by that one
    entry or, after a refusal, not at all. Contexts nest; a subclass is covered if it calls the
    original method.
    """
    methods: tuple[tuple[type, str], ...]
    methods = ((Book, "post"), (Book, "transfer"), (Stock, "move"))
    shadows: WeakKeyDictionary[Ledger, Shadow] = WeakKeyDictionary()
    with ExitStack() as stack:
        for cls, name in methods:
            method = getattr(cls, name)
            if _VERIFIES.get(method) is not checked:
                stack.enter_context(_replaced(cls, name, _verified(method, shadows), checked))
        yield


@contextmanager
def checked_method(
    cls: type, name: str, faults: Callable[[Any], Iterable[str]], *, before: bool = False
) -> Iterator[None]:
    """Raise `BrokenInvariant` from a call of a method without arguments if its object has faults.

    The object is verified after the call, or *before* it.
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

    with _replaced(cls, name, checked_call, faults):
        yield


@define
class Shadow:
    """The balances of a ledger, summed from the lines of its journal, and the entries read."""

    sums: dict[str, Units] = field(factory=dict)
    read: int = 0

    def read_on(self, ledger: Ledger) -> int:
        """Add the lines of the entries not read before; return the number of these entries."""
        records = _records(ledger)
        fresh = records[self.read :] if len(records) > self.read else ()
        for record in fresh:
            lines: Iterable[tuple[str, Units]] = (
                record.amounts.items()
                if isinstance(record, Entry)
                else ((record.source, -record.units), (record.target, record.units))
            )
            for name, units in lines:
                self.sums[name] = self.sums.get(name, 0) + units
        self.read += len(fresh)
        return len(fresh)


def _verified(method: Method, shadows: WeakKeyDictionary[Ledger, Shadow]) -> Method:
    @wraps(method)
    def checked_call(ledger: Ledger, *given: Any, **named: Any) -> None:
        shadow = shadows.get(ledger)
        if shadow is None:
            shadow = shadows[ledger] = Shadow(dict.fromkeys(ledger.held, 0))
        shadow.read_on(ledger)
        call = f"{method.__name__}{given}"
        try:
            method(ledger, *given, **named)
        except BrokenInvariant:
            raise
        except Exception as refusal:
            for fault in _faults(ledger, shadow, 0):
                raise BrokenInvariant(f"after the refused {call}, {fault}") from refusal
            raise
        moved = isinstance(ledger, Book) or named.get("units", given[-1:] != (0,))
        for fault in _faults(ledger, shadow, 1 if moved else 0):
            raise BrokenInvariant(f"after {call}, {fault}")

    return checked_call


def _faults(ledger: Ledger, shadow: Shadow, entries: int) -> Iterator[str]:
    if (gained := shadow.read_on(ledger)) != entries:
        yield f"the journal gained {gained} entries, not {entries}"
    held: dict[str, Units] = dict(ledger.held)
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


def _records(ledger: Ledger) -> Any:
    return ledger.journal if isinstance(ledger, Book) else ledger.moves


@contextmanager
def _replaced(cls: type, name: str, wrapper: Method, verifies: object) -> Iterator[None]:
    method = getattr(cls, name)
    _VERIFIES[wrapper] = verifies
    # By name, because a type checker forbids the assignment, which is intended here.
    setattr(cls, name, wrapper)
    try:
        yield
    finally:
        setattr(cls, name, method)
        del _VERIFIES[wrapper]
