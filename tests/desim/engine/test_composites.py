"""Sweeps of composites: parameters and policies of parts, workers, and the fingerprint."""

import pytest
from support.companies import Firm, company, pay_weekly
from support.paths import PYTHONPATH

from desim import sweep
from desim.composition import Composite
from desim.engine.fingerprint import code_topics
from desim.engine.grid import grid
from desim.engine.plan import Grid
from desim.engine.policies import entries
from desim.errors import UsageError
from models.enterprise import Enterprise

FIRMS = Composite({"north": Firm(), "south": Firm(ticks="months")}, links=pay_weekly)
PLANTS = Composite({"plant": "beer_game/poisson", "other": "beer_game/classic"})


def test_a_parameter_of_a_part_is_an_axis() -> None:
    """Rows have its path as a column, and the metrics of all parts; so have parts of parts."""
    rows = sweep(FIRMS, "greedy", [1, 2], set={"north.periods": [2, 4], "ends": "north"})
    assert rows.column("params.north.periods") == [2, 2, 4, 4]
    assert rows.column("params.ends") == 4 * ["north"]
    assert not [name for name in rows.columns if name.startswith("params.parts")]
    assert rows.column("north.ended") == 4 * ["closed"]
    assert rows.column("metrics.north.periods") == [2, 2, 4, 4]
    nested = Composite({"west": FIRMS, "east": Firm()}, ends="east")
    rows = sweep(nested, "greedy", [1], set={"west.south.opening": [1, 2], "east.periods": 9})
    assert rows.column("params.west.south.opening") == [1, 2]
    assert rows.column("west.ended") == 2 * ["still running"]
    with pytest.raises(UsageError, match=r"did you mean 'north"):
        sweep(FIRMS, "greedy", [1], set={"nort.periods": [1, 2]})


def test_each_part_has_policies_of_its_own() -> None:
    """Heuristics of its model by name, with arguments that vary."""
    policies = {"plant.retailer": "base_stock", "other": "order_up_to"}
    rows = sweep(PLANTS, [policies, "greedy"], [1], set={"policy.target": [12, 16]})
    assert rows.column("policy") == [
        "plant.retailer=base_stock,target=12 other=order_up_to,target=12",
        "plant.retailer=base_stock,target=16 other=order_up_to,target=16",
        "greedy",
    ]
    rows = sweep(PLANTS, "base_stock", [1], set={"policy.target": [12, 16]})
    assert rows.column("policy") == ["base_stock,target=12", "base_stock,target=16"]
    assert len(set(rows.column("score"))) == 2
    with pytest.raises(UsageError, match="no policy 'treasurer' for beer_game"):
        sweep(PLANTS, {"plant": "treasurer", "other": "greedy"}, [1])


def test_workers_play_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Composites with links are sent to processes."""
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    options = {"set": {"north.periods": [2, 3]}}
    assert list(sweep(company(), "greedy", range(3), jobs=2, **options)) == list(
        sweep(company(), "greedy", range(3), **options)
    )


def test_the_fingerprint_covers_parts_and_links() -> None:
    """The code of the parts' models, of their policies, and of links."""
    plan = grid(Composite({"plant": "beer_game", "firm": Firm()}, links=pay_weekly), {
        "plant": "order_up_to", "firm": "greedy"
    }, [1])  # fmt: skip
    rooms = {"desim", "models/beer_game", "policies/heuristics/beer_game", "policies"}
    assert {*rooms, "support.companies"} <= _reached(plan)
    linked = grid(
        Composite({"plant": "beer_game"}, links="support.companies:pay_weekly"), "greedy", [1]
    )
    assert "support.companies" in _reached(linked)


def _reached(plan: Grid) -> set[str]:
    return {topic.removeprefix("the code of ") for topic in code_topics(plan.cells[0].parts)}


def test_arguments_of_a_line_up_vary_by_role() -> None:
    """Those that its specs leave open."""
    model = Enterprise.preset("small")
    found = list(entries(["tuned"], {"plant.retailer.target": [20, 30]}, model))
    assert [one.arguments["plant.retailer.target"] for one in found] == [20, 30]
    assert [one.policies["plant.factory"] for one in found] == ["order_up_to"] * 2
