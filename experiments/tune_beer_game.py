"""Which order-up-to levels are cheapest in each preset: for one stage alone, and for all together?

A search by coordinates with halving steps: for one stage from three starts (half, once and one and
a half times the level of the formula), for all together from the levels found for each alone. All
candidates play the same training seeds (common random numbers), and the levels found are played
once more on held-out seeds. Deterministic presets are played once.

`policies/heuristics/beer_game/order_up_to.py` holds what this prints with its default arguments.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

import click
import numpy as np

from desim import play
from models.beer_game import BeerGame
from policies.heuristics.beer_game.order_up_to import formula_level

#: Training and held-out seeds; boards and examples use small seeds, which are in neither.
TRAINING, HELD_OUT = 10_000, 20_000

Levels = Mapping[str, int]


@click.command()
@click.option("--training", default=100, show_default=True, help="Training seeds, from 10,000.")
@click.option("--held-out", default=1_000, show_default=True, help="Held-out seeds, from 20,000.")
@click.option("--preset", multiple=True, type=click.Choice(list(BeerGame.presets)))
def main(training: int, held_out: int, preset: Sequence[str]) -> None:
    """Print the levels of every stage with their cost on training and held-out seeds."""
    print("preset, stages played: levels; mean cost on training and on held-out seeds")
    for name in preset or BeerGame.presets:
        game = BeerGame.preset(name)
        seeds = range(TRAINING, TRAINING + (1 if game.deterministic else training))
        others = range(HELD_OUT, HELD_OUT + (1 if game.deterministic else held_out))
        alone: dict[str, int] = {}
        for stage in game.stages:
            formula = formula_level(game, stage)
            starts = [{stage: int(formula * share)} for share in (0.5, 1, 1.5)]
            alone |= best_levels(game, starts, seeds)
            report(game, f"{name}, {stage}", {stage: alone[stage]}, seeds, others)
        report(game, f"{name}, all", best_levels(game, [alone], seeds), seeds, others)


def report(game: BeerGame, what: str, levels: Levels, *samples: Iterable[int]) -> None:
    """Print levels and their mean cost on each sample of seeds."""
    costs = "  ".join(f"{mean_cost(game, levels, seeds):,.2f}" for seeds in samples)
    print(f"{what}: {' '.join(map(str, levels.values()))};  {costs}", flush=True)


def mean_cost(game: BeerGame, levels: Levels, seeds: Iterable[int]) -> float:
    """Return the mean cost of the stages that order up to these levels."""
    policies = {stage: f"order_up_to,target={level}" for stage, level in levels.items()}
    return float(np.mean([-play(game, policies, s, keep_steps=False).score for s in seeds]))


def best_levels(game: BeerGame, starts: Iterable[Levels], seeds: Iterable[int]) -> Levels:
    """Return the cheapest levels that are found from any of the starts."""
    known: dict[tuple[int, ...], float] = {}

    def cost(levels: Levels) -> float:
        key = tuple(levels.values())
        if key not in known:
            known[key] = mean_cost(game, levels, seeds)
        return known[key]

    return min((descend(cost, start) for start in starts), key=cost)


def descend(cost: Callable[[Levels], float], start: Levels) -> Levels:
    """Move one level at a time while that is cheaper, with steps from an eighth down to 1 unit."""
    best, least = dict(start), cost(start)
    step = max(1, max(start.values()) // 8)
    while True:
        moves = [{**best, s: max(0, best[s] + d)} for s in best for d in (step, -step)]
        other = min(moves, key=cost)
        if cost(other) < least:
            best, least = other, cost(other)
        elif step == 1:
            return best
        else:
            step //= 2


if __name__ == "__main__":
    main()
