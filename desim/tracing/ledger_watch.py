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
        self._is_book = hasattr(ledger, "journal")
        rows = _entries_of(ledger)
        assert rows is not None
        self._rows = rows
        self._scale = 10 ** getattr(ledger, "digits", 0)
        # The accounts of a chart have names for people beside their codes.
        self._declared: Mapping[str, Any] = getattr(ledger, "declared", {})
        self._seen = 0
        self._balances: dict[str, Any] = {}

    def news(self) -> Posting | None:
        """Return what was posted since the last call; None for nothing."""
        rows = self._rows
        count = len(rows)
        if count == self._seen:
            return None
        fresh = [rows[at] for at in range(self._seen, count)]
        self._seen = count
        lines = [_lines(row, is_book=self._is_book) for row in fresh]
        balances = self._balances
        for each in lines:
            for account, amount in each.items():
                balances[account] = balances.get(account, 0) + amount
        touched = dict.fromkeys(account for each in lines for account in each)
        more = f" and {len(fresh) - 1} more" if len(fresh) > 1 else ""
        pairs = zip(fresh[:_MOST], lines, strict=False)
        return Posting(
            clean(_entry_label(fresh[0], is_book=self._is_book)) + more,
            tuple(_entry_arguments(row, each, is_book=self._is_book) for row, each in pairs),
            dict(self._finite(touched)),
            "balance" if self._is_book else "units",
        )

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


def _lines(row: Any, *, is_book: bool) -> Mapping[str, Any]:
    return row.amounts if is_book else {row.source: -row.units, row.target: row.units}


def _entry_label(row: Any, *, is_book: bool) -> str:
    return row.text if is_book else f"{row.source} to {row.target}"


def _entry_arguments(row: Any, lines: Mapping[str, Any], *, is_book: bool) -> dict[str, Any]:
    if not is_book:
        return {"from": row.source, "to": row.target, "units": _exact(row.units)}
    amounts = {account: _exact(amount) for account, amount in list(lines.items())[:_MOST]}
    kind = {"kind": clean(row.kind)} if getattr(row, "kind", "") else {}
    return {"text": clean(row.text), **kind, "amounts": amounts}


def _exact(amount: Any) -> int | str:
    """Return an amount as no reader of JSON rounds it: a text where it is large or a fraction."""
    return amount if type(amount) is int and abs(amount) <= _EXACT else str(amount)


def _entries_of(ledger: Any) -> Any:
    return getattr(ledger, "journal", getattr(ledger, "moves", None))
