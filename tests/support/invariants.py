"""The promises of book and stock, verified at the end of every episode while tests run.

As in Beancount, the ledger itself stays free of checks that only its own bugs could fail. Sums are
made a second time, from the journal alone.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from desim.core.reported import inner_ledger, ledgers_of
from desim.core.run import Run
from ledgers.book import Book
from ledgers.stock import Stock


class BrokenInvariant(AssertionError):
    """A ledger broke one of its promises; it is not a `LedgerError`, which a world may catch."""


@contextmanager
def checked() -> Iterator[None]:
    """Verify the ledgers of every episode that ends until the context is left."""
    with checked_method(Run, "result", _faults_of_run):
        yield


@contextmanager
def checked_method(
    cls: type, name: str, faults: Callable[[Any], Iterable[str]], *, before: bool = False
) -> Iterator[None]:
    """Raise `BrokenInvariant` from a call of a method without arguments if its object has faults.

    The object is verified after the call, or *before* it.
    """
    method = getattr(cls, name)

    def check(one: Any) -> None:
        for fault in faults(one):
            raise BrokenInvariant(fault)

    @wraps(method)
    def checked_call(one: Any) -> Any:
        if before:
            check(one)
        returned = method(one)
        if not before:
            check(one)
        return returned

    # By name, because a type checker forbids the assignment, which is intended here.
    setattr(cls, name, checked_call)
    try:
        yield
    finally:
        setattr(cls, name, method)


def ledger_faults(ledger: Book | Stock) -> Iterator[str]:
    """Yield one sentence for each promise that a ledger has broken.

    Balances sum to zero and equal the sums of the journal's lines, and no inside place is negative.
    """
    sums = dict.fromkeys(ledger.held, 0)
    for name, units in _lines(ledger):
        sums[name] = sums.get(name, 0) + units
    held = dict(ledger.held)
    for name, units in held.items():
        if units != sums[name]:
            yield f"{name!r} holds {units} but its lines sum to {sums[name]}"
    if total := sum(held.values()):
        yield f"the balances sum to {total}, not to zero"
    for place in ledger.places if isinstance(ledger, Stock) else ():
        if held[place] < 0:
            yield f"{place!r} is inside and holds {held[place]}"


def _lines(ledger: Book | Stock) -> Iterator[tuple[str, Any]]:
    if isinstance(ledger, Book):
        for entry in ledger.journal:
            yield from entry.amounts.items()
        return
    for move in ledger.moves:
        yield move.source, -move.units
        yield move.target, move.units


def _faults_of_run(run: Run[Any]) -> Iterator[str]:
    for ledger in map(inner_ledger, ledgers_of(run.state)):
        if isinstance(ledger, Book | Stock):
            yield from ledger_faults(ledger)
