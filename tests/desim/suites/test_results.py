"""Results of a suite: what is in a mean, columns, published numbers, files."""

import csv
import io
import json
from itertools import pairwise
from pathlib import Path
from statistics import stdev

import pytest
from rich.console import Console
from support.paths import ROOT

from desim.show.table import Printed
from desim.statistics.clusters import clustered_mean, clustered_share
from desim.statistics.intervals import interval, seeds_for_difference
from desim.suites.result_table import result_files, result_table
from desim.suites.results import ResultCell, column_value, results
from desim.suites.suite_file import SuiteColumn
from desim.suites.suite_folder import Outcomes, Played
from desim.suites.suite_plan import JobKey, Plan, read_plan

SHIPPED = sorted((ROOT / "experiments" / "suites").glob("*.toml"))

SUITE = """
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
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder of published data files."""
    (tmp_path / "models" / "published").mkdir(parents=True)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "models" / "published"


@pytest.fixture
def plan(papers: Path, tmp_path: Path) -> Plan:
    """Two entries, two seeds, two repeats, and a paper."""
    (papers / "paper.json").write_text(json.dumps(PAPER))
    path = tmp_path / "suite.toml"
    path.write_text(SUITE)
    return read_plan(path)


def job(name: str) -> JobKey:
    """A job by its name."""
    world, entry, seed, repeat = name.split("__")
    return JobKey(world, entry, int(seed.removeprefix("seed")), int(repeat) - 1)


def ended(name: str, score: float, **more: object) -> tuple[JobKey, tuple[Played, ...]]:
    """An outcome by its job."""
    given = {"score": score, "ended": "horizon", "seconds": 6.0, **more}
    return job(name), (Played(**given),)  # type: ignore[arg-type]


def read(plan: Plan, outcomes: Outcomes, file: str = "table.csv") -> list[dict[str, str]]:
    """The rows of a file of results."""
    return list(csv.DictReader(io.StringIO(result_files(plan, outcomes)[file].decode())))


def test_cut_and_failed_episodes_are_counted_and_in_no_mean(plan: Plan) -> None:
    """The mean and the deviation are over episodes, the interval over the means of seeds."""
    outcomes = dict(
        [
            ended("game__first__seed0__1", 10.0),
            ended("game__first__seed0__2", 20.0, ended="ruin"),
            ended("game__first__seed1__1", 30.0),
            ended("game__first__seed1__2", 999.0, limit="max_calls=3 reached"),
            (job("game__second__seed0__1"), (Played(error="died"),)),
        ]
    )
    first, second = results(plan, outcomes)
    assert dict(first.counts) == {"done": 3, "cut": 1, "open": 0}
    assert dict(second.counts) == {"failed": 1, "open": 3}
    score, ruined, *used = first.cells
    assert score.estimate is not None
    assert (score.estimate.mean, score.estimate.n) == ((7.5 + 15) / 2, 2)
    assert score.sd == 5.0
    assert ruined.estimate is not None
    assert ruined.estimate.mean == 25.0
    assert (score.published, ruined.published) == ("9.5±1", "7")
    assert [cell.head for cell in used] == ["cost", "tokens", "minutes"]
    assert second.cells[0].estimate is None
    assert read(plan, outcomes)[0]["published"] == "9.5±1"
    rows = read(plan, outcomes, "rows.csv")
    assert [row["state"] for row in rows] == ["done", "done", "done", "cut", "failed"]
    assert rows[-1]["reason"] == "died"


def test_numbers_that_are_missing_are_counted_in_a_note(plan: Plan) -> None:
    """The mean of a metric is over the other episodes."""
    shown = SUITE.replace('figure = "ended", equals = "ruin"', 'figure = "bullwhip"')
    plan.path.write_text(shown)
    outcomes = dict(
        ended(f"game__first__seed{seed}__1", 1.0, metrics={"bullwhip": value})
        for seed, value in enumerate((2.0, None))
    )
    table = result_table("game", results(read_plan(plan.path), outcomes))
    assert "first in ruin: 1 of 2 episodes have no number" in str(table)
    assert table.lines[0][table.heads.index("ruin ± sd")].value == 200


