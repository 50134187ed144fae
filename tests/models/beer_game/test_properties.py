"""What holds in every Beer Game, whatever is ordered and however the chain is built."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cases import stable
from support.examples import examples

from desim import Episode, Run, play
from desim.catalog.changes import changed
from desim.errors import UsageError
from models.beer_game import BeerGame, Order, Stage, demand
from models.beer_game.chain import Chain, Echelon, Pipeline

NAMES = ("retailer", "wholesaler", "distributor", "factory", "mine", "field")

whole = st.integers(-50, 2_000) | st.sampled_from([0, 10**6, 10**18, -(10**18)])
fractions = st.floats(-50, 2_000, allow_nan=False) | st.sampled_from([0.1, 1 / 3, 5e-324])
levels = st.integers(0, 900).map(str)


def joined(kind: str, *parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Write a demand."""
    return st.tuples(*parts).map(lambda numbers: ":".join([kind, *numbers]))


demands = st.one_of(
    joined("step", levels, levels, st.integers(0, 30).map(str)),
    joined("constant", levels),
    st.lists(levels, min_size=1, max_size=12).map(lambda units: ":".join(["list", *units])),
    joined("poisson", st.floats(0, 300).map(lambda x: f"{x:.3f}")),
    joined("normal", levels, levels),
)


@st.composite
def games(draw: st.DrawFn) -> BeerGame:
    """Draw a chain of one to six stages."""
    stages = NAMES[: draw(st.integers(1, 6))]
    delays = st.integers(1, 5)
    return BeerGame(
        horizon=draw(st.integers(1, 25)),
        demand=draw(demands),
        order_delay=draw(delays),
        ship_delay=draw(delays),
        production_delay=draw(st.none() | delays),
        target_inventory=draw(st.integers(0, 500)),
        initial_flow=draw(st.none() | st.integers(0, 300)),
        holding_cost=draw(st.sampled_from([0, 0.1, 0.5, 2])),
        backlog_cost=draw(st.sampled_from([0, 0.3, 1.0])),
        minimum_holding_cost=draw(st.sampled_from([0.0, 33.3, 200.0])),
        opponents=draw(st.sampled_from(["typical", "smoothing:3", "base_stock", "benchmark", "x"])),
        controlled=draw(st.sampled_from(stages)),
        stages=stages,
        brewery_echo=draw(st.booleans()),
        blind=draw(st.booleans()),
        whole_units=draw(st.booleans()),
        supply_line=draw(st.sampled_from(["shipped", "ordered"])),
        forced_weeks=draw(st.integers(0, 5)),
        strike=draw(st.sampled_from([None, "1:1", "3:7", "5:40"])),
        opening_cash=draw(st.none() | st.integers(0, 10_000)),
    )


def play_out(game: BeerGame, data: st.DataObject, units: st.SearchStrategy[Any]) -> Run:
    """Order at random at some seats, and check the chain before every decision and at the end."""
    seats = data.draw(st.sets(st.sampled_from(game.stages)))
    run = Run(game, data.draw(st.integers(0, 3)), [n for n in game.stages if n in seats])
    while decisions := run.advance():
        check(run)
        for decision in decisions:
            run.answer(decision, Order(data.draw(units)))
    check(run)
    return run


def check(run: Run) -> None:
    """Nothing is lost, nothing is below zero, and the pipelines hold what the ledgers say."""
    chain: Chain = run.state
    goods, orders = chain.goods, chain.orders
    # Tick w closes week w, so as many weeks of demand have arrived.
    wanted = sum(chain.demand[: run.world.now])
    assert goods["customers"] + orders[chain.echelons[0].owed] == wanted
    assert goods.total == orders.total == 0
    assert sum(balance for _, balance in chain.book.trial_balance().rows) == 0
    for e in chain.echelons:
        assert goods[e.in_transit] == sum(a.units for a in e.deliveries.under_way)
        assert min(goods[e.on_hand], goods[e.in_transit], orders[e.owed]) >= 0
        assert in_time(e.deliveries, run.world.now, boxes(chain.params, e))
        if e is not chain.echelons[0]:
            assert orders[e.mail] == sum(a.units for a in e.slips.under_way)
            assert in_time(e.slips, run.world.now, chain.params.order_delay)
        on_strike = e.above is None and run.world.now in chain.strike
        assert not (goods[e.on_hand] and orders[e.owed]) or not e.log or on_strike


