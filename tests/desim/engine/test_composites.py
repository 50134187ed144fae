"""Sweeps of composites: parameters and policies of parts, workers, and the fingerprint."""

from pathlib import Path

import pytest
from support.companies import Firm, company, pay_weekly
from support.paths import PYTHONPATH

from desim import sweep
from desim.composition import Composite
from desim.engine.grid import grid
from desim.engine.keep.fingerprint import code_topics
from desim.engine.plan import Grid
from desim.engine.policies import entries
from desim.errors import UsageError
from desim.studies.sweep_file import read_entries
from models.enterprise import Enterprise

FIRMS = Composite({"north": Firm(), "south": Firm(ticks="months")}, links=pay_weekly)
PLANTS = Composite({"plant": "beer_game/poisson", "other": "beer_game/classic"})


def test_a_parameter_of_a_part_is_an_axis() -> None:
    """Rows have its path as a column, and the metrics of all parts."""
    rows = sweep(FIRMS, "greedy", [1, 2], set={"north.periods": [2, 4], "ends": "north"})
    assert rows.column("params.north.periods") == [2, 2, 4, 4]
    assert rows.column("params.ends") == 4 * ["north"]
    assert not [name for name in rows.columns if name.startswith("params.parts")]
    assert rows.column("north.ended") == 4 * ["closed"]
    assert rows.column("metrics.north.periods") == [2, 2, 4, 4]
    assert len(rows.failed) == 0
    assert "4" in str(rows.table(by=["params.north.periods", "policy"], show="north.score"))


def test_parameters_inside_parts_of_parts_are_axes() -> None:
    """As deep as the parts are."""
    nested = Composite({"west": FIRMS, "east": Firm()}, ends="east")
    rows = sweep(nested, "greedy", [1], set={"west.south.opening": [1, 2], "east.periods": 9})
    assert rows.column("params.west.south.opening") == [1, 2]
    assert rows.column("west.ended") == 2 * ["still running"]


def test_composites_that_differ_are_different_models() -> None:
    """By a part's parameters or weight; the columns say by what."""
    other = Composite({"north": Firm(periods=4), "south": Firm(ticks="months")}, links=pay_weekly)
    plan = grid([FIRMS, other], "greedy", [1])
    assert [[*cell.params] for cell in plan.cells] == [["north"], ["north"]]
    assert [cell.params["north"]["periods"] for cell in plan.cells] == [3, 4]
    with pytest.raises(UsageError, match="is given twice"):
        grid([FIRMS, FIRMS], "greedy", [1])


@pytest.mark.parametrize("name", ["nort.periods", "north.period"])
def test_an_unknown_parameter_of_a_part_is_refused(name: str) -> None:
    """With the nearest one."""
    with pytest.raises(UsageError, match=r"did you mean 'north"):
        sweep(FIRMS, "greedy", [1], set={name: [1, 2]})


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


def test_roles_of_parts_are_joined_by_a_plus() -> None:
    """In one text, and in several that name different roles."""
    apart = ["plant.retailer=order_up_to,target=18", "lender.cfo=treasurer"]
    joined = [{"plant.retailer": "order_up_to,target=18", "lender.cfo": "treasurer"}]
    assert read_entries(apart) == joined
    assert read_entries(["+".join(apart)]) == joined
    assert read_entries(["x.y=p,k=1e+5"]) == [{"x.y": "p,k=1e+5"}]


def test_workers_play_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Composites with links are sent to processes."""
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    options = {"set": {"north.periods": [2, 3]}}
    assert list(sweep(company(), "greedy", range(3), jobs=2, **options)) == list(
        sweep(company(), "greedy", range(3), **options)
    )


def test_a_sweep_of_a_function_is_named(tmp_path: Path) -> None:
    """The rows name the class; what is kept is continued."""
    rows = sweep("support.companies:company", "greedy", [1], out=tmp_path / "out")
    assert list(sweep("support.companies:company", "greedy", [1], out=tmp_path / "out")) == list(
        rows
    )
    with pytest.raises(UsageError, match="preset 'x' was given; the function"):
        sweep("support.companies:company", "greedy", [1], preset="x")


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
    unlinked = grid(Composite({"plant": "beer_game"}), "greedy", [1])
    assert "support.companies" not in _reached(unlinked)


def _reached(plan: Grid) -> set[str]:
    return {topic.removeprefix("the code of ") for topic in code_topics(plan.cells[0].parts())}


def test_a_policy_of_a_role_beside_the_parts_plays_in_sweeps() -> None:
    """The model itself knows it, though none of its parts and no line-up does."""
    group = Enterprise(months=1, treasury=Enterprise.preset("small").treasury)
    rules = {"controller": "cash_pool", "treasury.cfo": "never_raise"}
    rows = sweep(group, [rules], range(1), set={"policy.controller.months": [2]})
    assert len(rows.failed) == 0
    assert rows.column("policy.controller.months") == [2]


def test_arguments_of_a_line_up_vary_by_role() -> None:
    """Those that its specs leave open."""
    model = Enterprise.preset("small")
    found = list(entries(["tuned"], {"plant.retailer.team": [True, False]}, model))
    assert [one.arguments["plant.retailer.team"] for one in found] == [True, False]
    assert [one.policies["plant.factory"] for one in found] == ["order_up_to"] * 2
