"""Working hours of SimPy's resources.

* `timetables`: capacity by tick, as a repeating list of shifts or from business hours.
* `working_hours`: changes the capacity of a resource by a timetable.
"""

from desim.resources.timetables import Timetable
from desim.resources.working_hours import ShiftEnded, WorkingHours

__all__ = ["ShiftEnded", "Timetable", "WorkingHours"]