def in_time(pipeline: Pipeline, now: int, weeks: int) -> bool:
    """Whether arrivals are due in order, each in a week of its own within the lead time."""
    due = [arrival.week for arrival in pipeline.under_way]
    return due == sorted(set(due)) and set(due) <= set(range(now + 1, now + weeks + 1))


def boxes(game: BeerGame, e: Echelon) -> int:
    """How many boxes stand in front of a stage."""
    return game.production_weeks if e.name == game.stages[-1] else game.ship_delay


@examples(100)
@given(games(), st.data())
def test_nothing_is_lost_whatever_is_ordered(game: BeerGame, data: st.DataObject) -> None:
    """Whole, negative and fractional orders, at any seats of any chain."""
    run = play_out(game, data, whole | fractions)
    chain: Chain = run.state
    assert len(chain.demand) == game.horizon == run.world.now == len(chain.echelons[0].log)
    made = sum(row[3] for row in chain.echelons[-1].log)
    start = sum(boxes(game, e) * game.flow + game.target_inventory for e in chain.echelons)
    assert -chain.goods["brewing"] == made + start


@examples(25)
@given(games(), st.data())
def test_costs_have_a_floor_and_add_up(game: BeerGame, data: st.DataObject) -> None:
    """Every stage and week costs at least the minimum, and the chain what its stages cost."""
    run = play_out(game, data, whole)
    metrics = run.result().metrics
    for name in game.stages:
        weeks = run.state.history(name)
        assert all(w.cost >= game.minimum_holding_cost for w in weeks)
        assert metrics[f"cost_{name}"] == pytest.approx(sum(w.cost for w in weeks))
    total = sum(metrics[f"cost_{name}"] for name in game.stages)
    assert metrics["total_cost_supply_chain"] == pytest.approx(total)
    seats = [e.name for e in run.state.scored]
    assert run.result().score == pytest.approx(-sum(metrics[f"cost_{n}"] for n in seats))


@examples(25)
@given(games(), st.data())
def test_whole_orders_keep_everything_whole(game: BeerGame, data: st.DataObject) -> None:
    """No float and no fraction appears in goods, orders or what a stage sees."""
    run = play_out(game, data, whole)
    chain: Chain = run.state
    units = [move.units for ledger in (chain.goods, chain.orders) for move in ledger.moves]
    assert {type(u) for u in units} <= {int}
    for e in chain.echelons:
        seen = chain.observe(game.horizon, e)
        quantities = (seen.inventory, seen.backlog, seen.supply_line, seen.last_order)
        assert {type(q) for q in quantities} == {int}


@examples(25)
@given(games(), st.data())
def test_fractions_are_cut_or_kept_exactly(game: BeerGame, data: st.DataObject) -> None:
    """What is placed is the order itself, or its whole part."""
    quantities = data.draw(st.lists(whole | fractions, min_size=game.horizon, max_size=60))
    run = Run(game, seats=[game.controlled])
    placed = iter(quantities)
    given_ = []
    while decisions := run.advance():
        given_.append(next(placed))
        run.answer(decisions[0], Order(given_[-1]))
    at = game.stages.index(game.controlled)
    log = [row[3] for row in run.state.echelons[at].log]
    free = log[-len(given_) :] if given_ else []
    skipped = game.forced_weeks if game.blind else 0
    cut = int if game.whole_units else Fraction
    expected = [max(0, cut(q)) for q in given_]
    assert free[skipped:] == expected[skipped:]
    assert {type(u) for u in log} <= {int, Fraction}


