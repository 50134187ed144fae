"""Observations of a role with several classes have a tag in JSON; those of others have none."""

from pathlib import Path

import numpy as np
import pytest
from support.two_questions import Breakdown, Closing, Workshop

from desim import Episode, play, replay
from desim.errors import SchemaError
from desim.schema import (
    check_observation,
    class_of,
    encode,
    encode_observation,
    from_plain,
    plain_observation,
)
from desim.schema.described import field_lines

BOTH = Closing | Breakdown


def test_only_observations_of_a_union_have_a_tag() -> None:
    """So records of roles with one class stay as they are."""
    seen = Closing(day=1, cash=2)
    assert encode_observation(seen, Closing) == encode(seen)
    assert plain_observation(seen, Closing) == {"day": 1, "cash": 2}
    assert plain_observation(seen, BOTH) == {"do": "closing", "day": 1, "cash": 2}


@pytest.mark.parametrize("seen", [Closing(1, 2), Breakdown(1, "saw")])
def test_what_is_written_is_read_back_as_the_class_that_it_was(seen: Closing | Breakdown) -> None:
    """The tag is the one in the JSON Schema of the union."""
    assert from_plain(plain_observation(seen, BOTH), BOTH) == seen


def test_the_class_of_an_observation_is_found_by_instance_and_by_tag() -> None:
    """A plain object without a tag fits neither class, so the union itself is returned."""
    assert class_of(Closing(1, 2), BOTH) is Closing
    assert class_of({"do": "breakdown", "day": 1, "machine": "saw"}, BOTH) is Breakdown
    assert class_of({"day": 1}, BOTH) is BOTH
    assert class_of({"do": "breakdown"}, Closing) is Closing


def test_an_observation_of_neither_class_is_refused_by_their_names() -> None:
    """A numpy number in a class of the union fits, as it does in a single class."""
    check_observation(Closing(1, np.int64(2)), BOTH)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="is not of class Closing or Breakdown"):
        check_observation(3, BOTH)
    with pytest.raises(SchemaError, match=r"Expected `int`.*\$\.cash"):
        check_observation(Closing(1, "much"), BOTH)  # type: ignore[arg-type]


def test_fields_of_a_union_are_listed_by_class() -> None:
    """For readers that see no Python; each list is below the tag of its class."""
    assert field_lines(BOTH).splitlines() == [
        'Where "do" is "closing" (The day is over):',
        "- day: Days so far.",
        "- cash: Dollars in the till.",
        'Where "do" is "breakdown" (A machine has failed):',
        "- day: Days so far.",
        "- machine: Its name.",
    ]


def test_a_note_is_added_to_the_line_of_a_field() -> None:
    """It depends on the class, the name and the text of the field."""
    lines = field_lines(Closing, lambda *field: f" {field}" if field[1] == "cash" else "")
    assert lines.splitlines()[-1] == (
        "- cash: Dollars in the till. ('Closing', 'cash', 'Dollars in the till.')"
    )


def test_a_record_holds_which_observation_it_was(tmp_path: Path) -> None:
    """The observations read from it equal those of the episode in memory."""
    played = play(Workshop(), "greedy", 0, record=tmp_path / "a.jsonl")
    kept = Episode.read(tmp_path / "a.jsonl")
    assert [step.observation["do"] for step in kept.steps] == ["closing", "breakdown"] * 2
    again = [from_plain(step.observation, BOTH) for step in kept.steps]
    assert again == [step.observation for step in played.steps]
    assert replay(tmp_path / "a.jsonl", trust=True).score == played.score
