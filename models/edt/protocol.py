"""Six episodes on one template, with the five numbers that a learning player is told after each."""

from collections.abc import Iterable
from statistics import fmean, pstdev
from typing import Any

from attrs import frozen

from desim import Episode, Model, play_series
from desim.errors import DesimError
from desim.seating import seat_all, spread

__all__ = ["BEST_MEAN", "Feedback", "Scores", "feedback", "play_six"]

#: E_mean of the best method the paper has benchmarked (AMEM), in money.
BEST_MEAN = 6_760_000.0

EPISODES = 6


@frozen
class Feedback:
    """What a learning player is told of an episode, all of its last step.

    Attributes:
        accumulated_earnings: Money.
        accumulated_revenue: Money.
        accumulated_expenses: Money.
        overall_profit_margin: Earnings over revenue.
        overall_avg_utilization: Sum of effort over sum of capacity; not the mean over steps.
        decision: The published decision object as it was answered last; none if nobody decided.
    """

    accumulated_earnings: float
    accumulated_revenue: float
    accumulated_expenses: float
    overall_profit_margin: float
    overall_avg_utilization: float
    decision: Any = None


@frozen
class Scores:
    """How a player did over several episodes.

    Attributes:
        e_mean: Mean accumulated earnings, money; none without an episode.
        e_std: Their standard deviation (of these episodes, not an estimate for more), money.
        e_norm: E_mean over that of the best benchmarked method.
        mean_step_utilization: Mean over episodes of the mean over steps; the paper's utilisation.
        overall_avg_utilization: Mean over episodes of effort over capacity.
        episodes: Those that were played to the end.
        failures: What the others failed with, one sentence each.
    """

    e_mean: float | None
    e_std: float | None
    e_norm: float | None
    mean_step_utilization: float | None
    overall_avg_utilization: float | None
    episodes: tuple[Episode, ...]
    failures: tuple[str, ...]


def feedback(episode: Episode) -> Feedback:
    """Read the five numbers from an episode, for a policy's `after`."""
    metrics = episode.metrics
    names = [name for name in Feedback.__annotations__ if name != "decision"]
    decision: Any = episode.steps[-1].action if episode.steps else None
    raw = decision.raw() if hasattr(decision, "raw") else getattr(decision, "given", None)
    return Feedback(**{name: metrics[name] for name in names}, decision=raw)


def play_six(
    model: Model[Any],
    policies: Any,
    seeds: Iterable[int] = range(EPISODES),
    best: float = BEST_MEAN,
) -> Scores:
    """Play episodes with one player, who is shown each in between if it has `after`.

    An episode that fails is left out of the averages, as published.

    Args:
        model: The game.
        policies: A policy, as `play_series` takes it; built once.
        seeds: One episode each.
        best: E_mean that counts as 1 in `e_norm`.
    """
    seeds = list(seeds)
    players = seat_all(model, spread(model, policies), seeds[0]) if seeds else {}
    episodes: list[Episode] = []
    failures: list[str] = []
    for seed in seeds:
        try:
            episodes += play_series(model, players, [seed])
        except DesimError as fault:
            failures.append(f"seed {seed}: {fault}")
    return _scores(episodes, failures, best)


def _scores(episodes: list[Episode], failures: list[str], best: float) -> Scores:
    def mean(name: str) -> float | None:
        return fmean(e.metrics[name] for e in episodes) if episodes else None

    earned = [episode.metrics["accumulated_earnings"] for episode in episodes]
    e_mean = mean("accumulated_earnings")
    return Scores(
        e_mean,
        pstdev(earned) if earned else None,
        None if e_mean is None else e_mean / best,
        mean("mean_step_utilization"),
        mean("overall_avg_utilization"),
        tuple(episodes),
        tuple(failures),
    )
