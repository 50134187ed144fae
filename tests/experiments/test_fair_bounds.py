"""The script that makes the fair bounds: the value, its kind, and the gap of the nearest rule."""

import pytest
from attrs import evolve

from desim import catalog
from experiments.fair_bounds import FAIR, measured
from policies.informed.beer_game.fair_bound import fair_bound


@pytest.mark.parametrize("name", FAIR)
def test_the_file_holds_the_bound_of_the_script(name: str) -> None:
    """Rule, kind and seeds; a proved one has no interval."""
    model, _, preset = name.partition("/")
    known = catalog.model_class(model).known_scores(preset)  # type: ignore[attr-defined]
    found, fair = known.fair, FAIR[name]
    assert found.policy == fair.policy
    assert (found.kind == "proved") == fair.proved == (found.half == 0)
    assert found.seeds == f"{fair.seeds.start}:{fair.seeds.stop}"


def test_the_gap_is_paired_with_the_bound() -> None:
    """One bound for all seeds if it is proved, otherwise one for each."""
    fair = FAIR["beer_game/poisson"]
    found = measured("beer_game/poisson", evolve(fair, seeds=range(1_000, 1_010)), jobs=1)
    exact = fair_bound(catalog.model("beer_game/poisson"))
    assert exact
    assert (found.value, found.kind, found.half) == (-exact.cost, "proved", 0)
    assert abs(found.gap) < 3 * found.gap_half
    fair = FAIR["enterprise_arena/capped"]
    found = measured("enterprise_arena/capped", evolve(fair, seeds=range(1_000, 1_003)), jobs=1)
    assert (found.kind, found.gap, found.gap_half) == ("estimated", 0, 0)
    assert found.half > 0
