"""The order of the events of one month (SPEC section 2.1): lower ranks come first."""

#: In January, the close of the year before (J0).
YEAR_END = 0
#: The outcome of a funding request that is due; its money arrives (J1, J2).
SETTLE = 1
#: The solvency test at the opening, then the officer's decisions.
OPEN = 2
#: Operations (J3 to J9). The month's action is decided before any event of this or a higher rank.
OPERATE = 3
#: The payroll (J10), then last month's payables and the provision (J11, J12).
PAYDAY = 4
#: Interest and principal of the notes (J13, J14).
SERVICE = 5
#: Payment of last month's tax, accrual of this month's (J15, J16), the record of the month, then
#: the solvency test at its end.
MONTH_END = 6
