"""The report about a sweep: its sections, what it says of failures, and what it escapes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.pages import Read, read
from support.sweep_rows import row, three_policies

from desim import Rows, sweep
from desim.errors import BadRecord, UsageError
from desim.reports.page import MOST_LINES
from desim.reports.report import write_report
from desim.show.table import cell_text
from models.beer_game import BeerGame


def report(folder: Path, rows: Rows, **options: Any) -> Read:
    """Write rows and the report about them; return the report."""
    rows.write(folder)
    return read(write_report([folder], **options).read_bytes())


def column(table: list[list[str]], head: str) -> list[str]:
    """Return the texts of a column."""
    place = table[0].index(head)
    return [line[place] for line in table[1:]]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over a parameter and an argument, with series and a policy without arguments."""
    folder = tmp_path_factory.mktemp("sweep")
    sweep(
        BeerGame.preset("poisson"),
        ["order_up_to", "foresight"],
        range(4),
        set={"horizon": [5, 6], "policy.target": [12, 16]},
        out=folder,
        series=True,
    )
    # One series is enough, as each takes a figure.
    lines = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    for line in lines:
        line["series"] = {"orders_retailer": line["series"]["orders_retailer"]}
    (folder / "rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture(scope="module")
def page(played: Path) -> Read:
    """The report about it."""
    return read(write_report([played]).read_bytes())


def test_a_sweep_has_a_section_for_every_question(page: Read) -> None:
    """A leaderboard for each world, as scores of different worlds have no common rank."""
    assert page.heads == [
        "Best policies",
        "Leaderboard, horizon=5",
        "Leaderboard, horizon=6",
        "Score against each parameter",
        "Series, horizon=5",
        "Series, horizon=6",
        "How episodes ended",
        "What was played",
    ]


def test_the_leaderboard_holds_the_cells_of_the_table(page: Read, played: Path) -> None:
    """Ordered by what policies know, then by the mean; each level is ranked alone."""
    table = page.pictures[0].tables[0]
    lines = Rows.read(played).where(horizon=5).table()
    cells = {line.group[0]: list(map(cell_text, lines.cells(line)[2:])) for line in lines.lines}
    assert {line[1].partition(" (")[0]: line[2:-2] for line in table[1:]} == cells
    said = "future: uses future events of the episode, such as the demand to come"
    assert page.text.count(said) == 2  # once below each of the two leaderboards
    assert column(table, "policy")[-1] == "foresight (future)"
    assert column(table, "rank")[-1] == "1"
    levels = [name.partition(" (")[2] for name in column(table, "policy")]
    means = [float(mean.replace(",", "")) for mean in column(table, "mean")]
    for level in ("", "rules)"):
        own = [mean for mean, each in zip(means, levels, strict=True) if each == level]
        assert own == sorted(own, reverse=True)


def test_differences_to_a_chosen_policy_are_those_of_the_table(played: Path) -> None:
    """With the seeds that would tell the two apart."""
    against = "order_up_to,target=12"
    table = Rows.read(played).where(horizon=5).table(against=against)
    chosen = read(write_report([played], against=against).read_bytes()).pictures[0].tables[0]
    found = {line.group[0]: list(map(cell_text, table.cells(line)[2:])) for line in table.lines}
    assert {line[1].partition(" (")[0]: line[2:-1] for line in chosen[1:]} == found


def test_means_over_a_number_have_a_line_for_each_policy(page: Read, played: Path) -> None:
    """Of an argument a line for the policy without it; a policy that lacks it has none."""
    target = next(one for one in page.pictures if "against policy.target" in one.caption)
    assert [line[:2] for line in target.tables[0][1:]] == [
        ["order_up_to", "12"],
        ["order_up_to", "16"],
    ]
    rows = Rows.read(played).where(policy="order_up_to,target=12")
    mean = float(column(target.tables[0], "mean")[0].replace(",", ""))
    assert mean == pytest.approx(sum(rows.column("score")) / len(rows), abs=0.5)
    horizon = next(one for one in page.pictures if "against horizon" in one.caption)
    assert len(horizon.tables[0]) == 1 + 3 * 2
    assert "Weeks, 1 to 10,000." in page.text  # by the docstring of our own model


def test_a_fan_tells_median_and_quantiles(page: Read, played: Path) -> None:
    """One line a policy; the figures are numpy's over the episodes of that period."""
    import numpy as np

    fan = next(one for one in page.pictures if one.caption.startswith("Orders retailer (units) by"))
    rows = Rows.read(played).where(horizon=5)
    last = rows.series("orders_retailer")["foresight"][:, -1]
    low, median, high = (f"{one:.6g}" for one in np.quantile(last, [0.05, 0.5, 0.95]))
    line = next(line for line in fan.tables[0] if line[0] == "foresight")
    assert (fan.tables[0][0][-1], line[1]) == ("week 5", "4")
    assert line[-1] == f"{median} [{low}, {high}]"


def test_versions_and_seeds_are_told(page: Read) -> None:
    """What determines the rows besides the parameters."""
    facts = dict(line for table in page.tables for line in table if len(line) == 2)
    assert facts["versions"].startswith("desim ")
    assert facts["seeds"] == "0:4"


def test_the_first_sentence_names_the_best_policy(tmp_path: Path) -> None:
    """By how much, or which ones it may be; of several worlds a table does."""
    apart = {"a": [10.0, 11, 12, 13, 11, 12], "b": [1.0, 3, 2, 4, 3, 2]}
    rows = [row(policy, n, x) for policy, each in apart.items() for n, x in enumerate(each)]
    page = report(tmp_path, Rows(rows))
    assert re.search(
        r"By mean score, a is best, by [0-9.]+ to [0-9.]+ over b .95 %.. 12 episodes", page.text
    )
    other = [{**each, "params": {"weeks": 8}} for each in rows]
    page = report(tmp_path, Rows([*rows, *other]))
    assert page.tables[0][0] == ["world", "episodes", "best"]
    assert page.tables[0][2][:2] == ["weeks=8", "12"]
    assert page.tables[0][2][2].startswith("a is best, by ")


def test_a_report_is_the_same_every_time(tmp_path: Path) -> None:
    """No time, no random name."""
    three_policies().write(tmp_path)
    first = write_report([tmp_path], tmp_path / "a.html").read_bytes()
    assert write_report([tmp_path], tmp_path / "b.html").read_bytes() == first


def test_failures_are_shown_and_withhold_a_mean(tmp_path: Path) -> None:
    """A policy that fails has no mean, no rank and no bar; its errors are listed."""
    page = report(tmp_path, three_policies())
    assert column(page.pictures[0].tables[0], "policy") == ["b", "c", "a,x=1"]
    assert page.pictures[0].tables[0][-1][0] == "—"
    assert ["a,x=1", "1", "3", "PolicyFailed: tired"] in page.tables[-2]
    assert ["a,x=1", "4", "3", "1"] in page.tables[-3]


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        r"$\frac{1}{0}$ {{ 7 * 7 }}{% raw %}",
        "a\x00\x1b[31m\u202e\ufffe\udc80",
    ],
)
def test_no_text_of_a_row_is_markup(hostile: str, tmp_path: Path) -> None:
    """A label, an end, an error, a parameter, a series: shown as they are, or not at all."""
    rows = [
        row(
            policy,
            seed,
            None if seed == 3 else seed + len(policy) % 7,
            ended=hostile,
            error=hostile if seed == 3 else None,
            params={hostile: value},
            arguments={hostile: value},
            preset=hostile,
            series={} if seed == 3 else {hostile: [seed, 1.0]},
            series_columns={hostile: dict.fromkeys(("unit", "label", "period"), hostile)},
        )
        for policy in (hostile, "b")
        for seed in range(4)
        for value in (1, 2)
    ]
    lines = "".join(json.dumps(one) + "\n" for one in rows)
    (tmp_path / "rows.jsonl").write_text(lines)
    if "\udc80" in hostile:  # no JSON text that desim reads
        with pytest.raises(BadRecord):
            write_report([tmp_path])
        (tmp_path / "rows.jsonl").write_text(lines.replace("\\udc80", ""))
    page = read(write_report([tmp_path]).read_bytes())
    assert len(page.pictures) > 4
    if hostile.startswith("<") or "7" in hostile:
        assert hostile in column(page.pictures[0].tables[0], "policy")


