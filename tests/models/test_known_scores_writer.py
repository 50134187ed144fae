"""The script that makes the known scores: floors, best runs, and the file."""

import json
from pathlib import Path

import pytest
from golden.known_scores import (
    floor_of,
    known_score,
    on_file,
    update,
    with_older,
    with_policies,
)
from msgspec.structs import replace
from support.known_worlds import FAIR, SHORT, Measured, known
from support.sweep_rows import row

from desim.catalog.known_scores import FILE_NAME, KnownScore, known_scores_of
from desim.episodes.driver import play
from desim.rows.rows import Rows
from models.edt import EnterpriseDigitalTwin

ROWS = Rows([row("seer", 0, 8), row("a", 0, 8), row("b", 0, 8), row("c", 0, 2)])


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        (None, KnownScore(2, 8, "a")),
        ((9, "relaxation"), KnownScore(2, 8, "a", 9, "relaxation")),
        ((8 - 1e-12, "proved"), KnownScore(2, 8, "a", 8, "proved")),
    ],
)
def test_the_first_best_run_that_knows_observations_is_named(
    bound: tuple[float, str] | None, expected: KnownScore
) -> None:
    """A bound may be rounded."""
    assert known_score(ROWS, 2, bound, {"seer": "future"}) == expected


def test_a_run_above_a_bound_is_no_data() -> None:
    """The bound or the world is wrong."""
    with pytest.raises(ValueError, match="floor 2, best 8 and bound 7 were given"):
        known_score(ROWS, 2, (7, "proved"), {})


def test_a_floor_that_draws_is_a_mean() -> None:
    """Otherwise it is the score on the seed."""
    rows = Rows([row("c", 0, 2), row("c", 1, 6), row("a", 1, 9)])
    assert floor_of(rows, "c", 1, drawn=False) == 6
    assert floor_of(rows, "c", 1, drawn=True) == 4


def test_a_preset_is_replaced_and_the_others_stay(tmp_path: Path) -> None:
    """The file is written whole."""
    short = known(Measured, "short", SHORT)
    update(tmp_path / "model.py", "a", short)
    update(tmp_path / "model.py", "b", short)
    update(tmp_path / "model.py", "a", known(Measured, "short", {0: SHORT[3]}))
    file = json.loads((tmp_path / FILE_NAME).read_text(encoding="utf-8"))
    assert {name: [*of["scores"]] for name, of in file["presets"].items()} == {
        "a": ["0"],
        "b": ["0", "1", "2", "3"],
    }


def test_a_fair_bound_stays_with_its_parameters(tmp_path: Path) -> None:
    """The program that proved it is not in the tree."""
    short, module = known(Measured, "short", SHORT), tmp_path / "model.py"
    for given, kept in ((replace(short, fair=FAIR), FAIR), (short, FAIR)):
        update(module, "a", given)
        assert on_file(module)["a"].fair == kept
    update(module, "a", replace(short, fingerprint="other"))
    assert on_file(module)["a"].fair is None


def test_a_further_policy_is_played_alone() -> None:
    """It replaces the best runs that it beats, and counts as played."""
    old = known_scores_of(EnterpriseDigitalTwin, "interactive")
    assert old is not None
    low = replace(old, scores={"every": replace(old.every, best=2e6, policy="random", record="")})
    new = with_policies("edt/interactive", low, ["greedy"], jobs=1)
    assert new.every == KnownScore(1104175.0, 9897000.0, "greedy")
    assert with_policies("edt/interactive", new, ["simple"], jobs=1) == new


def test_a_better_run_on_record_is_kept(tmp_path: Path) -> None:
    """If it replays."""
    (tmp_path / "best").mkdir()
    play("edt/interactive", "simple", 0, record=tmp_path / "best" / "interactive.jsonl.gz")
    fresh = known(EnterpriseDigitalTwin, "interactive", {0: KnownScore(0, 2e6, "random")})
    on_record = KnownScore(0, 5_719_500, "mine:Rule", record="best/interactive.jsonl.gz")
    old = replace(fresh, scores={"0": on_record})
    assert with_older(fresh, old, tmp_path).of(0) == on_record
    assert with_older(
        fresh, replace(old, scores={"0": replace(on_record, best=6e6)}), tmp_path
    ) == (fresh)
    assert with_older(fresh, None, tmp_path) == fresh


def test_what_a_rule_that_is_gone_has_found_stays_with_its_parameters(tmp_path: Path) -> None:
    """Bound, score and what the rule knew; a better run of today replaces it."""
    fresh = known(Measured, "short", {0: KnownScore(2, 5, "random"), 1: KnownScore(2, 7, "random")})
    found = KnownScore(2, 6, "oracle", 8, "relaxation")
    facts = {"played": {**fresh.played, "oracle": 2}, "knows": {"oracle": "future"}}
    old = replace(fresh, scores={"0": found, "1": found}, **facts)
    kept = with_older(fresh, old, tmp_path)
    assert kept.of(0) == found
    assert kept.of(1) == KnownScore(2, 7, "random", 8, "relaxation")
    assert (kept.knows["oracle"], kept.played["oracle"]) == ("future", 2)
    assert with_older(fresh, replace(old, fingerprint="other"), tmp_path) == fresh
