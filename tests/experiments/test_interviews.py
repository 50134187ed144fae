"""The suite of case interviews on a stub, and the agreement of judges."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from published import find
from support.paths import ROOT
from support.stub import Served, serving, text
from support.suites import bench, table

from desim.suites.published import published_text
from desim.suites.suite_plan import read_plan
from experiments import judge_agreement
from experiments.judge_agreement import alpha, judged

SUITE = ROOT / "experiments" / "suites" / "firmbench.toml"

#: A reply that every role and every call of a method can read.
REPLY = {
    "reply": "What is the market size? I recommend to enter.",
    "is_correct": True,
    "operations": [],
    "structure": 6,
    "quant": 7,
    "business_sense": 8,
    "communication": 9,
    "overall": 5,
}


def whoever(number: int, _: dict[str, Any]) -> Served:
    """Reply in every world of the suite."""
    further = {"C": number % 25, "R": 0.5, "P": [[1, 0, 40]] * 24, "order_qty": 100 + number % 9}
    return text(json.dumps(REPLY | further | {"reasoning": "", "final_answer": "A"}))


@pytest.mark.slow
def test_the_suite_runs_to_its_last_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All worlds and entries, shorter and on a stub; the same command again asks nothing."""
    monkeypatch.setenv("DEEPSEEK_API_KEY", "none")
    with serving(whoever) as stub:
        suite = SUITE.read_text().replace("https://api.deepseek.com/v1", stub.url)
        suite = suite.replace("repeats = 3\nset = {", "set = { limit = 2,")
        suite = suite.replace("episodes = 6", "episodes = 2")
        (tmp_path / "suite.toml").write_text(suite)
        for calls in (range(1_000, 5_000), range(1)):
            stub.requests.clear()
            code, printed, errors = bench(tmp_path / "suite.toml", tmp_path / "out")
            assert code == 0, errors
            assert len(stub.requests) in calls
    with (tmp_path / "out" / "table.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert all(int(one["done"]) and one["open"] == one["failed"] == "0" for one in lines)
    assert [line for line in printed.splitlines() if line.startswith("Table 1")]
    interviews = table(tmp_path / "out", "interviews")
    printed_gepa = [interviews["GEPA"][name]["published"] for name in ("overall", "structure")]
    assert printed_gepa == [0.882, 0.888]
    assert interviews["CoT"]["overall"]["mean"] == pytest.approx(0.5)
    with (tmp_path / "out" / "rows.csv").open(encoding="utf-8") as file:
        routed = [row for row in csv.DictReader(file) if row["entry"].startswith("AOA")]
    assert {float(row["usage.calls"]) for row in routed} == {0}
    assert table(tmp_path / "out", "Figure 3")["AOA"]["all questions"]["published"] == 0.729


def test_the_entries_of_the_suite_are_columns_of_table_2() -> None:
    """The row is named by the column of ours; an entry or a row that is not there is empty."""
    plan = read_plan(SUITE, keys=False)
    columns = plan.suite.worlds["interviews"].columns
    printed = [published_text(plan, "interviews", "AMEM", c.published) for c in columns]
    assert printed == ["0.819", "0.732", "0.815", "0.826", "0.810", "", "", ""]
    assert published_text(plan, "interviews", "AMEM", "Brevity") == ""
    assert [len(column.published) > 0 for column in columns] == [True] * 5 + [False] * 3


def test_the_suite_has_every_cell_of_table_1() -> None:
    """Capability by difficulty, interviews and games, with the paper's number of each method."""
    plan = read_plan(SUITE, keys=False)
    table = plan.suite.tables["Table 1"]
    assert set(table.worlds) == set(plan.suite.worlds)
    cells = {column.published: column.name for column in table.columns}
    assert list(cells) == list(find("firmbench", "table_1"))
    for method in find("firmbench", "table_1")["Domain Knowledge / Hard"].cells:
        printed = [published_text(plan, "Table 1", method, name) for name in cells]
        assert printed == [row.cells[method].text for row in find("firmbench", "table_1").values()]


def test_alpha_of_an_interval_scale() -> None:
    """By hand: observed over expected squared differences of all pairs of values."""
    assert alpha([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]) == 1.0
    # Pairs within interviews differ by 0, 0, 1; pairs of all six values by 20 / 15 on average.
    values = [1, 2, 3, 1, 2, 4]
    expected = sum((a - b) ** 2 for a in values for b in values) / (6 * 5)
    assert alpha([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]]) == pytest.approx(1 - (1 / 3) / expected)
    # An interview with one score has no pair, and says nothing.
    assert alpha([[1.0, 2.0, 3.0, 9.0], [1.0, 2.0, 4.0, math.nan]]) == pytest.approx(
        1 - (1 / 3) / expected
    )
    assert alpha([[1.0, 2.0], [2.0, 1.0]]) < 0
    assert math.isnan(alpha([[5.0, 5.0], [5.0, 5.0]]))


def test_judges_of_the_same_rubric_agree() -> None:
    """A stricter one less; each of them has scored every interview."""
    same = judged(["rubric", "rubric"], ["framework", "data_hungry"])
    other = judged(["rubric", "rubric,strictness=3"], ["framework", "data_hungry"])
    assert {len(row) for rows in same.values() for row in rows} == {12}
    for name in ("structure", "quant", "business_sense", "overall"):
        assert alpha(same[name]) == 1
    # A share of 0 or 1 is the same for a stricter judge, as structures and grounds here are.
    for name in ("quant", "overall"):
        assert alpha(other[name]) < 1


@pytest.mark.parametrize(
    ("options", "code", "printed"),
    [
        (["--candidate", "framework"], 0, "business_sense"),
        (["--judge", "rubric"], 2, "agreement needs at least two"),
        (["--cases", "nowhere"], 1, "cannot read the folder 'nowhere'"),
    ],
)
def test_the_script(options: list[str], code: int, printed: str) -> None:
    """A table, or one sentence."""
    done = CliRunner().invoke(judge_agreement.main, options)
    assert (done.exit_code, printed in done.output) == (code, True), done.output
