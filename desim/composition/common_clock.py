"""The clock that several models share: its ticks are microseconds from a common start."""

from datetime import datetime, timedelta

from attrs import frozen

from desim.core.calendar import TickCalendar

_MICROSECOND = timedelta(microseconds=1)


@frozen
class CommonClock:
    """Dates and times of common ticks.

    Attributes:
        start: When common tick 0 is, without a time zone.
    """

    start: datetime

    def tick(self, moment: datetime) -> int:
        """Return the common tick of a moment."""
        return (moment - self.start) // _MICROSECOND

    def moment(self, tick: int) -> datetime:
        """Return when a common tick is.

        Raises:
            OverflowError: After year 9999.
        """
        return self.start + tick * _MICROSECOND


@frozen
class LocalTicks:
    """Maps the ticks of one model to common ticks and back.

    Attributes:
        clock: The common clock.
        calendar: The calendar of the model's own ticks.
    """

    clock: CommonClock
    calendar: TickCalendar

    def to_common(self, tick: int) -> int:
        """Return the common tick at which a local tick is."""
        return self.clock.tick(self.calendar.moment(tick))

    def to_local(self, tick: int) -> int:
        """Return the last local tick that is not after a common tick."""
        return self.calendar.last_tick(self.clock.moment(tick))
