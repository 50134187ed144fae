"""Working hours of SimPy's resources, by a timetable of their capacity."""

from desim.resources.timetables import Timetable
from desim.resources.working_hours import ShiftEnded, WorkingHours

__all__ = ["ShiftEnded", "Timetable", "WorkingHours"]
