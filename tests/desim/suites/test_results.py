"""Results of a suite: what is in a mean, columns, published numbers, files."""

import csv
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from desim.suites.figures import column_value
from desim.suites.outcome import Outcome
from desim.suites.plan import Plan, read_plan
from desim.suites.result_table import result_tables
from desim.suites.results import as_csv, as_json, results
from desim.suites.schema import Column

SUITE = """
reference = "papers"
seeds = [0, 1]
repeats = 2
[worlds.game]
model = "beer_game"
published = { file = "paper.json", table = "table_1" }
columns = [
    { figure = "score", scale = 0.5, published = "score" },
    { name = "ruin", figure = "ended", equals = "ruin", scale = 100, published = "other/ruined" },
]
[entries.first]
policy = "greedy"
published = ["Nobody", "First"]
[entries.second]
policy = "last_demand"
"""

PAPER = {
    "tables": {
        "table_1": {"rows": [{"label": "First", "values": {"score": {"printed": "9.5±1"}}}]},
        "other": {"rows": [{"label": "First", "values": {"ruined": {"value": 7}}}]},
    }
}


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    """Two entries, two seeds, two repeats, and a paper."""
    monkeypatch.delenv("DESIM_REFERENCE", raising=False)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "paper.json").write_text(json.dumps(PAPER))
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return read_plan(path)


def ended(job: str, score: float, **more: object) -> tuple[str, Outcome]:
    """An outcome by its job."""
    given = {"job": job, "score": score, "ended": "horizon", "seconds": 6.0, **more}
    return job, Outcome(**given)  # type: ignore[arg-type]


def test_cut_and_failed_episodes_are_counted_and_in_no_mean(plan: Plan) -> None:
    """The mean and the deviation are over episodes, the interval over the means of seeds."""
    outcomes = dict(
        [
            ended("game__first__seed0__1", 10.0),
            ended("game__first__seed0__2", 20.0, ended="ruin"),
            ended("game__first__seed1__1", 30.0),
            ended("game__first__seed1__2", 999.0, limit="max_calls=3 reached"),
            ("game__second__seed0__1", Outcome(job="game__second__seed0__1", error="died")),
        ]
    )
    first, second = results(plan, outcomes)
    assert (first.n, first.cut, first.failed, first.open) == (3, 1, 0, 0)
    assert (second.n, second.cut, second.failed, second.open) == (0, 0, 1, 3)
    score, ruined, *used = first.cells
    assert score.estimate is not None
    assert (score.estimate.mean, score.estimate.n) == ((7.5 + 15) / 2, 2)
    assert score.sd == 5.0
    assert ruined.estimate is not None
    assert ruined.estimate.mean == 25.0
    assert (score.published, ruined.published) == ("9.5±1", "7")
    assert [cell.head for cell in used] == ["cost", "tokens", "minutes"]
    assert second.cells[0].estimate is None
    plain = json.loads(as_json([first, second]))
    assert plain[0]["columns"]["score"]["published"] == "9.5±1"
    rows = list(csv.DictReader(io.StringIO(as_csv(plan, outcomes))))
    assert [row["state"] for row in rows] == ["done", "failed", "done", "done", "cut"]
    assert rows[1]["reason"] == "died"


def test_variance_is_split_between_and_within_seeds(plan: Plan) -> None:
    """By hand, before the scale of 0.5: within (2 + 2) / 2, between (2 * (4 + 4) - 2) / 2."""
    scores = {"seed0__1": 1.0, "seed0__2": 3.0, "seed1__1": 5.0, "seed1__2": 7.0}
    outcomes = dict(ended(f"game__first__{name}", score) for name, score in scores.items())
    first, second = json.loads(as_json(results(plan, outcomes)))
    column = first["columns"]["score"]
    assert column["variance_between_seeds"] == 7.0 / 4
    assert column["variance_within_a_seed"] == 2.0 / 4
    assert second["columns"]["score"]["variance_within_a_seed"] is None


def test_tables_are_as_wide_as_the_console(plan: Plan) -> None:
    """Columns that do not fit go into a further table, with the entries again."""
    lines = results(plan, dict([ended("game__first__seed0__1", 10.0)]))
    for width, tables in ((200, 1), (40, 3)):
        console = Console(width=width, record=True, file=io.StringIO())
        made = list(result_tables("game", lines, width))
        assert len(made) >= tables
        for table in made:
            console.print(table)
        text = console.export_text()
        assert all(len(line) <= width for line in text.splitlines())
        assert "9.5±1" in text
        assert text.count("first") == len(made)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (Column(figure="score"), 3.0),
        (Column(figure="score", scale=2), 6.0),
        (Column(figure="a.b", per="decisions"), 2.0),
        (Column(figure="a.b", per="none"), None),
        (Column(figure="ended", equals="ruin", scale=100), 100.0),
        (Column(figure="ended", equals="horizon"), 0.0),
        (Column(figure="ended"), None),
        (Column(figure="usage.calls"), 7.0),
        (Column(figure="tokens"), 30.0),
        (Column(figure="cost"), 0.5),
        (Column(figure="minutes"), 2.0),
        (Column(figure="true"), 1.0),
        (Column(figure="nothing"), None),
    ],
)
def test_columns_are_figures_scaled_divided_or_compared(
    column: Column, value: float | None
) -> None:
    """A figure that is no number, or is missing, has no value."""
    outcome = Outcome(
        job="x",
        score=3.0,
        ended="ruin",
        decisions=2,
        metrics={"a.b": 4, "true": True},
        usage={
            "calls": 7,
            "prompt_tokens": 10,
            "completion_tokens": 20,
            "cost": 0.5,
            "seconds": 120,
        },
    )
    assert column_value(outcome, column) == value


def test_without_the_papers_nothing_is_printed_beside(plan: Plan, tmp_path: Path) -> None:
    """A folder that is not here is no error."""
    (tmp_path / "papers" / "paper.json").rename(tmp_path / "papers" / "away.json")
    assert results(plan, {})[0].cells[0].published == ""
