"""The published protocol of the Enterprise Digital Twin: six episodes, five figures after each."""

from collections.abc import Iterable
from statistics import fmean, pstdev
from typing import Any

from attrs import frozen

from desim import Episode, Model, play_series
from desim.episodes.lineup import resolve
from desim.errors import DesimError
from models.edt import Decide
from models.edt.actions import Answer

EPISODES = 6


@frozen
class Feedback:
    """The figures that a learning policy receives after an episode, all of its last step.

    Attributes:
        accumulated_earnings: Money.
        accumulated_revenue: Money.
        accumulated_expenses: Money.
        overall_profit_margin: Earnings over revenue.
        overall_avg_utilization: Sum of effort over sum of capacity; not the mean over steps.
        decision: The last answer as the published decision object; None without any decision.
    """

    accumulated_earnings: float
    accumulated_revenue: float
    accumulated_expenses: float
    overall_profit_margin: float
    overall_avg_utilization: float
    decision: Any = None


@frozen
class Scores:
    """The results of a policy over several episodes.

    Attributes:
        e_mean: Mean accumulated earnings, money; None without an episode.
        e_std: Their population standard deviation, money; None without an episode.
        e_norm: `e_mean` over `best`, in the paper that of its best method; None without either.
        mean_step_utilization: Mean over episodes of the mean over steps; the paper's utilisation.
        overall_avg_utilization: Mean over episodes of effort over capacity.
        episodes: The episodes that were played to the end.
        failures: One sentence for each episode that failed.
    """

    e_mean: float | None
    e_std: float | None
    e_norm: float | None
    mean_step_utilization: float | None
    overall_avg_utilization: float | None
    episodes: tuple[Episode, ...]
    failures: tuple[str, ...]


def feedback(episode: Episode) -> Feedback:
    """Return the figures of an episode, for a policy's `after`."""
    metrics = episode.metrics
    return Feedback(
        metrics["accumulated_earnings"],
        metrics["accumulated_revenue"],
        metrics["accumulated_expenses"],
        metrics["overall_profit_margin"],
        metrics["overall_avg_utilization"],
        _decision(episode.steps[-1].action) if episode.steps else None,
    )


def _decision(action: object) -> Any:
    """Return an answer as the published decision object; None for a command."""
    match action:
        case Decide():
            return action.raw()
        case Answer(given=given):
            return given
        case _:
            return None


def play_six(
    model: Model[Any],
    policies: Any,
    seeds: Iterable[int] = range(EPISODES),
    best: float | None = None,
) -> Scores:
    """Play episodes with one policy, which learns between them if it has `after`.

    An episode that fails is left out of the averages, as published.

    Args:
        model: The Enterprise Digital Twin.
        policies: Policies as `play_series` takes them; built once.
        seeds: One seed for each episode.
        best: The `e_mean` whose `e_norm` is 1, in money: the paper's best method
            (`reproduce_edt.best_mean` reads it); without one `e_norm` is missing.
    """
    seeds = list(seeds)
    built = resolve(model, policies, seeds[0]).policies if seeds else {}
    episodes: list[Episode] = []
    failures: list[str] = []
    for seed in seeds:
        try:
            episodes += play_series(model, built, [seed])
        except DesimError as error:
            failures.append(f"seed {seed}: {error}")
    return _scores(episodes, failures, best)


def _scores(episodes: list[Episode], failures: list[str], best: float | None) -> Scores:
    def mean(name: str) -> float | None:
        return fmean(e.metrics[name] for e in episodes) if episodes else None

    earned = [episode.metrics["accumulated_earnings"] for episode in episodes]
    e_mean = mean("accumulated_earnings")
    return Scores(
        e_mean,
        pstdev(earned) if earned else None,
        None if e_mean is None or best is None else e_mean / best,
        mean("mean_step_utilization"),
        mean("overall_avg_utilization"),
        tuple(episodes),
        tuple(failures),
    )
