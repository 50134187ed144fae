"""The leaderboard plays the baselines of a world and prints them as a table."""

import io
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from attrs import frozen
from rich.console import Console
from support.known_worlds import MEASURED, WRONG
from support.small_worlds import WALK, Walk
from support.sweep_rows import row, three_policies

from desim.catalog import policy_finder
from desim.catalog.model_finder import everything
from desim.core.reported import Figures
from desim.core.roles import Knowledge
from desim.rows.rows import Rows
from desim.rows.samples import Sample
from desim.show.column import Column
from desim.studies.boards.baselines import Board, boards, on_scale


@frozen
class Shop(Walk):
    """A model that reports given figures."""

    shown: Any = None

    @property
    def figures(self) -> Figures:
        """What it was given."""
        return self.shown or Figures()


def shop(
    rows: Rows,
    *,
    name: str = "shop/small",
    knows: Mapping[str, Knowledge] = MappingProxyType({}),
    figures: Figures | None = None,
) -> Board:
    """A board of some rows."""
    levels: dict[str, Knowledge] = dict.fromkeys(rows.column("policy"), "observation")
    return Board(name, Shop(shown=figures), {**levels, **knows}, rows)


def printed(board: Board, width: int = 200) -> list[str]:
    """Return the lines that a board prints."""
    out = io.StringIO()
    Console(file=out, width=width).print(board)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_board_ranks_policies_and_compares_each_with_the_best_other() -> None:
    """A mean without failed episodes comes last, and has neither."""
    board = shop(three_policies())
    title, best, heads, *lines = printed(board)
    lines, notes = lines[:3], lines[3:]
    assert title == "shop/small: 12 episodes over 4 seeds"
    assert best == "b is best of those that have not failed, by 4.6 to 15.4 over c (95 %)"
    assert " ".join(heads.split()) == (
        "policy rank n mean score ± 95 % to the best n to tell ended"
    )
    assert [line.split()[:3] for line in lines] == [
        ["b", "1", "*"],
        ["c", "2", "4"],
        ["a,x=1", "—", "4"],
    ]
    assert lines[0].split()[3:] == ["4", "12.5", "6.2", "0", "to", "14.0", "—", "4", "horizon"]
    assert lines[1].split()[5:9] == ["-14.0", "to", "<0", "5"]
    assert lines[2].split()[3:7] == ["—"] * 4
    assert lines[2].endswith("3 horizon, 1 failed")
    assert notes[-1].startswith("failed: a mean without the episodes that failed proves nothing")


def test_equal_policies_levels_and_single_episodes_are_explained() -> None:
    """Each by a sentence below, and only where it applies."""
    scores = {"a": [5] * 3, "b": [5] * 3, "seer": [9] * 3, "random": [1, 2, 3]}
    rows = Rows(
        row(p, s, score, **({} if p == "random" else {"deterministic": True}))
        for p, all_ in scores.items()
        for s, score in enumerate(all_)
    )
    _, best, _, above, first, second, heading, third, *notes = printed(
        shop(rows, knows={"seer": "state"})
    )
    assert first.split()[:8] == ["a", "=", "b", "1", "*", "3", "5", "exact"]
    assert second.split()[:3] == ["random", "2", "3"]
    assert (above, heading) == ("observation:", "state:")
    assert best == "with observations alone, a is best, by 0.5 to 5.5 over random (95 %)"
    assert third.split()[:5] == ["seer", "1", "3", "9", "exact"]
    assert [note.split()[0] for note in notes] == [
        "rank:",
        "to",
        "n",
        "a",
        "state:",
        "exact:",
    ]


def test_every_rank_that_begins_with_1_has_the_star() -> None:
    """Whatever the interval to the best says; a mean far below has neither."""
    scores = {"a": [5, 6, 7], "b": [4, 6.5, 7], "c": [2, 6, 8], "d": [-90, -91, -89.5]}
    rows = Rows(row(p, s, score) for p, all_ in scores.items() for s, score in enumerate(all_))
    _, best, _, *lines = printed(shop(rows))
    assert best == "a, b or c may be best"
    assert [line.split()[1:3] for line in lines[:3]] == [["1-3", "*"]] * 3
    assert lines[3].split()[1:3] == ["4", "3"]


