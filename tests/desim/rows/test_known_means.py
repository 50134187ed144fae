"""What stands below tables: best known scores, bounds, and what policies know."""

import sys

import pytest
from attrs import evolve
from msgspec import structs
from support.known_worlds import FAIR, SHORT, Measured, Stale, known
from support.small_worlds import STRIDE, Walk
from support.sweep_rows import row

from desim.catalog.known_scores import READ
from desim.rows.known_means import KnownMeans, known_note
from desim.rows.rows import Rows
from desim.studies.boards.baselines import boards
from desim.studies.sweep import sweep

SEER = "support.small_worlds:Seer"


def note(rows: Rows) -> str:
    """Return the note on these rows."""
    return known_note(rows)


def test_the_best_known_score_stands_below_a_table() -> None:
    """Over the seeds of the table, with what the policy knows and what the bound is."""
    rows = sweep(Measured, ["greedy", SEER], range(2))
    table = rows.table(against="greedy")
    known = table.notes[-1]
    assert table.legend[-1] == "state: uses hidden state of the world"
    finders = f"the best of each seed, greedy on 1 and {SEER} (state) on 1"
    bound = "bound 7 (1 relaxation, 1 proved)"
    assert known == f"best known score on these 2 seeds: mean 6 by {finders}; {bound}"
    lines = str(table).splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["greedy", "score"], [SEER, "(state)"]]
    assert note(sweep(Measured, "greedy", [1])).endswith("(state); bound 6 (proved)")
    assert note(sweep(Measured, "greedy", range(4))).endswith("; no bound is known")
    assert "best known score" not in str(rows.table(show="decisions"))


def test_a_best_known_score_that_an_exploit_reached_is_marked() -> None:
    """By the warning of the preset; others have none."""
    said = "; paper: the best known score is an exploit of the published rules"
    assert said in note(sweep("enterprise_arena/paper", "never_raise", [0]))
    assert "exploit" not in note(sweep("enterprise_arena/capped", "never_raise", [0]))


def test_a_fair_bound_stands_behind_the_bound() -> None:
    """With its kind, its interval, and how near a rule comes."""
    means = KnownMeans(structs.replace(known(Measured, "short", SHORT), fair=FAIR), (SHORT[0],))
    said = "fair bound of the mean 7.25 ± 0.50 (estimated), greedy is at most 1.25 below it"
    assert means.sentence.endswith(f"; {said}")
    assert means.plain()["fair_bound"] == structs.asdict(FAIR)
    proved = structs.replace(FAIR, kind="proved", half=0.0, gap=0.0, gap_half=0.0)
    said = "fair bound of the mean 7.25 (proved), greedy attains it on each of the seeds 100:200"
    assert proved.sentence == said


def test_nothing_is_said_of_other_parameters_roles_and_seeds() -> None:
    """The score might be another, or nothing is known."""
    assert note(sweep(Measured, "greedy", range(5))) == ""
    assert note(sweep(Measured, "greedy", [0], set={"pace": 2})) == ""
    assert note(sweep(Measured, "greedy", [0], set={"pace": [1, 2]})) == ""
    assert note(sweep(Measured, "greedy", [0], set={"pace": 1})) != ""
    assert note(sweep(Measured, {"walker": "greedy", "helper": STRIDE}, [0])) == ""
    assert note(sweep(Measured, {"walker": "greedy"}, [0])) != ""
    assert note(sweep([Measured, Walk], "greedy", [0])) == ""
    assert note(Rows([])) == ""


def test_rows_from_a_file_import_no_code() -> None:
    """A model or a policy that was not imported is not looked up."""
    assert "antigravity" not in sys.modules
    assert note(Rows([row("a", 0, 1, model="antigravity:Model")])) == ""
    name = "support.known_worlds:Measured"
    for label in ("antigravity:P", "antigravity:3", "x,y=antigravity:P", "walker=antigravity://P"):
        rows = Rows([row(label, 0, 1, model=name, preset="short", params={})])
        assert note(rows) == ""
        assert rows.table().knows == {}
    assert "antigravity" not in sys.modules


def test_stale_data_are_told() -> None:
    """In place of the sentence; the table stands."""
    text = "the known scores of support.known_worlds:Stale/short were made with other parameters"
    assert sweep(Stale, "greedy", [0]).table().notes[-1].startswith(text)


def test_a_board_has_the_sentence_and_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text below, and an object with `--json`; neither where the data are stale."""
    (board,) = boards(["support.known_worlds:Measured/short"], range(2), 1)
    assert board.summary()["known"] == {
        "floor": 1.0,
        "floor_policy": "random",
        "best": 6.0,
        "best_policies": f"greedy on 1 and {SEER} (state) on 1",
        "bound": 7.0,
        "kind": "1 relaxation, 1 proved",
        "fair_bound": None,
    }
    monkeypatch.setitem(READ, Measured, READ[Stale])
    board = evolve(board)
    assert board.summary()["known"] is None
