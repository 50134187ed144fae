"""The last events of an episode that fails."""

from typing import Any

import pytest
from support.workshop import Hire, Workshop

from desim import play
from desim.core.limits import Limits
from desim.core.run import Run
from desim.errors import LimitReached, PolicyFailed, UsageError, WrongAction
from desim.tracing.last_events import LastEvents


def one_job(_: Any) -> Hire:
    """Take on a job."""
    return Hire(1)


def failing(_: Any) -> Any:
    """Raise an exception."""
    raise RuntimeError("ill")


def notes(fault: BaseException) -> list[str]:
    """Return the lines of the notes of an error."""
    return [line for note in getattr(fault, "__notes__", ()) for line in note.splitlines()]


def test_the_last_events_are_listed_with_tick_process_and_role() -> None:
    """The oldest of them first; an event shows which processes it resumes."""
    kept = LastEvents(4)
    run = Run(Workshop(days=1), observers=[kept])
    while decisions := run.advance():
        run.answer(decisions[0], Hire(1))
    assert kept.text().splitlines() == [
        "the last 4 of 14 events:",
        "  t=4  Process job ended",
        "  t=6  Timeout resumes seller",
        "  t=7  Delivery",
        "  t=10 Timeout resumes boss",
    ]


def test_resources_have_the_names_of_the_variables_that_hold_them() -> None:
    """Of the state here; the process that asked may have ended."""
    kept = LastEvents(14)
    run = Run(Workshop(days=1), observers=[kept])
    while decisions := run.advance():
        run.answer(decisions[0], Hire(1))
    lines = [line.split("  ", 2)[-1] for line in kept.text().splitlines()[1:]]
    assert {line for line in lines if " of " in line} == {
        "Decision of boss: Hire(jobs=1) resumes boss",
        "PriorityRequest of machine resumes job",
        "Release of machine",
        "ContainerPut of tank resumes job",
        "StorePut of shelf resumes job",
        "StoreGet of shelf resumes seller",
    }


@pytest.mark.parametrize(
    ("policy", "limits", "error"),
    [
        (one_job, Limits(events=20), LimitReached),
        (one_job, Limits(decisions=1), LimitReached),
        (lambda _: "nothing", None, WrongAction),
        (failing, None, PolicyFailed),
    ],
)
def test_every_failure_shows_them(policy: Any, limits: Limits | None, error: type) -> None:
    """A limit, a wrong action and a policy that fails, and only where they are wanted."""
    with pytest.raises(error) as fault:
        play(Workshop(), policy, limits=limits, last_events=2)
    assert notes(fault.value)[0].startswith("the last 2 of ")
    assert len(notes(fault.value)) == 3
    with pytest.raises(error) as fault:
        play(Workshop(), policy, limits=limits)
    assert notes(fault.value) == []


@pytest.mark.parametrize("most", [-1, True, 2.5, 10**6, "3"])
def test_a_wrong_number_is_refused(most: Any) -> None:
    """It is a whole number of a limited size."""
    with pytest.raises(UsageError, match="whole number from 1 to 100,000"):
        play(Workshop(), one_job, last_events=most)


def test_before_the_first_event_there_is_nothing_to_show() -> None:
    """The text says so."""
    assert LastEvents(3).text() == "no event was processed"