@examples(30)
@given(games())
def test_an_episode_depends_on_its_seed_only_where_chance_decides(game: BeerGame) -> None:
    """The same seed gives the same ledgers; others differ only for random demand."""

    def digest(seed: int) -> str | None:
        return play(game, {}, seed).ledger_digest

    assert digest(1) == digest(1)
    if game.demand.startswith(("step", "constant", "list")):
        assert digest(1) == digest(2)


@examples(30)
@given(games(), st.integers(0, 3))
def test_every_option_is_accepted(game: BeerGame, seed: int) -> None:
    """There is always one, none twice, and each can be ordered."""
    run = Run(game, seed, game.stages)
    while decisions := run.advance():
        for d in decisions:
            offered = run.roles[d.role].options
            assert offered is not None
            actions = [o.action for o in offered(d.observation)]
            assert len(set(actions)) == len(actions) > 0
            for action in actions[1:]:
                run._codec[d.role].take(action)
            run.answer(d, actions[0])


# -- demand ----------------------------------------------------------------------------------------


@given(demands, st.integers(1, 40))
def test_a_demand_reads_as_it_is_written(text: str, weeks: int) -> None:
    """Its one text form is stable and gives whole weeks, none below zero."""
    from desim.core.streams import generator

    form = demand.read(text)
    assert demand.read(form) == form
    units = demand.weekly(form, weeks, lambda: generator(0, "demand"))
    assert len(units) == weeks
    assert {type(u) for u in units} == {int}
    assert min(units) >= 0
    assert demand.opening_level(form) >= 0
    assert demand.final_level(form) >= 0


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("step:4:8:2", [4, 4, 8, 8, 8]),
        ("step:4:8:0", [8, 8, 8, 8, 8]),
        ("step:4:8:9", [4, 4, 4, 4, 4]),
        ("constant:7", [7, 7, 7, 7, 7]),
        ("list:1:2:3", [1, 2, 3, 3, 3]),
        ("list:1:2:3:4:5:6", [1, 2, 3, 4, 5]),
        ([5, 6], [5, 6, 6, 6, 6]),
        ((5.0, 1e3), [5, 1000, 1000, 1000, 1000]),
        ("normal:5:0", [5, 5, 5, 5, 5]),
        ("poisson:0", [0, 0, 0, 0, 0]),
    ],
    ids=str,
)
def test_what_customers_want_week_by_week(text: Any, units: list[int]) -> None:
    """Weeks count from 0; the last figure of a list stays."""
    game = BeerGame(demand=text, horizon=5)
    run = Run(game, seats=[])
    run.advance()
    assert [w.incoming_order for w in run.state.history("retailer")] == units


@pytest.mark.parametrize(
    "given",
    [
        "",
        "list",
        "list:",
        "step:1:2",
        "step:1:2:3:4",
        "constant",
        "constant:x",
        "constant:-1",
        "constant:nan",
        "constant:inf",
        "constant:1e999",
        "constant:1.5",
        "constant:1e16",
        "list:1:2.5",
        "list:1::2",
        "list:1:-2",
        "step:1:2:-1",
        "step:1:2:1.5",
        "poisson:-1",
        "poisson:nan",
        "normal:5:-1",
        "normal:5:inf",
        "sinus:3",
        "4",
        [],
        [-1],
        [1.5],
        ["x"],
        [None],
        [float("nan")],
        4,
        None,
        {"a": 1},
    ],
    ids=stable,
)
def test_a_demand_that_is_none_is_refused(given: Any) -> None:
    """One sentence holds what was given and what is possible."""
    with pytest.raises(ValueError, match=r"^demand=.*(was given; it is step:|is no number)") as bad:
        BeerGame(demand=given)
    assert "\n" not in str(bad.value)
    if isinstance(given, str):
        with pytest.raises(UsageError, match="demand="):
            changed(BeerGame(), {"demand": given})


