"""Which order-up-to level is cheapest for one stage of each preset, if the others keep their rule?

A search with halving steps from three starts: half, once and one and a half times the level of the
formula. All candidates play the same training seeds (common random numbers), and the level found is
played once more on held-out seeds. Deterministic presets are played once.

`policies/heuristics/beer_game/order_up_to.py` holds what this prints with its default arguments.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache

import click
import numpy as np

from desim import play
from models.beer_game import BeerGame
from policies.heuristics.beer_game.order_up_to import formula_level

#: Training and held-out seeds; boards and examples use small seeds, which are in neither.
TRAINING, HELD_OUT = 10_000, 20_000


@click.command()
@click.option("--training", default=100, show_default=True, help="Training seeds, from 10,000.")
@click.option("--held-out", default=1_000, show_default=True, help="Held-out seeds, from 20,000.")
@click.option("--preset", multiple=True, type=click.Choice(list(BeerGame.presets)))
def main(training: int, held_out: int, preset: Sequence[str]) -> None:
    """Print the level of every stage with its cost on training and held-out seeds."""
    print("preset, stage played: level; mean cost on training and on held-out seeds")
    for name in preset or BeerGame.presets:
        game = BeerGame.preset(name)
        seeds = range(TRAINING, TRAINING + (1 if game.deterministic else training))
        others = range(HELD_OUT, HELD_OUT + (1 if game.deterministic else held_out))
        for stage in game.stages:
            level = best_level(game, stage, seeds)
            costs = (mean_cost(game, stage, level, some) for some in (seeds, others))
            print(f"{name}, {stage}: {level};  {'  '.join(f'{c:,.2f}' for c in costs)}", flush=True)


def mean_cost(game: BeerGame, stage: str, level: int, seeds: Iterable[int]) -> float:
    """Return the mean cost of a stage that orders up to a level."""
    policies = {stage: f"order_up_to,target={level}"}
    return float(np.mean([-play(game, policies, s, keep_steps=False).score for s in seeds]))


def best_level(game: BeerGame, stage: str, seeds: Iterable[int]) -> int:
    """Return the cheapest level that is found from any of the starts."""

    @cache
    def cost(level: int) -> float:
        return mean_cost(game, stage, level, seeds)

    formula = formula_level(game, stage)
    return min((descend(cost, int(formula * share)) for share in (0.5, 1, 1.5)), key=cost)


def descend(cost: Callable[[int], float], start: int) -> int:
    """Move while that is cheaper, with steps from an eighth down to 1 unit."""
    best, step = start, max(1, start // 8)
    while True:
        other = min((best + step, max(0, best - step)), key=cost)
        if cost(other) < cost(best):
            best = other
        elif step == 1:
            return best
        else:
            step //= 2


if __name__ == "__main__":
    main()
