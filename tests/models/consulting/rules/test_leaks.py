"""The leak check: internal text in the interviewer's mouth is counted."""

import pytest
from support.interviews import BAKERY, held

from models.consulting.rules.interviewer import leaks
from models.consulting.seats import Message

INTERNAL = "demand is far above what can be baked"


@pytest.mark.parametrize(
    ("said", "count"),
    [
        (["Hello", "Yes", f"You see, {INTERNAL.upper()}!"], 1),
        ([f"Hello: {INTERNAL}", "Yes", f"As I said, {INTERNAL}"], 2),
        (["Hello", f"I think {INTERNAL}", f"Right, {INTERNAL}"], 0),
        (["Hello", "Yes", "demand is far above"], 0),
        ([BAKERY.opening, "Yes", BAKERY.gated[0].fact], 0),
    ],
    ids=["copied", "twice", "said by the candidate first", "a short run", "what may be told"],
)
def test_leaks_are_counted_by_message(said: list[str], count: int) -> None:
    """A run of five words of the internal part is one, whatever its case and marks."""
    dialogue = [
        Message("candidate" if number % 2 else "interviewer", text)
        for number, text in enumerate(said)
    ]
    assert leaks(BAKERY, dialogue) == count
    run = held({"interviewer": said[::2], "candidate": said[1::2]}, messages=3)
    assert run.result().metrics["leaks"] == count
