"""Fields of the scenario are parameters: set from the command line, swept, and checked."""

import json
from pathlib import Path

import pytest
from support.command_line import Ended
from support.forked import desim_process, ended
from support.paths import ROOT

from desim import play


def simple(*options: str, code: int = 0) -> Ended:
    """Run `desim run edt --policy simple` with further options."""
    command = ("run", "edt", "--policy", "simple", "--json")
    done = ended(desim_process(*command, *options, cwd=ROOT))
    assert done.code == code
    return done


def test_a_field_of_a_scenario_from_a_file_is_set(tmp_path: Path) -> None:
    """The file is read first, whatever the order of the options."""
    document = json.loads(Path("models/edt/template.json").read_text())
    inner = document["smEDT"]["scenarios"]["interactive"]
    inner["properties"]["fixed_cost"]["value"] = 0.0
    file = tmp_path / "firm.json"
    file.write_text(json.dumps(document))
    read = ("--set", f"scenario={file}")
    some = ("--set", "scenario.projects.0.billing_rate=0")
    scores = [
        json.loads(simple(*options).out)["score"]
        for options in (read, (*read, *some), (*some, *read))
    ]
    assert scores[0] == 7_116_500 + 95 * 20_000
    assert scores[1] == scores[2] < scores[0]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("scenario.fixd_cost=1", "did you mean 'scenario.fixed_cost'?"),
        ("scenario.fixed_cost=-1", "'fixed_cost' must be >= 0"),
        ("scenario.fixed_cost=dear", "scenario.fixed_cost is a finite number"),
        ("scenario.projects.12.deadline=3", "no parameter 'scenario.projects.12'"),
    ],
)
def test_a_wrong_field_is_one_sentence(given: str, error: str) -> None:
    """Near misses are suggested; nothing is played."""
    done = simple("--set", given, code=2)
    assert error in done.err
    assert done.err.count("\n") == 1
    assert not done.out


def test_series_by_step() -> None:
    """Sums of the series are the metrics; staff and busy consultants are counts."""
    episode = play("edt", "simple", series=True)
    series, metrics = episode.series(), episode.metrics
    assert {name: len(values) for name, values in series.items()} == dict.fromkeys(
        (
            "earnings",
            "accumulated_earnings",
            "cash",
            "staff",
            "busy",
            "projects_under_way",
            "utilisation",
        ),
        96,
    )
    assert sum(series["earnings"][:-1]) == metrics["accumulated_earnings"]
    assert series["accumulated_earnings"][-2] == metrics["accumulated_earnings"]
    assert series["cash"][-2] == metrics["cash"]
    assert set(series["staff"]) == {9.0}
    assert [*series["busy"][:3]] == [0.0, 9.0, 9.0]
    assert max(series["projects_under_way"]) == 9