def test_a_metric_that_is_a_date_or_none_counts_how_often_it_came() -> None:
    """So that a board shows how many companies went bankrupt, whatever their score."""
    days = {"a": ["2025-03-01", None], "b": [None, None]}
    rows = Rows(
        row(p, seed, seed, metrics={"bankrupt_on": day})
        for p, each in days.items()
        for seed, day in enumerate(each)
    )
    columns = {"bankrupt_on": Column(label="Bankrupt", kind="share")}
    figures = Figures(columns=columns, board=["bankrupt_on"])
    _, _, heads, *lines = printed(shop(rows, figures=figures))
    assert heads.split()[-2:] == ["bankrupt", "ended"]
    shown = {line.split()[0]: line.split()[-4:] for line in lines[:2]}
    assert shown == {"a": ["50", "%", "2", "horizon"], "b": ["—", "—", "2", "horizon"]}


def test_a_policy_on_fewer_seeds_is_explained() -> None:
    """Its mean is of other seeds than those of the others."""
    rows = Rows([row("a", 0, 1), row("a", 1, 2), row("a", 2, 4), row("s", 0, 1), row("s", 1, 3)])
    board = shop(rows)
    note = "n below 3: played on the first seeds only"
    assert any(line.startswith(note) for line in printed(board))


@pytest.mark.parametrize("width", [80, 120])
def test_a_narrow_board_cuts_nothing(width: int) -> None:
    """Long names and ends are folded; numbers never are."""
    names = ("raise_when_free,instrument=debt", "a_rule_of_another_name,weeks=4", "c")
    scores = [82_368_138.0, 27_561_708.0, 17_644_292.0]
    end = "cash balance went negative"
    rows = Rows(
        row(name, seed, score * (seed + 1), ended=end, ledger_digest=name)
        for name, score in zip(names, scores, strict=True)
        for seed in range(3)
    )
    lines = printed(shop(rows, name="arena/regime"), width)
    assert max(map(len, lines)) <= width
    wide = printed(shop(rows, name="arena/regime"), 99)
    numbers = [word for line in wide[2:] for word in line.split() if re.fullmatch(r"[-\d,]+", word)]
    assert len(numbers) > 10
    assert not [word for word in numbers if not any(word in line.split() for line in lines)]


def test_a_board_is_plain_data() -> None:
    """For `--json`: a line for each row of the table."""
    summary = shop(three_policies(), knows={"c": "state"}).summary()
    assert [*summary] == ["model", "preset", "revision", "lines", "known"]
    assert summary["known"] is None
    assert [one["policies"] for one in summary["lines"]] == [("b",), ("a,x=1",), ("c",)]
    last = summary["lines"][2]
    assert last["knows"] == "state"
    assert last["estimate"]["n"] == 4
    assert (last["ranks"], last["to_best"], last["unit"]) == ((1, 1), None, "seeds")
    assert [one["to_tell"] for one in summary["lines"]] == [None, None, None]
    assert last["ended"] == {"horizon": 4}


def test_boards_play_every_preset_of_a_model() -> None:
    """Progress is reported for each of them."""
    names = everything([WALK])
    assert names == [f"{WALK}/short", f"{WALK}/long"]
    reports: list[tuple[int, int]] = []
    played = list(boards(names, range(3), 1, lambda *now: reports.append(now)))
    assert [(board.name, [*board.knows]) for board in played] == [
        (name, ["greedy", "random"]) for name in names
    ]
    assert (reports.count((0, 6)), reports.count((6, 6)), reports[-1]) == (2, 2, (6, 6))


@pytest.mark.parametrize(
    ("model", "spec", "seeds", "level", "fixed"),
    [
        ("Still", "greedy", (4, 5, 6), "observation", True),
        ("Still", "random", (4, 5, 6), "observation", False),
        ("Still", "walker=random", (4, 5, 6), "observation", False),
        ("Walk", "greedy", (4, 5, 6), "observation", False),
        ("Walk", "Slow", (4, 5), "observation", False),
        ("Walk", "walker=Seer", (4, 5), "state", False),
        ("Still", "Seer", (4, 5), "state", False),
    ],
)
def test_a_slow_policy_plays_on_the_first_seeds(
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    spec: str,
    seeds: Any,
    level: Knowledge,
    *,
    fixed: bool,
) -> None:
    """Where neither the model nor the policy draws, one episode stands for all seeds."""
    spec = spec.replace("S", "support.small_worlds:S")
    monkeypatch.setattr(policy_finder, "baselines", lambda _model: (spec,))
    (board,) = boards([f"support.small_worlds:{model}/short"], range(4, 7), 1)
    assert (board.knows, board.lines[0].sample.fixed) == ({spec: level}, fixed)
    assert board.rows.column("seed") == [*seeds]


