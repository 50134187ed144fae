"""What can be gained in a world without knowing the future, and how near does a rule come?

Computes a fair bound of presets: a number that the mean score of no policy exceeds which observes
its role alone. It is proved, or estimated as the mean of bounds of single seeds. Plays the rule
that comes nearest on fresh seeds, and writes both into `known_scores.json`.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import click
from attrs import evolve, frozen
from golden.known_scores import on_file, update

from desim import catalog, sweep
from desim.catalog.known_scores import KnownScores
from desim.catalog.mean_bound import MeanBound
from desim.statistics.intervals import interval
from policies.informed.beer_game.fair_bound import fair_bound
from policies.informed.enterprise_arena import known_luck
from policies.informed.yc_bench.fair_bound import fair_score_bound


@frozen
class Fair:
    """The computation of the fair bound of a preset.

    Attributes:
        policy: The rule that is known to come nearest.
        seeds: Fresh seeds: neither the rule nor the bound was fitted on them.
        bound: Returns a bound on the mean score of a model; with a seed, given what is known at the
            start of its episode.
        proved: Whether the bound is the same for all seeds; otherwise it is averaged.
    """

    policy: str
    seeds: range
    bound: Callable[[Any, int], float | None]
    proved: bool = False


def retailer_bound(model: Any, _seed: int) -> float | None:
    """Return the bound on the mean score of a retailer who does not know the demand."""
    found = fair_bound(model)
    return -found.cost if found else None


def value_bound(model: Any, seed: int) -> float | None:
    """Return the bound of known luck: requests add no value, so that luck is worth little."""
    found = known_luck.score_bound(model, seed)
    return found.value if found else None


#: By preset.
FAIR: Mapping[str, Fair] = {
    "beer_game/poisson": Fair(
        "order_up_to,target=18", range(1_000, 5_000), retailer_bound, proved=True
    ),
    "enterprise_arena/capped": Fair("raise_when_free", range(1_000, 1_400), value_bound),
    "enterprise_arena/regime": Fair("never_raise", range(1_000, 1_400), value_bound),
    "yc_bench/direct": Fair("planner,rerolls=10,load=3", range(1_000, 1_020), fair_score_bound),
}


@click.command()
@click.argument("names", nargs=-1, metavar="[MODEL/PRESET]...")
@click.option("--jobs", default=1, show_default=True, type=click.IntRange(1))
def main(names: Sequence[str], jobs: int) -> None:
    """Make or refresh the fair bounds of some presets, or of all."""
    for name in names or FAIR:
        model, _, preset = name.partition("/")
        module = Path(inspect.getfile(catalog.model_class(model)))
        known: KnownScores = on_file(module)[preset]
        found = measured(name, FAIR[name], jobs)
        update(module, preset, evolve(known, fair=found))
        print(f"{name}: {found.sentence}", flush=True)


def measured(name: str, fair: Fair, jobs: int) -> MeanBound:
    """Return the bound of a preset with the gap of its rule."""
    rows = sweep(name, fair.policy, fair.seeds, executor=f"processes={jobs}")
    seeds = fair.seeds[:1] if fair.proved else fair.seeds
    found = [fair.bound(catalog.model(name), seed) for seed in seeds]
    bounds = [bound for bound in found if bound is not None]
    assert len(bounds) == len(seeds), f"{name} has no fair bound"
    value = interval(bounds)
    each = cycle(bounds) if fair.proved else bounds
    gap = interval(
        [bound - score for bound, score in zip(each, rows.values("score"), strict=False)]
    )
    return MeanBound(
        value.mean,
        "proved" if fair.proved else "estimated",
        value.half or 0.0,
        fair.policy,
        gap.mean,
        gap.half or 0.0,
        f"{fair.seeds.start}:{fair.seeds.stop}",
    )


if __name__ == "__main__":  # spawn imports this file again
    main()