def test_defaults_and_episodes_not_played_have_columns_and_a_legend(plan: Plan) -> None:
    """An entry without a language model has no share; scores of millions have all their digits."""
    read, silent = ({"decisions": 4, "default_actions": count} for count in (1, 4))
    outcomes = dict(
        [
            ended("game__first__seed0__1", 3e6, usage=read),
            ended("game__first__seed0__2", 0.0, usage=silent),
            ended("game__second__seed0__1", 3e6),
        ]
    )
    table = result_table("game", results(plan, outcomes))
    assert table.heads[:6] == ("entry", "n", "cut", "not played", "open", "defaults")
    assert [line[:4] for line in table.lines] == [("first", 1, 0, 1), ("second", 1, 0, 0)]
    assert [line[5] for line in table.lines] == [Printed(5 / 8, "62%"), None]
    assert [sentence.partition(":")[0] for sentence in table.legend] == ["defaults", "not played"]
    assert str(table.lines[0][6]) == "1,500,000"


def test_entries_that_know_more_come_last_and_are_marked(plan: Plan) -> None:
    """As the records of their episodes say, with the meaning below the table."""
    jobs = (("game__first__seed0__1", "rules"), ("game__second__seed0__1", "observation"))
    outcomes = dict(ended(name, 1.0, knows=level) for name, level in jobs)
    table = result_table("game", results(plan, outcomes))
    assert [line[0] for line in table.lines] == ["second", "first (rules)"]
    assert [sentence.partition(":")[0] for sentence in table.legend] == ["rules"]
    assert {row["knows"] for row in read(plan, outcomes) if row["entry"] == "first"} == {"rules"}


def test_seeds_that_tell_from_the_best_are_those_of_pairs(plan: Plan) -> None:
    """Differences of 1 and 3 after the scale; one common seed tells nothing."""
    first = {"seed0__1": 10.0, "seed1__1": 20.0}
    second = {"seed0__1": 12.0, "seed1__1": 26.0}
    outcomes = dict(ended(f"game__first__{name}", score) for name, score in first.items())
    alone = dict(list(outcomes.items())[:1])
    outcomes |= dict(ended(f"game__second__{name}", score) for name, score in second.items())
    needed = seeds_for_difference([1.0, 3.0])
    (note,) = result_table("game", results(plan, outcomes)).notes
    assert note == (
        "Seeds with which half the 95 % interval of the difference to second by score would be "
        f"half of it: first {needed}."
    )
    assert not result_table("game", results(plan, alone)).notes


EARNINGS = """
seeds = [0, 3]
[worlds.game]
model = "beer_game"
episodes = 3
columns = [
    { name = "norm", figure = "score", show = "over_best" },
    "score",
    { name = "spread", figure = "score", show = "spread" },
]
[entries.rule]
policy = "greedy"
[entries.worse]
model = "m"
base_url = "http://a/v1"
[entries.better]
model = "m"
base_url = "http://a/v1"
"""


def test_means_over_the_best_are_over_that_of_a_language_model(tmp_path: Path) -> None:
    """As published, where a rule that is better has more than 1; without models, of all."""
    path = tmp_path / "suite.toml"
    path.write_text(EARNINGS)
    plan = read_plan(path)
    scores = {"rule": [9.0, 9.0, 9.0], "worse": [2.0, 4.0, 3.0], "better": [5.0, 6.0, 7.0]}
    lines = results(plan, dict(in_a_row(name, each) for name, each in scores.items()))
    cells = {line.entry: {cell.head: cell for cell in line.cells} for line in lines}
    assert {name: shown(each["norm"]) for name, each in cells.items()} == {
        "rule": (1.5, None), "worse": (0.5, None), "better": (1.0, None),
    }  # fmt: skip
    assert shown(cells["worse"]["score"]) == (3.0, None)
    assert cells["worse"]["score"].sd == 1.0
    assert shown(cells["worse"]["spread"])[0] == pytest.approx((2 / 3) ** 0.5)
    assert [line.counts["open"] for line in lines] == [3, 3, 3]
    (alone,) = [
        line for line in results(plan, dict([in_a_row("rule", [9.0])])) if line.counts["done"]
    ]
    assert shown(alone.cells[1]) == (9.0, None)
    (poor,) = [
        line for line in results(plan, dict([in_a_row("better", [-1.0])])) if line.counts["done"]
    ]
    assert poor.cells[0].estimate is None
    assert list(result_table("game", lines).heads[4:8]) == [
        "norm",
        "score ± sd",
        "spread",
        "minutes",
    ]


POOLED = """
repeats = 2
[worlds.sums]
model = "reasoning/small"
[worlds.words]
model = "reasoning/small"
[worlds.chain]
model = "beer_game"
[tables.all]
worlds = ["sums", "words", "chain"]
published = { file = "paper.json", table = "cells" }
columns = [
    { name = "hard", figure = "by_item.hard", show = "share", published = "Sums / Hard" },
    { name = "chain", figure = "expense", scale = -1, show = "normalised" },
]
[entries.first]
policy = "random"
published = "One"
[entries.second]
policy = "random"
[entries.third]
policy = "random"
worlds = ["chain"]
"""


