"""Sweeps on the Beer Game's twin: the rows of `play`, but for digests of ledgers."""

from typing import Any

import pytest

from desim import catalog, sweep
from desim.catalog.policy_spec import read_policies
from desim.engine.keep.store import SweepWarning
from desim.engine.run import play_job
from desim.rows.rows import Rows
from desim.studies.study_options import SweepOptions
from desim.studies.sweep import swept
from models.beer_game import Order
from policies.heuristics.beer_game import OrderUpTo

GAME = "beer_game/poisson"
SHORT = {"horizon": 20}


def undigested(rows: Rows) -> list[str]:
    """Rows without digests and the mark of lanes, in a form that tells 1 from 1.0."""
    return [repr({**row, "ledger_digest": None, "on_lanes": None}) for row in rows]


def played(policies: Any, seeds: Any) -> Rows:
    """Return the rows of a sweep whose episodes are played one by one."""
    return swept(SweepOptions(GAME, policies, seeds, set=SHORT), digests=True)


def test_rows_of_all_baselines_are_those_of_play() -> None:
    """With the types of all metrics; the mark says why the digest is missing."""
    policies = [read_policies([spec]) for spec in catalog.baselines(catalog.model(GAME))]
    rows, alone = sweep(GAME, policies, [3, 4], set=SHORT), played(policies, [3, 4])
    assert undigested(rows) == undigested(alone)
    marked = [row for row in rows if row.get("on_lanes")]
    assert len(marked) > len(policies)
    assert {row["ledger_digest"] for row in marked} == {None}
    assert None not in alone.column("ledger_digest")


def test_rows_depend_neither_on_workers_nor_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """However jobs are shared out."""
    rows = sweep(GAME, ["typical", OrderUpTo(18)], range(25), set=SHORT)
    assert sweep(GAME, ["typical", OrderUpTo(18)], range(25), set=SHORT, jobs=2) == rows
    monkeypatch.setattr(play_job, "MOST_LANES", 7)
    assert sweep(GAME, ["typical", OrderUpTo(18)], range(25), set=SHORT) == rows


class Huge(OrderUpTo):
    """Orders that lanes cannot hold, as they leave the exact range."""

    def units(self, stage: Any) -> Any:
        """Return an order."""
        return 2**51 + 0 * stage.inventory


class Other(OrderUpTo):
    """Orders another quantity on lanes."""

    def decide(self, stage: Any) -> Order:
        """Return four units."""
        return Order(4)

    def decide_all(self, observed: Any) -> Any:
        """Return five units."""
        return {"quantity": 5 + 0 * observed.inventory}


class Failing(Other):
    """Fails on lanes alone."""

    def decide(self, stage: Any) -> Order:
        """Return four units."""
        return Order(4)

    def decide_all(self, observed: Any) -> Any:
        """Fail."""
        raise TypeError("no array")


def test_orders_outside_the_exact_range_are_played_alone() -> None:
    """The rows are those of `play`, without a warning."""
    assert undigested(sweep(GAME, Huge(3), range(2), set=SHORT)) == undigested(
        played(Huge(3), range(2))
    )


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        (Other(3), "score is .* on lanes and .* played alone"),
        (Failing(3), r"lanes failed.*TypeError: no array"),
    ],
)
def test_a_fault_of_decide_all_is_reported(policy: Any, says: str) -> None:
    """It loses time alone: the rows are those of `decide`."""
    with pytest.warns(SweepWarning, match=says):
        rows = sweep(GAME, policy, range(3), set=SHORT)
    assert undigested(rows) == undigested(played(policy, range(3)))
