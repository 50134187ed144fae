"""A part without links is what its model would be alone with `part_seed(seed, name)`."""

import itertools
from functools import cache
from typing import Any

import pytest
from support.cases import SEARCHES
from support.companies import Firm, Hike, figures, played
from support.part_results import part_results

from desim import catalog, play
from desim.catalog import baselines
from desim.catalog.policy_spec import read_policies
from desim.composition import Composite, PartSpec, part_seed
from desim.core.result import Result
from desim.episodes.lineup import lineup_knows

WORLDS = sorted(catalog.models())

#: Every pair of neighbours with one of its three line-ups.
CASES = [(*pair, number % 3) for number, pair in enumerate(itertools.pairwise(WORLDS))]


@cache
def rules(world: str) -> tuple[str, ...]:
    """Return three line-ups of a world: its first baseline, one that knows more, and chance."""
    model = catalog.model(world)
    quick = [spec for spec in baselines(model) if spec not in SEARCHES]
    levels = {spec: lineup_knows(model, read_policies([spec])) for spec in quick}
    hidden = [spec for spec in quick if levels[spec] in ("state", "future")]
    return quick[0], (hidden or quick[1:])[0], quick[-1]


@cache
def alone(world: str, spec: str, seed: int) -> tuple[Any, ...]:
    """Return the figures of a world played alone."""
    return figures(ended(play(catalog.model(world), read_policies([spec]), seed).result))


def ended(result: Result | None) -> Result:
    """Return the result of an ended episode."""
    assert result is not None
    return result


def of_part(part: str, spec: str) -> dict[str, str]:
    """Return a line-up of a world as that of a part."""
    given = read_policies([spec])
    roles = given if isinstance(given, dict) else {"": given}
    return {f"{part}.{role}".removesuffix("."): one for role, one in roles.items()}


def check(parts: dict[str, str], turn: int, seed: int) -> None:
    """Compare worlds on one clock, in the order given, with each world alone."""
    specs = {part: rules(world)[turn] for part, world in parts.items()}
    policies = {
        role: one for part, spec in specs.items() for role, one in of_part(part, spec).items()
    }
    episode, group = played(Composite(parts), policies, seed)
    results = part_results(group)
    for part, world in parts.items():
        expected = alone(world, specs[part], part_seed(seed, part))
        assert figures(results[part]) == expected, (part, specs[part])
    assert episode.score == sum(result.score for result in results.values())
    assert ended(episode.result).decisions == sum(result.decisions for result in results.values())


@pytest.mark.parametrize(("first", "second", "turn"), CASES, ids=str)
def test_two_worlds_equal_their_parts(first: str, second: str, turn: int) -> None:
    """With rules, with rules that know more, and by chance."""
    check({"one": first, "two": second}, turn, 0)


def test_all_worlds_equal_their_parts() -> None:
    """On one clock, and two copies of one by the seeds of their names."""
    check({f"the_{world}": world for world in WORLDS} | {"again": WORLDS[0]}, 0, 1)


def test_a_composite_is_a_part() -> None:
    """The parts of a part have the seeds that they would have if it were played alone."""
    inner = {world: world for world in WORLDS}
    model = Composite({"inner": Composite(inner), "other": WORLDS[0]})
    specs = {world: rules(world)[0] for world in WORLDS}
    policies = {
        role: one
        for world in WORLDS
        for role, one in of_part(f"inner.{world}", specs[world]).items()
    } | of_part("other", rules(WORLDS[0])[0])
    _, group = played(model, policies, 5)
    of_inner = {role.partition(".")[2]: p for role, p in policies.items() if role[:6] == "inner."}
    apart = play(model.models["inner"], of_inner, part_seed(5, "inner"))
    assert figures(part_results(group)["inner"]) == figures(ended(apart.result))
    inside = part_results(group.part("inner").state)
    for world in WORLDS:
        seed = part_seed(part_seed(5, "inner"), world)
        assert figures(inside[world]) == alone(world, specs[world], seed)


@pytest.mark.parametrize(
    "firm", [Firm(ticks=t, before=b) for t in ("days", "months") for b in (None, 0)]
)
@pytest.mark.parametrize("order", [1, -1])
def test_ticks_that_fall_on_one_instant_stay_apart(firm: Firm, order: int) -> None:
    """Whatever the order of the parts, and with questions in the middle of a tick."""
    parts: dict[str, Any] = dict([("a", firm), ("b", Firm(before=0)), ("c", firm)][::order])
    _, group = played(Composite(parts), "greedy", 2)
    for name, model in parts.items():
        single = play(model, "greedy", part_seed(2, name))
        assert figures(part_results(group)[name]) == figures(ended(single.result))


@pytest.mark.parametrize(
    "odd", [Firm(periods=0), Firm(asks=False), Firm(fault="hang"), Hike(pace=0), Firm(opening=0)]
)
def test_odd_parts_equal_their_models(odd: Any) -> None:
    """One that ends at its first tick, never asks, waits for nothing, or never lets time pass."""
    _, group = played(Composite({"odd": odd, "firm": Firm()}), "greedy", 4)
    single = ended(play(odd, "greedy", part_seed(4, "odd")).result)
    assert figures(part_results(group)["odd"]) == figures(single)
    assert part_results(group)["firm"].ended == "closed"


@pytest.mark.parametrize("model", [Firm(ticks="months"), Hike()])
def test_each_repetition_equals_the_model_alone(model: Any) -> None:
    """With the seed of its number; scores and decisions are summed, and ledgers come in order."""
    composite = Composite({"again": PartSpec(model=model, times=3), "firm": Firm(periods=40)})
    episode, group = played(composite, "greedy", 6)
    single = [ended(play(model, "greedy", part_seed(6, "again", n)).result) for n in range(3)]
    result = part_results(group)["again"]
    assert result.score == sum(one.score for one in single)
    assert result.decisions == sum(one.decisions for one in single)
    assert (result.ended, result.metrics) == (single[-1].ended, single[-1].metrics)
    assert episode.metrics["again.score"] == result.score
    digests = [ledger.digest() for ledger in group.ledgers if ledger.name.startswith("again")]
    states = [played(model, "greedy", part_seed(6, "again", n))[1] for n in range(3)]
    assert digests == [ledger.digest() for state in states for ledger in state.ledgers]