@pytest.fixture
def pooled(papers: Path, tmp_path: Path) -> Plan:
    """Three worlds in a table, and a paper whose rows have a sign of columns in their names."""
    cells = {"rows": [{"label": "Sums / Hard", "values": {"One": {"printed": "0.5"}}}]}
    (papers / "paper.json").write_text(json.dumps({"tables": {"cells": cells}}))
    path = tmp_path / "suite.toml"
    path.write_text(POOLED)
    return read_plan(path)


def test_a_table_over_worlds_pools_items_and_scales_costs(pooled: Plan) -> None:
    """An item that is answered twice is one cluster; the best mean is 1, the worst 0."""
    asked = [
        ended(f"{world}__first__seed0__{repeat}", 0.0, metrics={"by_item.hard": outcomes})
        for world, outcomes in (("sums", [1, 0, 1]), ("words", [0, 0, 0, 1]))
        for repeat in (1, 2)
    ]
    costs = {"first": 10.0, "second": 20.0, "third": 40.0}
    played = [
        ended(f"chain__{entry}__seed0__{repeat}", 0.0, metrics={"expense": cost})
        for entry, cost in costs.items()
        for repeat in (1, 2)
    ]
    lines = [one for one in results(pooled, dict([*asked, *played])) if one.world == "all"]
    assert [(line.entry, line.counts["done"], line.counts["open"]) for line in lines] == [
        ("first", 6, 0), ("second", 2, 4), ("third", 2, 0),
    ]  # fmt: skip
    hard = lines[0].cells[0]
    twice = clustered_share([1, 0, 1, 0, 0, 0, 1] * 2, [*range(7)] * 2)
    assert hard.estimate is not None
    assert (hard.estimate.mean, hard.estimate.n, hard.published) == (twice.mean, 7, "0.5")
    assert (hard.estimate.low, hard.estimate.high) == pytest.approx((twice.low, twice.high))
    assert lines[1].cells[0].estimate is None
    assert [shown(line.cells[1])[0] for line in lines] == pytest.approx([1.0, 2 / 3, 0.0])
    assert [cell.head for cell in lines[0].cells] == ["hard", "chain"]
    table = result_table("all", lines)
    assert "[0." in str(table.lines[0])
    note = "Over the episodes of sums, words, chain together; second: chain alone; third: chain"
    assert note in table.notes[0]


def test_the_interval_of_series_is_over_their_means(tmp_path: Path) -> None:
    """Episodes in a row depend on each other, so a series is one value."""
    path = tmp_path / "suite.toml"
    path.write_text(EARNINGS)
    outcomes = dict([in_a_row("worse", [2.0, 4.0, 3.0]), in_a_row("worse", [5.0, 5.0, 8.0], 3)])
    line = results(read_plan(path), outcomes)[1]
    score = line.cells[1]
    assert line.counts["done"] == 6
    assert score.estimate == interval([3.0, 6.0])
    assert score.sd == pytest.approx(stdev([2.0, 4.0, 3.0, 5.0, 5.0, 8.0]))


def test_seeds_that_share_a_case_count_once(tmp_path: Path) -> None:
    """Eight interviews of six cases have the interval of the cases, and a note."""
    path = tmp_path / "suite.toml"
    path.write_text(
        'seeds = "0:8"\n[worlds.talk]\nmodel = "consulting"\n[entries.first]\npolicy = "greedy"\n'
    )
    scores = [1.0, 5.0, 3.0, 2.0, 4.0, 6.0, 1.0, 5.0]
    outcomes = dict(
        ended(f"talk__first__seed{n}__1", score, cluster=f"case {n % 6}")
        for n, score in enumerate(scores)
    )
    plan = read_plan(path)
    (line,) = results(plan, outcomes)
    clusters = [n % 6 for n in range(8)]
    assert line.main.estimate == clustered_mean(scores, clusters, 0.95)
    assert "8 seeds, 6 cases, which intervals count" in str(result_table("talk", [line]))
    assert read(plan, outcomes)[0]["cases"] == "6"


def in_a_row(entry: str, scores: list[float], seed: int = 0) -> tuple[JobKey, tuple[Played, ...]]:
    """The outcomes of episodes in a row by their job."""
    each = (Played(episode=n, score=score) for n, score in enumerate(scores, 1))
    return JobKey("game", entry, seed), tuple(each)


def shown(cell: ResultCell) -> tuple[float, float | None]:
    """The value of a cell, and the lower end of its interval."""
    assert cell.estimate is not None
    return cell.estimate.mean, cell.estimate.low


