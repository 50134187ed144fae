"""Whatever decides is a policy: classes, functions, partials, bound methods, callables."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field, frozen

from desim import Policy, Seat, play, sweep
from desim.errors import UsageError
from models.beer_game import BeerGame, Order, Stage

GAME = BeerGame.preset("poisson", horizon=5)


def echo(stage: Stage, more: int = 0) -> Order:
    """Order what was ordered."""
    return Order(stage.incoming_order + more)


async def later(stage: Stage) -> Order:
    """Order what was ordered, in a coroutine."""
    return echo(stage)


@frozen
class Echo(Policy):
    """Order what was ordered, and some more."""

    more: int = 0

    def decide(self, stage: Stage) -> Order:
        """Return the order."""
        return self.chosen(stage)

    def chosen(self, stage: Stage) -> Order:
        """Return the order."""
        return echo(stage, self.more)


class Called:
    """Order what was ordered."""

    def __call__(self, stage: Stage) -> Order:
        """Return the order."""
        return echo(stage)


FORMS: dict[str, Any] = {
    "class": Echo,
    "instance": Echo(),
    "function": echo,
    "lambda": lambda stage: echo(stage, 0),
    "partial": partial(echo, more=0),
    "method": Echo().chosen,
    "callable": Called(),
    "coroutine": later,
    "spec": f"{__name__}:Echo,more=0",
    "module": f"{__name__}:echo",
    "roles": {"retailer": echo},
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_plays_the_same_game(form: str) -> None:
    """Alone, and in a sweep under a name of one's own."""
    wanted = play(GAME, Echo, 1).score
    if form != "coroutine":
        assert play(GAME, FORMS[form], 1).score == wanted
    if form == "roles":
        rows = sweep(GAME, FORMS[form], [1])
        assert rows[0]["policy"].startswith("retailer=")
    else:
        rows = sweep(GAME, {form: FORMS[form]}, [1])
        assert rows[0]["policy"] == form
    assert (rows[0]["error"], rows[0]["score"]) == (None, wanted)


def test_lambdas_are_told_apart_by_name() -> None:
    """Partials and methods by what they hold."""
    low, high = (lambda stage, n=n: Order(n) for n in (2, 6))
    with pytest.raises(UsageError, match=r"<lambda> is given twice; .* under names"):
        sweep(GAME, [low, high], [1])
    assert [row["policy"] for row in sweep(GAME, {"low": low, "high": high}, [1])] == [
        "low",
        "high",
    ]
    rows = sweep(GAME, [partial(echo, more=1), Echo(2).chosen], [1])
    assert [row["policy"] for row in rows] == [f"{__name__}:echo,more=1", "Echo(more=2).chosen"]


class Plain(Policy):
    """Order a number of units; a class without attrs."""

    def __init__(self, units: int) -> None:
        self.units = units

    def decide(self, stage: Stage) -> Order:
        """Return the order."""
        return Order(self.units)

    def rule(self) -> Any:
        """Return a function that orders as many."""

        def order(stage: Stage) -> Order:
            return self.decide(stage)

        return order


def told(plain: Plain, stage: Stage) -> Order:
    """Order as told."""
    return plain.decide(stage)


@pytest.mark.parametrize(
    "form", [lambda one: one, lambda one: one.decide, Plain.rule, lambda one: partial(told, one)]
)
def test_objects_without_attrs_are_told_apart(form: Any, tmp_path: Path) -> None:
    """By name in a sweep, and by what they hold in a folder."""
    low, high = form(Plain(2)), form(Plain(6))
    wanted = [play(GAME, one, 1).score for one in (low, high)]
    assert sweep(GAME, {"low": low, "high": high}, [1]).values("score") == wanted
    assert " at 0x" not in sweep(GAME, low, [1])[0]["policy"]
    sweep(GAME, {"mine": low}, [1], out=tmp_path)
    assert sweep(GAME, {"mine": form(Plain(2))}, [1], out=tmp_path).values("score") == wanted[:1]
    with pytest.raises(UsageError, match="changed: the code of"):
        sweep(GAME, {"mine": high}, [1], out=tmp_path)


def test_a_name_given_to_another_policy_is_another_policy(tmp_path: Path) -> None:
    """A folder does not return the rows of the one that had the name before."""
    for given in ("base_stock,target=1", "base_stock,target=20", Echo(2), Echo(4)):
        rows = sweep(GAME, {"mine": given}, [1], out=tmp_path, records=True)
        assert rows.values("score") == [play(GAME, given, 1).score]
        assert (tmp_path / rows[0]["record"]).exists()


def test_a_name_that_is_nearly_a_role_is_refused() -> None:
    """It is not taken for the name of a policy."""
    with pytest.raises(UsageError, match="retialer"):
        sweep(GAME, {"retialer": echo}, [1])


@define
class Shy(Policy):
    """Order at random, by a generator of the seat's own."""

    most: int = 9
    generator: Any = field(default=None, init=False)
    draws = True

    def seated(self, seat: Seat) -> None:
        """Receive the seat."""
        self.generator = seat.generator()

    def decide(self, stage: Stage) -> Order:
        """Return the order."""
        return Order(int(self.generator.integers(0, self.most)))


def test_seated_is_an_ordinary_method(tmp_path: Path) -> None:
    """It receives the seat of each episode, of a class, an instance and a spec alike."""
    wanted = [play(GAME, Shy, seed).score for seed in (1, 2)]
    assert wanted[0] != wanted[1]
    assert [play(GAME, {"retailer": Shy()}, seed).score for seed in (1, 2)] == wanted
    for given in (Shy, Shy(), f"{__name__}:Shy,most=9"):
        rows = sweep(GAME, given, [1, 2])
        assert [row["score"] for row in rows] == wanted


def test_a_label_holds_the_arguments_alone() -> None:
    """And not what the policy remembers."""
    rows = sweep(GAME, [Shy(4), echo], [1, 2])
    assert rows[0]["policy"] == "Shy(most=4)"
    assert "difference to Shy(most=4)" in str(rows.table(against=Shy(4)))
    assert "difference to " in str(rows.table(against=echo))
    assert len(rows.where(policy=Shy(4))) == 2


def test_a_long_label_is_cut_in_tables_unless_another_looks_the_same() -> None:
    """The rows hold it whole."""
    long, other = (f"typical,alpha=0.123456789{digit},beta=0.33333333333333" for digit in "12")
    rows = sweep("beer_game", [long, "greedy"], [1])
    assert rows[0]["policy"] == long
    assert "\ntypical,alpha=0.12 … a=0.33333333333333  score" in str(rows.table())
    assert f"\n{long}  score" in str(sweep("beer_game", [long, other], [1]).table())
