"""What the controller observes at the end of a month, before the pool moves cash."""

from attrs import frozen

__all__ = ["Department", "GroupPosition"]


@frozen
class Department:
    """One department.

    Attributes:
        name: Its name.
        cash: Dollars on hand.
        cash_change: Dollars earned less spent in the month, transfers apart.
        floor: Dollars below which the pool covers it.
        ceiling: Dollars above which the pool takes the rest; None: never.
        owed_to_treasury: Dollars received from the treasury less those paid to it.
        unpaid: Dollars of its own costs that it could not pay.
        months_unpaid: Month ends in a row with unpaid costs.
        status: "open", or why it has ended.
    """

    name: str
    cash: float
    cash_change: float
    floor: float
    ceiling: float | None
    owed_to_treasury: float
    unpaid: float
    months_unpaid: int
    status: str


@frozen
class GroupPosition:
    """The group at the end of a month.

    Attributes:
        month: Months that have passed.
        months: Months of the episode.
        grace: Month ends in a row with unpaid costs after which a department is closed.
        treasury_cash: Dollars on hand at the treasury.
        notes: Dollars that the treasury owes to lenders.
        net_worth: Dollars: the score if the episode ended now.
        departments: All departments but the treasury, in the order in which they are covered.
        reply: Why the last command was refused; empty if it was not.
    """

    month: int
    months: int
    grace: int
    treasury_cash: float
    notes: float
    net_worth: float
    departments: tuple[Department, ...]
    reply: str
