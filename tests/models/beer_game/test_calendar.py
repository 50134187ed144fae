"""The weeks of the game on a calendar."""

# ruff: noqa: DTZ001 (the calendar has no time zones)

from datetime import datetime

from models.beer_game import BeerGame


def test_a_tick_is_the_end_of_a_week_and_the_first_begins_on_a_monday() -> None:
    """Tick 0 is where week 1 begins; a week lasts until the next Monday begins."""
    game = BeerGame()
    calendar = game.time.calendar
    assert calendar.moment(0) == datetime(2025, 1, 6)
    assert calendar.moment(0).weekday() == 0
    assert calendar.moment(1) == datetime(2025, 1, 13)
    assert calendar.last_tick(datetime(2025, 1, 12, 23, 59)) == 0
    assert calendar.last_tick(datetime(2025, 1, 5)) == -1
    assert calendar.starting(datetime(2030, 5, 1)).moment(2) == datetime(2030, 5, 15)


def test_weeks_have_no_dates_of_their_own() -> None:
    """So that what is exported shows none."""
    assert BeerGame().time.date is None
