"""Policies that play any world, in seats of several models on one clock."""

from pathlib import Path
from typing import Any

import pytest
from support.groups import Inn, MonthlyMill, Town

from desim import Episode, play, replay
from desim.composition import Composite, part_seed
from desim.errors import UsageError

TOWN = Town()
PARTS: dict[str, Any] = {"mill": MonthlyMill(), "inn": Inn(weeks=12)}
#: Two parts of one model, whose roles have the same names.
TWINS = Composite({"north": Inn(weeks=6), "south": Inn(weeks=6)})
COOK = "deputy_master_of_the_kitchen_and_of_the_cellars"


def actions(episode: Episode, role: str) -> list[Any]:
    """What a role did."""
    return [step.action for step in episode.steps if step.role == role]


@pytest.mark.parametrize("spec", ["greedy", "random"])
@pytest.mark.parametrize("seed", [0, 7])
def test_a_seat_of_a_part_decides_as_in_the_part_alone(spec: str, seed: int) -> None:
    """Every role, one that is optional as well; random draws from the same stream."""
    roles = {"mill": ("miller", "carter"), "inn": ("landlord", COOK)}
    policies = {f"{part}.{role}": spec for part, names in roles.items() for role in names}
    together = play(Composite(PARTS), policies, seed)
    for part, names in roles.items():
        alone = play(PARTS[part], dict.fromkeys(names, spec), part_seed(seed, part))
        for role in names:
            assert actions(together, f"{part}.{role}") == actions(alone, role)


def test_equal_parts_draw_different_numbers() -> None:
    """The name of the part enters its seed."""
    twins = play(TWINS, "random", 1)
    assert actions(twins, "north.landlord") != actions(twins, "south.landlord")


def test_scripts_in_seats_of_parts(tmp_path: Path) -> None:
    """A script for a part alone plays a role of the part; a wrong line is found before the game."""
    file = tmp_path / "beds.txt"
    file.write_text('{"do": "invest", "beds": 1}\n' * 4)
    policies = {"mill": "greedy", "inn.landlord": f"script,file={file}"}
    assert [each.beds for each in actions(play(TOWN, policies), "inn.landlord")] == [1] * 4
    file.write_text('{"do": "invest", "beds": 1}\n{"do": "grind", "sacks": 1}\n')
    with pytest.raises(UsageError, match=r"beds\.txt, line 2: .*invest"):
        play(TOWN, policies)


def test_a_record_of_several_parts_plays_each_of_its_roles(tmp_path: Path) -> None:
    """In the whole again, and one role of it in the part alone."""
    file = tmp_path / "town.jsonl"
    town = play(TOWN, {"mill": "random", "inn": "random"}, 5, record=file)
    again = play(TOWN, f"replay,file={file}", 5)
    assert (again.score, again.ledger_digest) == (town.score, town.ledger_digest)
    alone = play(Inn(), f"replay,file={file}", part_seed(5, "inn"))
    assert alone.score == town.metrics["inn.score"]
    assert replay(file, trust=True).score == town.score


def test_of_equal_parts_each_repeats_its_own_role(tmp_path: Path) -> None:
    """In another model with another name a recorded role must be named."""
    file = tmp_path / "twins.jsonl"
    twins = play(TWINS, "random", 3, record=file)
    spec = f"replay,file={file}"
    assert play(TWINS, spec, 3).score == twins.score
    with pytest.raises(UsageError, match=r"'north\.landlord' and 'south\.landlord'; say which"):
        play(Inn(weeks=6), spec, 3)
    alone = play(Inn(weeks=6), f"{spec},role=south.landlord", part_seed(3, "south"))
    assert alone.score == twins.metrics["south.score"]
    with pytest.raises(UsageError, match=r"holds no action of 'west\.landlord'"):
        play(TWINS, {"north": f"{spec},role=west.landlord", "south": "greedy"}, 3)
