"""The goods of a chain, which it may exchange with other companies of its group."""

from collections import Counter

from desim.short_repr import short_repr
from ledgers.errors import LedgerError
from ledgers.stock import Overdrawn, Stock, WrongUnits

#: The outside place of goods that other companies deliver or take.
INTERCOMPANY = "intercompany"


class WrongPartner(LedgerError):
    """The name of a partner is not a text, or is empty."""


class GoodsExchange:
    """Goods received from and handed over to partners.

    The first exchange adds the outside place of the partners, so that the stock of a chain without
    a group has none.

    Args:
        goods: The chain's goods.
    """

    __slots__ = ("_balances", "_goods")

    def __init__(self, goods: Stock) -> None:
        self._goods = goods
        self._balances: Counter[str] = Counter()

    @property
    def balances(self) -> dict[str, int]:
        """Units by partner: those received from it less those handed over to it."""
        return dict(self._balances)

    def receive(self, time: int, place: str, units: int, partner: str) -> None:
        """Move units that a partner delivers to a place.

        Raises:
            WrongUnits: The units are not a whole number above 0.
            WrongPartner: The partner's name is not a text, or is empty.
            LedgerError: The same errors as `Stock.move`.
        """
        _check(units, partner)
        self._open()
        self._goods.move(time, INTERCOMPANY, place, units)
        self._balances[partner] += units

    def hand_over(self, time: int, place: str, units: int, partner: str) -> None:
        """Move units from a place to a partner.

        Raises:
            Overdrawn: The place holds fewer units.
            LedgerError: The same errors as `receive`.
        """
        _check(units, partner)
        if units > (held := self._goods[place]):
            raise Overdrawn(f"{units} units were to be taken from {place!r}, which holds {held}")
        self._open()
        self._goods.move(time, place, INTERCOMPANY, units)
        self._balances[partner] -= units

    def _open(self) -> None:
        if INTERCOMPANY not in self._goods.held:
            self._goods.add_outside(INTERCOMPANY)


def _check(units: object, partner: object) -> None:
    if type(units) is not int or units < 1:
        given = short_repr(units)
        raise WrongUnits(f"{given} units were given; goods are exchanged in whole units above 0")
    if not isinstance(partner, str) or not partner:
        raise WrongPartner(f"partner={short_repr(partner)} was given; it is the name of a company")
