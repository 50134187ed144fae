"""The notepad: free, kept for the whole episode, found by text and tag."""

from attrs import evolve
from support.arena import Seat

from models.enterprise_arena import EnterpriseArena
from models.enterprise_arena.desk import (
    BookClosing,
    FundRaisingRequest,
    RecallNotes,
    SaveNote,
)

QUIET = EnterpriseArena(zero_noise=True)
NOTES = [
    SaveNote("Ask for equity in June", ("funding", "plan")),
    SaveNote("Growth looks flat", ("market",)),
    SaveNote("Equity round was declined", ("funding",)),
    SaveNote("nothing new"),
]


def written(model: EnterpriseArena = QUIET) -> Seat:
    """Write four notes, one a month."""
    seat = Seat(model)
    for month, note in enumerate(NOTES):
        seat.to(month).ask(note)
    return seat


def found(seat: Seat, query: str = "", tags: tuple[str, ...] = (), limit: int = 10) -> list[str]:
    """Return the identifiers of notes, as recalled."""
    return [note["id"] for note in seat.out(RecallNotes(query, tags, limit))["notes"]]


def test_a_note_is_numbered_and_dated() -> None:
    """The reply to a note says which it is; recalled, it holds all that was written."""
    seat = Seat(QUIET).to(2)
    assert seat.out(NOTES[0]) == {"id": "note_1", "month": 2}
    assert seat.out(NOTES[1]) == {"id": "note_2", "month": 2}
    assert seat.out(RecallNotes("june"))["notes"] == [
        {
            "id": "note_1",
            "month": 2,
            "content": "Ask for equity in June",
            "tags": ["funding", "plan"],
        }
    ]


def test_notes_are_recalled_by_text_and_by_any_tag() -> None:
    """Newest first; text in any case; both filters hold where both are given."""
    seat = written()
    assert found(seat) == ["note_4", "note_3", "note_2", "note_1"]
    assert found(seat, "EQUITY") == ["note_3", "note_1"]
    assert found(seat, tags=("funding",)) == ["note_3", "note_1"]
    assert found(seat, tags=("plan", "market")) == ["note_2", "note_1"]
    assert found(seat, "june", ("market",)) == []
    assert found(seat, limit=2) == ["note_4", "note_3"]
    assert found(seat, tags=("fund",)) == []


def test_the_five_latest_notes_are_shown() -> None:
    """In every observation, the newest first; none at first."""
    seat = Seat(QUIET)
    assert seat.month is not None
    assert seat.month.notes == ()
    for number in range(7):
        seat.to(number).ask(SaveNote(str(number)))
    month = seat.to(9).month
    assert month is not None
    assert [note.content for note in month.notes] == ["6", "5", "4", "3", "2"]
    assert [note.month for note in month.notes] == [6, 5, 4, 3, 2]


def test_beyond_the_guard_the_month_passes() -> None:
    """The guard is off by default; with it, one use too many is a pass, and writes nothing."""
    seat = Seat(evolve(QUIET, note_limit=3))
    for note in (SaveNote("a"), RecallNotes(), SaveNote("b")):
        seat.ask(note)
    month = seat.say(SaveNote("c"))
    assert month is not None
    assert month.current_month == 1
    assert [note.content for note in month.notes] == ["b", "a"]
    assert month.reply is not None
    assert month.reply.to == "pass"
    assert seat.lender.counts["passes"] == 1
    assert seat.ask(SaveNote("d")).ok


def test_notes_change_nothing_in_the_world() -> None:
    """Books and score are the same with notes and without."""
    asked = {3: FundRaisingRequest("equity", 20e6)}
    model = EnterpriseArena(horizon=12)
    plain, writer = Seat(model, 7), Seat(model, 7)
    while plain.month is not None and writer.month is not None:
        writer.ask(SaveNote("x" * 1_000, ("t",)))
        action = asked.get(plain.month.current_month, BookClosing())
        plain.say(action)
        writer.say(action)
    assert plain.run.result().ledger_digest == writer.run.result().ledger_digest
    assert plain.run.result().score == writer.run.result().score
