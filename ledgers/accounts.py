"""One account as data: its code, its name and its kind."""

from typing import Final, Literal, TypeAlias, get_args

from attrs import frozen

from ledgers.errors import WrongChart, unknown
from ledgers.names import writable

__all__ = ["KINDS", "TEMPORARY", "Account", "Kind"]

Kind: TypeAlias = Literal["asset", "contra_asset", "liability", "equity", "income", "expense"]

#: Every kind of account, in the order of a trial balance.
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

#: Kinds whose accounts the year-end close brings to zero.
TEMPORARY: Final[tuple[Kind, ...]] = ("income", "expense")

_DEBIT: Final[tuple[Kind, ...]] = ("asset", "expense")


@frozen
class Account:
    """One account.

    Attributes:
        code: The name used in entries: "1000", "cash".
        name: The name shown to people: "Cash at bank".
        kind: One of `KINDS`.

    Raises:
        WrongChart: *kind* is not one of `KINDS`, or *code* or *name* is not a text with a UTF-8
            form.
    """

    code: str
    name: str
    kind: Kind

    def __attrs_post_init__(self) -> None:
        """Check the three texts."""
        for text in (self.code, self.name):
            if type(text) is not str or not text or not writable(text):
                raise WrongChart(f"code and name are texts that can be written, not {text!r}")
        if self.kind not in KINDS:
            raise WrongChart(f"account {self.code!r}: {unknown('kind', self.kind, KINDS)}")

    @property
    def normal(self) -> Literal["debit", "credit"]:
        """The side that increases the account; a contra asset (an allowance) grows by credits."""
        return "debit" if self.kind in _DEBIT else "credit"

    @property
    def sign(self) -> Literal[1, -1]:
        """The factor from a balance of the book to the figure in a statement.

        Liabilities, equity and income have credit balances and are shown positive. A contra asset
        is shown negative, among the assets that it reduces.
        """
        return -1 if self.kind in ("liability", "equity", "income") else 1

    @property
    def temporary(self) -> bool:
        """Whether the year-end close brings the account to zero: income and expenses."""
        return self.kind in TEMPORARY
