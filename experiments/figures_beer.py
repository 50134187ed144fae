"""A figure of the Beer Game: orders grow from stage to stage."""

import json
from collections.abc import Sequence

import numpy as np
from figure_style import PALE, Drawn, axes, finish, label_ends, line
from published import reference

from desim import Episode, play
from models.beer_game import BeerGame

PLAYERS = "sterman,rounding=half_up"
TRACE = "beer_game/traces/cl05_mean_subject_int.json"
RULES = ("sterman", "last_demand", "base_stock,target=20", "greedy")


def bullwhip(game: BeerGame, policy: str, seed: int) -> list[float]:
    """Return the variance of each stage's orders over that of the customers' demand."""
    episode = play(game, dict.fromkeys(game.stages, policy), seed, series=True)
    first = game.stages[0]
    demand = [step.observation.incoming_order for step in episode.steps if step.role == first]
    return [float(np.var(placed) / np.var(demand)) for placed in orders(episode, game)]


def orders(episode: Episode, game: BeerGame) -> list[Sequence[float]]:
    """Return the orders of each stage by week."""
    return [episode.series()[f"orders_{stage}"] for stage in game.stages]


def beer_bullwhip(seeds: int) -> Drawn:
    """Draw the orders of Sterman's mean player by week, and the amplification by rule."""
    figure, (left, right) = axes(2, width=5.6, height=4.6)
    game = BeerGame.preset("classic")
    weeks = range(1, game.horizon + 1)
    episode = play(game, dict.fromkeys(game.stages, PLAYERS), series=True)
    trace = json.loads(reference(TRACE).read_text())["stages"]
    ends = []
    for number, (stage, ys) in enumerate(zip(game.stages, orders(episode, game), strict=True)):
        left.plot(weeks, trace[stage]["order"], color="0.8", linewidth=5, solid_capstyle="round")
        line(left, number, weeks, ys, every=4)
        ends.append((ys[-1], stage, "black"))
    finish(left, "Orders of four mean players", "week", "order, units a week")
    label_ends(left, ends, game.horizon)

    noisy = BeerGame.preset("poisson")
    ends = []
    for number, rule in enumerate(RULES):
        ys = np.mean([bullwhip(noisy, rule, seed) for seed in range(seeds)], axis=0)
        line(right, number, range(len(ys)), ys)
        ends.append((float(ys[-1]), rule, "black"))
    right.axhline(1, color=PALE, linewidth=1)
    right.set_yscale("log")
    right.yaxis.set_major_formatter("{x:g}")
    right.set_xticks(range(len(noisy.stages)), noisy.stages)
    finish(right, "Bullwhip", "stage", "variance of orders / variance of demand")
    label_ends(right, ends, len(noisy.stages) - 1)
    return figure, (
        "Beer Game. Left: preset classic, demand 4, from week 5 on 8; all stages order by "
        "Sterman's rule with the mean parameters of his players, in whole units; the wide grey "
        "lines are the reference's own run, which ours covers. Right: preset poisson (52 weeks), "
        f"one rule at all four stages, mean of {seeds} seeds; the grey line is no amplification. "
        "The FirmBench paper prints no figure of it."
    )
