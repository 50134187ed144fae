"""The published protocol of the Enterprise Digital Twin: six episodes with one policy."""

from statistics import fmean, pstdev
from typing import Any

from attrs import frozen

from desim import Episode, Model, play_series
from desim.episodes.lineup import resolve
from desim.errors import DesimError

SEEDS = range(6)


@frozen
class Scores:
    """The results of a policy over its episodes.

    Attributes:
        episodes: The episodes that were played to the end.
        failures: One sentence for each episode that failed, which is in no average, as published.
    """

    episodes: tuple[Episode, ...]
    failures: tuple[str, ...]

    @property
    def e_mean(self) -> float:
        """Mean accumulated earnings, money."""
        return self._mean("accumulated_earnings")

    @property
    def e_std(self) -> float:
        """Population standard deviation of the accumulated earnings, money."""
        return pstdev(episode.metrics["accumulated_earnings"] for episode in self.episodes)

    @property
    def mean_step_utilization(self) -> float:
        """Mean over episodes of the mean over steps; the paper's utilisation."""
        return self._mean("mean_step_utilization")

    def _mean(self, name: str) -> float:
        return fmean(episode.metrics[name] for episode in self.episodes)


def play_six(model: Model[Any], policies: Any) -> Scores:
    """Play six episodes with policies built once, which learn between them if they have `after`."""
    built = resolve(model, policies, SEEDS[0]).policies
    episodes: list[Episode] = []
    failures: list[str] = []
    for seed in SEEDS:
        try:
            episodes += play_series(model, built, [seed])
        except DesimError as error:
            failures.append(f"seed {seed}: {error}")
    return Scores(tuple(episodes), tuple(failures))
