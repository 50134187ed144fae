"""The prompt of a world without a file of its own names the units that its fields declare."""

from typing import ClassVar

from attrs import frozen
from support.small_worlds import Walk

from desim import Role, Seat, catalog
from desim.schema.described import field_lines
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


def test_the_prompt_of_the_enterprise_is_as_before() -> None:
    """Its texts name all units."""
    model = catalog.model("enterprise")
    role = model.roles["controller"]
    talk = Conversation(Seat(model, "controller", role, 0), LLMOptions(model="none"))
    assert talk.rules(None).endswith(field_lines(role.observation))
