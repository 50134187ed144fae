"""What is known of the scores of several seeds together: means, policies, kinds, and a sentence."""

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import TYPE_CHECKING, Any

from attrs import frozen

from desim.show.labels import estimate_text

if TYPE_CHECKING:  # `import desim` does without
    from desim.catalog.known_scores import KnownScore, KnownScores

__all__ = ["KnownMeans"]

#: Policies that are named; of more, the first and a count.
_NAMED = 2


@frozen
class KnownMeans:
    """What is known of several seeds of a preset.

    Attributes:
        known: What is known of the preset.
        scores: What is known of each of the seeds, at least one.
    """

    known: "KnownScores"
    scores: "tuple[KnownScore, ...]"

    @property
    def floor(self) -> float:
        """The mean of the scores that count 0."""
        return _mean([one.floor for one in self.scores])

    @property
    def best(self) -> float:
        """The mean of the best known scores."""
        return _mean([one.best for one in self.scores])

    @property
    def bound(self) -> float | None:
        """The mean of the bounds; None where a seed has none."""
        bounds = [one.bound.value for one in self.scores if one.bound]
        return _mean(bounds) if len(bounds) == len(self.scores) else None

    @property
    def kind(self) -> str:
        """The kind of what counts 1, or where seeds differ how many have which."""
        counts = Counter(one.ceiling.kind for one in self.scores).most_common()
        if len(counts) == 1:
            return counts[0][0]
        return ", ".join(f"{count} {kind}" for kind, count in counts)

    @property
    def policies(self) -> str:
        """The policies of the best runs, the most frequent first, the informed marked."""
        counts = Counter(one.policy for one in self.scores).most_common()
        informed = self.known.informed
        names = [name + " (informed)" * (name in informed) for name, _ in counts]
        if len(names) > _NAMED:
            return f"{names[0]} and {len(names) - 1} others"
        return " and ".join(names)

    @property
    def sentence(self) -> str:
        """The best known score and the bound, for the foot of a table."""
        several = self.known.every is None and len(self.scores) > 1
        seeds = f" on these {len(self.scores)} seeds: mean" if several else ":"
        bound = "no bound is known"
        if self.bound is not None:
            bound = f"bound {estimate_text(self.bound)} ({self.kind})"
        return f"best known score{seeds} {estimate_text(self.best)} by {self.policies}; {bound}"

    def plain(self) -> dict[str, Any]:
        """Return plain JSON values by name."""
        return {
            "floor": self.floor,
            "floor_policy": self.known.floor,
            "best": self.best,
            "best_policies": self.policies,
            "bound": self.bound,
            "kind": self.kind,
        }


def _mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)
