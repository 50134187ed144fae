"""Working hours of SimPy's resources, and requests with a reason.

* `timetables`: capacity by tick, as a repeating list of shifts or from business hours.
* `working_hours`: changes the capacity of a resource by a timetable.
* `reasons`: the reason of a request, by which monitors divide the use.
"""

from desim.resources.reasons import with_reason
from desim.resources.timetables import Timetable
from desim.resources.working_hours import ShiftEnded, WorkingHours

__all__ = ["ShiftEnded", "Timetable", "WorkingHours", "with_reason"]
