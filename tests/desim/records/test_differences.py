"""Where two records first differ."""

from pathlib import Path
from typing import Any

import pytest
from support.conversations import RULES, call, decided, user, write_conversation

from desim.errors import BadRecord
from desim.records.differences import RecordDifferences, record_differences

BUY = {"do": "buy", "papers": 3}


def compared(folder: Path, a: list[Any], b: list[Any], **head: Any) -> RecordDifferences:
    """Return the differences of two records, the second with another header."""
    files = write_conversation(folder / "a", *a), write_conversation(folder / "b", *b, **head)
    return record_differences(*files)


def day(number: int) -> list[dict[str, Any]]:
    """Return the entries of a call on a day."""
    return call([RULES, user(f"Day {number}.")], "three")


def test_a_record_equals_itself(tmp_path: Path) -> None:
    """Header, decisions and end; what language models were sent is not compared."""
    found = compared(tmp_path, [day(1), decided(BUY)], [day(2), decided(BUY)])
    assert found.is_equal
    assert found.plain()["decisions"] == [1, 1]


def test_each_field_of_a_header_is_compared(tmp_path: Path) -> None:
    """Nested ones by their path."""
    other = {"seed": 7, "params": {"days": 4}, "provenance": {"code": "1f"}}
    found = compared(tmp_path, [], [], **other)
    assert {each.path: (each.a, each.b) for each in found.header} == {
        "seed": (0, 7),
        "params.days": (3, 4),
        "provenance.code": (None, "1f"),
    }


def test_the_first_decision_that_differs_is_named_with_its_places(tmp_path: Path) -> None:
    """Observation and action by the path inside them."""
    other = decided({"do": "buy", "papers": 5}, 1, observation={"day": 9})
    found = compared(tmp_path, [decided(BUY), decided(BUY, 1)], [decided(BUY), other]).decision
    assert found is not None
    assert (found.same, found.label) == (1, "decision 2, t=1, vendor")
    assert [(each.path, each.a, each.b) for each in found.places] == [
        ("observation.day", 1, 9),
        ("action.papers", 3, 5),
    ]


def test_a_record_with_more_decisions_goes_on(tmp_path: Path) -> None:
    """The shorter one is its beginning."""
    found = compared(tmp_path, [decided(BUY)], [decided(BUY), day(2), decided(BUY, 1)]).decision
    assert found is not None
    assert (found.same, found.goes_on, found.label) == (1, "B", "decision 2, t=1, vendor")


def test_records_of_different_worlds_are_compared_by_their_headers(tmp_path: Path) -> None:
    """Parameters and decisions are not."""
    found = compared(tmp_path, [decided(BUY)], [], model="stand", params={"tills": 2})
    assert [each.path for each in found.header] == ["model"]
    assert found.decision is None
    assert not found.is_of_one_world


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    """By its name."""
    (tmp_path / "notes").write_text("hello\n")
    with pytest.raises(BadRecord, match="notes"):
        record_differences(tmp_path / "notes", tmp_path / "notes")
