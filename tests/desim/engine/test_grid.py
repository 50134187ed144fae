"""Grids: the jobs of a sweep and their order; a wrong sweep is refused before it starts."""

import itertools
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from support.cases import stable
from support.small_worlds import STRANGE, STRIDE, WALK, Counting, Go, Spot, Stride, Walk

from desim import Policy
from desim.engine.grid import grid
from desim.engine.parameters import Choices, Range, read_range
from desim.errors import UsageError
from desim.studies.sweep import sweep


@frozen
class Line:
    """A parameter of a parameter of a parameter."""

    size: int = 1


@frozen
class Field:
    """A parameter that has parameters."""

    length: int = 3
    depth: int = 1
    lines: tuple[Line, ...] = (Line(),)


@frozen
class Nested(Walk):
    """A walk across a field."""

    field: Field = Field()


ASKED: list[Spot] = []


class Asked(Policy):
    """Counts its decisions, outside of it."""

    def decide(self, spot: Spot) -> Go:
        """Return a step."""
        ASKED.append(spot)
        return Go(1)


class Scholar(Asked):
    """Learns between episodes."""

    def after(self, episode: object) -> None:
        """Learn nothing yet."""


def test_jobs_are_ordered_by_model_then_policy_then_seed() -> None:
    """The last parameter varies faster than the first, seeds fastest; texts and arrays are read."""
    changes = {"steps": np.arange(1, 3), "wind": [0, "0.5"]}
    rows = sweep(WALK, [STRIDE, f"{STRIDE},size=2"], [7, 3], set=changes)
    order = [(*row["params"].values(), row["policy"], row["seed"]) for row in rows]
    assert order == [
        (steps, wind, policy, seed)
        for steps in (1, 2)
        for wind in (0.0, 0.5)
        for policy in (STRIDE, f"{STRIDE},size=2")
        for seed in (7, 3)
    ]


def test_models_may_be_names_presets_classes_and_instances() -> None:
    """Rows show the parameters that differ from the preset in any model of the class."""
    rows = sweep([f"{WALK}/long", Walk, Walk(steps=8)], STRIDE, [0])
    assert [(row["preset"], row["params"]) for row in rows] == [
        ("long", {"steps": 9}),
        ("short", {"steps": 3}),
        ("short", {"steps": 8}),
    ]
    assert {row["model"] for row in rows} == {WALK}


def test_parameters_inside_a_parameter_are_columns_of_their_own() -> None:
    """Rows hold what was set, not the whole object; another field that differs is a column too."""
    nested = Nested(field=Field(length=4))
    rows = sweep(nested, STRIDE, [0], set={"field.depth": [1, 2], "field.lines.0.size": 3})
    assert [row["params"] for row in rows] == [
        {"field.length": 4, "field.depth": depth, "field.lines.0.size": 3} for depth in (1, 2)
    ]
    assert rows.column("params.field.depth") == rows.column("field.depth") == [1, 2]
    assert sweep(nested, STRIDE, [0])[0]["params"].keys() == {"field"}
    assert sweep(Nested(), STRIDE, [0])[0]["params"] == {}


def test_too_many_episodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """All combinations with all seeds count, before one is built; a range stays a range."""
    huge = range(10**12)
    for how in ({"seeds": huge}, {"seeds": [0], "set": {"steps": huge}}):
        with pytest.raises(UsageError, match="more than 10,000,000 episodes were asked for"):
            sweep(WALK, STRIDE, **how)
    assert grid(WALK, STRIDE, range(9)).seeds == range(9)
    monkeypatch.setattr("desim.engine.grid.MAX_EPISODES", 5)
    for how in ({"seeds": [0, 1], "set": {"steps": [1, 2, 3]}}, {"seeds": range(6)}):
        with pytest.raises(UsageError, match="more than 5 episodes were asked for"):
            sweep(WALK, STRIDE, **how)
    with pytest.raises(UsageError, match="more than 5 episodes were asked for"):
        sweep(WALK, STRIDE, itertools.count())