def test_a_csv_becomes_a_list(tmp_path: Path) -> None:
    """A record holds all it needs: the file may go."""
    file = tmp_path / "demand.csv"
    file.write_text("week,units\n1,10\n2, 20 \n\n3,3e1\n")
    game = BeerGame(demand=f"csv:{file}:units", horizon=4)
    assert game.demand == "list:10:20:30"
    play(game, "last_demand", record=tmp_path / "run")
    file.unlink()
    assert Episode.read(tmp_path / "run").header.build() == game


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        (None, "", "demand: cannot read '.*d.csv': No such file"),
        ("", "", "demand: '.*d.csv' is empty; it needs one row a week"),
        ("\n\n", "", "is empty"),
        ("a,b\n1,2\n", ":c", "has no column 'c'; there is a, b"),
        ("a,b\n1,2\n3\n", ":b", "line 3: '' is no number of units"),
        ("a\n1\nx\n", "", "line 3: 'x' is no number of units"),
        ("1\n2.5\n", "", "line 2: '2.5' is no number of units"),
        ("1\nnan\n", "", "line 2: 'nan' is no number of units"),
        ("week;units\n1;2\n", ":units", r"d.csv': ';' separates .* 'week;units'; it must be ','"),
        ("week\tunits\n1\t2\n", "", r"'\\t' separates the columns in "),
        ("1\n-2\n", "", "demand='list:1:-2': -2 is no number of units"),
        (b"\xff\xfe\x00", "", "demand: cannot read '.*d.csv': "),
    ],
)
def test_a_csv_that_holds_no_demand_is_refused(
    tmp_path: Path, text: str | bytes | None, column: str, says: str
) -> None:
    """With the file, the line and its text."""
    file = tmp_path / "d.csv"
    if text is not None:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=says):
        BeerGame(demand=f"csv:{file}{column}")
    with pytest.raises(ValueError, match=r"cannot read '': |cannot read '.*': Is a directory"):
        BeerGame(demand="csv:")


# -- parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"horizon": 0}, "'horizon' must be >= 1"),
        ({"horizon": 10_001}, "'horizon' must be <= 10000"),
        ({"horizon": 901}, "horizon=901 was given; with brewery_echo"),
        ({"horizon": 2.0}, r"horizon=2\.0 was given; it is a whole number"),
        ({"order_delay": 0}, "'order_delay' must be >= 1"),
        ({"production_delay": 0}, "'production_delay' must be >= 1"),
        ({"target_inventory": -1}, "'target_inventory' must be >= 0"),
        ({"holding_cost": -0.1}, "'holding_cost' must be >= 0"),
        ({"holding_cost": float("nan")}, "holding_cost=nan was given; it is a finite number"),
        ({"backlog_cost": 1.1e9}, "'backlog_cost' must be <= 1000000000.0"),
        ({"backlog_cost": float("inf")}, "backlog_cost=inf was given; it is a finite number"),
        ({"stages": ()}, "Length of 'stages' must be >= 1"),
        ({"stages": ("retailer", "retailer")}, "each name is used once"),
        ({"stages": ("shop",)}, "controlled='retailer' was given; possible: shop"),
        ({"controlled": "brewer"}, "controlled='brewer' was given; possible: retailer"),
        ({"supply_line": "all"}, "'supply_line' must be in"),
        ({"forced_weeks": -1}, "'forced_weeks' must be >= 0"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused(changes: dict[str, Any], says: str) -> None:
    """By the name of the parameter."""
    with pytest.raises((ValueError, TypeError), match=says):
        BeerGame(**changes)


def test_the_position_counts_stock_and_what_is_under_way_less_what_is_owed() -> None:
    """As ordering rules do."""
    stage = Stage(0, "x", 5, 3, 0, 0, 0, 7, 0, 9, "typical", 4)
    assert stage.position == 9