#: Cells that the papers leave empty: a model that never asked for money has no success rate.
NOT_PRINTED = {("enterprise_arena", "Llama-3.3-70B-Instruct"): {"success %"}}


@pytest.mark.filterwarnings("ignore:router=table_4")  # a rule for a published data set
@pytest.mark.parametrize("suite", SHIPPED, ids=lambda suite: suite.stem)
def test_columns_of_shipped_suites_are_published_ones(suite: Path) -> None:
    """Every entry that names a published row has a figure in every column that names one.

    The table prints it in a column of its own, right of ours.
    """
    plan = read_plan(suite, keys=False)
    for name, world in plan.suite.worlds.items():
        lines = [line for line in results(plan, {}) if line.world == name]
        named = [column.head for column in world.columns if column.published]
        for line in lines:
            if world.published and plan.suite.entries[line.entry].published:
                empty = {c.head for c in line.cells if c.head in named and not c.published}
                assert empty == NOT_PRINTED.get((suite.stem, line.entry), set())
        heads = result_table("w", lines).heads
        beside = [before for before, head in pairwise(heads) if head == "published"]
        assert [head.removesuffix(" ± sd") for head in beside] == named


def test_tables_are_as_wide_as_the_console(plan: Plan) -> None:
    """Columns that do not fit go into a further table, with the entries again."""
    lines = results(plan, dict([ended("game__first__seed0__1", 10.0)]))
    for width, tables in ((200, 1), (40, 2)):
        console = Console(width=width, record=True, file=io.StringIO())
        console.print(result_table("game", lines))
        text = console.export_text()
        assert all(len(line) <= width for line in text.splitlines())
        assert "9.5±1" in text
        assert text.count("first") >= tables


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (SuiteColumn(figure="score"), 3.0),
        (SuiteColumn(figure="score", scale=2), 6.0),
        (SuiteColumn(figure="a.b", per="decisions"), 2.0),
        (SuiteColumn(figure="a.b", per="none"), None),
        (SuiteColumn(figure="ended", equals="ruin", scale=100), 100.0),
        (SuiteColumn(figure="ended", equals="horizon"), 0.0),
        (SuiteColumn(figure="ended"), None),
        (SuiteColumn(figure="usage.calls"), 7.0),
        (SuiteColumn(figure="tokens"), 30.0),
        (SuiteColumn(figure="cost"), 0.5),
        (SuiteColumn(figure="minutes"), 2.0),
        (SuiteColumn(figure="true"), 1.0),
        (SuiteColumn(figure="nothing"), None),
    ],
)
def test_columns_are_figures_scaled_divided_or_compared(
    column: SuiteColumn, value: float | None
) -> None:
    """A figure that is no number, or is missing, has no value."""
    outcome = Played(
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


def test_without_the_papers_nothing_is_printed_beside(plan: Plan, papers: Path) -> None:
    """A file that is not here is no error."""
    (papers / "paper.json").rename(papers / "away.json")
    assert results(plan, {})[0].cells[0].published == ""


# -- usage, sample sizes --------------------------------------------------------------------------


def test_parts_of_tokens_are_columns_where_an_entry_reports_them(plan: Plan) -> None:
    """Reasoning and phases have columns, a sentence that they are parts, and sums in the files."""
    used = {
        "calls": 3,
        "prompt_tokens": 100,
        "completion_tokens": 60,
        "cost": 1.5,
        "reasoning_tokens": 40,
        "judge_calls": 1,
        "judge_cost": 0.5,
        "judge_prompt_tokens": 30,
        "judge_completion_tokens": 5,
    }
    plain = {"calls": 1, "prompt_tokens": 10, "completion_tokens": 6, "cost": 0.5}
    outcomes = dict(
        [
            ended("game__first__seed0__1", 10.0, usage=used),
            ended("game__second__seed0__1", 20.0, usage=plain),
        ]
    )
    lines = results(plan, outcomes)
    table = result_table("game", lines)
    row = dict(zip(map(str, table.heads), table.lines[0], strict=True))
    assert {name: str(row[name]) for name in ("tokens", "reasoning", "judge tokens")} == {
        "tokens": "160",
        "reasoning": "40",
        "judge tokens": "35",
    }
    legend = "reasoning, judge tokens: parts of tokens, read and written; reasoning is all written."
    assert legend in table.legend
    means = {(row["entry"], row["column"]): row["mean"] for row in read(plan, outcomes)}
    assert (means["first", "judge tokens"], means["second", "judge tokens"]) == ("35.0", "")
    lean = results(plan, dict([ended("game__second__seed0__1", 20.0, usage=plain)]))
    assert "reasoning" not in result_table("game", lean).heads