@pytest.mark.parametrize("score", [-0.0, 1e-300, 1e155, -3e200])
def test_scores_of_any_size_are_drawn_or_left_out(score: float, tmp_path: Path) -> None:
    """A number for which an axis has no room stands in the table."""
    rows = [row(p, n, score * (n % 2)) for p in "ab" for n in range(3)]
    if abs(score) > 1e150:
        with pytest.raises(UsageError, match="too large"):
            report(tmp_path, Rows(rows))
    else:
        assert report(tmp_path, Rows(rows)).pictures


def test_a_huge_table_is_cut_and_says_so(tmp_path: Path) -> None:
    """Figures hold fewer still; too many policies for pairs have no rank."""
    rows = [row(f"p{n:03}", seed, n + seed % 2) for n in range(MOST_LINES + 5) for seed in (1, 2)]
    page = report(tmp_path, Rows(rows))
    assert len(page.pictures[0].tables[0]) == MOST_LINES + 1
    assert f"{MOST_LINES:,} of {MOST_LINES + 5:,} lines are shown" in page.text
    assert "the figure shows the first 40 of 205 policies" in page.text
    assert set(column(page.pictures[0].tables[0], "rank")) == {"—"}


def test_a_single_policy_on_a_single_seed_is_reported(tmp_path: Path) -> None:
    """Without intervals, differences or effects."""
    page = report(tmp_path, Rows([row("a", 7, 3.0)]))
    assert page.heads == ["Leaderboard", "How episodes ended", "What was played"]
    assert "All episodes ended alike: horizon." in page.text
    facts = dict(line for line in page.tables[-1])
    assert facts["seeds"] == "7:8"
    assert facts["versions"] == "not known: there is no sweep.sqlite beside the rows"