def test_arguments_vary_for_policies_that_take_them() -> None:
    """A policy without the argument, or with a fixed one, is played once."""
    rows = sweep(
        WALK,
        [STRIDE, "random", f"{STRIDE},size=9", {"walker": Stride, "helper": "greedy"}],
        [0],
        set={"policy.size": [2, 3]},
    )
    assert rows.column("policy") == [
        f"{STRIDE},size=2",
        f"{STRIDE},size=3",
        "random",
        f"{STRIDE},size=9",
        f"walker={STRIDE},size=2 helper=greedy",
        f"walker={STRIDE},size=3 helper=greedy",
    ]
    assert [row["decisions"] for row in rows] == [3, 3, 3, 3, 6, 6]


def test_all_policies_have_the_same_wind() -> None:
    """Seeds are common random numbers: the world's draws do not depend on the policy."""
    rows = sweep(WALK, [STRIDE, "random"], range(20))
    winds = [rows.where(policy=policy).column("gusts") for policy in (STRIDE, "random")]
    assert winds[0] == winds[1]
    assert len({tuple(gusts) for gusts in winds[0]}) > 10


def test_an_instance_starts_every_episode_in_its_given_state() -> None:
    """Every episode plays with a copy, so the given instance does not change."""
    counting = Counting()
    rows = sweep(WALK, counting, range(3), set={"wind": 0})
    assert rows.column("score") == [6, 6, 6]
    assert rows.column("policy") == ["Counting(made=0)"] * 3
    assert counting.made == 0


@pytest.mark.parametrize(("policy", "episodes"), [(Asked, 4), (Scholar, 3)])
def test_a_policy_that_learns_is_not_played_twice(policy: type[Asked], episodes: int) -> None:
    """The first seed of others is played once more, to see whether its row is the same."""
    ASKED.clear()
    sweep(WALK, policy, range(3))
    assert len(ASKED) == 3 * episodes


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"seeds": []}, "no seed was given; give at least one"),
        ({"seeds": [1, 0.5]}, "seed 0.5 was given; a seed is a whole number of at least 0"),
        ({"seeds": 5}, "seeds are 5; give a list or a range, such as range(100)"),
        ({"policies": [STRIDE, f" {STRIDE}"]}, f"policy {STRIDE} is given twice; give it once"),
        ({"policies": {"walkr": STRIDE}}, "there is no role 'walkr'; did you mean 'walker'?"),
        ({"set": {"step": 3}}, "Walk has no parameter 'step'; did you mean 'steps'?"),
        ({"set": {"steps": object}}, "<class 'object'> is no value for a parameter"),
        ({"set": {"policy.siz": 3}}, "no policy here lets 'siz' vary; did you mean 'size'?"),
        ({"model": STRANGE}, "Strange cannot be written as JSON ("),
        ({"executor": "ray=1"}, "executor 'ray=1' was given; possible: processes=N, concurrent=N"),
    ],
    ids=lambda value: stable(value)[:40],
)
def test_a_wrong_sweep_is_refused_before_it_starts(arguments: dict[str, Any], text: str) -> None:
    """One sentence says what was given and what is possible."""
    usual = {"model": WALK, "policies": STRIDE, "seeds": range(2)}
    with pytest.raises(UsageError) as refused:
        sweep(**{**usual, **arguments})
    assert str(refused.value).startswith(text)


def test_texts_of_ranges_and_others() -> None:
    """Only a text of two numbers, or with one of the prefixes, is a range; its text gives it."""
    assert read_range("0.5:2") == read_range(" float:0.5:2") == Range(0.5, 2)
    assert read_range("choice:a | b") == Choices(("a", "b"))
    for text in ("csv:file.csv:demand", "poisson:8", "1:2:3", "a:b", "7", ""):
        assert read_range(text) is None
    for one in (Range(1, 100, "log"), Range(0, 60, "int"), Range(0.5, 2), Choices(("a", "b"))):
        assert read_range(str(one)) == one


def test_values_are_readable_and_on_the_edge() -> None:
    """Seven digits of the width, of a logarithmic range seven of the value; never outside."""
    assert Range(0, 1).rounded(1 / 3) == 0.333333
    assert Range(1e-6, 1, "log").rounded(1e-4 / 3) == 3.333333e-05
    assert Range(0.1, 0.3).rounded(0.30000000000000004) == 0.3
    for one in (Range(1, 100, "log"), Range(0, 60, "int"), Range(0.1, 2.1)):
        ends = one.value(0.0), one.value(1.0)
        assert ends == (one.low, one.high)
        assert [one.on_edge(value) for value in (*ends, one.value(0.5))] == [True, True, False]
