"""The order of events that fall on one instant (SPEC section 9.1)."""

#: The founder decides before anything of this rank or a higher one happens.
DESK = 1
#: Payroll comes before any other event of its instant.
PAYDAY = 1

#: Priorities of events at one instant.
COMPLETED, BANKRUPTCY, MILESTONE, HORIZON = 0, 2, 3, 4

#: After everything else of an instant: the clock stops once its events have been handled.
LAST = 10

#: More events of one kind than a run can have.
_SPAN = 10**9

#: A tick after every horizon.
NEVER = 10**19


def rank(priority: int, order: int = 0) -> int:
    """Return the rank of an event by its priority and, among equals, its order of creation."""
    return (priority + 1) * _SPAN + order