def test_scores_have_a_share_of_the_room_on_the_same_seeds() -> None:
    """A ratio of means: seeds with more room count more, and nothing is clipped."""
    (board,) = boards([f"{MEASURED}/short"], range(4), 1)
    scale = board.scale
    assert scale
    assert scale.kind == "2 best known, 1 relaxation, 1 proved"
    assert (scale.floor, scale.bound) == (3.25, None)
    found = on_scale(Sample({0: 4.0, 1: -6.0, 3: 5.0}), scale)
    assert found
    assert (found.z, found.n) == (pytest.approx((4 - 8 + 0) / (8 + 4 + 0.5)), 3)
    assert on_scale(Sample({2: 5.0}), scale) is None
    clustered = on_scale(Sample({0: 4.0, 1: 5.0, 3: 5.0}, {0: "a", 1: "b", 3: "a"}), scale)
    assert clustered
    assert clustered.n == 2
    assert "share: 0 is the floor of the world, 1 its bound" in str(board)


def test_the_floor_policy_itself_scores_0() -> None:
    """A policy that draws, too: scores below the floor are not raised to it."""
    (board,) = boards(["beer_game/poisson"], range(20), 1)
    shares = {line.name: line.share for line in board.lines}
    random, order = shares["random"], shares["order_up_to"]
    assert random
    assert order
    assert random.z == pytest.approx(0, abs=1e-9)
    assert random.low is not None
    assert random.low < 0 < order.z < 1


def test_scores_above_a_bound_are_a_fault_and_unknown_seeds_have_no_share() -> None:
    """Above the best run of a world without a bound it is none."""
    (wrong,) = boards([f"{WRONG}/short"], range(2), 1)
    assert "greedy" in wrong.faults
    assert "FAULT: greedy scores more than the bound" in str(wrong)
    assert wrong.lines[0].share
    assert wrong.lines[0].share.z == pytest.approx(6 / 5)
    for name, seed in ((f"{MEASURED}/short", 9), ("support.known_worlds:Stale/short", 0)):
        (board,) = boards([name], [seed], 1)
        assert (board.scale, board.lines[0].share, board.faults) == (None, None, [])


def test_metrics_without_which_a_score_is_misread_stand_beside_it() -> None:
    """Value added is the lender's score; the board prints the published one beside it."""
    (board,) = boards(["enterprise_arena/capped"], range(1), 1)
    text, heads = printed(board), ["survived", "total_raised", "value"]
    assert text[2].split()[-4:] == [*heads, "ended"]
    assert any("never_raise" in one and " 0 % " in one for one in text)
    (line,) = [one for one in board.summary()["lines"] if "greedy" in one["policies"]]
    (row,) = board.rows.where(policy="greedy")
    assert line["beside"] == {name: row["metrics"][name] for name in heads}


@pytest.mark.parametrize("width", [80, 120])
def test_a_board_with_metrics_is_continued_below_where_it_is_too_wide(width: int) -> None:
    """So that numbers are not folded."""
    raised = {"total_raised": 317_185_442.0, "value_added": -26_859_689.0}
    rows = Rows(
        row(name, seed, score * (1 + seed), ended="cash balance went negative", metrics=raised)
        for name, score in (("raise_when_free,amount=50_000_000", 336_791_169.0), ("b", 1.6e8))
        for seed in range(3)
    )
    text = printed(shop(rows, name="arena/paper", figures=Figures(board=[*raised])), width)
    assert max(map(len, text)) <= width
    words = [word for line in text for word in line.split()]
    assert {"673,582,338", "320,000,000", "317,185,442", "-26,859,689"} <= {*words}
