"""The test of equality notices a changed rule, in the episode's processes or in the arrays."""

import pytest
from support.chains import drawn_chain
from support.lanes import lanes_differ
from support.mutants import mutant

from models.beer_game import model, processes
from models.beer_game.lanes import chain, games

_PROCESSES = {
    "demand of the week before": ("chain.demand[week - 1]", "chain.demand[week - 2]"),
    "strike ignored": ("units = 0 if e is on_strike else min", "units = min"),
    "strike of the first stage": ("chain.echelons[-1] if week", "chain.echelons[0] if week"),
    "more shipped than is owed": ("min(units, wanted)", "units"),
    "floor of holding cost dropped": (
        "max(cost(per_unit, goods[e.on_hand]), floor)",
        "cost(per_unit, goods[e.on_hand])",
    ),
    "floor added": ("goods[e.on_hand]), floor)", "goods[e.on_hand]), floor) + floor"),
    "backlog costs as stock": ("cost(per_owed, orders", "cost(per_unit, orders"),
    "last forced week free": (
        "week <= params.forced_weeks:\n        units",
        "False:\n        units",
    ),
    "forced week is asked": (
        "if week <= params.forced_weeks:\n            place",
        "if False:\n            place",
    ),
    "blind order of the rule": ("elif e.played:", "elif False:"),
    "echo dropped": ("e if chain.params.brewery_echo else None", "None"),
    "echo always": ("e if chain.params.brewery_echo else None", "e"),
    "fractions rounded up": ("whole = int(quantity)", "whole = int(quantity) + 1"),
    "negative orders as 1": (
        "if quantity <= 0:\n        return 0",
        "if quantity <= 0:\n        return 1",
    ),
    "orders not counted": ("e.ordered = units", "e.ordered = 0"),
}

_ARRAYS = {
    "more shipped than is owed": ("xp.minimum(self.on_hand, self.owed)", "self.owed + 0"),
    "strike a week late": ("if self.week in", "if self.week - 1 in"),
    "mail a week late": ("week - params.order_delay", "week - params.order_delay - 1"),
    "brewing a week late": ("week - params.production_weeks", "week - 1"),
    "goods a week early": ("* params.ship_delay)", "* (params.ship_delay - 1))"),
    "forced weeks off": ("self.week > self.params.forced_weeks", "True"),
    "one forced week more": ("self.week > self.params", "self.week - 1 > self.params"),
    "echo dropped": ("below += ordered[-1, :]", "below += 0"),
    "negative orders of rules": ("self._arrays.maximum(units, 0)", "units + 0"),
    "mean of a week more": ("self.week - 1 - self._memory", "self.week - 2 - self._memory"),
    "brewing not in the line": ("last += ordered[-1, :]", "last += 0"),
    "goods not in the line": ("line += sent", "line += 0"),
    "line without the echo of rules": ("self.standing[-1, :] if echoes", "0 if echoes"),
    "backlog of the last week left out": ("self.late += self.owed", "self.late += 0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", _PROCESSES)
def test_a_changed_rule_of_the_processes_is_noticed(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the named rules."""
    monkeypatch.setattr(model, "processes", mutant(processes, *_PROCESSES[rule]))
    assert noticed()


@pytest.mark.slow
@pytest.mark.parametrize("rule", _ARRAYS)
def test_a_changed_rule_of_the_arrays_is_noticed(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the named rules."""
    monkeypatch.setattr(games, "LaneChain", mutant(chain, *_ARRAYS[rule]).LaneChain)
    assert noticed()


@pytest.mark.slow
def test_copies_without_a_change_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other tests notice the change, not the copy."""
    monkeypatch.setattr(model, "processes", mutant(processes, "A week of", "A week  of"))
    monkeypatch.setattr(games, "LaneChain", mutant(chain, "The weeks of", "Weeks of").LaneChain)
    assert not noticed(20)


def noticed(most: int = 200) -> bool:
    """Return whether one of the drawn games differs between lanes and `play`, or fails."""
    return any(
        differs(number, kind)
        for number in range(most)
        for kind in ("order_up_to", "sterman", "scattered")
    )


def differs(number: int, kind: str) -> bool:
    """Return whether a game differs, or a changed rule fails in it."""
    game, makers = drawn_chain(number)
    try:
        return lanes_differ(game, makers[kind], [number]) != ""
    except Exception:  # noqa: BLE001 (whatever a changed rule raises)
        return True
