"""The scripts that search: a climb of schedules, and a line-up improved seat by seat."""

from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from desim.records.episode import Episode
from experiments import climb_edt, tune_enterprise
from models.edt import EnterpriseDigitalTwin
from models.enterprise import Enterprise


def test_a_climb_never_falls() -> None:
    """It keeps what earns at least as much, and plays as often as it may."""
    near = climb_edt.Neighbours(EnterpriseDigitalTwin.preset("paper"), Random(0))  # noqa: S311
    played = []

    def staffed(one: climb_edt.Schedule) -> float:
        played.append(one)
        return -one.staff[0][1]

    best = climb_edt.climbed(near.start(), near.of, staffed, 200)
    assert len(played) == 200
    assert best.staff[0][1] == min(one.staff[0][1] for one in played) < near.start().staff[0][1]


@pytest.mark.parametrize(("preset", "records"), [("interactive", 1), ("paper", 2)])
def test_a_climb_writes_a_record_for_each_seed(preset: str, records: int, tmp_path: Path) -> None:
    """One where the seed does not matter; each names the script."""
    given = [preset, str(tmp_path), "--plays", "8", "--starts", "2", "--seeds", "2"]
    assert CliRunner().invoke(climb_edt.main, given).exit_code == 0
    written = [Episode.read(file) for file in sorted(tmp_path.iterdir())]
    assert [one.header.seed for one in written] == [*range(records)]
    assert {one.header.policies["manager"] for one in written} == {"experiments/climb_edt.py"}


def test_a_line_up_is_improved_seat_by_seat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part's roles have one rule; no line-up plays twice."""
    worth = {"a": 1.0, "b": 3.0, "c": 2.0}

    def scores(_group: Enterprise, line_up: dict[str, str], *_: object) -> list[float]:
        return [sum(worth[rule] for rule in line_up.values())]

    monkeypatch.setattr(tune_enterprise, "scores", scores)
    search = tune_enterprise.Search(Enterprise.preset("small"), range(1), 1)
    start = {"plant.retailer": "a", "plant.factory": "a", "controller": "b"}
    found = search.ascended(start, {"plant": ("a", "b"), "controller": ("b", "c")}, rounds=5)
    assert found == dict.fromkeys(start, "b")
    assert search.played == 3
