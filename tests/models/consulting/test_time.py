"""The clock of an interview: reading, speaking, and a limit of minutes."""

from support.interviews import held

from models.consulting import Consulting


def words(count: int) -> str:
    """A message of so many words."""
    return " ".join(["word"] * count)


def test_published_interviews_take_no_time() -> None:
    """All of it happens at one tick."""
    run = held({"interviewer": [words(100)], "candidate": [words(100)]})
    assert {line.time for line in run.state.lines} == {0}
    assert run.result().metrics["minutes"] == 0


def test_a_message_is_said_and_then_taken_in() -> None:
    """30 words at 60 a minute are 30 seconds; the other side needs 15 more to read them."""
    run = held(
        {"interviewer": [words(30), words(1)], "candidate": [words(10)]},
        speaking_speed=60,
        reading_speed=120,
        messages=3,
    )
    assert [line.time for line in run.state.lines] == [30, 30 + 15 + 10, 55 + 5 + 1]
    assert run.result().metrics["minutes"] == 61 / 60


def test_nobody_is_asked_after_the_last_minute() -> None:
    """What is being said is finished; what is left of the budget stays."""
    run = held({"interviewer": [words(30)], "candidate": [words(90)]}, speaking_speed=60, minutes=1)
    assert run.result().ended == "time"
    assert run.result().metrics["messages"] == 2
    assert run.result().metrics["minutes"] == 2
    assert run.state.minutes_left == 0


def test_the_candidate_knows_the_time_that_is_left() -> None:
    """And sees no limit where there is none."""
    run = held({}, speaking_speed=60, minutes=30, seats=["candidate"])
    assert run.result().ended == "closed" or run.result().metrics["minutes"] <= 31
    assert Consulting.preset("timed").minutes == 30
