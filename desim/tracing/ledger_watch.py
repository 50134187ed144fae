"""The postings of a ledger since the last look at it, and the balances that follow."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from desim.core.reported import inner_ledger, ledgers_of
from desim.tracing.trace_labels import attributes, clean

#: Entries and lines of an entry that are written for one event.
_MOST = 20
#: The largest integer that every reader of JSON holds exactly.
_EXACT = 2**53

#: The label of an entry, its amounts by account, and what is written of it, as plain values.
_Entry = tuple[str, Mapping[str, Any], dict[str, Any]]


@frozen
class Posting:
    """The entries that one event has posted to one ledger.

    Attributes:
        text: The text of the first entry, and the number of further entries.
        entries: The first ones, as plain values.
        balances: The new balances by account that has changed, in the unit that people read.
        unit: The kind of balances: `balance` of money, or `units`.
    """

    text: str
    entries: tuple[Mapping[str, Any], ...]
    balances: Mapping[str, float]
    unit: str


class LedgerWatch:
    """Follows one ledger.

    Args:
        name: Of its track.
        ledger: One with a journal or moves.
    """

    def __init__(self, name: str, ledger: Any) -> None:
        self.name = name
        self._rows = _entries_of(ledger)
        is_book = hasattr(ledger, "journal")
        self._read = _journal_entry if is_book else _move
        self._unit = "balance" if is_book else "units"
        self._scale = 10 ** getattr(ledger, "digits", 0)
        # The accounts of a chart have names for people beside their codes.
        self._declared: Mapping[str, Any] = getattr(ledger, "declared", {})
        self._seen = 0
        self._balances: dict[str, Any] = {}

    def news(self) -> Posting | None:
        """Return what was posted since the last call; None for nothing."""
        count = len(self._rows)
        if count == self._seen:
            return None
        fresh = [self._read(self._rows[at]) for at in range(self._seen, count)]
        self._seen = count
        touched: dict[str, None] = {}
        for _, lines, _ in fresh:
            for account, amount in lines.items():
                touched[account] = None
                self._balances[account] = self._balances.get(account, 0) + amount
        more = f" and {len(fresh) - 1} more" if len(fresh) > 1 else ""
        entries = tuple(arguments for _, _, arguments in fresh[:_MOST])
        return Posting(fresh[0][0] + more, entries, dict(self._finite(touched)), self._unit)

    def _finite(self, accounts: Mapping[str, None]) -> Iterator[tuple[str, float]]:
        for account in accounts:
            try:
                value = float(self._balances[account]) / self._scale
            except OverflowError:  # an integer of more than 300 digits
                continue
            if math.isfinite(value):
                yield self._account(account), value

    def _account(self, code: str) -> str:
        declared = self._declared.get(code)
        return code if declared is None or declared.name == code else f"{code} {declared.name}"


def watches(state: Any) -> Iterator[tuple[int, str, Any]]:
    """Yield identity, name and ledger of those of a state that can be followed."""
    for at, outer in enumerate(ledgers_of(state), 1):
        ledger, owner = inner_ledger(outer), getattr(outer, "owner", state)
        if _entries_of(ledger) is None:
            continue
        name = getattr(outer, "name", "")
        # One without a name has that of the variable that holds it.
        if not getattr(ledger, "name", ""):
            name = f"{name}.{held_as(owner, ledger)}" if name else held_as(owner, ledger)
        yield id(ledger), clean(name.rstrip(".") or f"ledger {at}"), ledger


def held_as(owner: Any, ledger: Any) -> str:
    """Return the attribute of an object, or of one of its attributes, that holds a ledger."""
    held = attributes(owner)
    for inner in (held, *map(attributes, held.values())):
        for name, value in inner.items():
            if value is ledger:
                return name.strip("_")
    return ""


def _journal_entry(row: Any) -> _Entry:
    amounts = {account: _exact(amount) for account, amount in list(row.amounts.items())[:_MOST]}
    kind = {"kind": clean(row.kind)} if getattr(row, "kind", "") else {}
    return clean(row.text), row.amounts, {"text": clean(row.text), **kind, "amounts": amounts}


def _move(row: Any) -> _Entry:
    arguments = {"from": row.source, "to": row.target, "units": _exact(row.units)}
    lines = {row.source: -row.units, row.target: row.units}
    return clean(f"{row.source} to {row.target}"), lines, arguments


def _exact(amount: Any) -> int | str:
    """Return an amount as no reader of JSON rounds it: a text where it is large or a fraction."""
    return amount if type(amount) is int and abs(amount) <= _EXACT else str(amount)


def _entries_of(ledger: Any) -> Any:
    return getattr(ledger, "journal", getattr(ledger, "moves", None))
