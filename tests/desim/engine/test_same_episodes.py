"""A policy that draws nothing plays a deterministic model once; the other seeds get its row."""

from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from attrs import frozen
from support.small_worlds import FAILS, Go, Spot, Still, Stride, Walk

import desim
from desim import sweep
from desim.catalog import model_finder, policy_finder
from desim.catalog.policy_spec import read_policies
from desim.core.limits import Limits
from desim.engine.grid import grid
from desim.rows.rows import Rows


@frozen
class Plain(Stride):
    """Says that it draws nothing, and counts its decisions."""

    draws = False
    made: ClassVar[list[int]] = []

    def decide(self, spot: Spot) -> Go:
        """Take a step of the given size."""
        self.made.append(spot.step)
        return super().decide(spot)


@frozen
class Torn(Plain):
    """Fails."""

    def decide(self, spot: Spot) -> Go:
        """Count, then fail."""
        super().decide(spot)
        raise ConnectionError(len(self.made))


@pytest.fixture(autouse=True)
def _nothing_played() -> None:
    Plain.made.clear()


def plain_rows(policy: Any, **options: Any) -> Rows:
    """Sweep six seeds of a world without chance."""
    return sweep(Still, policy, range(6), **options)


def test_one_episode_is_played_and_its_row_is_copied() -> None:
    """There is a row for every seed, and the table says that there is one episode."""
    rows = plain_rows(Plain(4))
    assert len(Plain.made) == 3  # the steps of one episode
    assert rows.column("seed") == list(range(6))
    assert len({msgspec.json.encode(row | {"seed": 0}) for row in rows}) == 1
    assert "every seed has the same episode" in str(rows.table())


@pytest.mark.parametrize("model", ["beer_game/classic", "edt/published"])
def test_rows_are_those_of_seeds_that_are_played_one_by_one(model: str) -> None:
    """No byte differs, for every baseline that is quick and draws nothing."""
    quick = [one for one in policy_finder.baselines(model_finder.model(model)) if "opt" not in one]
    policies = [read_policies([one]) for one in quick if "search" not in one][:4]
    rows = sweep(model, policies, range(3))
    alone = [row for policy in policies for n in range(3) for row in sweep(model, policy, [n])]
    assert [*map(msgspec.json.encode, rows)] == [*map(msgspec.json.encode, alone)]


@pytest.mark.parametrize(
    ("policy", "fixed"),
    [("greedy", True), ("random", False), (Plain, True), (Stride, False), (lambda _: Go(1), False)],
)
def test_a_policy_of_a_user_is_played_on_every_seed(policy: Any, *, fixed: bool) -> None:
    """It may draw, unless it says that it does not; those of the catalog say so."""
    assert grid(Still, policy, [0]).cells[0].is_fixed == fixed
    assert not grid(Still(wind=1.0), policy, [0]).cells[0].is_fixed
    assert not grid(Walk, policy, [0]).cells[0].is_fixed
    seats = {"walker": policy, "helper": "random"}
    assert not grid(Still, seats, [0]).cells[0].is_fixed


def test_failed_episodes_are_not_copied() -> None:
    """What failed on one seed, as at a limit of time, is played on the others."""
    reports: list[tuple[int, int]] = []
    rows = plain_rows([Torn, Plain], progress=lambda *now: reports.append(now))
    assert [str(n) in error for n, error in enumerate(rows.column("error")[:6], 1)]
    assert len(Plain.made) == 6 + 3
    assert len(set(rows.column("error")[:6])) == 6
    assert (reports[0], reports[-1]) == ((0, 12), (12, 12))
    assert reports == sorted(reports)
    assert len(plain_rows(Plain, limits=Limits(decisions=2)).failed) == 6


def test_a_folder_holds_the_copies(tmp_path: Path) -> None:
    """An interrupted sweep goes on, and a finished one is read, as with any rows."""

    def stop(done: int, _total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="stopped after"):
        plain_rows([Plain, FAILS], out=tmp_path, progress=stop)
    rows = plain_rows([Plain, FAILS], out=tmp_path)
    assert rows == plain_rows([Plain, FAILS]) == desim.load(tmp_path)
    assert [row["seed"] for row in rows.failed] == [0, 3]
    Plain.made.clear()
    assert plain_rows([Plain, FAILS], out=tmp_path) == rows
    assert Plain.made == []


def test_comparisons_and_workers_play_it_once_as_well() -> None:
    """Batches of later seeds need one more episode each."""
    policies = [Plain(1), Plain(2)]
    compared = desim.compare(Still, policies, until=1.0, seeds=range(50))
    assert len(Plain.made) == 2 * 3
    assert len(compared.rows) == 100
    assert sweep(Still, policies, range(50), jobs=2) == compared.rows
