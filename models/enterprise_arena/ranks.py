"""The order of what falls on one month (SPEC section 2.1): lower ranks come first."""

__all__ = ["COMPILE", "OPEN", "OPERATE", "SERVICE", "SETTLE", "TAX", "YEAR_END"]

#: January closes the year before anything else of it happens (J0).
YEAR_END = 0
#: Funding that is due becomes known; its money arrives (J1, J2).
SETTLE = 1
#: The solvency test, the header of the month, the officer's decisions.
OPEN = 2
#: Nothing of this rank or a higher one happens before the month's action (J3 to J12).
OPERATE = 3
#: Interest and principal of the notes (J13, J14).
SERVICE = 4
#: Last month's tax is paid, this month's accrued (J15, J16).
TAX = 5
#: The month's figures stand.
COMPILE = 6
