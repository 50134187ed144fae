"""The ledgers of a part under the part's name, with the part's own dates."""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from desim.composition.common_clock import LocalTicks
from desim.composition.parts import Part
from desim.core.ledger_protocols import Exportable, HasLedgers, Ledger
from desim.core.model import offers
from desim.errors import UsageError, possible

#: An entry at midnight closes the day before.
_MICROSECOND = dt.timedelta(microseconds=1)


@frozen
class PartLedger:
    """A ledger of a part.

    Attributes:
        name: The part's name, and the ledger's own if it has one.
        ledger: The ledger itself.
        owner: The state of the part.
    """

    name: str
    ledger: Ledger
    owner: Any
    _ticks: LocalTicks

    @property
    def export_forms(self) -> tuple[str, ...]:
        """The forms in which the ledger can be written; empty if it cannot be exported."""
        return self.ledger.export_forms if offers(self.ledger, Exportable) else ()

    def digest(self) -> str:
        """Return the ledger's own digest."""
        return self.ledger.digest()

    def export(
        self,
        form: str,
        date: Callable[[int], dt.date] | None = None,  # noqa: ARG002 (the ticks are the part's)
    ) -> Mapping[str, str]:
        """Return texts by file name, with the dates of the part's own ticks.

        Raises:
            UsageError: The ledger cannot be written in that form.
        """
        if not offers(self.ledger, Exportable):
            raise UsageError(f"ledger {self.name} has no form {form!r}; {possible(form, ())}")
        return self.ledger.export(form, self._date)

    def _date(self, tick: int) -> dt.date:
        return (self._ticks.calendar.moment(tick) - _MICROSECOND).date()


def ledgers_of(part: Part) -> Iterator[PartLedger]:
    """Yield the ledgers of a part that has begun, in the part's order."""
    state: Any = part.state
    for ledger in state.ledgers if offers(state, HasLedgers) else ():
        own = getattr(ledger, "name", "")
        yield PartLedger(f"{part.name}.{own}" if own else part.name, ledger, state, part.ticks)