def test_several_models_have_leaderboards_of_their_own(tmp_path: Path) -> None:
    """Nothing is averaged over different worlds."""
    rows = [row("a", n, n, model=model) for model in ("shop", "farm") for n in range(3)]
    page = report(tmp_path, Rows(rows))
    assert page.heads[1:3] == ["Leaderboard, model=shop", "Leaderboard, model=farm"]


def test_all_episodes_may_have_failed(tmp_path: Path) -> None:
    """There is no mean, and the errors of one kind are a line."""
    rows = [row("a", n, None, error=f"PolicyFailed: at t={n}") for n in range(20)]
    page = report(tmp_path, Rows(rows))
    assert set(column(page.pictures[0].tables[0], "mean")) == {"—"}
    assert "20 episodes, of which 20 failed." in page.text
    assert ["a", "20", "0, 1, 2, 3, 4 and 15 more", "PolicyFailed: at t=0"] in page.tables[-2]


def test_a_series_may_hold_nothing(tmp_path: Path) -> None:
    """Unknown values, episodes of different lengths, and a series without a period."""
    series: list[dict[str, list[float | None]]] = [
        {"cash": [1.0, None, 3.0], "none": []},
        {"cash": [2.0], "none": []},
    ]
    rows = [row(p, n, 1.0 * n, series=series[n]) for p in "ab" for n in (0, 1)]
    page = report(tmp_path, Rows(rows))
    fan = next(one for one in page.pictures if one.caption.startswith("cash"))
    assert fan.tables[0][1] == ["a", "2 to 1", "1.5 [1.05, 1.95]", "—", "3 [3, 3]"]


def test_what_a_series_measures_may_be_anything_in_a_file(tmp_path: Path) -> None:
    """Whatever is no unit and no label is left out."""
    given: dict[str, Any] = {"cash": 3, "debt": {"unit": 3}, "units": {"unit": "x" * 99}}
    series = {name: [1.0, 2.0] for name in given}
    rows = [row("a", n, 1.0 * n, series=series, series_columns=c) for n, c in enumerate((3, given))]
    page = report(tmp_path, Rows(rows))
    captions = [one.caption for one in page.pictures]
    for name in given:
        assert any(caption.startswith(f"{name} by period") for caption in captions)


def test_there_must_be_rows(tmp_path: Path) -> None:
    """An empty file is told from a folder without a sweep."""
    (tmp_path / "rows.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"^.* holds no rows, so there is nothing to report$"):
        write_report([tmp_path])


def test_a_policy_to_compare_with_must_exist(tmp_path: Path) -> None:
    """The near miss is named."""
    three_policies().write(tmp_path)
    with pytest.raises(UsageError, match=r"^no group is 'a,x=2'; did you mean 'a,x=1'\?"):
        write_report([tmp_path], against="a,x=2")
