"""The prompt of a world without a file of its own names the units that its fields declare."""

from typing import ClassVar

from attrs import frozen
from support.small_worlds import Walk

from desim import Role, Seat
from desim.show.column import CENTS, Column
from policies.llm.conversation import Conversation
from policies.llm.options import LLMOptions


@frozen
class Till:
    """A till.

    Attributes:
        day: Days so far.
        cash_cents: What is in it.
        queue: Those who wait.
    """

    columns: ClassVar = {"day": Column("days"), "cash_cents": CENTS, "queue": Column("people")}

    day: int
    cash_cents: int
    queue: int


@frozen
class Close:
    """Close it."""


def test_fields_have_the_units_that_their_texts_leave_out() -> None:
    """Values are sent as they are, so an amount in cents says so."""
    seat = Seat(Walk(), "walker", Role(Till, Close), 0)
    talk = Conversation(seat, LLMOptions(model="none"))
    assert talk.rules(None).splitlines()[-3:] == [
        "- day: Days so far.",
        "- cash_cents: What is in it. (in steps of 0.01 dollars)",
        "- queue: Those who wait. (people)",
    ]
