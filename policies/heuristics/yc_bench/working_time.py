"""When work gets done: the two kinds of hours a plan must tell apart (SPEC section 6).

Plans count the open hours of weekdays. Progress may count more: with `evenings`, a weekday counts
from opening until midnight. Both are reckoned as positions on an axis of hours since a Monday.
"""

from datetime import datetime, timedelta

from attrs import field, frozen

__all__ = ["WorkingTime"]

_WEEKDAYS, _WEEK, _HOURS = 5, 7, 24
_MONDAY = datetime(2001, 1, 1)  # noqa: DTZ001 (the company knows no zones)


@frozen
class WorkingTime:
    """The hours of weekdays that count.

    Attributes:
        opens: Hour of the day, 0 to 23.
        closes: Hour of the day, 1 to 24, behind `opens`.
    """

    opens: float = 9.0
    closes: float = 18.0
    day: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "day", self.closes - self.opens)

    def position(self, moment: datetime) -> float:
        """Return how many hours that count lie between a Monday long ago and a moment."""
        since = moment - _MONDAY
        weeks, weekday = divmod(since.days, _WEEK)
        if weekday >= _WEEKDAYS:
            return (weeks + 1) * _WEEKDAYS * self.day
        today = min(max(since.seconds / 3600 - self.opens, 0.0), self.day)
        return (weeks * _WEEKDAYS + weekday) * self.day + today

    def moment(self, position: float) -> datetime:
        """Return the earliest moment at a position."""
        days, hours = divmod(position, self.day)
        if not hours:  # a day's end rather than the next day's beginning
            days, hours = days - 1, self.day
        weeks, weekday = divmod(int(days), _WEEKDAYS)
        return _MONDAY + timedelta(days=weeks * _WEEK + weekday, hours=self.opens + hours)

    def between(self, first: datetime, last: datetime) -> float:
        """Return the hours that count between two moments; 0 if the second is not the later."""
        return max(0.0, self.position(last) - self.position(first))

    def after(self, first: datetime, hours: float) -> datetime:
        """Return when so many hours that count have passed."""
        return self.moment(self.position(first) + hours)
