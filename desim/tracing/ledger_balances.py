"""The balances of the ledgers of a traced episode."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from desim.core.reported import inner_ledger, ledgers_of
from desim.tracing.trace_labels import attributes, clean
from desim.tracing.trace_rows import Count


class LedgerBalances:
    """Follows the balances of one ledger.

    Args:
        name: Begins the names of its counters.
        ledger: One with `held`, and with `digits` if it holds money.
    """

    def __init__(self, name: str, ledger: Any) -> None:
        self._name = name
        self._held: Mapping[str, Any] = ledger.held
        self._unit = "balance" if hasattr(ledger, "digits") else "units"
        self._scale = 10 ** getattr(ledger, "digits", 0)
        # The accounts of a chart have names for people beside their codes.
        self._declared: Mapping[str, Any] = getattr(ledger, "declared", {})
        self._seen: dict[str, Any] = {}

    def changes(self, time: int) -> Iterator[Count]:
        """Yield the balances that have changed since the last call, in the unit of people."""
        if self._held == self._seen:
            return
        before, self._seen = self._seen, dict(self._held)
        for account, units in self._seen.items():
            value = _money(units, self._scale)
            if units != before.get(account, 0) and math.isfinite(value):
                yield Count("", f"{self._name} {self._label(account)}", self._unit, time, value)

    def _label(self, code: str) -> str:
        declared = self._declared.get(code)
        return code if declared is None or declared.name == code else f"{code} {declared.name}"


def traced_ledgers(state: Any) -> Iterator[tuple[str, Any]]:
    """Yield name and ledger of those of a state that have balances."""
    for at, outer in enumerate(ledgers_of(state), 1):
        ledger, name = inner_ledger(outer), getattr(outer, "name", "")
        # One without a name has that of the variable that holds it.
        if not getattr(ledger, "name", ""):
            name = f"{name}.{_held_as(getattr(outer, 'owner', state), ledger)}".strip(".")
        if hasattr(ledger, "held"):
            yield clean(name or f"ledger {at}"), ledger


def _held_as(owner: Any, ledger: Any) -> str:
    """Return the attribute of an object, or of one of its attributes, that holds a ledger."""
    held = attributes(owner)
    for inner in (held, *map(attributes, held.values())):
        for name, value in inner.items():
            if value is ledger:
                return name.strip("_")
    return ""


def _money(units: Any, scale: int) -> float:
    try:
        return float(units) / scale
    except OverflowError:  # an integer of more than 300 digits
        return math.inf
